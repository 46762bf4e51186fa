"""Whether features differ between units, such as donors, each of which gave many rows that are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.labels import sort_into_classes
from gnomon.explanations.contrast.sums import sum_deviations
from gnomon.linalg import dense_rows

__all__ = ["FEWEST_UNITS", "UnitSums", "check_units", "refuse_groups", "told_of_too_few"]

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

FEWEST_UNITS = 3
"""Units on either side, or on both, from which on anything is told of them."""


def check_units(units: Any, n_samples: int, groups: Any) -> Codes | None:
    """Return the number of the unit of each row, -1 for a row without one; None without units."""
    if units is None:
        return None
    refuse_groups(groups, units)
    return sort_into_classes(check_labels(units, n_samples, name="units")).codes.astype(np.int64)


def refuse_groups(groups: Any, units: Any) -> None:
    """Raise ValueError where both groups of features and units are given: their scores are not judged between units."""
    if units is not None and groups is not None:
        raise ValueError(message("groups", "left out where units are given"))


def told_of_too_few(n_units: tuple[int, int]) -> str:
    """Say that so many units are too few to tell anything, a clause without a full stop."""
    return f"what sets it apart cannot be told from {n_units[0]} and {n_units[1]} units; each side needs {FEWEST_UNITS}"


@dataclass(frozen=True)
class _Sides:
    """Which means of units are compared.

    Attributes
    ----------
    rows : pair of ndarray of int
        Parts of the table of sums on both sides, sorted by their units.
    owners : pair of ndarray of int64
        Their units.
    compared : pair of ndarray of int64
        The units that are compared, each once: those with rows on both sides, or else those with rows on one only.
    paired : bool
        Whether they are those with rows on both sides.
    """

    rows: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
    owners: tuple[Codes, Codes]
    compared: tuple[Codes, Codes]
    paired: bool

    @property
    def n_units(self) -> tuple[int, int]:
        return len(self.compared[0]), len(self.compared[1])


@dataclass(frozen=True)
class UnitSums:
    """The rows of each unit in each group, summed: what the means of units on two sides are made of.

    A *part* is the rows of one unit in one group.

    Attributes
    ----------
    owners, groups : ndarray of shape (n_parts,), int64
        Unit and group of each part, sorted by unit, then by group.
    counts : ndarray of shape (n_parts,), float64
        Number of rows.
    sums : ndarray of shape (n_parts, n_features), float64
        Of deviations from the center, which is the same for all: equal means have equal bits where deviations are
        whole numbers, and the means of a constant feature are that constant.
    center : ndarray of shape (n_features,), float64
    """

    owners: Codes
    groups: Codes
    counts: Array
    sums: Array
    center: Array

    @classmethod
    def of(cls, X: Any, groups: npt.NDArray[np.integer[Any]], owners: Codes) -> UnitSums:
        """Sum the rows of an array or CSR matrix; those with a number below 0 in `groups` or `owners` take no part."""
        used = np.flatnonzero((groups >= 0) & (owners >= 0))
        n_groups, n_features = int(groups.max(initial=-1)) + 1, int(X.shape[1])
        parts, which, counts = np.unique(
            owners[used] * n_groups + groups[used], return_inverse=True, return_counts=True
        )
        rows = np.split(used[np.argsort(which, kind="stable")], np.cumsum(counts)[:-1]) if len(parts) else []
        center, sums = np.zeros(n_features), np.zeros((len(parts), n_features))
        if hasattr(X, "tocsr"):
            if len(used):
                full = np.bincount(X[used].indices, minlength=n_features) == len(used)
                center[full] = dense_rows(X[used[:1]])[0, full]
            for k, members in enumerate(rows):
                part = X[members]
                deviations = part.data.astype(np.float64) - center[part.indices]
                sums[k] = np.bincount(part.indices, deviations, n_features)
        elif len(used):
            center[:] = X[used[0]]
            for k, members in enumerate(rows):
                sums[k] = sum_deviations(X, members, center)
        return cls(parts // max(n_groups, 1), parts % max(n_groups, 1), counts.astype(np.float64), sums, center)

    def n_units(self, g: int, other: int | None = None) -> tuple[int, int]:
        """Return how many units `chances` compares on both sides."""
        return self._sides(g, other).n_units

    def chances(self, g: int, other: int | None = None) -> tuple[Array | None, tuple[int, int]]:
        """Return how likely such differences are between units that are alike, by Student's test of their means.

        Where enough units have rows on both sides, the differences within these are tested, and others take no part;
        else the means of those that have rows on one side only. Where units differ the other way than rows do, as may
        be where some have far more rows on one side than on the other, it is 1: what is said of the rows is not so of
        the units.

        Parameters
        ----------
        g : int
            A group.
        other : int or None, default=None
            The group to compare it with; None takes all others together.

        Returns
        -------
        p_values : ndarray of shape (n_features,), float64, or None
            None if there are too few units.
        n_units : tuple (int, int)
            Units that are compared on both sides.
        """
        from scipy.special import stdtr

        found, n_units = self.differences(g, other)
        if found is None:
            return None, n_units
        gaps, errors, freedom = found
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(gaps == 0.0, 0.0, np.abs(gaps) / errors)
        rows = self._sides(g, other).rows
        of_rows = [self.sums[some].sum(axis=0) / self.counts[some].sum() for some in rows]
        opposed = np.sign(gaps) * np.sign(of_rows[0] - of_rows[1]) < 0
        return np.where(opposed, 1.0, 2.0 * stdtr(freedom, -t)), n_units

    def differences(self, g: int, other: int | None = None) -> tuple[tuple[Array, Array, int] | None, tuple[int, int]]:
        """Return the differences that `chances` judges.

        Parameters
        ----------
        g, other : as for `chances`

        Returns
        -------
        found : tuple of ndarray, ndarray and int, or None
            Differences of the means of units and their standard errors, (n_features,), and degrees of freedom; None if
            there are too few units.
        n_units : tuple (int, int)
        """
        sides = self._sides(g, other)
        n_units = sides.n_units
        if min(n_units) < FEWEST_UNITS:
            return None, n_units
        one, rest = (self._means(*of) for of in zip(sides.rows, sides.owners, sides.compared, strict=True))
        if sides.paired:
            differences = one - rest
            variance = differences.var(axis=0, ddof=1) / n_units[0]
            return (differences.mean(axis=0), np.sqrt(variance), n_units[0] - 1), n_units
        freedom = sum(n_units) - 2
        squares = [((means - means.mean(axis=0)) ** 2).sum(axis=0) for means in (one, rest)]
        variance = (squares[0] + squares[1]) / freedom * (1.0 / n_units[0] + 1.0 / n_units[1])
        return (one.mean(axis=0) - rest.mean(axis=0), np.sqrt(variance), freedom), n_units

    def _sides(self, g: int, other: int | None) -> _Sides:
        inside = self.groups == g
        rows = np.flatnonzero(inside), np.flatnonzero(~inside if other is None else self.groups == other)
        owners = self.owners[rows[0]], self.owners[rows[1]]
        shared = np.intersect1d(*owners)
        own = np.setdiff1d(owners[0], shared), np.setdiff1d(owners[1], shared)
        n_own = min(len(own[0]), len(own[1]))
        paired = len(shared) >= FEWEST_UNITS or (n_own < FEWEST_UNITS and 0 < len(shared) >= n_own)
        return _Sides(rows, owners, (shared, shared) if paired else own, paired)

    def _means(self, rows: npt.NDArray[np.intp], owners: Codes, compared: Codes) -> Array:
        """Return the mean of each unit compared, (n_units, n_features), over its parts among some."""
        kept = np.isin(owners, compared)
        rows, owners = rows[kept], owners[kept]
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        sums, counts = np.add.reduceat(self.sums[rows], firsts, axis=0), np.add.reduceat(self.counts[rows], firsts)
        means: Array = self.center + sums / counts[:, None]
        return means
