"""Columns with a period, cut where they hold fewest rows, so that no group lies on both ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.metrics.measured import Periodic

__all__ = ["Seams", "find_seams", "on_circles", "periods_under", "shorter_way"]

Floats = npt.NDArray[np.float64]

_ARCS = 72  # of a circle, in which rows are counted
_AROUND = 3  # arcs on either side that count with each
_FEWER = 0.5  # of the rows at the seam as given: as many at a cut are clearly fewer,
_ERRORS = 3.0  # if by so many standard errors besides


def periods_under(metric: str, n_features: int) -> Floats | None:
    """Return the period of each column under a metric, inf where it has none; None if it knows no periods.

    Parameters
    ----------
    metric : str
        "periodic(...)" or "haversine", whose longitudes have a period; others have none.
    n_features : int
    """
    native = native_metric(metric)
    periods = None if native is None else native.periods(n_features)
    return periods if periods is None or len(periods) == n_features else None  # haversine is of two columns


def on_circles(X: Any, metric: Any, params: Mapping[str, Any] | None = None) -> Any:
    """Return rows whose straight distances follow a metric near by: columns with a period as circles, no seam in them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    metric : str or callable
        "periodic", with its periods, or "haversine", whose rows become points of a sphere; under others, and of sparse
        rows, X as it is.
    params : mapping or None, default=None
        Arguments of the metric.
    """
    native = native_metric(metric, params) if isinstance(X, np.ndarray) else None
    if native is None or native.periods(X.shape[1]) is None:
        return X
    return native.circles(X) if isinstance(native, Periodic) else native.rows(X)


def shorter_way(differences: Floats, periods: Floats) -> Floats:
    """Return differences of rows, (..., n_features), each the shorter way round where its column has a period."""
    finite = np.where(np.isfinite(periods), periods, 1.0)
    turns = np.where(np.isfinite(periods), np.round(differences / finite), 0.0)
    found: Floats = differences - finite * turns
    return found


@dataclass(frozen=True, eq=False)
class Seams:
    """Where columns with a period are cut, so that rows which lie together are numbers that lie together.

    Attributes
    ----------
    periods : ndarray of shape (n_features,), float64
        inf where a column has none.
    begins : ndarray of shape (n_features,), float64
        Values are counted from here to a period above; NaN where they stay as they are given.
    crowded : ndarray of shape (n_features,), bool
        Whether rows lie everywhere round the circle: some that are near then are far apart as numbers.
    """

    periods: Floats
    begins: Floats
    crowded: npt.NDArray[np.bool_]

    @property
    def moved(self) -> npt.NDArray[np.intp]:
        """The columns whose values are not all as they are given."""
        return np.flatnonzero(np.isfinite(self.begins))

    def apply(self, X: Any) -> Any:
        """Return rows (n, n_features), or one row, counted from where columns begin, in their type if it is a float."""
        moved = self.moved
        if not len(moved):
            return X
        values = X.astype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
        begins, periods = self.begins[moved], self.periods[moved]
        some = X[..., moved].astype(np.float64)
        values[..., moved] = some - periods * np.floor((some - begins) / periods)
        return values

    def shorter(self, differences: Floats) -> Floats:
        """Return differences of rows, (..., n_features), each the shorter way round its circle."""
        return shorter_way(differences, self.periods)


def find_seams(X: Any, metric: str) -> Seams | None:
    """Return where the columns of a table are cut under a metric; None if it knows no periods, or X is sparse.

    A column stays as it is given if it lies within one period and no rows lie around the ends of its values, or none
    of its arcs holds clearly fewer. Else it is cut in the middle of the widest arc that holds fewest rows, and whole
    periods are added such that the median stays where it is.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    metric : str
        "periodic(...)" or "haversine", whose longitudes have a period; others have none.
    """
    periods = periods_under(metric, X.shape[1]) if isinstance(X, np.ndarray) else None
    if periods is None:
        return None
    begins, crowded = np.full(len(periods), np.nan), np.zeros(len(periods), dtype=np.bool_)
    for column in np.flatnonzero(np.isfinite(periods)):
        values, period = X[:, column].astype(np.float64), periods[column]
        turns = np.remainder(values / period, 1.0)
        around = _around(turns)
        low, high, fewest = float(values.min()), float(values.max()), int(around.min())
        crowded[column] = fewest > 0
        if high - low <= period:
            at_ends = int(around[int(np.remainder((low + high + period) / (2.0 * period), 1.0) * _ARCS) % _ARCS])
            clearly = fewest < _FEWER * at_ends and at_ends - fewest > _ERRORS * np.sqrt(at_ends)
            if at_ends == 0 or (fewest > 0 and not clearly):
                continue
        cut = _middle(around) * period
        begins[column] = cut + period * np.floor((np.median(values) - cut) / period)
    return Seams(periods, begins, crowded)


def _around(turns: Floats) -> npt.NDArray[np.intp]:
    """Return for each arc of a circle how many rows lie in it and in those around it."""
    counts = np.bincount(np.minimum((turns * _ARCS).astype(np.intp), _ARCS - 1), minlength=_ARCS)
    found: npt.NDArray[np.intp] = np.sum([np.roll(counts, shift) for shift in range(-_AROUND, _AROUND + 1)], axis=0)
    return found


def _middle(around: npt.NDArray[np.intp]) -> float:
    """Return the middle of the widest stretch of a circle that holds fewest rows, in turns."""
    empty = np.flatnonzero(around == np.min(around))
    if len(empty) == _ARCS:
        return 0.0
    begins = [int(arc) for arc in empty if (arc - 1) % _ARCS not in empty]
    lengths = [next(n for n in range(1, _ARCS + 1) if (arc + n) % _ARCS not in empty) for arc in begins]
    longest = int(np.argmax(lengths))
    return ((begins[longest] + lengths[longest] / 2.0) / _ARCS) % 1.0
