"""Who is near whom: neighbour graphs, exact, approximate or given, and neighbours of new rows."""

from gnomon.neighbors.compute import compute_neighbors
from gnomon.neighbors.distances import check_memory, cross_distances, distance_matrix
from gnomon.neighbors.given import as_neighbor_graph
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.landmarks import Landmarks, choose_landmarks
from gnomon.neighbors.pairs import pair_distances
from gnomon.neighbors.queries import query_neighbors

__all__ = [
    "Landmarks",
    "NeighborGraph",
    "as_neighbor_graph",
    "check_memory",
    "choose_landmarks",
    "compute_neighbors",
    "cross_distances",
    "distance_matrix",
    "pair_distances",
    "query_neighbors",
]
