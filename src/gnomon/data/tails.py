"""Columns of positive numbers with a long tail, in which ratios may mean more than differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon.data.dataset import first_few

__all__ = ["find_long_tails", "told_of_long_tails"]

_FEWEST_ROWS, _ROWS = 100, 2000  # with a value; of more so many, evenly spaced, are looked at
_FEWEST_VALUES = 20  # different ones
_LONG = 5.0  # times as far as the fifth percentile the 95th lies from the median
_EVEN = (0.5, 4.0)  # and in logarithms, and there the upper quartile as the lower one
_NAMED = 3  # columns


def find_long_tails(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the columns of positive numbers that spread evenly in their logarithms alone.

    None of their values is 0, which has no logarithm. The 95th percentile lies five times as far from the median as the
    fifth, as of exponentials of normal numbers with a standard deviation of 1, and in logarithms half to four times as
    far, as do the quartiles, which those of two groups do not. Of exponential numbers it is 3.6 times. There are 100
    rows and 20 different values at least.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Finite numbers, and NaN where a value is missing. Of more than 2000 rows so many are looked at.

    Returns
    -------
    ndarray of intp
    """
    looked = values[:: -(-len(values) // _ROWS)].astype(np.float64)
    looked[np.isnan(looked)] = np.inf  # last when sorted
    looked.sort(axis=0)
    known = np.count_nonzero(looked < np.inf, axis=0)
    found = []
    for f in np.flatnonzero((known >= _FEWEST_ROWS) & (looked[0] > 0.0)).tolist():
        at = [float(looked[int(share * (known[f] - 1)), f]) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
        middle = at[2]
        if not 0.0 < at[0] < at[1] < middle < at[3] or at[4] - middle < _LONG * (middle - at[0]):
            continue
        ratios = [float(log(at[4 - i] / middle)) / float(log(middle / at[i])) for i in (0, 1)]
        even = all(_EVEN[0] <= ratio <= _EVEN[1] for ratio in ratios)
        if even and len(np.unique(looked[: known[f], f])) >= _FEWEST_VALUES and float(np.nanmin(values[:, f])) > 0.0:
            found.append(f)
    return np.array(found, dtype=np.intp)


def told_of_long_tails(X: Any, names: Sequence[str]) -> list[str]:
    """Return what a map notes of columns with long tails, nothing of other tables.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    names : sequence of str
        One for each feature.
    """
    columns = find_long_tails(X) if isinstance(X, np.ndarray) else np.empty(0, dtype=np.intp)
    if not len(columns):
        return []
    told = [
        f"{names[f]!r} (half of it up to {np.nanmedian(X[:, f]):.3g}, the largest {np.nanmax(X[:, f]):.3g})"
        for f in columns[:_NAMED]
    ]
    return [
        f"columns with a long tail: {first_few([*told, *map(str, columns[_NAMED:])], _NAMED, of='column')}. Distances "
        "are those of their largest values, beside which most rows hardly differ. Where ratios mean more than "
        "differences, as of sums of money, sizes and concentrations, take logarithms of them first, such as np.log10."
    ]
