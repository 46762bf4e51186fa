"""Changes of a table that a person would notice: clusters widened, drawn apart or shifted, folds laid flat."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["Change", "Distance", "Floats", "Groups", "Shift", "Step", "Stretch", "Unfolded", "Width"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]
"""Number of each row's group, -1 for none."""


@dataclass(frozen=True)
class Change(ABC):
    """Something done to a table, by an amount of which 1 or 0 is nothing.

    Attributes
    ----------
    amount : float
        A factor, or standard deviations.
    """

    amount: float

    @abstractmethod
    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        groups : ndarray of shape (n_samples,), int64
            Number of each row's group, -1 for none.

        Returns
        -------
        ndarray of shape (n_samples, n_features), float64
        """

    def raised(self, power: float) -> Self:
        """Return the same change, a factor raised to a power."""
        return replace(self, amount=self.amount**power)

    @abstractmethod
    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different, by the names of groups and features."""


@dataclass(frozen=True)
class Width(Change):
    """A group `amount` times as wide around its mean.

    Attributes
    ----------
    group : int
    """

    group: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table."""
        rows, changed = groups == self.group, X.copy()
        mean = X[rows].mean(axis=0)
        changed[rows] = mean + self.amount * (X[rows] - mean)
        return changed

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return f"{names[self.group]} {self.amount:.3g} times as wide"


@dataclass(frozen=True)
class Stretch(Change):
    """A group `amount` times as long around its mean, along the line to the mean of another.

    Attributes
    ----------
    group, other : int
    """

    group: int
    other: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table."""
        rows, changed = groups == self.group, X.copy()
        mean = X[rows].mean(axis=0)
        way = X[groups == self.other].mean(axis=0) - mean
        unit = way / (np.linalg.norm(way) or 1.0)
        changed[rows] += (self.amount - 1.0) * np.outer((X[rows] - mean) @ unit, unit)
        return changed

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return f"{names[self.group]} {self.amount:.3g} times as long towards {names[self.other]}"


@dataclass(frozen=True)
class Distance(Change):
    """A group moved until its mean is `amount` times as far from another's.

    Attributes
    ----------
    group, other : int
        What moves, and from where.
    """

    group: int
    other: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table."""
        rows, changed = groups == self.group, X.copy()
        away = X[rows].mean(axis=0) - X[groups == self.other].mean(axis=0)
        changed[rows] += (self.amount - 1.0) * away
        return changed

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return f"{names[self.group]} {self.amount:.3g} times as far from {names[self.other]}"


@dataclass(frozen=True)
class Shift(Change):
    """A feature of all rows of a group raised by `amount` of its standard deviations.

    Attributes
    ----------
    group, feature : int
    """

    group: int
    feature: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table."""
        changed = X.copy()
        changed[groups == self.group, self.feature] += self.amount * X[:, self.feature].std()
        return changed

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return f"{features[self.feature]} of {names[self.group]} {self.amount:+g} standard deviations"


@dataclass(frozen=True)
class Step(Change):
    """A row moved until it is `amount` times as far from another.

    Attributes
    ----------
    row, other : int
    """

    row: int
    other: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table."""
        changed = X.copy()
        changed[self.row] = X[self.other] + self.amount * (X[self.row] - X[self.other])
        return changed

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return f"row {self.row} {self.amount:.3g} times as far from row {self.other}"


@dataclass(frozen=True)
class Unfolded(Change):
    """The table laid flat: its distances are those along paths of near rows.

    Attributes
    ----------
    n_neighbors : int
        Of the graph whose paths are taken.
    """

    n_neighbors: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table, as many columns, the last of which may be 0."""
        from gnomon.methods import Isomap

        q = min(X.shape[1], len(X) - 1)
        flat = Isomap(n_neighbors=self.n_neighbors, n_components=q, disconnected="connect").fit_transform(X)
        changed = np.zeros_like(X)
        changed[:, :q] = np.nan_to_num(flat)
        return changed

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return "every fold laid flat"
