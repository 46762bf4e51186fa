"""New rows placed among the fixed points of a map, each by its own loss."""
