"""Changes of a table that a person would notice: clusters widened, drawn apart or shifted, folds laid flat."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._threads import single_threaded_blas
from gnomon.neighbors import compute_neighbors

__all__ = ["Change", "Distance", "Floats", "Groups", "Shift", "Step", "Stretch", "Unfolded", "Width"]

_SMOOTHINGS = 500  # iterations at most in which a flat table gets the lengths of the folded one

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
        return f"{names[self.group]} made {self.amount:.3g} times as wide"


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
        return f"{names[self.group]} put {self.amount:.3g} times as far from {names[self.other]}"


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
        return f"{features[self.feature]} of {names[self.group]} moved by {self.amount:+g} standard deviations"


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
        return f"row {self.row} put {self.amount:.3g} times as far from row {self.other}"


@dataclass(frozen=True)
class Unfolded(Change):
    """The table laid flat: near rows stay as far from each other as they were, far ones move to where paths lead.

    Attributes
    ----------
    n_neighbors : int
        Of each row, to which it keeps its distance.
    """

    n_neighbors: int

    def apply(self, X: Floats, groups: Groups) -> Floats:
        """Return the changed table, as many columns, the last of which may be 0."""
        from gnomon.methods import Isomap

        q = min(X.shape[1], len(X) - 1)
        isomap = Isomap(n_neighbors=self.n_neighbors, n_components=q, disconnected="connect").fit(X)
        changed = np.zeros_like(X)
        changed[:, :q] = np.nan_to_num(isomap.embedding_)
        return _with_lengths(changed, X, compute_neighbors(X, self.n_neighbors).indices)

    def told(self, names: list[str], features: list[str]) -> str:
        """Return in words what is different."""
        return "every fold laid flat"


def _with_lengths(Z: Floats, X: Floats, neighbors: npt.NDArray[np.integer]) -> Floats:
    """Return a table near Z in which rows are as far from their neighbours as they are in X.

    Least is sum_ij (|z_i - z_j|^2 - d_ij^2)^2 / d_ij^2 over each row i and its neighbours j.
    """
    heads = np.repeat(np.arange(len(X)), neighbors.shape[1])
    tails = neighbors.ravel()
    wanted = np.square(X[heads] - X[tails]).sum(axis=1)
    heads, tails, wanted = heads[wanted > 0.0], tails[wanted > 0.0], wanted[wanted > 0.0]
    edges = scipy.sparse.csr_array(
        (np.tile([1.0, -1.0], len(heads)), np.stack([heads, tails], axis=1).ravel(), 2 * np.arange(len(heads) + 1)),
        shape=(len(heads), len(X)),
    )

    def excess(flat: Floats) -> tuple[float, Floats]:
        ways = edges @ flat.reshape(Z.shape)
        beyond = np.square(ways).sum(axis=1) - wanted
        slopes = edges.T @ (4.0 * (beyond / wanted)[:, None] * ways)
        return float((np.square(beyond) / wanted).sum()), slopes.ravel()

    with single_threaded_blas():
        found = scipy.optimize.minimize(
            excess, Z.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _SMOOTHINGS}
        )
    return np.asarray(found.x.reshape(Z.shape))
