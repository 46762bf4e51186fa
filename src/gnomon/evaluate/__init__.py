"""How far to trust a map, overall and point by point."""
