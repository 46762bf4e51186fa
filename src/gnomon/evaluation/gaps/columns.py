"""Which few columns make a gap: they tell its sides apart, and without them there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["check_columns", "columns_of_gap", "columns_of_one_value"]

_MOST = 3  # columns that are named
_KEPT = 0.98  # share of a side that a condition on one column keeps
_WRONG = 0.1  # of a side: rows that the conditions on the columns may place on the other side
_LEVELS = 12  # a column of so many values at most is asked by its values, of more from where on
_REPEATED = 10  # rows of each level of several features on the mean, below which they are no category
_FEATURES = 1000  # in more no single column makes a gap
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def check_columns(columns: Any, names: list[str]) -> dict[str, Ints]:
    """Return the features of each column by its name: those given, and each feature that none holds by itself.

    Of an empty mapping none.
    """
    if columns is None:
        return {name: np.array([f]) for f, name in enumerate(names)}
    rule = f"a mapping of names to numbers of features, below {len(names)}"
    if not isinstance(columns, Mapping):
        raise TypeError(message(f"columns={columns!r:.60}", rule, fact=f"found {type(columns).__name__}"))
    every = np.arange(len(names))
    try:
        given = {str(name): np.atleast_1d(every[features]) for name, features in columns.items()}
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(message("columns", rule, fact=str(error))) from None
    alone = np.setdiff1d(every, np.concatenate(list(given.values()))) if given else every[:0]
    return given | {names[f]: np.array([f]) for f in alone}


def columns_of_gap(
    X: Floats, a: Mask, b: Mask, columns: Mapping[str, Ints], fall: Callable[[Floats], float], limit: float
) -> tuple[list[str], bool]:
    """Return the columns that make a gap between two groups of rows: three, and half of all, at most; else none.

    They hold for nearly all rows of one group together, and for hardly any of the other, what they do: a value or a few
    of a column of few values, a range without an end of another. Columns are taken out until no gap is left. Whether
    they alone make it is told, too: without them density falls by less than the root of what a gap takes, and in them
    alone by what it takes, unless all have few values, whose distances are alike.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    a, b : ndarray of shape (n_samples,), bool
    columns : mapping of str to ndarray of int
        The features of each column.
    fall : callable
        Returns how far the log of the density falls between the groups in rows of some features.
    limit : float
        From which on that is a gap.

    Returns
    -------
    names : list of str
    alone : bool
    """
    if X.shape[1] > _FEATURES:
        return [], False
    for inside, outside in ((a, b), (b, a)):
        chosen: list[str] = []
        while found := _telling(X, inside, outside, {name: columns[name] for name in columns if name not in chosen}):
            chosen += found
            left = np.setdiff1d(np.arange(X.shape[1]), np.concatenate([columns[name] for name in chosen]))
            if len(chosen) > min(_MOST, len(columns) // 2) or not len(left):
                break
            if (without := fall(X[:, left])) < limit:
                own = np.concatenate([columns[name] for name in chosen])
                stepped = all(len(np.unique(X[:, f])) <= _LEVELS for f in own)
                return chosen, without <= limit / 2.0 and (stepped or fall(X[:, own]) >= limit)
    return [], False


def columns_of_one_value(X: Floats, a: Mask, b: Mask, columns: Mapping[str, Ints]) -> list[str]:
    """Return the columns that have one value in all rows of a group, and another in all of the other.

    Of a category, which is several features, the other group may have any of its other levels.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    a, b : ndarray of shape (n_samples,), bool
    columns : mapping of str to ndarray of int
        The features of each column.
    """
    firsts = X[np.argmax(a)], X[np.argmax(b)]
    same_a, same_b = ((X[rows] == first).all(axis=0) for rows, first in zip((a, b), firsts, strict=True))
    differ = firsts[0] != firsts[1]

    def parts(features: Ints) -> bool:
        whole = same_a[features].all(), same_b[features].all()
        if len(features) == 1:
            return bool(all(whole) and differ[features[0]])
        return any(
            one and not (X[np.ix_(rows, features)] == first[features]).all(axis=1).any()
            for one, rows, first in zip(whole, (b, a), firsts, strict=True)
        )

    return [name for name, features in columns.items() if parts(features)]


def _telling(X: Floats, inside: Mask, outside: Mask, columns: Mapping[str, Ints]) -> list[str]:
    """Return the fewest columns, taken one after the other, whose conditions tell one side from the other."""
    rows = np.flatnonzero(inside | outside)
    is_inside = inside[rows]
    held = {name: _condition(X[np.ix_(rows, features)], is_inside) for name, features in columns.items()}
    left, chosen = np.ones(len(rows), dtype=np.bool_), list[str]()
    allowed = _WRONG * min(np.count_nonzero(is_inside), np.count_nonzero(~is_inside))
    while len(chosen) < min(_MOST, len(held)):
        name = min(held, key=lambda one: np.count_nonzero(left & held[one] & ~is_inside))
        if name in chosen:
            break
        chosen.append(name)
        left &= held[name]
        if np.count_nonzero(left != is_inside) <= allowed:
            return chosen
    return []


def _condition(values: Floats, is_inside: Mask) -> Mask:
    """Return the rows that a condition on one column keeps: nearly all of those inside, and few others."""
    levels, level = np.unique(values, axis=0, return_inverse=True)
    level = level.reshape(-1)
    if values.shape[1] > 1 and len(levels) > max(_LEVELS, len(values) // _REPEATED):
        return np.ones(len(values), dtype=np.bool_)
    if len(levels) <= _LEVELS or values.shape[1] > 1:
        counts = np.bincount(level[is_inside], minlength=len(levels))
        order = np.argsort(-counts, kind="stable")
        n_kept = int(np.searchsorted(np.cumsum(counts[order]), _KEPT * counts.sum())) + 1
        kept: Mask = np.isin(level, order[:n_kept])
        return kept
    own = np.sort(values[is_inside, 0])
    spared = int((1.0 - _KEPT) * len(own))
    above, below = values[:, 0] >= own[spared], values[:, 0] <= own[len(own) - 1 - spared]
    fewer: Mask = above if np.count_nonzero(above) <= np.count_nonzero(below) else below
    return fewer
