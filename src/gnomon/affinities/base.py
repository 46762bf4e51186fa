"""Affinities of pairs of rows, and how weights of the neighbours of each row are joined into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.neighbors.graph import NeighborGraph

__all__ = [
    "Affinities",
    "Join",
    "fuzzy_union",
    "joined_matrix",
    "mean_of_directions",
    "rows_as_matrix",
    "scaled_mean_of_directions",
    "sum_of_directions",
    "sums_to_one",
    "usable_distances",
]

Float32Array = npt.NDArray[np.float32]

_NORMALIZATIONS = ("total", "membership", "rows", "weights")

Join = Literal["total", "rows", "membership"]
"""How affinities of rows are joined to those of pairs: `NeighborAffinity` says what each means."""


@dataclass(frozen=True)
class Affinities(ShortRepr):
    """Non-negative affinities between points, symmetric unless they are each row's own.

    Attributes
    ----------
    matrix : csr_array of shape (n_samples, n_samples), float32
        Non-negative, zero diagonal (not stored), column indices sorted in each row; symmetric but for "rows".
    normalization : {"total", "membership", "rows", "weights"}
        "total": all entries sum to 1 (t-SNE). "membership": each entry is in (0, 1] (UMAP's fuzzy set). "rows": each
        row sums to 1 and is its own distribution (SNE). "weights": edges of a graph, on a scale of their own (Laplacian
        eigenmaps).
    bandwidths : ndarray of shape (n_samples,), float32, or None
        The scale found for each row, in the units of the metric.
    masses : ndarray of shape (n_samples,), float64, or None, default=None
        How many rows each row stands for, of mean 1, where they are not all equal. Affinities are then those of all the
        rows that two points stand for, and a loss counts a pair of points as so many pairs of rows.
    symmetric : bool, default=False
        Whether the matrix is known to be symmetric, by how it was made. Of others a loss over pairs looks.
    """

    matrix: scipy.sparse.csr_array
    normalization: Literal["total", "membership", "rows", "weights"]
    bandwidths: npt.NDArray[np.float32] | None = None
    masses: npt.NDArray[np.float64] | None = None
    symmetric: bool = False

    def __post_init__(self) -> None:
        if self.normalization not in _NORMALIZATIONS:
            rule = f"one of {', '.join(map(repr, _NORMALIZATIONS))}"
            raise ValueError(message(f"normalization={self.normalization!r:.40}", rule, who="Affinities"))
        if getattr(self.matrix, "format", "") != "csr":
            kind = type(self.matrix).__name__
            remedy = "Pass scipy.sparse.csr_array(matrix)."
            raise TypeError(message("matrix", "a csr_array", fact=f"found {kind}", remedy=remedy, who="Affinities"))
        shape: tuple[int, ...] = self.matrix.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(message(f"matrix of shape {shape}", "of shape (n_samples, n_samples)", who="Affinities"))

    def of_pairs(self) -> Affinities:
        """Return affinities of pairs: of "rows" the mean of both directions, "membership"; others as they are."""
        if self.normalization != "rows":
            return self
        own = self.matrix if self.masses is None else scipy.sparse.diags_array(self.masses) @ self.matrix
        both = scipy.sparse.csr_array((own + own.T) / 2.0).astype(self.matrix.dtype)
        both.sort_indices()
        return Affinities(both, "membership", self.bandwidths, self.masses, symmetric=True)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.matrix.shape[0])


def usable_distances(graph: NeighborGraph) -> Float32Array:
    """Return the distances of a graph as the kernels take them: float32, contiguous, inf where the mask is False.

    Parameters
    ----------
    graph : NeighborGraph
        Its row numbers are checked, because a wrong one would be an address outside the memory.

    Returns
    -------
    ndarray of shape (n_samples, n_neighbors), float32

    Raises
    ------
    ValueError
        If shapes differ or a row number lies outside [0, n_samples).
    """
    if graph.indices.ndim != 2 or graph.indices.shape != graph.distances.shape:
        found = f"indices of shape {graph.indices.shape} with distances of shape {graph.distances.shape}"
        raise ValueError(message(found, "two matrices of the same shape (n_samples, n_neighbors)"))
    n_samples = graph.n_samples
    if graph.indices.size and not (int(graph.indices.min()) >= 0 and int(graph.indices.max()) < n_samples):
        found = f"row numbers from {graph.indices.min()} to {graph.indices.max()}"
        raise ValueError(message(found, f"in [0, {n_samples})", remedy="Mark missing neighbours in the mask."))
    distances = np.ascontiguousarray(graph.distances, dtype=np.float32)
    if graph.mask is not None:
        distances = np.where(graph.mask, distances, np.float32(np.inf))
    return distances


def joined_matrix(
    parts: tuple[npt.NDArray[np.integer], npt.NDArray[np.int32], npt.NDArray[np.float32]],
) -> scipy.sparse.csr_array:
    """Return the matrix that a kernel has joined of both directions, without a copy of its entries.

    Parameters
    ----------
    parts : tuple of ndarray
        Offsets of the rows, (n_samples + 1,), columns that ascend in each row, and values, both (n_entries,).

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    offsets, columns, values = parts
    n = offsets.size - 1
    if columns.size <= np.iinfo(np.int32).max:  # SciPy keeps both in the wider type: columns would be copied
        offsets = offsets.astype(np.int32)
    matrix = scipy.sparse.csr_array((values, columns, offsets), shape=(n, n))
    matrix.has_canonical_format = True  # columns come sorted and unique
    return matrix


def mean_of_directions(indices: npt.NDArray[np.int32], weights: npt.NDArray[np.float32]) -> scipy.sparse.csr_array:
    """Return (W + W') / s with s such that all entries sum to 1.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors), float32
        Rows sum to 1, or to 0 for a row without neighbours. Entries of 0 are not stored.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    n_weighted = int(np.count_nonzero(weights.any(axis=1)))
    return scaled_mean_of_directions(indices, weights, max(n_weighted, 1))


def scaled_mean_of_directions(
    indices: npt.NDArray[np.int32], weights: npt.NDArray[np.float32], total: float
) -> scipy.sparse.csr_array:
    """Return (W + W') / (2 total).

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors), float32
        Entries of 0 are not stored.
    total : float > 0

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    indices = np.ascontiguousarray(indices, dtype=np.int32)
    return joined_matrix(_core.symmetrize(indices, weights, False, 0.5 / total, current_run().n_threads))


def fuzzy_union(
    indices: npt.NDArray[np.int32], weights: npt.NDArray[np.float32], *, set_op_mix_ratio: float = 1.0
) -> scipy.sparse.csr_array:
    """Return r (W + W' - W W') + (1 - r) W W', entry by entry.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors), float32
        In [0, 1]. Entries that come out as 0 are not stored.
    set_op_mix_ratio : float in [0, 1], default=1.0
        r: 1 is the fuzzy union, 0 the fuzzy intersection.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    indices = np.ascontiguousarray(indices, dtype=np.int32)
    return joined_matrix(_core.symmetrize(indices, weights, True, set_op_mix_ratio, current_run().n_threads))


def sum_of_directions(
    indices: npt.NDArray[np.int32], chosen: npt.NDArray[np.bool_] | None = None
) -> scipy.sparse.csr_array:
    """Return (C + C') / 2 of the choices C that rows make: half the number of times that a pair was chosen.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_chosen), int32
        What each row chose, different from each other.
    chosen : ndarray of shape (n_samples, n_chosen), bool, or None, default=None
        False where an entry is none.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
    """
    weights = np.ones(indices.shape, dtype=np.float32) if chosen is None else chosen.astype(np.float32)
    return joined_matrix(
        _core.symmetrize(np.ascontiguousarray(indices, dtype=np.int32), weights, False, 0.5, current_run().n_threads)
    )


def rows_as_matrix(indices: npt.NDArray[Any], weights: npt.NDArray[Any]) -> scipy.sparse.csr_array:
    """Return weights of neighbours as a matrix, each row its own.

    Parameters
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int
        Neighbours of each row.
    weights : ndarray of shape (n_samples, n_neighbors)
        Entries of 0 are not stored.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        In the precision of the weights, columns sorted in each row.
    """
    n_samples, n_neighbors = indices.shape
    starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    parts = (weights.flatten(), indices.flatten(), starts)  # copies, which sorting changes
    matrix = scipy.sparse.csr_array(parts, shape=(n_samples, n_samples))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def sums_to_one(weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Divide rows by their sums, taken one after the other so that they do not depend on the number of rows."""
    totals = np.zeros(len(weights))
    for column in weights.T:
        totals += column
    return np.asarray(weights / np.where(totals > 0.0, totals, 1.0)[:, None], dtype=weights.dtype)
