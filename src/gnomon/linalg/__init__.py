"""Eigenproblems, singular vectors and products that the rooms above share."""
