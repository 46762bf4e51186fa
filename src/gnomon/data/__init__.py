"""Tables in: reading, checking and fetching data."""
