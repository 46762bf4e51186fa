"""Who is near whom: neighbour graphs, exact, approximate or given, and neighbours of new rows."""

from gnomon.neighbors.blocks import (
    BlockPart,
    BlockSearch,
    balanced_blocks,
    find_block_neighbors,
    usual_distances,
)
from gnomon.neighbors.bridges import Bridges, find_bridges, graph_components
from gnomon.neighbors.compute import by_cells, compute_neighbors
from gnomon.neighbors.distances import cross_distances, distance_matrix, pair_distances, row_distances
from gnomon.neighbors.forecast import memory_after_search, memory_taken_again, search_memory, search_seconds
from gnomon.neighbors.given import GivenNeighbors, as_neighbor_graph, read_graph, read_neighbors
from gnomon.neighbors.graph import NeighborGraph, check_graph, graph_fault, without_own
from gnomon.neighbors.join import JOINING, bridged_graph, describe_pieces, join_components
from gnomon.neighbors.k_means import k_means
from gnomon.neighbors.landmarks import Landmarks, choose_landmarks, draw_landmarks
from gnomon.neighbors.library import check_metric
from gnomon.neighbors.metrics import NATIVE_METRICS, metric_name, native_metric
from gnomon.neighbors.precomputed import distances_to_fitted, nearest_given
from gnomon.neighbors.row_search import RowSearch, query_neighbors

__all__ = [
    "JOINING",
    "NATIVE_METRICS",
    "BlockPart",
    "BlockSearch",
    "Bridges",
    "GivenNeighbors",
    "Landmarks",
    "NeighborGraph",
    "RowSearch",
    "as_neighbor_graph",
    "balanced_blocks",
    "bridged_graph",
    "by_cells",
    "check_graph",
    "check_metric",
    "choose_landmarks",
    "compute_neighbors",
    "cross_distances",
    "describe_pieces",
    "distance_matrix",
    "distances_to_fitted",
    "draw_landmarks",
    "find_block_neighbors",
    "find_bridges",
    "graph_components",
    "graph_fault",
    "join_components",
    "k_means",
    "memory_after_search",
    "memory_taken_again",
    "metric_name",
    "native_metric",
    "nearest_given",
    "pair_distances",
    "query_neighbors",
    "read_graph",
    "read_neighbors",
    "row_distances",
    "search_memory",
    "search_seconds",
    "usual_distances",
    "without_own",
]
