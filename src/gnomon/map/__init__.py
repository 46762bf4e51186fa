"""The map as one object: made from a table, explained, evaluated, drawn, saved and loaded."""

from gnomon.map.make import map
from gnomon.map.result import Map

__all__ = ["Map", "map"]
