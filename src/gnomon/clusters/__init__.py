"""Clusters of the data at nested levels, each shown to be apart in rows held out, and named by features."""

from gnomon.clusters.find import find_clusters
from gnomon.clusters.result import Cluster, Clusters, Level

__all__ = ["Cluster", "Clusters", "Level", "find_clusters"]
