"""What people read from a map, as claims that are true or false of a table, and how each can be turned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnomon._arithmetic import row_distances
from gnomon.twins.changes import Change, Distance, Floats, Groups, Step, Stretch, Width

__all__ = ["Apart", "Claim", "Denser", "Empty", "Near", "Nearer", "Wider", "claim_of"]

_BEYOND = 1.1  # factor by which an amount goes past the one at which a claim turns
_FARTHEST = 64.0  # largest factor, and one over the smallest, at which a claim is asked for again
_RUNGS = 13  # factors up to that, before the turn is looked for between two
_HALVINGS = 6  # of the interval between two: the turn is known to half a percent
_NEIGHBORS = 15
_MIDDLE = 0.2  # share of the way between two groups that is called the gap
_WITHIN = 5  # neighbours whose distance tells how dense a group is


def _mean(X: Floats, groups: Groups, g: int) -> Floats:
    return np.asarray(X[groups == g].mean(axis=0))


def _between(X: Floats, groups: Groups, a: int, b: int) -> float:
    return float(np.linalg.norm(_mean(X, groups, a) - _mean(X, groups, b)))


def _radius(X: Floats, groups: Groups, g: int) -> float:
    rows = X[groups == g]
    return float(np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean()))


def _spacing(X: Floats, groups: Groups, g: int) -> float:
    """Return the median distance within a group to its fifth nearest row."""
    rows = X[groups == g]
    place = min(_WITHIN, len(rows) - 1)
    return float(np.median(np.partition(row_distances(rows, rows), place, axis=1)[:, place]))


@dataclass(frozen=True)
class Claim(ABC):
    """Something that is true or false of a table and its groups."""

    @abstractmethod
    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""

    @abstractmethod
    def told(self, names: list[str]) -> str:
        """Return it in words, by the names of the groups."""

    @abstractmethod
    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it, each by a factor of 1, which is nothing."""

    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes of a table after which the opposite is true of it, the smallest of their kind.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        groups : ndarray of shape (n_samples,), int64

        Returns
        -------
        list of Change
            Ten percent beyond the amount at which the claim turns. A kind by which it does not turn, to 64 times as
            much or as little, is left out.
        """
        found = []
        for handle in self.handles():
            found += [self._aimed(handle, X, groups, way) for way in (1.0, -1.0)]
        return [change for change in found if change is not None]

    def _aimed(self, handle: Change, X: Floats, groups: Groups, way: float) -> Change | None:
        holds = self.holds(X, groups)

        def turned(logarithm: float) -> Change | None:
            change = replace(handle, amount=float(np.exp(way * logarithm)))
            return change if self.holds(change.apply(X, groups), groups) != holds else None

        ladder = np.linspace(0.0, np.log(_FARTHEST), _RUNGS)
        rung = next((k for k in range(1, _RUNGS) if turned(ladder[k])), None)
        if rung is None:
            return None
        low, high = ladder[rung - 1], ladder[rung]
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if turned(middle) else (middle, high)
        return turned(high + np.log(_BEYOND)) or turned(high)


@dataclass(frozen=True)
class Apart(Claim):
    """The means of two groups are farther from each other than both groups reach, by their radii.

    Attributes
    ----------
    a, b : int
    """

    a: int
    b: int

    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""
        return _between(X, groups, self.a, self.b) > _radius(X, groups, self.a) + _radius(X, groups, self.b)

    def told(self, names: list[str]) -> str:
        """Return it in words."""
        return f"{names[self.a]} and {names[self.b]} are apart"

    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it."""
        return [Distance(1.0, self.b, self.a), Width(1.0, self.a), Width(1.0, self.b)]


@dataclass(frozen=True)
class Nearer(Claim):
    """The mean of a group is nearer to that of b than to that of c.

    Attributes
    ----------
    a, b, c : int
    """

    a: int
    b: int
    c: int

    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""
        return _between(X, groups, self.a, self.b) < _between(X, groups, self.a, self.c)

    def told(self, names: list[str]) -> str:
        """Return it in words."""
        return f"{names[self.a]} is nearer to {names[self.b]} than to {names[self.c]}"

    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it."""
        return [Distance(1.0, self.b, self.a), Distance(1.0, self.c, self.a)]


@dataclass(frozen=True)
class Denser(Claim):
    """Rows of one group lie closer together than those of another, by the median distance to the fifth nearest.

    Attributes
    ----------
    a, b : int
    """

    a: int
    b: int

    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""
        return _spacing(X, groups, self.a) < _spacing(X, groups, self.b)

    def told(self, names: list[str]) -> str:
        """Return it in words."""
        return f"{names[self.a]} is denser than {names[self.b]}"

    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it."""
        return [Width(1.0, self.a), Width(1.0, self.b)]


