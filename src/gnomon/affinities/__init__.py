"""How strongly points attract each other: affinities from neighbour graphs."""

from gnomon.affinities.base import Affinities

__all__ = ["Affinities"]
