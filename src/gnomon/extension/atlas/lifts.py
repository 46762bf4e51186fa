"""Points that stand for rows in an atlas: where they lie, distances between rows are as the metric of the map has them.

============ ============================================ =================================
metric       point of a row x                             rows at a place of the map
============ ============================================ =================================
cosine       x / |x|                                      blended as they are
correlation  (x - mean x) / |x - mean x|, of dense tables blended as they are
periodic     circles, of dense tables                     blended on the circles
haversine    on a unit sphere, of dense tables            blended on the sphere
of sets      x, in columns of other numbers 0 and 1       blended as they are
others       x                                            blended as they are
============ ============================================ =================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import arctan2
from gnomon._validation import unsaid
from gnomon.exceptions import DataWarning
from gnomon.linalg.table import dense_rows
from gnomon.neighbors import NativeMetric, as_sets, native_metric

__all__ = ["Lift", "lift_of"]

Float64Array = npt.NDArray[np.float64]


class Lift:
    """Rows that are their own points."""

    is_metric: bool = False  # whether distances between points tell those of the metric
    gives_rows: bool = True  # whether a point says all of its row

    def points(self, rows: Any) -> Any:
        """Return the points of rows, an array or CSR; each is a function of its row alone."""
        return rows

    def of_rows(self, rows: Any, derivatives: Float64Array) -> Float64Array:
        """Turn derivatives by the points of rows, (n_rows, n_components, n_coordinates), into those by the rows."""
        return derivatives

    def rows(self, points: Float64Array) -> Float64Array:
        """Return the rows of points, or of what lies near some."""
        return points


@dataclass(frozen=True)
class _Directions(Lift):
    """Rows of length one, centred under correlation; the derivative at a row of zeros is 0."""

    metric: NativeMetric
    is_centered: bool
    is_metric = True
    gives_rows = False

    def points(self, rows: Any) -> Any:
        with unsaid(DataWarning):  # the search has told of rows of zeros
            return self.metric.rows(rows)

    def of_rows(self, rows: Any, derivatives: Float64Array) -> Float64Array:
        values = dense_rows(rows)
        unit = dense_rows(self.points(rows))[:, : values.shape[1]]
        lengths = (values * unit).sum(axis=1)  # of centred rows: the unit vector has no mean
        slopes = derivatives[..., : values.shape[1]]  # the last coordinate, if there is one, tells rows of zeros
        along = (slopes * unit[:, None]).sum(axis=-1, keepdims=True)
        across: Float64Array = slopes - along * unit[:, None]
        across /= np.where(lengths > 0.0, lengths, np.inf)[:, None, None]
        return across - across.mean(axis=-1, keepdims=True) if self.is_centered else across


@dataclass(frozen=True)
class _Sets(Lift):
    """Rows of which columns that hold other numbers than 0 and 1 say alone if they are 0, so that f is flat along them.

    Parameters
    ----------
    metric : str
    numbers : ndarray of shape (n_features,), bool
        Which columns those are in the table of the map. The others may be anything between 0 and 1 in new rows.
    """

    metric: str
    numbers: npt.NDArray[np.bool_]
    gives_rows = False

    def points(self, rows: Any) -> Any:
        sets = as_sets(rows, self.metric)
        if isinstance(rows, np.ndarray):
            return np.where(self.numbers, sets, rows)
        kept = np.where(self.numbers[rows.indices], sets.data, rows.data)
        return scipy.sparse.csr_array((kept, rows.indices, rows.indptr), shape=rows.shape)

    def of_rows(self, rows: Any, derivatives: Float64Array) -> Float64Array:
        found: Float64Array = np.where(self.numbers, 0.0, derivatives)
        return found


@dataclass(frozen=True)
class _Circles(Lift):
    """Columns with a period on circles of that circumference.

    Parameters
    ----------
    metric : Periodic
    period : ndarray of shape (n_features,), float64
        inf where a column is plain.
    low : ndarray of shape (n_features,), float64
        Where the values of each column begin.
    """

    metric: Any
    period: Float64Array
    low: Float64Array
    is_metric = True

    @property
    def _plain(self) -> npt.NDArray[np.bool_]:
        return ~np.isfinite(self.period)

    @property
    def _radius(self) -> Float64Array:
        return self.period[~self._plain] / (2.0 * np.pi)

    def points(self, rows: Any) -> Any:
        return self.metric.circles(rows)

    def of_rows(self, rows: Any, derivatives: Float64Array) -> Float64Array:
        plain, radius = self._plain, self._radius
        n, m = int(np.count_nonzero(plain)), len(radius)
        circles = self.points(rows)[:, n:] / np.tile(radius, 2)
        cosines, sines = circles[:, :m], circles[:, m:]
        found = np.empty((*derivatives.shape[:-1], len(plain)))
        found[..., plain] = derivatives[..., :n]
        found[..., ~plain] = cosines[:, None] * derivatives[..., n + m :] - sines[:, None] * derivatives[..., n : n + m]
        return found

    def rows(self, points: Float64Array) -> Float64Array:
        plain, m = self._plain, len(self._radius)
        n, period, low = points.shape[1] - 2 * m, self.period[~plain], self.low[~plain]
        found = np.empty((len(points), len(plain)))
        found[:, plain] = points[:, :n]
        angles = arctan2(points[:, n + m :], points[:, n : n + m]) * self._radius
        found[:, ~plain] = low + np.remainder(angles - low, period)
        return found


@dataclass(frozen=True)
class _Sphere(Lift):
    """Latitude and longitude on a unit sphere.

    Parameters
    ----------
    metric : NativeMetric
    low : float
        Where the longitudes begin.
    """

    metric: NativeMetric
    low: float
    is_metric = True

    def points(self, rows: Any) -> Any:
        return self.metric.rows(rows)

    def of_rows(self, rows: Any, derivatives: Float64Array) -> Float64Array:
        x, y, z = np.asarray(self.points(rows), dtype=np.float64).T
        latitude, longitude = np.asarray(rows, dtype=np.float64).T
        by_latitude = np.column_stack([-z * np.cos(longitude), -z * np.sin(longitude), np.cos(latitude)])
        by_longitude = np.column_stack([-y, x, np.zeros(len(x))])
        return np.stack([(derivatives * one[:, None]).sum(axis=-1) for one in (by_latitude, by_longitude)], axis=-1)

    def rows(self, points: Float64Array) -> Float64Array:
        x, y, z = points.T
        longitude = self.low + np.remainder(arctan2(y, x) - self.low, 2.0 * np.pi)
        return np.column_stack([arctan2(z, np.sqrt(x * x + y * y)), longitude])


def lift_of(metric: str, X: Any) -> Lift:
    """Return what an atlas takes for the rows of a table.

    Parameters
    ----------
    metric : str
        As a graph carries it.
    X : ndarray or CSR of shape (n_samples, n_features)

    Returns
    -------
    Lift
        The rows themselves for metrics that are no smooth function of a Euclidean distance.
    """
    native, dense = native_metric(metric), isinstance(X, np.ndarray)
    sets = as_sets(X, metric)
    if sets is not X:
        numbers = (sets != X).any(axis=0) if dense else np.bincount(X.indices, sets.data != X.data, X.shape[1]) > 0
        return _Sets(metric, np.asarray(numbers))
    if native is None:
        return Lift()
    name, periods = native.name, native.periods(int(X.shape[1]))
    if name == "cosine" or (name == "correlation" and dense):
        return _Directions(native, name == "correlation")
    if periods is None or not dense:
        return Lift()
    if name == "haversine":
        return _Sphere(native, float(X[:, 1].min()))
    return _Circles(native, periods, X.min(axis=0).astype(np.float64))
