"""Clusters of the data at nested levels, each shown to be apart in rows held out, and named by features."""

from gnomon.clusters.find import FEWEST_ROWS, find_clusters
from gnomon.clusters.result import Cluster, Clusters, Level

__all__ = ["FEWEST_ROWS", "Cluster", "Clusters", "Level", "find_clusters"]
