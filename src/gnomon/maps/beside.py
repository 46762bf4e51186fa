"""The metadata of a map that had no part in it, so that clusters that go with them say something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.data.columns import ColumnRule, features_of
from gnomon.data.labels import check_labels, sort_into_classes

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["columns_beside"]

Array = npt.NDArray[Any]

_MOST_CLASSES = 50  # columns with more are measured, or name rows
_FIRST = 200  # rows by which most features are seen not to tell a column; of the rest ten times as many, and so on


def columns_beside(result: Map) -> dict[str, Array]:
    """Return the metadata of a map but those whose values the table that was mapped holds.

    The map keeps columns of texts and dates as they were, beside the features that they became. These are known by the
    rules of the map, if the column still gives the features that it gave, and by the table: each class of the column
    has values there that all its rows share and no other class has. So a column that was turned into numbers before,
    and is given as metadata too, is known as well.

    Parameters
    ----------
    result : Map

    Returns
    -------
    dict of str to ndarray of shape (n_samples,)
    """
    known = result.representation
    retold = known is not None and known.components is None  # its features are not those that were mapped
    table = result._mapped() if retold else result._checked()
    values: Any = table.values
    if table.is_sparse or result.metric == "precomputed":
        return dict(result.metadata)
    rules = {} if retold else {rule.name: (rule, at) for rule, at in features_of(result.columns or ()).items()}
    return {
        name: column
        for name, column in result.metadata.items()
        if not (name in rules and _gives(*rules[name], column, values)) and not _is_told(column, values)
    }


def _gives(rule: ColumnRule, at: slice, column: Array, values: Array) -> bool:
    """Return whether a column gives the features that are in the table, where it has a value."""
    try:
        own = rule.encode(column, keep_missing=True)
    except (TypeError, ValueError):  # another column of this name, which the rule cannot read
        return False
    given = np.isfinite(own)
    return bool(given.any() and np.allclose(own[given], values[:, at][given], rtol=1e-5, atol=1e-8))


def _is_told(column: Array, values: Array) -> bool:
    """Return whether features that are the same in all rows of a class tell all classes of a column apart."""
    try:
        classes = sort_into_classes(check_labels(column, len(values)))
    except (TypeError, ValueError):
        return False
    if not 2 <= len(classes) <= _MOST_CLASSES:
        return False
    rows = np.flatnonzero(classes.codes >= 0)
    same = np.arange(values.shape[1])
    n_looked = min(_FIRST, len(rows))
    while True:
        some = rows[:n_looked]
        some = some[np.argsort(classes.codes[some], kind="stable")]
        firsts = np.unique(classes.codes[some], return_index=True)[1]
        near = values[np.ix_(some, same)]
        constant = np.maximum.reduceat(near, firsts, axis=0) == np.minimum.reduceat(near, firsts, axis=0)
        same = same[constant.all(axis=0)]
        if not len(same):
            return False
        if n_looked == len(rows):
            break
        n_looked = min(10 * n_looked, len(rows))
    return len(np.unique(values[np.ix_(some[firsts], same)], axis=0)) == len(classes)
