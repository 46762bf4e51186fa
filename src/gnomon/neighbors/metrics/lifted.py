"""Metrics that are a function of a Euclidean distance: rows are lifted to points and searched as these are.

========== ============================================ =========================
metric     point of a row x                             distance of a chord c
========== ============================================ =========================
euclidean  x                                            c
cosine     x / |x|                                      c^2 / 2
correlation (x - mean x) / |x - mean x|                 c^2 / 2
hellinger  the roots of x / sum x                       c / sqrt(2)
haversine  of latitude and longitude, on a unit sphere  2 arcsin(c / 2)
========== ============================================ =========================
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._arithmetic import row_distances, squared_lengths
from gnomon._run import current_run
from gnomon._validation import message, warn
from gnomon.exceptions import DataWarning
from gnomon.neighbors.euclidean import Distances, Points, Values, as_values
from gnomon.neighbors.metrics.base import NativeMetric, refuse_negative, told_rows
from gnomon.neighbors.searched import SearchedRows
from gnomon.neighbors.sparse_rows import SparseRows, canonical, kernel_table

__all__ = ["Correlation", "Cosine", "Euclidean", "Haversine", "Hellinger", "count_merged_zeros", "untold_zeros"]

_MERGED = "rows of zeros"  # where a call keeps how many a table has
_UNTOLD: ContextVar[bool] = ContextVar("gnomon_untold_zeros", default=False)


@contextmanager
def untold_zeros() -> Iterator[None]:
    """Leave rows of zeros without a warning inside a block, as the caller has told of them.

    Yields
    ------
    None
        To the block.
    """
    token = _UNTOLD.set(True)
    try:
        yield
    finally:
        _UNTOLD.reset(token)


Float64Array = npt.NDArray[np.float64]

_BLOCK = 4096
_SAFE = 2.0**40  # squares of numbers up to here, and sums of many, are float32 numbers
_QUARTER_TURN = 1.0001 * np.pi / 2.0  # and what rounding to single precision adds


class _Lifted(NativeMetric):
    """Rows as points."""

    def rows(self, X: Any, *, alone: bool = False) -> Any:
        """Return the points of rows."""
        return self._sparse(canonical(X)) if scipy.sparse.issparse(X) else self._dense(as_values(X), alone)

    @abstractmethod
    def _dense(self, X: Values, alone: bool) -> Values: ...

    @abstractmethod
    def _sparse(self, X: scipy.sparse.csr_array) -> Any: ...

    def searched(self, rows: Any) -> SearchedRows:
        """Make points ready to be searched."""
        if isinstance(rows, np.ndarray):
            return Points.of(rows)
        largest = float(np.abs(rows.data).max(initial=0.0))
        scale = 2.0 ** -np.ceil(np.log2(largest)) if largest > _SAFE or 0.0 < largest < 1.0 / _SAFE else 1.0
        return SparseRows("euclidean", rows, self._weights(rows), float(scale), _as_they_are)

    def between(self, a: Any, b: Any) -> Float64Array:
        """Return the distances between all of two tables of points."""
        if isinstance(a, np.ndarray):
            chords = row_distances(a, b)
        else:
            chords = _core.sparse_metric_distances(
                "euclidean", kernel_table(a), kernel_table(b), self._weights(a), current_run().n_threads
            )
        found: Float64Array = self._of_chords(chords)
        return found

    @abstractmethod
    def _of_chords(self, chords: Any) -> Any:
        """Turn Euclidean distances, float32 or float64, into those of the metric."""

    def distances(self, found: Distances) -> Distances:
        """Turn chords into distances."""
        lengths: Distances = self._of_chords(found)
        return lengths

    def _weights(self, rows: scipy.sparse.csr_array) -> Float64Array:
        return np.empty(0)


def _as_they_are(rows: Any) -> Any:
    return rows


class Euclidean(_Lifted):
    """Length of the difference, in [0, inf)."""

    name = "euclidean"

    def _dense(self, X: Values, alone: bool) -> Values:
        return X

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return X

    def _of_chords(self, chords: Any) -> Any:
        return chords


class Cosine(_Lifted):
    """1 - cos in [0, 2]; rows of zeros are at distance 0 from each other and 1 from everything else."""

    name = "cosine"
    needs_direction = True

    def _dense(self, X: Values, alone: bool) -> Values:
        zero = np.asarray(~X.any(axis=1))
        self._tell(int(zero.sum()))
        return _with_zero_rows(_unit_rows(X, _as_they_are), zero, alone)

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        zero = np.diff(X.indptr) == 0
        self._tell(int(zero.sum()))
        return scipy.sparse.csr_array(scipy.sparse.hstack([_sparse_unit_rows(X), _column(zero)], format="csr"))

    def _of_chords(self, chords: Any) -> Any:
        return np.minimum(chords.dtype.type(0.5) * chords * chords, chords.dtype.type(2.0))

    def _tell(self, count: int) -> None:
        if not count or _UNTOLD.get():
            return
        if count == 1:  # equal rows that were merged are told of as given
            count = (current_run().made or {}).get(_MERGED, 1)
        which = "1 row is all zeros; its" if count == 1 else f"{count:,} rows are all zeros; their"
        to_others = "such rows" if count == 1 else "each other"
        warn(f"{which} {self.name} distance is 0 to {to_others} and 1 to all other rows", DataWarning)


class Hellinger(Cosine):
    """sqrt(1 - sum sqrt(p q)) in [0, 1] of rows divided by their sums; rows of zeros as under cosine."""

    name = "hellinger"
    takes_amounts = True

    def _dense(self, X: Values, alone: bool) -> Values:
        refuse_negative(self.name, X)
        return super()._dense(np.sqrt(X), alone)

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        refuse_negative(self.name, X)
        return super()._sparse(X.sqrt())

    def _of_chords(self, chords: Any) -> Any:
        return np.minimum(chords * chords.dtype.type(0.5**0.5), chords.dtype.type(1.0))


class Correlation(Cosine):
    """1 - the correlation of the values of two rows, in [0, 2]; not defined for a row of equal values."""

    name = "correlation"
    needs_direction = False  # rows without one are refused

    def _dense(self, X: Values, alone: bool) -> Values:
        _refuse_constant(X.max(axis=1) == X.min(axis=1))
        return _unit_rows(X, _centred)

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """Return x / |x - mean x| and, in a column of weight -1, what centring takes from its squared distances.

        With b = mean x / |x - mean x| the points are these rows less b in every of D columns, and the squared chord of
        two is that of the rows less D (b - b')^2.
        """
        n_features = X.shape[1]
        stored = np.diff(X.indptr)
        high = np.maximum(_row_max(X), np.where(stored < n_features, 0.0, -np.inf))
        low = -np.maximum(_row_max(-X), np.where(stored < n_features, 0.0, -np.inf))
        _refuse_constant(high == low)
        scaled = scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / np.maximum(np.abs(high), np.abs(low))) @ X)
        means = np.asarray(scaled.sum(axis=1)).ravel() / n_features
        own = np.repeat(np.arange(X.shape[0]), stored)
        squares = np.bincount(own, (scaled.data - means[own]) ** 2, X.shape[0]) + (n_features - stored) * means**2
        lengths = np.sqrt(squares)
        column = scipy.sparse.csr_array((np.sqrt(n_features) * means / lengths)[:, None])
        return canonical(scipy.sparse.hstack([scipy.sparse.diags_array(1.0 / lengths) @ scaled, column], format="csr"))

    def _weights(self, rows: scipy.sparse.csr_array) -> Float64Array:
        weights = np.ones(rows.shape[1])
        weights[-1] = -1.0
        return weights


class Haversine(_Lifted):
    """Angle between two directions in radians, in [0, pi], of rows of latitude and longitude in radians."""

    name = "haversine"

    def periods(self, n_features: int) -> Float64Array:
        """Return that of longitudes."""
        return np.array([np.inf, 2.0 * np.pi])

    def _dense(self, X: Values, alone: bool) -> Values:
        _check_angles(X)
        latitude, longitude = X.astype(np.float64).T
        return np.column_stack(
            [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
        )

    def _sparse(self, X: scipy.sparse.csr_array) -> Values:
        return self._dense(X.toarray(), False) if X.shape[1] == 2 else self._dense(np.empty((1, X.shape[1])), False)

    def _of_chords(self, chords: Any) -> Any:
        angles = 2.0 * np.arcsin(np.minimum(0.5 * chords.astype(np.float64), 1.0))
        return angles.astype(chords.dtype)


def count_merged_zeros(distinct: Any, copies: npt.NDArray[np.intp]) -> None:
    """Let the warning of a row of zeros tell of all the rows that were merged into it, for the length of a call.

    Parameters
    ----------
    distinct : ndarray or csr_array of shape (n_distinct, n_features)
        The rows that are searched, all distinct; a sparse matrix stores no zeros.
    copies : ndarray of shape (n_samples,), int
        Which of them each row given is.
    """
    made = current_run().made
    if made is None:
        return
    zero = ~distinct.any(axis=1) if isinstance(distinct, np.ndarray) else np.diff(distinct.indptr) == 0
    if zero.any():
        made[_MERGED] = int(np.count_nonzero(copies == int(zero.argmax())))


def _unit_rows(X: Values, centred: Any) -> Values:
    """Scale rows, or what `centred` makes of them, to length one; rows of zeros stay."""
    out = np.empty_like(X)
    for begin in range(0, len(X), _BLOCK):
        rows = X[begin : begin + _BLOCK].astype(np.float64)
        rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)  # squares stay finite
        rows = centred(rows)
        rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        rows /= np.maximum(np.sqrt(squared_lengths(rows)), 0.5)[:, None]  # at least 1 unless all is zero
        out[begin : begin + _BLOCK] = rows
    return out


def _centred(rows: Float64Array) -> Float64Array:
    centred: Float64Array = rows - rows.mean(axis=1, keepdims=True)
    return centred


def _with_zero_rows(rows: Values, zero: npt.NDArray[np.bool_], alone: bool) -> Values:
    """Append a coordinate of rows of zeros: they are then at distance sqrt(2) from every other row, 0 from each other.

    Whether some new row is all zeros must not matter, so only rows that are compared with each other alone do without.
    """
    if alone and not zero.any():
        return rows
    return np.ascontiguousarray(np.column_stack([rows, zero.astype(rows.dtype)]))


def _sparse_unit_rows(X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    scaled = scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / _or_one(_row_max(abs(X)))) @ X)
    own = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    lengths = np.sqrt(np.bincount(own, scaled.data**2, X.shape[0]))
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / _or_one(lengths)) @ scaled)


def _or_one(values: Float64Array) -> Float64Array:
    return np.where(values > 0.0, values, 1.0)


def _row_max(X: scipy.sparse.csr_array) -> Float64Array:
    """Return the largest stored value of each row, -inf in a row without any."""
    found = np.full(X.shape[0], -np.inf)
    np.maximum.at(found, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.data)
    return found


def _column(marked: npt.NDArray[np.bool_]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(marked.astype(np.float64)[:, None])


def _refuse_constant(constant: npt.NDArray[np.bool_]) -> None:
    if constant.any():
        fact = f"the values are equal in {told_rows(constant)}"
        raise ValueError(message("metric='correlation'", "defined for all rows", fact=fact, remedy="Drop these rows."))


def _check_angles(X: Values) -> None:
    remedy = "Pass latitude and longitude in radians, such as numpy.radians(degrees)."
    if X.shape[1] != 2:
        rule, fact = "used with two columns", f"found {X.shape[1]}"
        raise ValueError(message("metric='haversine'", rule, fact=fact, remedy=remedy))
    latitude, longitude = (float(np.abs(X[:, i]).max()) for i in range(2))
    if latitude > _QUARTER_TURN or longitude > 4.0 * _QUARTER_TURN:
        rule = "used with latitudes from -pi/2 to pi/2 and longitudes from -2 pi to 2 pi"
        fact = f"the largest magnitudes are {latitude:.3g} and {longitude:.3g}"
        raise ValueError(message("metric='haversine'", rule, fact=fact, remedy=remedy))
