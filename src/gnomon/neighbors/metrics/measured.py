"""Metrics that are no function of a Euclidean distance: rows are compared by a compiled kernel of their own.

Candidates of an approximate search come from a Euclidean proxy: the rows themselves for manhattan and chebyshev; for
periodic columns circles of that circumference; for hamming sums of random signs, one of each column and value, whose
squared distances are proportional to it on average; for jaccard the sets as rows of length one, for ruzicka the roots
of amounts likewise. Dice and Sokal-Sneath distances ascend with those of jaccard, Rogers-Tanimoto with hamming.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.neighbors.euclidean import Values, as_values, scale_for
from gnomon.neighbors.measured_rows import MeasuredRows
from gnomon.neighbors.metrics.base import NativeMetric, refuse_negative, tell_of_numbers
from gnomon.neighbors.searched import SearchedRows
from gnomon.neighbors.sparse_rows import SparseRows, canonical, kernel_table

__all__ = [
    "Chebyshev",
    "Dice",
    "Hamming",
    "Jaccard",
    "Manhattan",
    "Periodic",
    "RogersTanimoto",
    "Ruzicka",
    "SokalSneath",
]

Float64Array = npt.NDArray[np.float64]

_WORD = 64
_BLOCK = 1024
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_LARGEST = 1e30  # amounts whose sums float32 holds
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class _Measured(NativeMetric):
    """Rows compared by a kernel."""

    kernel: ClassVar[str]

    def rows(self, X: Any, *, alone: bool = False) -> Any:
        """Return rows as the kernel takes them."""
        return self._sparse(canonical(X)) if scipy.sparse.issparse(X) else self._dense(as_values(X))

    def _dense(self, X: Values) -> Values:
        return X

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return X

    def searched(self, rows: Any) -> SearchedRows:
        """Make rows ready to be searched."""
        scale = self._scale(rows if isinstance(rows, np.ndarray) else rows.data)
        if not isinstance(rows, np.ndarray):
            return SparseRows(self.kernel, rows, self._parameters(rows), scale, self._sparse_proxy)
        return MeasuredRows(self.kernel, rows, self._parameters(rows), scale, self._proxy)

    def between(self, a: Any, b: Any) -> Float64Array:
        """Return the distances between all of two tables."""
        if not isinstance(a, np.ndarray):
            return _core.sparse_metric_distances(
                self.kernel, kernel_table(a), kernel_table(b), self._parameters(a), current_run().n_threads
            )
        if a.dtype != np.uint64:
            a, b = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (a, b))
        return _core.metric_distances(self.kernel, a, b, self._parameters(a), current_run().n_threads)

    def _parameters(self, rows: Any) -> Any:
        return np.empty(0, dtype=rows.dtype)

    def _scale(self, values: npt.NDArray[Any]) -> float:
        """Return a power of two that brings the largest value to about 1; 1 where distances are harmless."""
        return scale_for(float(np.abs(values).max(initial=0.0)), np.dtype(np.float64))

    def _proxy(self, rows: Values) -> Values:
        return rows

    def _sparse_proxy(self, rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return rows


class Manhattan(_Measured):
    """Sum of the differences, in [0, inf)."""

    name = kernel = "manhattan"


class Chebyshev(_Measured):
    """Largest difference, in [0, inf)."""

    name = kernel = "chebyshev"


class Hamming(_Measured):
    """Share of the columns in which two rows differ, in [0, 1]."""

    name = kernel = "hamming"
    asks_equality = True

    def _scale(self, values: npt.NDArray[Any]) -> float:
        return 1.0

    def _proxy(self, rows: Values) -> Values:
        sums = np.empty((len(rows), _WORD), dtype=np.float32)
        columns = np.arange(1, rows.shape[1] + 1, dtype=np.uint64) * _GOLDEN
        for begin in range(0, len(rows), _BLOCK):
            some = np.ascontiguousarray(rows[begin : begin + _BLOCK].astype(np.float64) + 0.0)  # one zero, not two
            words = _mixed(some.view(np.uint64) ^ columns)
            signs = np.unpackbits(words.view(np.uint8).reshape(*words.shape, 8), axis=2)
            sums[begin : begin + _BLOCK] = 2.0 * signs.sum(axis=1, dtype=np.float32) - rows.shape[1]
        return sums

    def _sparse_proxy(self, rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return _indicators(rows)


class Jaccard(_Measured):
    """Of the columns set in either of two rows, the share not set in both, in [0, 1]; 0 between two empty rows."""

    name = kernel = "jaccard"
    asks_equality = ends_at_one = compares_sets = True

    def _dense(self, X: Values) -> Values:
        tell_of_numbers(self.name, X)
        bits = np.packbits(X != 0.0, axis=1)
        width = -(-bits.shape[1] // 8) * 8
        return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, width - bits.shape[1])))).view(np.uint64)

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        tell_of_numbers(self.name, X)
        return _indicators(X)

    def _scale(self, values: npt.NDArray[Any]) -> float:
        return 1.0

    def _proxy(self, rows: Values) -> Values:
        sets = np.unpackbits(rows.view(np.uint8), axis=1).astype(np.float32)
        sets /= np.sqrt(np.maximum(sets.sum(axis=1, keepdims=True), np.float32(1.0)))
        return sets

    def _sparse_proxy(self, rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return _unit_roots(rows)


class Dice(Jaccard):
    """Of the sizes of two sets together, the share not set in both, in [0, 1]; 0 between two empty rows."""

    name = kernel = "dice"


class SokalSneath(Jaccard):
    """As jaccard, with what is not set in both counted twice, in [0, 1]; 0 between two empty rows."""

    name = kernel = "sokalsneath"


class RogersTanimoto(Hamming):
    """Share of the columns in which two sets differ, these counted twice, in [0, 1]."""

    name = kernel = "rogerstanimoto"
    compares_sets = True

    def _dense(self, X: Values) -> Values:
        tell_of_numbers(self.name, X)
        return np.asarray(X != 0.0, dtype=np.float32)

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        tell_of_numbers(self.name, X)
        return _indicators(X)


class Ruzicka(_Measured):
    """1 - sum of the smaller of two amounts / sum of the larger, in [0, 1]; 0 between two empty rows."""

    name = kernel = "ruzicka"
    ends_at_one = takes_amounts = True

    def for_table(self, X: Any) -> NativeMetric:
        """Return the metric of sets where all amounts are 0 and 1, which bits tell."""
        if scipy.sparse.issparse(X):
            return self
        parts = (X[begin : begin + _BLOCK] for begin in range(0, len(X), _BLOCK))
        return _OfBits() if all(((part == 0.0) | (part == 1.0)).all() for part in parts) else self

    def _dense(self, X: Values) -> Values:
        refuse_negative(self.name, X)
        self._refuse_large(float(X.max(initial=0.0)))
        return X

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        refuse_negative(self.name, X)
        self._refuse_large(float(X.data.max(initial=0.0)))
        return X

    def _refuse_large(self, largest: float) -> None:
        if largest > _LARGEST:
            fact, remedy = f"the largest is {largest:g}", "Divide all of them by the largest: no distance changes."
            rule = f"used with values up to {_LARGEST:g}"
            raise ValueError(message(f"metric={self.name!r}", rule, fact=fact, remedy=remedy))

    def _scale(self, values: npt.NDArray[Any]) -> float:
        return 1.0

    def _proxy(self, rows: Values) -> Values:
        roots = np.sqrt(rows)
        roots /= np.sqrt(_or_one(rows.sum(axis=1, keepdims=True)))
        return roots

    def _sparse_proxy(self, rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return _unit_roots(rows)


class _OfBits(Jaccard):
    """Amounts of 0 and 1: of two rows the smaller ones are what they share, the larger ones what either has."""

    name = "ruzicka"


class Periodic(_Measured):
    """Length of the differences, each taken the shorter way round its column's period, in [0, inf)."""

    name = "periodic"
    kernel = "wrapped"

    def __init__(self, period: Float64Array) -> None:
        self.period = period
        self.name = f"periodic({', '.join(f'{one:.17g}' for one in np.atleast_1d(period))})"

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """Make the metric with the period a user gave."""
        remedy = "Pass metric_params={'period': 360}, or a period for each column, None where it has none."
        if set(params) != {"period"}:
            what = f"metric_params={dict(params)!r:.60}"
            raise ValueError(message(what, "a mapping of 'period' alone for metric='periodic'", remedy=remedy))
        what = f"period={params['period']!r:.60}"
        try:
            period = np.array(params["period"], dtype=np.float64)  # None becomes NaN
        except (TypeError, ValueError):
            raise ValueError(message(what, "a number or one for each column", remedy=remedy)) from None
        period = np.where(np.isnan(period), np.inf, period)
        if period.ndim > 1 or period.size == 0 or not (period > 0.0).all():
            rule = "a positive number or one for each column, inf or None where a column is not periodic"
            raise ValueError(message(what, rule, remedy=remedy))
        return cls(period)

    def rows(self, X: Any, *, alone: bool = False) -> Any:
        """Return rows in float64 with periodic columns in [0, period)."""
        self.periods(X.shape[1])
        return super().rows(X, alone=alone)

    def _dense(self, X: Values) -> Values:
        return _wrapped(X.astype(np.float64), self.periods(X.shape[1]))

    def _sparse(self, X: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        return canonical(
            scipy.sparse.csr_array(
                (_wrapped(X.data, self.periods(X.shape[1])[X.indices]), X.indices, X.indptr), shape=X.shape
            )
        )

    def periods(self, n_features: int) -> Float64Array:
        """Return the period of each column, inf where it is plain; ValueError if there are others than columns."""
        if self.period.ndim and len(self.period) != n_features:
            fact = f"{len(self.period)} periods, {n_features} columns"
            raise ValueError(message("period", "one number or one for each column", fact=fact))
        return np.ascontiguousarray(np.broadcast_to(self.period, (n_features,)))

    def circles(self, X: Values) -> Float64Array:
        """Return rows with plain columns first, then periodic ones on circles: all cosines, then all sines."""
        return self._proxy(self.rows(X))

    def _parameters(self, rows: Any) -> Any:
        return self.periods(rows.shape[1])

    def _proxy(self, rows: Values) -> Values:
        period = self.periods(rows.shape[1])
        round_ones = np.isfinite(period)
        radius = period[round_ones] / (2.0 * np.pi)
        angles = rows[:, round_ones] / radius
        parts = [rows[:, ~round_ones], radius * np.cos(angles), radius * np.sin(angles)]
        return np.ascontiguousarray(np.column_stack(parts))

    def _sparse_proxy(self, rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """Return circles through the origin, so that a zero stays one."""
        period = self.periods(rows.shape[1])[rows.indices]
        radius = np.where(np.isfinite(period), period, 2.0 * np.pi) / (2.0 * np.pi)
        angles = rows.data / radius
        first = np.where(np.isfinite(period), radius * np.sin(angles), rows.data)
        second = np.where(np.isfinite(period), radius * (1.0 - np.cos(angles)), 0.0)
        return scipy.sparse.csr_array(
            scipy.sparse.hstack(
                [
                    scipy.sparse.csr_array((part, rows.indices, rows.indptr), shape=rows.shape)
                    for part in (first, second)
                ]
            )
        )


def _wrapped(values: Float64Array, period: Float64Array) -> Float64Array:
    """Return values in [0, period]; those of columns without a period as they are."""
    finite = np.isfinite(period)
    turns = np.floor(values / np.where(finite, period, 1.0))
    return np.ascontiguousarray(np.where(finite, values - np.where(finite, period, 0.0) * turns, values))


def _indicators(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)


def _or_one(values: Values) -> Values:
    return np.where(values > 0.0, values, values.dtype.type(1.0))


def _unit_roots(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return the roots of rows as rows of length one."""
    sums = np.asarray(rows.sum(axis=1)).ravel()
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / np.sqrt(_or_one(sums))) @ rows.sqrt())


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return 64 bits for each word that look drawn at random, by the finalizer of splitmix64."""
    words = (words ^ (words >> np.uint64(30))) * _MIXERS[0]
    words = (words ^ (words >> np.uint64(27))) * _MIXERS[1]
    return words ^ (words >> np.uint64(31))
