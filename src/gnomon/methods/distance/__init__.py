"""Methods that keep distances."""
