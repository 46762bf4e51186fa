"""Distances that the user computed, of fitted rows and of new ones."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message, warn
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.similarities import refuse_similarities

__all__ = [
    "among_rows",
    "check_distance_matrix",
    "clip_distances",
    "distances_to_fitted",
    "graph_of_distances",
    "graph_of_entries",
    "nearest_given",
]

_TOLERANCE = 1e-5  # of the largest distance: what float32 arithmetic leaves of symmetry and of zero
_BLOCK = 512
_log = logging.getLogger("gnomon.neighbors")


def among_rows(values: Any, rows: npt.NDArray[np.integer[Any]], metric: object) -> Any:
    """Return some rows of a table; of one of distances those to each other.

    Parameters
    ----------
    values : ndarray or CSR of shape (n_samples, n_features)
        The table.
    rows : ndarray of shape (n_rows,), int
        Which of its rows.
    metric : str or callable
        "precomputed" where the values are distances.

    Returns
    -------
    ndarray or CSR of shape (n_rows, n_features)
        Of distances (n_rows, n_rows).
    """
    found = values[rows]
    return found[:, rows] if isinstance(metric, str) and metric == "precomputed" else found


def graph_of_distances(X: Any, n_neighbors: int) -> NeighborGraph:
    """Build the graph of a square matrix of distances.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_samples)
        Dense: symmetric up to rounding, which is averaged out. Sparse: what is not stored is no neighbour. The diagonal
        is ignored; negative values within rounding count as zero. Similarities are refused.
    n_neighbors : int in [1, n_samples - 1]

    Returns
    -------
    NeighborGraph
        With a mask if a row has fewer than n_neighbors finite distances.
    """
    n = X.shape[0]
    if X.ndim != 2 or X.shape[1] != n:
        raise ValueError(message(f"a distance matrix of shape {X.shape}", "square, one row and column a sample"))
    refuse_similarities(X)
    if isinstance(X, np.ndarray):
        entries = _dense_entries(X, n_neighbors)
    else:
        matrix = X.tocoo(copy=True)
        matrix.sum_duplicates()
        rows, columns = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        given = matrix.data.astype(np.float64)
        entries = rows, columns, clip_distances(given)
        largest = float(np.max(given, where=np.isfinite(given), initial=0.0))
        _tell_of_diagonal(np.asarray(matrix.diagonal(), dtype=np.float64), largest)
        _tell_of_rounding(int(((given < 0.0) & (rows != columns)).sum()))
    rows, columns, distances = entries
    off = rows != columns
    if distances[off].size and not distances[off].any():
        warn("all distances are 0: the rows do not differ, and where a map puts them means nothing", DataWarning)
    return graph_of_entries(
        rows[off],
        columns[off],
        distances[off],
        n_samples=n,
        n_neighbors=n_neighbors,
        metric="precomputed",
        method="precomputed",
    )


def check_distance_matrix(X: Any) -> npt.NDArray[np.float64]:
    """Return the distances of all pairs, made symmetric, with a diagonal of zeros.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_samples)
        Square, finite, symmetric up to rounding, which is averaged out. The diagonal is not used; negative values
        within rounding, 1e-5 of the largest distance, count as zero. A sparse matrix must store every pair.

    Returns
    -------
    ndarray of shape (n_samples, n_samples), float64
        A copy.

    Raises
    ------
    ValueError
        If X is none of this; the text says where.
    """
    n = X.shape[0]
    if X.ndim != 2 or X.shape[1] != n:
        raise ValueError(message(f"a distance matrix of shape {X.shape}", "square, one row and column a sample"))
    refuse_similarities(X)
    matrix = X.astype(np.float64) if isinstance(X, np.ndarray) else _every_pair(X)
    own = np.asarray(X.diagonal(), dtype=np.float64)
    np.einsum("ii->i", matrix)[:] = 0.0
    if not np.isfinite(matrix).all():
        row, column = (int(place) for place in np.argwhere(~np.isfinite(matrix))[0])
        fact = f"{matrix[row, column]} at row {row} and column {column}"
        raise ValueError(message("distances", "finite", fact=fact))
    largest, n_below = float(matrix.max()), 0
    for begin in range(0, n, _BLOCK):
        n_below += int((matrix[begin : begin + _BLOCK] < 0.0).sum())
        matrix[begin : begin + _BLOCK] = clip_distances(matrix[begin : begin + _BLOCK], largest)
    gap, where = 0.0, (0, 0)
    for begin in range(0, n, _BLOCK):
        rows, mirror = matrix[begin : begin + _BLOCK, begin:], matrix[begin:, begin : begin + _BLOCK].T
        gaps = np.abs(rows - mirror)
        if gaps.max() > gap:
            place = divmod(int(gaps.argmax()), gaps.shape[1])
            gap, where = float(gaps.max()), (begin + place[0], begin + place[1])
        mean = (rows + mirror) / 2.0
        matrix[begin : begin + _BLOCK, begin:] = mean
        matrix[begin:, begin : begin + _BLOCK] = mean.T
    if gap > _TOLERANCE * largest:
        raise _asymmetric(gap, where)
    _tell_of_diagonal(own, largest)
    _tell_of_rounding(n_below)
    return matrix


def distances_to_fitted(X: Any) -> npt.NDArray[np.float64]:
    """Return given distances of new rows to those fitted, dense and not negative; a sparse table must store all.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_samples)
        Finite. Negative values within rounding, 1e-5 of the largest distance of their row, count as zero.

    Returns
    -------
    ndarray of shape (n_rows, n_samples), float64
    """
    if isinstance(X, np.ndarray):
        distances = X.astype(np.float64)
    else:
        stored = X.tocsr()
        if stored.nnz < X.shape[0] * X.shape[1]:
            fact = f"{X.shape[0] * X.shape[1] - stored.nnz} entries are not stored"
            raise ValueError(message("a sparse table of distances", "complete", fact=fact))
        distances = stored.toarray().astype(np.float64)
    for row in range(len(distances)):
        distances[row] = clip_distances(distances[row])
    return distances


def _tell_of_diagonal(own: npt.NDArray[np.float64], largest: float) -> None:
    """Warn if rows are given a distance from themselves, which is not used; infinity is none."""
    wrong = np.flatnonzero(np.isfinite(own) & (np.abs(own) > _TOLERANCE * largest))
    if len(wrong):
        text = f"the diagonal of the distances is not 0 for {len(wrong):,} of {len(own):,} rows and is not used"
        warn(f"{text} (the first is {own[wrong[0]]:g}).", DataWarning)


def _tell_of_rounding(n_below: int) -> None:
    """Log how many distances below 0 count as 0: too common for a warning."""
    if n_below:
        _log.info("%d distances are below 0 by rounding and count as 0", n_below)


def _every_pair(X: Any) -> npt.NDArray[np.float64]:
    """Return a sparse matrix of distances as a dense one if it stores every pair; a stored zero is a distance of 0."""
    stored = X.tocoo(copy=True)
    stored.sum_duplicates()
    rows, columns = stored.coords if hasattr(stored, "coords") else (stored.row, stored.col)
    n = X.shape[0]
    count = int((rows != columns).sum())
    if count < n * (n - 1):
        fact = f"{n * (n - 1) - count} of {n * (n - 1)} entries off the diagonal are not stored"
        remedy = "A pair that is not stored has no known distance. Pass a dense matrix."
        raise ValueError(message("a sparse distance matrix", "complete", fact=fact, remedy=remedy))
    matrix = np.zeros((n, n))
    matrix[rows, columns] = stored.data
    return matrix


def _asymmetric(gap: float, where: tuple[int, int]) -> ValueError:
    fact = f"the largest gap is {gap:g}, at row {where[0]} and column {where[1]}"
    remedy = "Pass (X + X.T) / 2 if the difference does not matter."
    return ValueError(message("a distance matrix", "symmetric", fact=fact, remedy=remedy))


def clip_distances(distances: npt.NDArray[np.float64], largest: float | None = None) -> npt.NDArray[np.float64]:
    """Set negative distances within rounding to zero; raise ValueError for others and for NaN."""
    n_missing = int(np.isnan(distances).sum())
    if n_missing:
        raise ValueError(message("distances", "numbers", fact=f"{n_missing} are NaN"))
    if distances.size == 0:
        return distances
    if largest is None:
        largest = float(np.max(distances, where=np.isfinite(distances), initial=0.0))
    lowest = float(distances.min())
    if lowest < -_TOLERANCE * largest:
        raise ValueError(message("distances", ">= 0", fact=f"the smallest is {lowest:g}"))
    return np.maximum(distances, 0.0)


def _nearest_entries(
    block: npt.NDArray[np.float64], first: int, n_neighbors: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Return the entries of some rows, the first being row number `first`, up to the n-th smallest and its equals."""
    bound = np.partition(block, n_neighbors - 1, axis=1)[:, n_neighbors - 1 : n_neighbors]
    rows, columns = np.nonzero(block <= bound)
    return rows + first, columns, block[rows, columns]


