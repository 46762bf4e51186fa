"""Static figures with matplotlib."""
