"""Values put in place of missing ones, one for each column: its least value, or zeros far from all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning

__all__ = ["find_filled_floors", "warn_of_filled_floors"]

_LEAST, _MOST = 0.05, 0.9  # of the known values of a column, that are its least one
_MOST_ZERO = 0.5  # where that is 0: most of what is counted or weighed by words is 0 by nature
_FEWEST_ROWS = 5  # that have it
_FEWEST_OTHERS = 20  # other values of a column, from which can be judged whether it is continuous
_FEWEST_COLUMNS = 5  # which have such a least value
_OF_ALL = 0.2  # of all columns
_TIMES = 5  # as often as any other value
_CONTINUOUS = 0.5  # of the other values, that differ
_OWN = 0.8  # of the least values, that differ from column to column: a common one is a limit of a scale
_GAP = 2.0  # of the range of all others, that they lie from 0
_NAMED = 5  # columns
_ROWS = 1000  # rows by which columns are left out whose values come near 0


def find_filled_floors(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], bool] | None:
    """Return columns whose least value may have been put in place of missing ones, and whether it is 0 in them.

    The least value of such a column is that of 5 % to 90 % of its rows, five times as many as have any other value, of
    which half and more differ and of which none repeats the largest so often. There are five such columns, and a fifth
    of all. Either each has its own least value and none has 0 in its range: zeros that were shifted when columns were
    centred do, and those of counts, pixels and activations are the same in all. Or it is 0, in half of the rows at
    most, and lies from all others by more than twice their range.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Finite numbers, and NaN where a value is missing.

    Returns
    -------
    tuple of ndarray of intp and bool, or None
    """
    if not len(values) or not values.shape[1]:
        return None
    low = np.fmin.reduce(values, axis=0)
    at_floor = np.count_nonzero(values == low, axis=0)
    known = np.count_nonzero(np.isfinite(values), axis=0)
    many = (at_floor >= np.maximum(_FEWEST_ROWS, _LEAST * known)) & (at_floor <= _MOST * known) & (low >= 0.0)
    if many.sum() < _needed(values.shape[1]):
        return None
    many &= (low > 0.0) | _may_lie_far(values[:: -(-len(values) // _ROWS)])
    own, zero = [], []
    for f in np.flatnonzero(many & (known - at_floor >= _FEWEST_OTHERS)).tolist():
        column = values[:, f]
        others, counts = np.unique(column[np.isfinite(column) & (column > low[f])], return_counts=True)
        if counts.max() * _TIMES > at_floor[f] or len(others) < _CONTINUOUS * counts.sum():
            continue
        if low[f] > 0.0:
            own.append(f)
        elif at_floor[f] <= _MOST_ZERO * known[f] and float(others[0]) > _GAP * float(others[-1] - others[0]):
            zero.append(f)
    if len(zero) >= _needed(values.shape[1]):
        return np.array(zero, dtype=np.intp), True
    if len(own) >= _needed(values.shape[1]) and len(np.unique(low[own])) >= _OWN * len(own):
        return np.array(own, dtype=np.intp), False
    return None


def warn_of_filled_floors(values: npt.NDArray[Any], names: Sequence[str] | None = None) -> None:
    """Warn of many columns whose least value may have been put in place of missing ones; nothing is changed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Finite numbers, and NaN where a value is missing.
    names : sequence of str or None
        One for each feature.

    Warns
    -----
    DataWarning
        Says how many columns, names some, and how many cells have it.
    """
    found = find_filled_floors(values)
    if found is None:
        return
    columns, zero = found
    names = default_names(values.shape[1]) if names is None else names
    near = values[:, columns]
    n = int(np.count_nonzero(near == np.fmin.reduce(near, axis=0)))
    own = first_few([repr(names[f]) for f in columns], _NAMED, of="column")
    what, where = ("0", "far below all other values") if zero else ("their least value", "one value for each column")
    warn(
        f"{len(columns):,} of {values.shape[1]:,} columns ({own}) have {what} in {n:,} cells ({n / near.size:.1%}), "
        f"{where}. Were missing values, or those below a limit of detection, filled in by it? Then clusters may be of "
        "what was missing, not of what was measured. They are taken as they are. If so, put NaN in their place.",
        DataWarning,
    )


def _may_lie_far(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return whether the values above 0 of some rows lie far from it: of all rows they reach no less."""
    above = values > 0.0
    low = np.min(values, axis=0, where=above, initial=np.inf)
    high = np.max(values, axis=0, where=above, initial=0.0)
    far: npt.NDArray[np.bool_] = (low > _GAP * (high - low)) | (high == 0.0)
    return far


def _needed(n_columns: int) -> float:
    return max(_FEWEST_COLUMNS, _OF_ALL * n_columns)
