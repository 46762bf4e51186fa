"""Losses and their forces between points, exact or approximated."""
