"""Maps of tables larger than memory: landmarks are fitted, every other row is placed among them."""

from gnomon.maps.landmarks.make import map_by_landmarks
from gnomon.maps.landmarks.result import LandmarkMap

__all__ = ["LandmarkMap", "map_by_landmarks"]
