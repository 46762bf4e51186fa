"""The map as one object: made from a table, explained, evaluated, drawn, saved and loaded."""

from gnomon.maps.make import map
from gnomon.maps.result import Map

__all__ = ["Map", "map"]
