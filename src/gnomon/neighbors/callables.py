"""A metric that is a function of two rows: tried before, watched while it measures, and refused with the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.exceptions import CostWarning
from gnomon.linalg.table import evenly_spaced

__all__ = ["Pairs", "Watched", "name_of", "naming_pairs", "refuse", "try_metric", "warn_of_calls"]

_MANY_CALLS = 20_000_000  # of a Python function: half a minute at least
_TRIED = 6  # rows between which a callable is tried
_ROUNDING = 1e-6  # of the largest distance between them: what numbers may be below 0, or differ by in both directions

Metric = str | Callable[..., float]
Numbers = npt.NDArray[np.integer[Any]]


class Pairs(NamedTuple):
    """Between which rows distances are, by their numbers in the tables.

    Attributes
    ----------
    rows, others : ndarray of int
        Of the rows and columns of the distances.
    tables : (str, str) or None
        What errors call the two tables; None if they are one.
    """

    rows: Numbers
    others: Numbers
    tables: tuple[str, str] | None = None

    def told(self, i: int, j: int) -> str:
        """Return which two rows a distance is between."""
        row, other = f"row {self.rows[i]}", f"row {self.others[j]}"
        if self.tables is None:
            return f"between {row} and {other}"
        return f"between {row} of {self.tables[0]} and {other} of {self.tables[1]}"


class _NoDistanceError(ValueError):
    """What a function gave for two rows is no distance."""


@dataclass(frozen=True, eq=False)
class Watched:
    """A function of two rows that refuses what is no distance: scikit-learn drops NaN, and takes what is negative.

    Attributes
    ----------
    metric : callable
    slack : float >= 0
        How far below 0 a number may be by rounding; it counts as 0 then.
    """

    metric: Callable[..., float]
    slack: float

    def __call__(self, a: Any, b: Any, **params: Any) -> float:
        """Return the distance of two rows."""
        distance = self.metric(a, b, **params)
        if distance >= 0.0:
            return distance
        if distance >= -self.slack:
            return 0.0
        raise _NoDistanceError


def name_of(metric: Metric) -> str:
    """Return the name of a metric, in quotes."""
    return repr(getattr(metric, "__name__", metric))


def refuse(metric: Metric, distance: float, pairs: Pairs, i: int, j: int) -> NoReturn:
    """Raise ValueError for what is no distance, with the two rows."""
    rule, fact = "a number >= 0 for all rows", f"{distance:g} {pairs.told(i, j)}"
    raise ValueError(message(f"metric={name_of(metric)}", rule, fact=fact)) from None


@contextmanager
def naming_pairs(metric: Metric, params: Mapping[str, Any] | None, A: Any, B: Any, pairs: Pairs) -> Iterator[None]:
    """Name the first two rows between which a watched function gives no distance, in the order of rows."""
    try:
        yield
    except _NoDistanceError:
        assert isinstance(metric, Watched)
        ours, theirs = _rows(A), _rows(B)
        for i, a in enumerate(ours):
            for j, b in enumerate(theirs):
                distance = float(metric.metric(a, b, **(params or {})))
                if not distance >= -metric.slack:
                    refuse(metric.metric, distance, pairs, i, j)
        rule, fact = "a function of two rows", "it gives another number each time"
        raise ValueError(message(f"metric={name_of(metric.metric)}", rule, fact=fact)) from None


def try_metric(metric: Callable[..., float], params: Mapping[str, Any] | None, X: Any, numbers: Numbers) -> Watched:
    """Return a function of two rows, watched; it is tried on a few rows first.

    Parameters
    ----------
    metric : callable
    params : mapping or None
    X : ndarray or CSR of shape (n_samples, n_features)
    numbers : ndarray of shape (n_samples,), int
        Of its rows, for errors.

    Raises
    ------
    ValueError
        If it is negative, not the same in both directions, or not 0 between a row and itself, by more than a 1e-6th of
        the largest distance between the rows.
    """
    some = evenly_spaced(X.shape[0], _TRIED)
    rows, pairs = _rows(X[some]), Pairs(numbers[some], numbers[some])
    measured = [
        [_number(metric, metric(a, b, **(params or {})), pairs, i, j) for j, b in enumerate(rows)]
        for i, a in enumerate(rows)
    ]
    distances = np.array(measured)
    if not np.isfinite(distances).all():
        finite = np.abs(distances[np.isfinite(distances)])
        return Watched(metric, _ROUNDING * float(finite.max(initial=0.0)))  # it is refused once all rows are measured
    what, largest = f"metric={name_of(metric)}", float(np.abs(distances).max())
    slack = _ROUNDING * largest
    below, own, gaps = distances < -slack, distances.diagonal(), np.abs(distances - distances.T)
    if below.any():
        i, j = (int(place) for place in np.argwhere(below)[0])
        refuse(metric, float(distances[i, j]), pairs, i, j)
    if float(own.max()) > slack:
        i = int(np.flatnonzero(own > slack)[0])
        raise ValueError(message(what, "0 between a row and itself", fact=f"{own[i]:g} {pairs.told(i, i)}"))
    if float(gaps.max()) > slack:
        i, j = (int(place) for place in np.argwhere(gaps > slack)[0])
        fact = f"{distances[i, j]:g} {pairs.told(i, j)}, {distances[j, i]:g} in the other direction"
        remedy = "Take the mean or the larger of both directions."
        raise ValueError(message(what, "the same in both directions", fact=fact, remedy=remedy))
    return Watched(metric, slack)


def _number(metric: Callable[..., float], found: Any, pairs: Pairs, i: int, j: int) -> float:
    """Return what a function gives for two rows as a number, or raise TypeError if it is none."""
    try:
        return float(found)
    except (TypeError, ValueError):
        fact = f"found {type(found).__name__} {pairs.told(i, j)}"
        raise TypeError(message(f"metric={name_of(metric)}", "a number >= 0 for all rows", fact=fact)) from None


def warn_of_calls(metric: Callable[..., float], n_calls: int) -> None:
    """Warn if a Python function is called so often that it takes minutes."""
    if n_calls >= _MANY_CALLS:
        what = f"metric={name_of(metric)} is a function of Python, called some {n_calls:,} times"
        warn(f"{what}, each a microsecond or more. A metric given by its name takes a small part of that.", CostWarning)


def _rows(X: Any) -> list[Any]:
    """Return the rows of a table one by one, those of a sparse one as tables of a row."""
    return [X[i] if isinstance(X, np.ndarray) else X[[i]] for i in range(X.shape[0])]
