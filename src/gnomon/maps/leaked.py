"""Features that are the labels themselves, written otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.columns import ColumnRule, columns_of_features, features_of
from gnomon.data.dataset import first_few
from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.exceptions import DataWarning

__all__ = ["warn_of_leaked_labels"]

_FEWEST_ROWS = 20  # of each class
_NAMED = 5  # columns


def warn_of_leaked_labels(
    values: Any,
    labels: npt.NDArray[Any] | None,
    names: Sequence[str] | None = None,
    columns: Sequence[ColumnRule] | None = None,
) -> None:
    """Warn of columns whose values go one to one with the labels: each value is of one class, and each class of one.

    A measured column that parts classes well has many values in each, so that none is told.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features), or CSR, of which nothing is said
        Finite numbers.
    labels : ndarray of shape (n_samples,) or None
        As `gnomon.data.check_labels` returns them. Those that are measured are no classes; rows without one take no
        part.
    names : sequence of str or None
        One for each feature.
    columns : sequence of ColumnRule or None
        What became of the columns of the table; None if all were numbers.
    """
    if labels is None or not isinstance(values, np.ndarray) or measured_labels(labels) is not None:
        return
    classes = sort_into_classes(labels)
    rows = np.flatnonzero(classes.codes >= 0)
    codes = classes.codes[rows]
    counts = np.bincount(codes, minlength=1)
    if len(counts) < 2 or counts.min() < _FEWEST_ROWS:
        return
    order = np.argsort(codes, kind="stable")
    rows, starts = rows[order], np.cumsum(counts) - counts
    same = np.array([_goes_with(values[rows, f], starts) for f in range(values.shape[1])], dtype=np.bool_)
    own = columns_of_features(values.shape[1], names, columns)
    at = {f: slice(f, f + 1) for f in range(values.shape[1])}
    for where in features_of(columns or ()).values():
        at |= dict.fromkeys(range(where.start, where.stop), where)
    found = [own[f] for f in np.flatnonzero(same).tolist() if _parts_all(values[:, at[f]][rows[starts]])]
    told = [f"{name!r}" for name in dict.fromkeys(found)]
    if told:
        which, it = ("column", "it is the label") if len(told) == 1 else ("each of the columns", "they are the labels")
        warn(
            f"{which} {first_few(told, _NAMED)} alone tells the labels of all rows, a value for each class: if "
            f"{it} written otherwise, the map, gaps and scores show what was put in. Leave out by drop what is.",
            DataWarning,
        )


def _goes_with(column: npt.NDArray[Any], starts: npt.NDArray[np.intp]) -> bool:
    """Say whether a column, of rows sorted by class, has one value in each class."""
    return bool((np.maximum.reduceat(column, starts) == np.minimum.reduceat(column, starts)).all())


def _parts_all(of_classes: npt.NDArray[Any]) -> bool:
    """Say whether the values of a column, a row for each class, are all different."""
    return len(np.unique(of_classes, axis=0)) == len(of_classes)
