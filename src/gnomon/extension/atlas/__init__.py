"""A map as a smooth blend of the linear maps around its points."""
