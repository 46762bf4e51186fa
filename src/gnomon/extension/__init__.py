"""What follows from a finished map beyond the rows it was made of: new rows, and changed ones."""
