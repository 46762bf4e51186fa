"""The interactive map: one HTML file that opens from disk."""
