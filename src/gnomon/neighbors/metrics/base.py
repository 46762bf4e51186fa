"""What every metric that is searched here has to say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon._validation import message, warn
from gnomon.exceptions import DataWarning
from gnomon.neighbors.euclidean import Distances
from gnomon.neighbors.searched import SearchedRows

__all__ = ["NativeMetric", "refuse_negative", "tell_of_numbers", "told_rows"]

_TOLD = "numbers taken as 1"  # where a call keeps of what it has warned
_FIRST = 5  # numbers of rows and columns that are told


class NativeMetric(ABC):
    """A metric: how rows are prepared, what searches them, and which distances come out.

    Attributes
    ----------
    name : str
        The name that a `NeighborGraph` carries; with its arguments in brackets, where it has some, so that the name
        alone says what the distances are.
    needs_direction : bool
        Whether a row of zeros is equally far from all others, however near they are to each other.
    asks_equality : bool
        Whether all that counts of a column is if two values are equal, or are 0: the mean of rows is then no such row.
    ends_at_one : bool
        Whether rows that have nothing in common are all at distance 1, the largest, however unlike they are else.
    takes_amounts : bool
        Whether it is defined of values from 0 on alone.
    compares_sets : bool
        Whether of a value it reads alone if it is 0.
    """

    name: str
    needs_direction: bool = False
    asks_equality: bool = False
    ends_at_one: bool = False
    takes_amounts: bool = False
    compares_sets: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """Make the metric with the arguments a user gave it."""
        if params:
            raise ValueError(message(f"metric_params={dict(params)!r}", f"empty for metric={cls.name!r}"))
        return cls()

    def for_table(self, X: Any) -> NativeMetric:
        """Return a metric of this name that gives the same distances among the rows of a table, in less time."""
        return self

    @abstractmethod
    def rows(self, X: Any, *, alone: bool = False) -> Any:
        """Return rows prepared, an array or CSR; each is a function of its row alone.

        Parameters
        ----------
        X : ndarray of float32 or float64, or sparse matrix, of shape (n_rows, n_features)
        alone : bool, default=False
            Whether they are only ever compared with each other, which may save a column.

        Raises
        ------
        ValueError
            If the metric is not defined for some row, or its arguments do not suit the columns.

        Warns
        -----
        DataWarning
            If a stated rule decides for some rows.
        """

    def periods(self, n_features: int) -> npt.NDArray[np.float64] | None:
        """Return the period of each column, inf where it has none; None where no column has one."""
        return None

    @abstractmethod
    def searched(self, rows: Any) -> SearchedRows:
        """Make prepared rows ready to be searched."""

    def distances(self, found: Distances) -> Distances:
        """Turn what a search found into distances."""
        return found

    @abstractmethod
    def between(self, a: Any, b: Any) -> npt.NDArray[np.float64]:
        """Return the distances between all of two tables of prepared rows; each is a function of its two rows alone."""


def told_rows(marked: npt.NDArray[np.bool_]) -> str:
    """Return how many rows are marked, and the first of them."""
    rows = np.flatnonzero(marked)
    return f"{len(rows):,} rows, first: {', '.join(map(str, rows[:_FIRST]))}"


def refuse_negative(name: str, X: Any) -> None:
    """Raise ValueError for a table, dense or CSR, with negative values."""
    if isinstance(X, np.ndarray):
        negative = np.asarray(~(X >= 0.0).all(axis=1))
    else:
        negative = np.zeros(X.shape[0], dtype=np.bool_)
        negative[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[X.data < 0.0]] = True
    if negative.any():
        fact = f"negative values in {told_rows(negative)}; the smallest is {X.min():g}"
        remedy = "Pass counts, shares or other amounts."
        raise ValueError(message(f"metric={name!r}", "used with values >= 0", fact=fact, remedy=remedy))


def tell_of_numbers(name: str, X: Any) -> None:
    """Warn, once within the call of a user, that numbers of a dense or CSR table other than 0 and 1 are taken as 1."""
    values = X if isinstance(X, np.ndarray) else X.data
    numbers = (values != 0.0) & (values != 1.0)
    count = int(numbers.sum())
    made = current_run().made
    told = set() if made is None else made.setdefault(_TOLD, set())
    if count and name not in told:
        told.add(name)
        remedy = '; metric="ruzicka" compares amounts' if (values >= 0.0).all() else ""
        columns = np.flatnonzero(numbers.any(axis=0)) if isinstance(X, np.ndarray) else np.unique(X.indices[numbers])
        first = ", ".join(map(str, columns[:_FIRST].tolist()))
        which = f"column {first}" if len(columns) == 1 else f"{len(columns)} columns, first: {first}"
        where = f"values other than 0 and 1 ({which}, counted from 0) are taken as 1"
        warn(f"metric={name!r} compares sets: {count} {where}{remedy}", DataWarning)