def _dense_entries(
    X: npt.NDArray[Any], n_neighbors: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Check a dense matrix block by block and return the entries that may be neighbours."""
    n = X.shape[0]
    largest = float(np.max(X, where=np.isfinite(X), initial=0.0))
    found, gap, where, n_below = [], 0.0, (0, 0), 0
    for begin in range(0, n, _BLOCK):
        rows = X[begin : begin + _BLOCK].astype(np.float64)
        mirror = X[:, begin : begin + _BLOCK].T.astype(np.float64)
        np.einsum("ii->i", rows[:, begin : begin + len(rows)])[:] = np.inf
        np.einsum("ii->i", mirror[:, begin : begin + len(rows)])[:] = np.inf
        n_below += int((rows < 0.0).sum())
        rows, mirror = clip_distances(rows, largest), clip_distances(mirror, largest)
        gaps = np.where(rows == mirror, 0.0, np.abs(np.where(rows == mirror, 0.0, rows) - mirror))
        if gaps.max() > gap:
            row, column = np.unravel_index(int(gaps.argmax()), gaps.shape)
            gap, where = float(gaps.max()), (begin + int(row), int(column))
        found.append(_nearest_entries((rows + mirror) / 2, begin, n_neighbors))
    if gap > _TOLERANCE * largest:
        raise _asymmetric(gap, where)
    _tell_of_diagonal(np.asarray(X.diagonal(), dtype=np.float64), largest)
    _tell_of_rounding(n_below)
    rows_found, columns_found, distances = zip(*found, strict=True)
    return np.concatenate(rows_found), np.concatenate(columns_found), np.concatenate(distances)


def graph_of_entries(
    rows: npt.NDArray[np.integer],
    columns: npt.NDArray[np.integer],
    distances: npt.NDArray[np.floating],
    *,
    n_samples: int,
    n_neighbors: int,
    metric: str,
    method: str,
) -> NeighborGraph:
    """Build a graph from the nearest entries of each row.

    Parameters
    ----------
    rows, columns, distances : ndarray of shape (n_entries,)
        Who is how far from whom; no pair twice, no row with itself. Infinite distances count as absent.
    n_samples, n_neighbors : int
    metric, method : str
        What the graph says about itself.

    Returns
    -------
    NeighborGraph
    """
    near = np.isfinite(distances)
    if not near.all():
        rows, columns, distances = rows[near], columns[near], distances[near]
    if not _in_order(rows, columns, distances):
        order = np.lexsort((columns, distances, rows))
        rows, columns, distances = rows[order], columns[order], distances[order]
    counts = np.bincount(rows, minlength=n_samples)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = places < n_neighbors
    # Absent neighbours repeat the last one; a row without any points at the row after it.
    last = (np.arange(n_samples) + 1) % n_samples
    ends = np.minimum(counts, n_neighbors) - 1
    at_end = kept & (places == ends[rows])
    last[rows[at_end]] = columns[at_end]
    indices = np.repeat(last.astype(np.int32)[:, None], n_neighbors, axis=1)
    values = np.full((n_samples, n_neighbors), np.inf, dtype=np.float32)
    indices[rows[kept], places[kept]] = columns[kept]
    values[rows[kept], places[kept]] = distances[kept]
    short = np.flatnonzero(counts < n_neighbors)
    if len(short) == 0:
        return NeighborGraph(indices, values, None, metric, method)
    text = (
        f"{len(short):,} rows have fewer than {n_neighbors} neighbours at finite distance "
        f"(first: {', '.join(map(str, short[:5]))}); they use what exists"
    )
    warn(text, NeighborsWarning)
    return NeighborGraph(indices, values, np.isfinite(values), metric, method)


def _in_order(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], distances: npt.NDArray[np.floating]
) -> bool:
    """Say whether entries ascend by (row, distance, column)."""
    row, distance, column = np.diff(rows), np.diff(distances), np.diff(columns)
    return bool(((row > 0) | ((row == 0) & ((distance > 0) | ((distance == 0) & (column > 0))))).all())


@entrance("nearest_given")
def nearest_given(distances: Any, n_neighbors: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Find the smallest distances of each new row.

    Parameters
    ----------
    distances : ndarray or CSR of shape (n_new, n_samples)
        Of new rows to fitted ones, >= 0. What a sparse matrix does not store is no neighbour; a stored 0 is a distance.
    n_neighbors : int in [1, n_samples]
        Found for each row.

    Returns
    -------
    indices : ndarray of shape (n_new, n_neighbors), int32
    distances : ndarray of shape (n_new, n_neighbors), float32
        Ascending by (distance, index); inf, at index 0, where a row has fewer.
    """
    n_new = distances.shape[0]
    indices = np.zeros((n_new, n_neighbors), dtype=np.int32)
    lengths = np.full((n_new, n_neighbors), np.inf, dtype=np.float32)
    if not isinstance(distances, np.ndarray):
        for i in range(n_new):
            part = slice(distances.indptr[i], distances.indptr[i + 1])
            columns = distances.indices[part]
            row = clip_distances(distances.data[part].astype(np.float64))
            order = np.lexsort((columns, row))[:n_neighbors]
            indices[i, : order.size], lengths[i, : order.size] = columns[order], row[order]
        return indices, lengths
    for begin in range(0, n_new, _BLOCK):
        block = clip_distances(np.asarray(distances[begin : begin + _BLOCK], dtype=np.float64))
        order = np.argsort(block, axis=1, kind="stable")[:, :n_neighbors]
        indices[begin : begin + len(block)] = order
        lengths[begin : begin + len(block)] = np.take_along_axis(block, order, axis=1)
    return indices, lengths
