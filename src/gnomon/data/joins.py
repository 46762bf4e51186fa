"""Rows that repeat the columns of fewer owners, as the orders of a customer do in a table of orders and customers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.columns import ColumnRule, columns_of_features
from gnomon.data.dataset import first_few

__all__ = ["Join", "find_join"]

Floats = npt.NDArray[np.float64]

_FEWEST_OWNERS = 15
_MOST_OWNERS = 0.5  # of the rows
_COMMON = 0.2  # chance that two rows have the same value of a column, of one that names owners
_AGREE = 0.9  # of the rows beside another one with the same value
_BEYOND = 0.8  # of the way from what is by chance to all
_FEWEST_PAIRS, _MOST_PAIRS = 15, 1000  # of rows with the same value that are looked at
_ROUGH = 0.2  # of the squared step from value to value in random order: less in a function of the other column
_GRID = 2  # steps for each different value, at most, in columns of codes, counts and ages
_ON_CURVE = 0.02  # of the spreads, off a curve
_LOOKED_AT = 2000  # rows that tell which columns have many values
_FEW, _CROSSED = 0.5, 4.0  # values of a column for each set, at most; combinations of values for each set, at most
_MOST_CROSSED = 12  # columns of few values that are combined
_NAMED = 5  # columns


@dataclass(frozen=True)
class Join:
    """Columns that agree exactly in sets of rows, those of one owner each, beside others that do not.

    Attributes
    ----------
    columns : tuple of str
        Those that agree, in the order of the table.
    n_owners : int
        Sets of rows.
    n_samples : int
        Rows of the table.
    units : str
        Of `columns` the one with most different values, which tells the owners apart.
    """

    columns: tuple[str, ...]
    n_owners: int
    n_samples: int
    units: str

    @property
    def told(self) -> str:
        """What was found, what follows from it, and what to do."""
        named = [repr(name) for name in self.columns]
        many = len(named) > _NAMED
        names = first_few(named, _NAMED) if many else f"{', '.join(named[:-1])} and {named[-1]}"
        return (
            f"The {self.n_samples:,} rows repeat {self.n_owners:,} sets of values in the columns {names}, as a table "
            "of orders does that repeats the columns of each customer. Rows of a set lie together for that alone and "
            "are not independent: clusters, gaps, dimension and what sets groups apart may be those of these sets, and "
            "chance is judged as of more rows than there are. Map one row of each set, such as means by groupby, or "
            "leave these columns out by drop; contrast and captions take the sets as units, such as the values of "
            f"{self.units!r}."
        )


def find_join(
    values: Any, names: Sequence[str] | None = None, columns: Sequence[ColumnRule] | None = None
) -> Join | None:
    """Look whether rows repeat others in several columns together that have many different values.

    Of a column with 15 different values or more, at most half as many as rows and none very common, rows with the same
    value are compared in the other columns. Another such column agrees if nine of ten of them have the same value
    there. One may be a function of the other all the same, as Fahrenheit of Celsius, an age of a year of birth or a
    square: from value to value such a function moves by little, and the columns of owners by as much as in random order
    (a fifth of it at least, of ranks). Nor are sine and cosine of an hour owners: both lie on one curve of second
    degree; nor codes, counts and ages: values of the two columns must not lie on a grid and at every second step of it;
    nor columns that are computed from two or three others of few values, most of whose combinations are there.
    Of such columns that name the owners the one counts that most columns agree with. If no column is left, the rows are
    copies.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features), or CSR, in which nothing is looked for
        Finite numbers.
    names : sequence of str or None
        One for each feature.
    columns : sequence of ColumnRule or None
        What became of the columns of the table; None if all were numbers.

    Returns
    -------
    Join or None
    """
    if not isinstance(values, np.ndarray) or len(values) < 2 * _FEWEST_OWNERS:
        return None
    owning = _many_valued(values)
    best: tuple[int, int] | None = None
    agreeing: npt.NDArray[np.bool_] = np.zeros(values.shape[1], dtype=np.bool_)
    for base, n_values in owning.items() if len(owning) > 1 else ():
        agree = _agreeing(values, values[:, base])
        if best is not None and (int(agree.sum()), n_values) <= best:
            continue
        partners = [j for j in owning if j != base and agree[j]]
        first = np.unique(values[:, base], return_index=True)[1]
        if any(_are_unlike(values[first, base], values[first, j]) for j in partners) and not _are_crossed(
            values[first][:, agree]
        ):
            best, agreeing, found = (int(agree.sum()), n_values), agree, base
    varying = values.min(axis=0) < values.max(axis=0)
    if best is None or not (varying & ~agreeing).any():
        return None
    at = columns_of_features(values.shape[1], names, columns)
    told = tuple(dict.fromkeys(at[j] for j in np.flatnonzero(agreeing & varying).tolist()))
    return Join(told, owning[found], len(values), at[found])


def _many_valued(values: npt.NDArray[Any]) -> dict[int, int]:
    """Return how many different values columns have that may name owners, and are no codes, counts or ages."""
    n = len(values)
    some = values[np.linspace(0, n - 1, min(n, _LOOKED_AT)).astype(np.intp)]
    found = {}
    for j in range(values.shape[1]):
        counts = np.unique(some[:, j], return_counts=True)[1]
        if len(counts) < _FEWEST_OWNERS or _chance_of_pair(counts) > _COMMON:
            continue
        different = np.unique(values[:, j]).astype(np.float64)
        if len(different) <= _MOST_OWNERS * n and not _is_on_grid(different):
            found[j] = len(different)
    return found


def _chance_of_pair(counts: npt.NDArray[np.intp]) -> float:
    """Return the chance that two rows have the same value."""
    n = int(counts.sum())
    return float(np.sum(counts * (counts - 1.0))) / (n * (n - 1.0))


def _is_on_grid(different: Floats) -> bool:
    """Say whether values lie on a grid with hardly more steps than there are values."""
    steps = np.diff(different)
    return bool(different[-1] - different[0] <= _GRID * len(different) * steps.min())


def _agreeing(values: npt.NDArray[Any], owner: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return in which columns rows agree, beyond chance, that have the same owner."""
    order = np.argsort(owner, kind="stable")
    pairs = np.flatnonzero(owner[order[1:]] == owner[order[:-1]])
    if len(pairs) < _FEWEST_PAIRS:
        return np.zeros(values.shape[1], dtype=np.bool_)
    pairs = pairs[np.linspace(0, len(pairs) - 1, min(len(pairs), _MOST_PAIRS)).astype(np.intp)]
    share = np.mean(values[order[pairs]] == values[order[pairs + 1]], axis=0)
    agree: npt.NDArray[np.bool_] = share >= _AGREE
    for j in np.flatnonzero(agree).tolist():
        chance = _chance_of_pair(np.unique(values[:, j], return_counts=True)[1])
        agree[j] = chance < 1.0 and share[j] - chance >= _BEYOND * (1.0 - chance)
    return agree


