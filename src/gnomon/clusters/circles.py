"""Columns with a period, cut where they hold fewest rows, so that no group lies on both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.neighbors import native_metric

__all__ = ["cuts_of", "unrolled"]

Floats = npt.NDArray[np.float64]

_ARCS = 72  # of a circle, in which rows are counted
_AROUND = 3  # arcs on either side that count with each


def cuts_of(X: Any, metric: str) -> tuple[Floats, Floats] | None:
    """Return the period of each column and where it is cut; None where rows have no periods or are sparse.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    metric : str
        "periodic(...)" or "haversine", whose longitudes have a period; others have none.
    """
    native = native_metric(metric)
    periods = native.periods(X.shape[1]) if native is not None and isinstance(X, np.ndarray) else None
    if periods is None:
        return None
    cuts = np.zeros(len(periods))
    for column in np.flatnonzero(np.isfinite(periods)):
        turns = np.remainder(X[:, column].astype(np.float64) / periods[column], 1.0)
        cuts[column] = periods[column] * _emptiest(turns)
    return periods, cuts


def unrolled(X: Any, cuts: tuple[Floats, Floats] | None) -> Any:
    """Return rows whose columns begin at their cuts; without cuts as they are."""
    if cuts is None:
        return X
    periods, begin = cuts
    finite = np.isfinite(periods)
    values = X.astype(np.float64)
    values[:, finite] = np.remainder(values[:, finite] - begin[finite], periods[finite])
    return values


def _emptiest(turns: Floats) -> float:
    """Return the middle of the widest stretch of a circle that holds fewest rows, in turns."""
    counts = np.bincount(np.minimum((turns * _ARCS).astype(np.intp), _ARCS - 1), minlength=_ARCS)
    around = sum(np.roll(counts, shift) for shift in range(-_AROUND, _AROUND + 1))
    empty = np.flatnonzero(around == np.min(around))
    if len(empty) == _ARCS:
        return 0.0
    begins = [int(arc) for arc in empty if (arc - 1) % _ARCS not in empty]
    lengths = [next(n for n in range(1, _ARCS + 1) if (arc + n) % _ARCS not in empty) for arc in begins]
    longest = int(np.argmax(lengths))
    return ((begins[longest] + lengths[longest] / 2.0) / _ARCS) % 1.0
