"""Geodesic distances: lengths of shortest paths in a neighbour graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.linalg import kernel_graph
from gnomon.neighbors import Bridges, NeighborGraph, check_graph

__all__ = ["PathGraph", "geodesic_distances"]

Precision = type[np.float32] | type[np.float64]


@dataclass(frozen=True)
class PathGraph:
    """The edges along which paths run: those of a neighbour graph, in both directions, and bridges.

    Attributes
    ----------
    matrix : csr_array of shape (n_samples, n_samples), float32
        Symmetric, lengths in the units of the metric, columns sorted in each row. A stored zero is an edge of length
        zero between equal rows.
    """

    matrix: Any

    @classmethod
    @entrance("geodesic_distances")
    def of(cls, graph: NeighborGraph, bridges: Bridges | None = None) -> PathGraph:
        """Unite the edges of both directions; where they differ in length, the shorter counts."""
        check_graph(graph, graph.n_samples, ordered=False)
        n, k = graph.n_samples, graph.n_neighbors
        present = slice(None) if graph.mask is None else graph.mask.ravel()
        rows = np.repeat(np.arange(n, dtype=np.int64), k)[present]
        columns = graph.indices.ravel()[present].astype(np.int64)
        lengths = graph.distances.ravel()[present]
        if bridges is not None and len(bridges):
            rows = np.concatenate((rows, bridges.sources))
            columns = np.concatenate((columns, bridges.targets))
            lengths = np.concatenate((lengths, bridges.distances.astype(np.float32)))
        keys = np.concatenate((rows * n + columns, columns * n + rows))
        lengths = np.concatenate((lengths, lengths))
        order = np.lexsort((lengths, keys))
        keys, lengths = keys[order], lengths[order]
        first = np.concatenate(([True], keys[1:] != keys[:-1]))
        keys, lengths = keys[first], lengths[first]
        offsets = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n)
        return cls(scipy.sparse.csr_array((lengths, (keys % n).astype(np.int32), offsets), shape=(n, n)))

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def lengths_from(
        self,
        vertices: npt.NDArray[np.int32],
        starts: npt.NDArray[np.floating] | None = None,
        *,
        dtype: Precision = np.float64,
    ) -> npt.NDArray[Any]:
        """Measure shortest paths to all rows.

        Parameters
        ----------
        vertices : ndarray of shape (n_sources,) or (n_sources, n_starts), int32
            Rows where the paths of each source begin.
        starts : ndarray of the same shape, default=None
            Lengths already gone there, >= 0, inf where absent; zero by default. A row outside the graph is a source
            that starts at its neighbours.
        dtype : {np.float64, np.float32}, default=np.float64
            Of the result; lengths are summed in double and rounded once.

        Returns
        -------
        ndarray of shape (n_sources, n_samples)
            inf where no path leads.
        """
        n_threads = current_run().n_threads
        places = np.ascontiguousarray(vertices, dtype=np.int32)
        places = places[:, None] if places.ndim == 1 else places
        gone = np.zeros(places.shape) if starts is None else np.asarray(starts, dtype=np.float64)
        gone = np.ascontiguousarray(gone.reshape(places.shape))
        shape = (len(places), self.n_samples)
        edges = kernel_graph(self.matrix)
        if dtype is np.float32:
            single = np.empty(shape, dtype=np.float32)
            _core.geodesic_distances_single(edges, places, gone, single, n_threads)
            return single
        double = np.empty(shape, dtype=np.float64)
        _core.geodesic_distances_double(edges, places, gone, double, n_threads)
        return double


@entrance("geodesic_distances")
def geodesic_distances(
    graph: NeighborGraph,
    *,
    bridges: Bridges | None = None,
    sources: npt.ArrayLike | None = None,
    dtype: Precision = np.float64,
) -> npt.NDArray[Any]:
    """Measure shortest paths in the union graph of neighbours.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Two rows share an edge if one is a neighbour of the other; its length is their distance. Equal rows are joined
        by edges of length zero.
    bridges : Bridges, default=None
        Further edges, see `gnomon.neighbors.find_bridges`.
    sources : array-like of shape (n_sources,), integer, default=None
        Rows from which to measure; all by default.
    dtype : {np.float64, np.float32}, default=np.float64
        Of the result. Lengths are summed in double, from the source on; float32 adds one rounding, 6e-8 of the length.

    Returns
    -------
    ndarray of shape (n_sources, n_samples)
        In the units of the metric; inf where no path leads.

    References
    ----------
    .. [1] Tenenbaum, de Silva & Langford, "A global geometric framework for nonlinear dimensionality reduction",
       Science 290, 2000.
    """
    n = graph.n_samples
    rows = np.arange(n) if sources is None else np.asarray(sources)
    if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
        raise TypeError(message("sources", "one row of integers"))
    if rows.size and (int(rows.min()) < 0 or int(rows.max()) >= n):
        raise ValueError(message("sources", f"row numbers in [0, {n})"))
    return PathGraph.of(graph, bridges).lengths_from(rows.astype(np.int32), dtype=dtype)