def _are_unlike(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Say whether neither column is a plain function of the other: from each of its values to the next that jumps.

    Nor do both lie on a curve of second degree, as sine and cosine of an hour do.
    """
    for first, second in ((one, other), (other, one)):
        ranks = np.argsort(np.argsort(second[np.argsort(first, kind="stable")], kind="stable"), kind="stable")
        if float(np.mean(np.diff(ranks) ** 2)) < _ROUGH * 2.0 * float(ranks.var()):
            return False
    x, y = ((column - column.mean()) / column.std() for column in (one.astype(np.float64), other.astype(np.float64)))
    terms = np.column_stack([x * x, x * y, y * y, x, y, np.ones_like(x)])
    least = np.linalg.svd(terms, compute_uv=False)[-1]
    return bool(least > _ON_CURVE * np.sqrt(len(x)))


def _are_crossed(sets: npt.NDArray[Any]) -> bool:
    """Say whether two or three columns of few values, most of whose combinations are there, tell all sets apart.

    Then the other columns are computed from these, as payments are of amounts and terms, and rows have no owners.
    """
    n = len(sets)
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in sets.T]
    few = [column for column in codes if 1 < int(column.max()) + 1 <= _FEW * n][:_MOST_CROSSED]
    for count in (2, 3):
        for some in itertools.combinations(few, count):
            sizes = [int(column.max()) + 1 for column in some]
            if math.prod(sizes) <= _CROSSED * n and len(np.unique(np.ravel_multi_index(some, sizes))) == n:
                return True
    return False