@dataclass(frozen=True)
class Wider(Claim):
    """One group reaches farther from its mean than another, by the root mean square distance.

    Attributes
    ----------
    a, b : int
    """

    a: int
    b: int

    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""
        return _radius(X, groups, self.a) > _radius(X, groups, self.b)

    def told(self, names: list[str]) -> str:
        """Return it in words."""
        return f"{names[self.a]} is wider than {names[self.b]}"

    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it."""
        return [Width(1.0, self.a), Width(1.0, self.b)]


@dataclass(frozen=True)
class Near(Claim):
    """A row is among the fifteen nearest of another.

    Attributes
    ----------
    x, y : int
        Rows: y is near x.
    """

    x: int
    y: int

    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""
        apart = np.linalg.norm(X - X[self.x], axis=1)
        apart[self.x] = np.inf
        return bool((apart < apart[self.y]).sum() < _NEIGHBORS)

    def told(self, names: list[str]) -> str:
        """Return it in words."""
        return f"row {self.y} is a neighbour of row {self.x}"

    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it."""
        return [Step(1.0, self.y, self.x), Step(1.0, self.x, self.y)]


@dataclass(frozen=True)
class Empty(Claim):
    """No row lies halfway between two groups.

    Halfway is the middle fifth of the way from mean to mean, and nearer to both means than they are to each other.

    Attributes
    ----------
    a, b : int
    """

    a: int
    b: int

    def holds(self, X: Floats, groups: Groups) -> bool:
        """Return whether it is true of a table."""
        begin, end = _mean(X, groups, self.a), _mean(X, groups, self.b)
        way = end - begin
        square = float(way @ way)
        if square == 0.0:
            return False
        along = (X - begin) @ way / square
        within = np.abs(along - 0.5) < 0.5 * _MIDDLE
        farther = np.maximum(np.square(X - begin).sum(axis=1), np.square(X - end).sum(axis=1))
        return not bool((within & (farther < square)).any())

    def told(self, names: list[str]) -> str:
        """Return it in words."""
        return f"the gap between {names[self.a]} and {names[self.b]} is empty"

    def handles(self) -> list[Change]:
        """Return the kinds of change that can turn it."""
        return [
            Stretch(1.0, self.a, self.b),
            Stretch(1.0, self.b, self.a),
            Distance(1.0, self.b, self.a),
            Width(1.0, self.a),
            Width(1.0, self.b),
        ]


_WORDS: dict[str, tuple[Callable[..., Claim], int]] = {
    "apart": (Apart, 2),
    "empty": (Empty, 2),
    "nearer": (Nearer, 3),
    "denser": (Denser, 2),
    "wider": (Wider, 2),
    "near": (Near, 2),
}


def claim_of(words: Any, names: list[str], n_samples: int) -> Claim:
    """Return a claim from its words, such as ("nearer", "A", "B", "C") or ("near", 3, 7).

    Parameters
    ----------
    words : Claim, or sequence of a kind and names of groups, for "near" of rows
    names : list of str
        Of the groups.
    n_samples : int

    Raises
    ------
    ValueError
        If there is no such kind, group or row.
    """
    from gnomon._validation import message

    if isinstance(words, Claim):
        return words
    if isinstance(words, str) or not hasattr(words, "__len__") or len(words) < 1 or words[0] not in _WORDS:
        rule = "a kind and what it is about, such as ('nearer', 'A', 'B', 'C'); kinds are " + ", ".join(_WORDS)
        raise ValueError(message("claim", rule, fact=_shown(words)))
    make, count = _WORDS[words[0]]
    about = list(words[1:])
    if any(np.ndim(one) for one in about):
        remedy = "Pass labels that say which group each row is of, or ask a Map, which takes masks and row numbers."
        raise ValueError(message("claim", "about groups or rows by their names", fact=_shown(words), remedy=remedy))
    if len(about) != count or len({str(one) for one in about}) != count:
        raise ValueError(message("claim", f"about {count} different ones for {words[0]!r}", fact=_shown(words)))
    if words[0] == "near":
        if not all(isinstance(row, int | np.integer) and 0 <= row < n_samples for row in about):
            raise ValueError(message("claim", f"about rows from 0 to {n_samples - 1}", fact=_shown(words)))
        return make(*map(int, about))
    missing = [str(one) for one in about if str(one) not in names]
    if missing and not names:
        fact, remedy = f"the table has none, and {missing[0]!r} is asked about", "Pass labels."
        raise ValueError(message("claim", "about groups of the table", fact=fact, remedy=remedy))
    if missing:
        raise ValueError(message("claim", f"about groups of {', '.join(names[:8])}", fact=f"{missing[0]!r} is none"))
    return make(*(names.index(str(one)) for one in about))


def _shown(words: Any) -> str:
    """Write the words of a claim for an error, arrays and lists by their kind and length alone."""
    if isinstance(words, str) or not isinstance(words, list | tuple):
        return f"{words!r:.60}"
    parts = [f"{one!r:.40}" if np.ndim(one) == 0 else f"<{type(one).__name__} of {len(one):,}>" for one in words[:5]]
    return f"({', '.join(parts)}{', ...' if len(words) > len(parts) else ''})"
