"""Columns that hold in every row what another one holds, and so count twice, and those of the same name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon._validation import warn
from gnomon.data.arrays import FloatArray
from gnomon.data.columns.rule import ColumnRule, features_of
from gnomon.data.dataset import first_few
from gnomon.data.frames import is_frame, names_of_frame
from gnomon.data.names import told_repeated
from gnomon.exceptions import DataWarning

__all__ = ["warn_of_copies", "warn_of_repeated_names"]

_NAMED = 8  # columns
_FEWEST_VALUES = 3  # of a column: two truth values may agree by chance


def warn_of_copies(rules: Sequence[ColumnRule], X: FloatArray) -> None:
    """Warn of columns of three values or more whose features are those of a column before them.

    Parameters
    ----------
    rules : sequence of ColumnRule
    X : ndarray of shape (n_samples, n_features)
        The features that they made; NaN where a value is missing.

    Warns
    -----
    DataWarning
        Names the columns.
    """
    alike: dict[int, list[tuple[str, FloatArray]]] = defaultdict(list)
    told: dict[str, str] = {}
    for rule, columns in features_of(rules).items():
        block = X[:, columns]
        known = alike[hash(block.tobytes())]
        if first := next((name for name, other in known if np.array_equal(block, other, equal_nan=True)), ""):
            if len(np.unique(block, axis=0)) >= _FEWEST_VALUES:
                told[rule.name] = first
        else:
            known.append((rule.name, block))
    if told:
        facts = first_few((f"{name!r} as {first!r}" for name, first in told.items()), _NAMED)
        names = ", ".join([*map(repr, [*told][:_NAMED]), *["..."][: len(told) > _NAMED]])
        warn(
            f"columns with the same values in all rows count twice: {facts}. Pass drop=[{names}] unless that is meant.",
            DataWarning,
        )


def warn_of_repeated_names(X: Any) -> None:
    """Warn of columns of a data frame that have one name: in new rows too their order alone tells them apart.

    Parameters
    ----------
    X : object
        Anything but a data frame has no such columns.

    Warns
    -----
    DataWarning
        Names one of the names.
    """
    if is_frame(X) and (told := told_repeated(names_of_frame(X))):
        warn(f"{told}.", DataWarning)
