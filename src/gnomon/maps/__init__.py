"""The map as one object: made from a table, explained, evaluated, drawn, saved and loaded."""

from gnomon.maps.landmarks import LandmarkMap
from gnomon.maps.make import map
from gnomon.maps.result import Map
from gnomon.maps.saved import load

__all__ = ["LandmarkMap", "Map", "load", "map"]
