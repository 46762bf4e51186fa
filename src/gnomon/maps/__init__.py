"""The map as one object: made from a table, explained, evaluated, drawn, saved and loaded."""

from gnomon.maps.make import map
from gnomon.maps.result import Map
from gnomon.maps.saved import load

__all__ = ["Map", "load", "map"]
