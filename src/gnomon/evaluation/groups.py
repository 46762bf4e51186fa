"""Groups of rows that a question is about, what they are called, and what else such questions are asked with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, Real, Rule, message
from gnomon.evaluation.judged_metrics import JudgedMetric
from gnomon.geometry.check import row_mask

__all__ = ["RULES", "check_groups", "check_names"]

Mask = npt.NDArray[np.bool_]

RULES: dict[str, Rule] = {
    "metric": JudgedMetric(),
    "bridge": Real(0.0, 1.0, low_open=True, high_open=True),
    "n_nulls": Integer(19),
    "max_rows": Integer(60),
    "alpha": Real(0.0, 0.5, low_open=True, high_open=True),
}


def check_groups(n: int, **groups: Any) -> list[Mask]:
    """Return the masks of groups of rows without common rows."""
    masks = {name: row_mask(rows, n, name=name) for name, rows in groups.items()}
    found = list(masks.items())
    for number, (name, mask) in enumerate(found):
        for other, rows in found[:number]:
            if common := int(np.count_nonzero(mask & rows)):
                rule = f"without rows of {other}"
                raise ValueError(message(f"{name} with {common} rows of {other}", rule, remedy="Remove them from one."))
    return list(masks.values())


def check_names(names: Any, count: int) -> tuple[str, ...]:
    """Return what groups are called in an answer, as texts."""
    rule = f"{count} texts, one for each group"
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(message(f"names={names!r:.60}", rule, fact=f"found {type(names).__name__}"))
    given = tuple(str(name) for name in names)
    if len(given) != count:
        raise ValueError(message(f"names={names!r:.60}", rule, fact=f"found {len(given)}"))
    return given
