"""Who is near whom: neighbour graphs, exact, approximate or given."""

from gnomon.neighbors.graph import NeighborGraph

__all__ = ["NeighborGraph"]
