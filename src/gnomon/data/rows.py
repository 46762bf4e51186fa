"""Constant columns, identical rows and tables that look like distances, found exactly and quickly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import row_hashes
from gnomon._validation import warn
from gnomon.data.arrays import FloatArray
from gnomon.exceptions import DataWarning

__all__ = ["find_constant_columns", "find_duplicate_rows", "warn_of_distances", "warn_of_one_row"]

_FEWEST_DISTANCES = 4  # rows: fewer may be symmetric by chance
_CHUNK = 1 << 17  # values looked at together: about a megabyte, so that a chunk stays in the cache

UInt64Array = npt.NDArray[np.uint64]


def _row_chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def find_constant_columns(values: FloatArray | scipy.sparse.csr_array) -> npt.NDArray[np.intp]:
    """Find the columns whose values are all equal.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        Finite values.

    Returns
    -------
    ndarray of int
        Their numbers, ascending. All columns if there is one row or none.
    """
    n, width = values.shape
    if n == 0:
        return np.arange(width)
    if not isinstance(values, np.ndarray):
        return _constant_sparse_columns(values)
    columns = np.arange(width)
    for rows in _row_chunks(n, width):
        # Most columns vary at once, so that later chunks look at few.
        block = values[rows] if columns.size == width else values[rows][:, columns]
        columns = columns[(block == values[0, columns]).all(axis=0)]
        if columns.size == 0:
            break
    return columns


def _constant_sparse_columns(values: scipy.sparse.csr_array) -> npt.NDArray[np.intp]:
    n, width = values.shape
    stored = np.bincount(values.indices[values.data != 0], minlength=width)
    columns = np.flatnonzero((stored == 0) | (stored == n))
    full = columns[stored[columns] == n]
    if full.size == 0:
        return columns
    dense = values[:, full].toarray()
    varying = full[(dense != dense[0]).any(axis=0)]
    return np.setdiff1d(columns, varying)


def _weights(n: int) -> UInt64Array:
    """Return odd 64-bit numbers, one for each column."""
    return _mix(np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)


def _mix(words: UInt64Array) -> UInt64Array:
    # The low bits of a small number in floating point are zero, and a sum of products has the zeros of its factors:
    # multiply and fold the high half onto the low half first.
    mixed = words * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _hash_sparse(values: scipy.sparse.csr_array) -> UInt64Array:
    n, width = values.shape
    hashes = np.zeros(n, np.uint64)
    weights = _weights(width)
    per_row = values.nnz // max(1, n) + 1
    for rows in _row_chunks(n, per_row):
        start, end = values.indptr[rows.start], values.indptr[rows.stop]
        words = (values.data[start:end].astype(np.float64) + 0.0).view(np.uint64)
        # Zero has the word 0, so a stored zero adds nothing and equals an absent one.
        sums = np.zeros(end - start + 1, np.uint64)
        np.cumsum(_mix(words) * weights[values.indices[start:end]], out=sums[1:])
        hashes[rows] = np.diff(sums[values.indptr[rows.start : rows.stop + 1] - start])
    return hashes


def _rows_differ(
    values: FloatArray | scipy.sparse.csr_array, left: npt.NDArray[np.intp], right: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """Return which pairs of rows are not equal."""
    differ = np.zeros(left.size, np.bool_)
    for pairs in _row_chunks(left.size, values.shape[1]):
        if isinstance(values, np.ndarray):
            differ[pairs] = (values[left[pairs]] != values[right[pairs]]).any(axis=1)
        else:
            difference: Any = values[left[pairs]] - values[right[pairs]]  # which stores no zeros
            differ[pairs] = np.diff(difference.indptr) > 0
    return differ


def find_duplicate_rows(
    values: FloatArray | scipy.sparse.csr_array,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find which rows are equal.

    Rows are hashed and rows of equal hash compared, so the answer is exact; it depends on the values alone.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        Finite values, C-contiguous or canonical.

    Returns
    -------
    representatives : ndarray of shape (n_distinct,), int
        The first row of each set of equal rows, ascending.
    inverse : ndarray of shape (n_samples,), int
        Position in `representatives` for each row: ``values[representatives[inverse]]`` equals ``values``.
    """
    n = values.shape[0]
    hashes = row_hashes(values) if isinstance(values, np.ndarray) else _hash_sparse(values)
    first = np.arange(n)  # for each row the first row that equals it
    pending = np.arange(n)  # rows still to be placed, ascending
    while pending.size:
        _, heads, groups = np.unique(hashes[pending], return_index=True, return_inverse=True)
        leaders = pending[heads[groups.ravel()]]
        follows = np.flatnonzero(pending != leaders)
        differ = _rows_differ(values, pending[follows], leaders[follows])
        first[pending[follows[~differ]]] = leaders[follows[~differ]]
        # Rows that share a hash without being equal to its first row are compared among themselves.
        pending = pending[follows[differ]]
    representatives = np.flatnonzero(first == np.arange(n))
    return representatives, np.searchsorted(representatives, first)


def warn_of_one_row(values: FloatArray | scipy.sparse.csr_array) -> bool:
    """Warn if all rows are equal, so that a map of them is one point; say whether they are.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        Finite values; a sparse matrix stores no zeros.

    Returns
    -------
    bool
    """
    if not _are_equal(values):
        return False
    warn(f"{values.shape[0]:,} rows hold 1 distinct row; they share one position.", DataWarning)
    return True


def _are_equal(values: FloatArray | scipy.sparse.csr_array) -> bool:
    n, width = values.shape
    if isinstance(values, np.ndarray):  # rows that differ mostly do so in the first chunk
        return all(bool((values[rows] == values[0]).all()) for rows in _row_chunks(n, width))
    counts = np.diff(values.indptr)
    return bool((counts == counts[:1]).all()) and all(
        bool((one.reshape(n, -1) == one[: counts[0]]).all()) for one in (values.indices, values.data) if one.size
    )


def warn_of_distances(values: FloatArray | scipy.sparse.csr_array) -> None:
    """Warn of a table that is taken for features and looks like distances: symmetric, of numbers above a zero diagonal.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n_samples, n_features)
        Sparse ones are not looked at.
    """
    n, width = values.shape
    if n != width or n < _FEWEST_DISTANCES or not isinstance(values, np.ndarray) or values.diagonal().any():
        return
    if (values >= 0.0).all() and values.any() and np.allclose(values, values.T, rtol=1e-5, atol=0.0):
        text = (
            f"X of shape ({n}, {n}) is symmetric with zeros on its diagonal, as distances are, and its columns are "
            "taken for features. If they are distances, fit a method on them in Python, such as "
            "gnomon.MDS(metric='precomputed').fit(X): gnomon.map, also on the command line, takes features"
        )
        warn(text, DataWarning)
