"""Whether clusters are those of a column beside the data, such as the batch of each cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.dataset import first_few
from gnomon.data.labels import check_labels, sort_into_classes

__all__ = ["classes_of_column", "columns_told"]

Codes = npt.NDArray[np.int64]

_LEAST = 0.5  # of the errors of a guess that clusters must save, beyond chance
_MOST_CLASSES = 50  # of a column; of whole numbers that may be measured, fewer
_MOST_NUMBERS = 10
_FEWEST = 30  # rows that have both
_N_CHANCE = 99
_NAMED = 3


def columns_told(labels: Codes, columns: Mapping[str, Any], *, known: Codes | None = None, known_name: str = "") -> str:
    """Say which columns the cluster of a row tells, the one told best first; empty for none.

    A column is guessed by its commonest class in each cluster. It is told where this saves half of the errors of a
    guess of its commonest class anywhere, beyond what is saved on average when its classes are dealt anew to the rows.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,), int64
        Cluster of each row, -1 for none.
    columns : mapping of str to array-like of shape (n_samples,)
        Those that were no part of the data. Of up to 50 classes are looked at, of numbers up to 10.
    known : ndarray of shape (n_samples,), int64, or None, default=None
        Classes of a name that rows have anyway, -1 for none: columns that these tell are left out, and where clusters
        do not tell them that is said.
    known_name : str, default=""
    """
    found = []
    for name, column in columns.items():
        codes = classes_of_column(column, len(labels))
        shares = _told(labels, codes)
        if codes is not None and shares is not None and (known is None or _told(known, codes) is None):
            n_known = int(np.count_nonzero(codes >= 0))
            rows = "rows" if n_known == len(codes) else f"the {n_known:,} rows that have one"
            found.append((shares[2], name, shares[0], shares[1], rows))
    if not found:
        return ""
    found.sort(key=lambda one: -one[0])
    told = [
        f"{name!r} of {_percent(right)} % of {rows} ({_percent(alone)} % without it)"
        for _, name, right, alone, rows in found
    ]
    unlike = "" if known is None or _told(labels, known) is not None else f" It does not tell {known_name!r}."
    return (
        "The cluster of a row tells what had no part in finding it: "
        f"{first_few(told, _NAMED, of='column', between='; ')}.{unlike} Where such a column says how rows were "
        "made, as a batch or a donor does, clusters may be no more than that."
    )


def classes_of_column(column: Any, n: int) -> Codes | None:
    """Return the class of each row in a column, -1 for none; None if it has no few classes."""
    try:
        values = check_labels(column, n)
        classes = sort_into_classes(values)
    except (TypeError, ValueError):
        return None
    is_measured = values.dtype.kind in "fiu"
    if not 2 <= len(classes) <= (_MOST_NUMBERS if is_measured else _MOST_CLASSES):
        return None
    return classes.codes


def _told(labels: Codes, codes: Codes | None) -> tuple[float, float, float] | None:
    """Return which share of rows is guessed right with and without clusters, and which of the errors are saved.

    None where they are not told.
    """
    if codes is None:
        return None
    both = (labels >= 0) & (codes >= 0)
    if np.count_nonzero(both) < _FEWEST:
        return None
    cluster = np.unique(labels[both], return_inverse=True)[1]
    codes = np.unique(codes[both], return_inverse=True)[1]
    n, n_classes = len(codes), int(codes.max()) + 1

    def right(classes: Codes) -> float:
        counts = np.bincount(cluster * n_classes + classes, minlength=(int(cluster.max()) + 1) * n_classes)
        return float(counts.reshape(-1, n_classes).max(axis=1).sum()) / n

    found, alone = right(codes), float(np.bincount(codes).max()) / n
    draw = np.random.default_rng(0)
    chance = [right(draw.permutation(codes)) for _ in range(_N_CHANCE)]
    mean = float(np.mean(chance))
    if mean >= 1.0:
        return None
    saved = (found - mean) / (1.0 - mean)
    return (found, alone, saved) if saved >= _LEAST else None


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f}" if share < 0.995 or share == 1.0 else f"{min(100.0 * share, 99.9):.1f}"
