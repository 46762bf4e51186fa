"""Exact sensitivity of a map to its data."""
