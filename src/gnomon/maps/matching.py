"""Rows of a table and of what is given beside it, which are matched by their place: those in another order are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gnomon._validation import message

__all__ = ["refuse_other_order", "refuse_other_order_of_names"]

_SHARED = 0.5  # of names of rows that are texts, from which on two tables are of the same rows


def refuse_other_order(X: Any, names: Any = None, /, **given: Any) -> None:
    """Raise ValueError if something given beside a table has an index with its rows in another order.

    Parameters
    ----------
    X : DataFrame, AnnData object or any other table
        Without an index nothing can be said, unless `names` are known.
    names : array-like of shape (n_samples,) or None, default=None
        Names of the rows that are known otherwise.
    **given : object
        Series and data frames by the names of the arguments, and mappings of these; others have no index.
    """
    own = _index_of(X)
    own = names if own is None else own
    if own is None:
        return
    for argument, value in given.items():
        columns = value.items() if isinstance(value, Mapping) else [("", value)]
        for name, column in columns:
            other = _index_of(column)
            if other is not None and (fact := _other_order(own, other)):
                what = f"{argument}[{name!r:.60}]" if name else argument
                remedy = f"Pass {what}.loc[X.index], or {what}.to_numpy() to take them by their place."
                raise ValueError(message(what, "in the order of the rows of X", fact=fact, remedy=remedy))


def refuse_other_order_of_names(names: Any, metadata: Mapping[str, Any]) -> None:
    """Raise ValueError if a column of metadata has the names of the rows of a table in another order.

    Parameters
    ----------
    names : ndarray of shape (n_samples,)
        Of the points.
    metadata : mapping of str to ndarray
        As a person gave them.
    """
    own = [str(name) for name in names]
    for name, column in metadata.items():
        values = np.asarray(column)
        if values.dtype.kind not in "OUT" or len(values) != len(own):
            continue
        other = [str(value) for value in values.tolist()]
        if other != own and len({*own}) == len(own) and {*other} == {*own}:
            first = next(i for i, (a, b) in enumerate(zip(own, other, strict=True)) if a != b)
            raise ValueError(
                message(
                    "metadata",
                    "in the order of the rows",
                    fact=f"column {name!r} has the names of the rows in another order: row {first} is {own[first]!r}, "
                    f"and {name!r} has {other[first]!r} there",
                    remedy=f"Sort them by {name!r} as the rows are, or leave the column out if it names other rows.",
                )
            )


def _index_of(value: Any) -> Any:
    """Return the index of a Series, data frame or AnnData object of pandas; None without one that tells rows apart."""
    index = getattr(value, "obs_names", None)
    index = getattr(value, "index", None) if index is None else index
    return index if getattr(index, "is_unique", False) is True and hasattr(index, "get_indexer") else None


def _other_order(own: Any, other: Any) -> str:
    """Say where two indices have the same rows at other places; empty if they do not, or are of other rows."""
    ours, theirs = (list(one) for one in (own, other))
    if len(ours) != len(theirs) or ours == theirs:
        return ""
    shared = len({*ours} & {*theirs})
    texts = all(isinstance(name, str) for name in ours)
    if shared < len(ours) and not (texts and shared > _SHARED * len(ours)):
        return ""
    i = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    fact = f"row {i} of X is {ours[i]!r:.60}, and {theirs[i]!r:.60} there"
    return fact if shared == len(ours) else f"{fact}; {len(ours) - shared:,} of its rows are not in X"
