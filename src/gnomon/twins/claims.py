"""What people read from a map, as claims that are true or false of a table, and how each can be made false."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.twins.changes import Change, Distance, Floats, Groups, Step, Width

__all__ = ["Apart", "Claim", "Denser", "Near", "Nearer", "Wider", "claim_of"]

_BEYOND = 1.1  # how far past the point at which a claim becomes false
_NEIGHBORS = 15
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
    apart = np.sqrt(np.maximum(np.square(rows[:, None] - rows[None]).sum(axis=2), 0.0))
    return float(np.median(np.sort(apart, axis=1)[:, min(_WITHIN, len(rows) - 1)]))


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
    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes of a table after which it is false, the smallest of their kind."""


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

    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes after which it is false."""
        apart = _between(X, groups, self.a, self.b)
        of_a, of_b = _radius(X, groups, self.a), _radius(X, groups, self.b)
        found: list[Change] = [Distance((of_a + of_b) / apart / _BEYOND, self.b, self.a)]
        if of_a > 0.0 and apart > of_b:
            found.append(Width(_BEYOND * (apart - of_b) / of_a, self.a))
        if of_b > 0.0 and apart > of_a:
            found.append(Width(_BEYOND * (apart - of_a) / of_b, self.b))
        return found


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

    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes after which it is false."""
        ratio = _BEYOND * _between(X, groups, self.a, self.c) / _between(X, groups, self.a, self.b)
        return [Distance(ratio, self.b, self.a), Distance(1.0 / ratio, self.c, self.a)]


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

    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes after which it is false."""
        ratio = _BEYOND * _spacing(X, groups, self.b) / max(_spacing(X, groups, self.a), 1e-300)
        return [Width(ratio, self.a), Width(1.0 / ratio, self.b)]


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

    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes after which it is false."""
        ratio = _BEYOND * _radius(X, groups, self.a) / max(_radius(X, groups, self.b), 1e-300)
        return [Width(1.0 / ratio, self.a), Width(ratio, self.b)]


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

    def counters(self, X: Floats, groups: Groups) -> list[Change]:
        """Return changes after which it is false."""
        apart = np.sort(np.linalg.norm(X - X[self.x], axis=1))
        beyond = _BEYOND * apart[min(_NEIGHBORS + 1, len(apart) - 1)]
        own = float(np.linalg.norm(X[self.y] - X[self.x]))
        if own == 0.0:
            return []
        ratio = float(beyond / own)
        return [Step(ratio, self.y, self.x), Step(ratio, self.x, self.y)]


_WORDS: dict[str, tuple[Callable[..., Claim], int]] = {
    "apart": (Apart, 2),
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
        raise ValueError(message("claim", rule, fact=f"{words!r}"))
    make, count = _WORDS[words[0]]
    about = list(words[1:])
    if len(about) != count or len({str(one) for one in about}) != count:
        raise ValueError(message("claim", f"about {count} different ones for {words[0]!r}", fact=f"{words!r}"))
    if words[0] == "near":
        if not all(isinstance(row, int | np.integer) and 0 <= row < n_samples for row in about):
            raise ValueError(message("claim", f"about rows from 0 to {n_samples - 1}", fact=f"{words!r}"))
        return make(*map(int, about))
    missing = [str(one) for one in about if str(one) not in names]
    if missing:
        raise ValueError(message("claim", f"about groups of {', '.join(names[:8])}", fact=f"{missing[0]!r} is none"))
    return make(*(names.index(str(one)) for one in about))
