"""Columns that are 0 in the same rows, as where what they measure is absent: a jet, a partner, an unused slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._validation import warn
from gnomon.data.columns import ColumnRule, features_of
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning

__all__ = ["Absent", "find_absent", "warn_of_absent"]

_FEWEST_ROWS, _SHARE = 10, 0.01  # with zeros, and as many without
_DIFFERENT = 20  # values other than 0: what is measured, not counts, categories and truth values
_SAME = 0.999  # correlation of ranks from which on a column is another one once more
_OF_ALL = 0.5  # columns with zeros that have them so; of texts and counts hardly any do
_APART = 2.0  # times as far as the twentieth of the others next to 0 reaches that it lies below them, at least
_MOST_COLUMNS = 500
_NAMED, _SHOWN = 4, 3  # columns of a group, groups


class Absent(NamedTuple):
    """Columns that are 0 in the same rows.

    Attributes
    ----------
    columns : tuple of int
    n_rows : int
        In which they are.
    """

    columns: tuple[int, ...]
    n_rows: int


def find_absent(values: npt.NDArray[Any]) -> list[Absent]:
    """Return groups of columns of measured values that are 0 in the same rows and nowhere else.

    These have 20 different other values or more. No two of a group go up together, as a value and its logarithm do. In
    one of them 0 lies apart: amid values of both signs, or beyond all of one sign by twice as far as the twentieth
    part of these next to 0 reaches. At least half of such columns with zeros are in a group, so that tables of counts
    and of words, in which zeros of few columns fall together, have none.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Numbers, NaN where one is missing.

    Returns
    -------
    list of Absent
        In the order of their first columns.
    """
    n, n_columns = values.shape
    if n_columns > _MOST_COLUMNS or n < 2 * _FEWEST_ROWS:
        return []
    fewest = max(_FEWEST_ROWS, int(np.ceil(_SHARE * n)))
    zeros = np.count_nonzero(values == 0, axis=0)
    sparse = [
        k for k in np.flatnonzero((zeros >= fewest) & (n - zeros >= fewest)).tolist() if _is_measured(values[:, k])
    ]
    alike: dict[bytes, list[int]] = {}
    for k in sparse:
        alike.setdefault(np.packbits(values[:, k] == 0).tobytes(), []).append(k)
    groups = []
    for columns in alike.values():
        rest = values[values[:, columns[0]] != 0][:, columns]
        kept = _unlike(rest) if len(columns) > 1 else []
        if len(kept) > 1 and any(_is_apart(rest[:, j]) for j in kept):
            groups.append(Absent(tuple(columns), int(zeros[columns[0]])))
    if sum(len(one.columns) for one in groups) < _OF_ALL * len(sparse):
        return []
    return groups


def _is_measured(values: npt.NDArray[Any]) -> bool:
    return len(np.unique(values[np.isfinite(values) & (values != 0)])) >= _DIFFERENT


def _unlike(rest: npt.NDArray[Any]) -> list[int]:
    """Return which columns are no increasing or falling function of one before."""
    ranks = np.argsort(np.argsort(rest, axis=0, kind="stable"), axis=0, kind="stable").astype(np.float64)
    ranks -= ranks.mean(axis=0)
    ranks /= np.sqrt(np.square(ranks).sum(axis=0))
    kept: list[int] = []
    for j in range(rest.shape[1]):
        if all(abs(float(ranks[:, i] @ ranks[:, j])) < _SAME for i in kept):
            kept.append(j)
    return kept


def _is_apart(rest: npt.NDArray[Any]) -> bool:
    """Return whether 0 is no value at the end of others, as it is of amounts that may be small."""
    known = rest[np.isfinite(rest)]
    if not known.size:
        return False
    low, high = float(known.min()), float(known.max())
    if low < 0.0 < high:
        return True
    nearest, twentieth = (float(value) for value in np.quantile(np.abs(known), (0.0, 0.05)))
    return nearest > _APART * (twentieth - nearest)


def warn_of_absent(
    values: npt.NDArray[Any], names: Sequence[str] | None = None, columns: Sequence[ColumnRule] | None = None
) -> None:
    """Warn of columns that are 0 in the same rows; nothing is changed.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
    names : sequence of str or None
        One for each feature.
    columns : sequence of ColumnRule or None
        What became of the columns of the table, of which only numbers count; None if all were numbers.

    Warns
    -----
    DataWarning
        Names the columns and says in how many rows they are 0.
    """
    names = default_names(values.shape[1]) if names is None else names
    looked_at = np.arange(values.shape[1])
    if columns is not None:
        starts = [at.start for rule, at in features_of(columns).items() if rule.kind in ("number", "written")]
        looked_at = np.array(starts, dtype=np.intp)
    found = find_absent(values if len(looked_at) == values.shape[1] else values[:, looked_at])
    if not found:
        return
    told = first_few((_told(one, [names[looked_at[k]] for k in one.columns], len(values)) for one in found), _SHOWN)
    warn(
        f"Columns are 0 in the same rows: {told}. If 0 stands there for what is absent, rows lie apart by how much of "
        "it they have, and clusters may be no more than these numbers. Map the rows that have it by themselves, or put "
        "NaN in place of such zeros.",
        DataWarning,
    )


def _told(found: Absent, names: Sequence[str], n: int) -> str:
    own = first_few(map(repr, names), _NAMED, of="column")
    return f"{own} in {found.n_rows:,} ({found.n_rows / n:.1%})"
