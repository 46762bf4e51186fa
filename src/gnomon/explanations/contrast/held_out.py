"""How well the features that set groups apart tell them apart in rows that were not looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import unsaid
from gnomon.data.names import default_names
from gnomon.data.scaling import choose_scaling
from gnomon.exceptions import GnomonWarning
from gnomon.explanations.rows import dense_rows_of
from gnomon.linalg import inner_products, product, stacked_solve
from gnomon.linalg.table import evenly_spaced, float_rows
from gnomon.neighbors import alike_by_chance, find_repeats

__all__ = ["Repeats", "held_out_auc"]

Array = npt.NDArray[np.float64]

_N_NAMED = 10  # features that the discriminant uses
_ROWS = 1000  # rows of a side that the discriminant sees at most
_DAMPING = 1e-3


@dataclass(frozen=True)
class Repeats:
    """Rows that were measured or copied several times, among those that are looked at.

    Attributes
    ----------
    sets : ndarray of shape (n_samples,), int64
        Number of the set of each row; -1 for rows that are not looked at.
    """

    sets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, groups: npt.NDArray[np.int32], n_groups: int) -> Repeats | None:
        """Look for repeats among the rows whose halves are compared; None without any.

        Columns of unlike units are standardised for it, as they are to map or to explain them.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        groups : ndarray of shape (n_samples,)
            Group of each row, -1 for none.
        n_groups : int

        Returns
        -------
        Repeats or None
        """
        rows = np.flatnonzero(_split_groups(groups, n_groups) >= 0)
        if len(rows) < 2:
            return None
        values = float_rows(X[rows])
        with unsaid(GnomonWarning):  # numbers are contrasted as they are
            scaling = choose_scaling(values, "auto", names=default_names(int(values.shape[1]))).scaling
            kept, inverse = find_repeats(values if scaling is None else float_rows(scaling.apply(values)), seed=0)
        if len(kept) == len(rows) or alike_by_chance(values, len(rows) - len(kept)):
            return None
        sets = np.full(len(groups), -1, dtype=np.int64)
        sets[rows] = inverse
        return cls(sets)

    def distinct(self, inside: npt.NDArray[np.bool_]) -> int:
        """Return about how many of some rows are distinct.

        Parameters
        ----------
        inside : ndarray of shape (n_samples,), bool

        Returns
        -------
        int
        """
        looked_at = self.sets[inside & (self.sets >= 0)]
        n = int(np.count_nonzero(inside))
        return max(round(n * len(np.unique(looked_at)) / len(looked_at)), 1) if len(looked_at) else n

    def without(self, groups: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.integer[Any]]:
        """Return groups in which rows are in none that repeat another one of their group.

        Parameters
        ----------
        groups : ndarray of shape (n_samples,), int
            -1 for none.
        """
        looked_at = np.flatnonzero((self.sets >= 0) & (groups >= 0))
        pairs = np.stack([self.sets[looked_at], groups[looked_at].astype(np.int64)], axis=1)
        kept = np.ones(len(groups), dtype=np.bool_)
        kept[looked_at] = False
        kept[looked_at[np.unique(pairs, axis=0, return_index=True)[1]]] = True
        return np.where(kept, groups, -1)


def held_out_auc(
    X: Any,
    groups: npt.NDArray[np.int32],
    n_groups: int,
    rank: Callable[[Any, npt.NDArray[np.int32]], npt.NDArray[np.integer[Any]]],
    sets: npt.NDArray[np.integer[Any]] | None = None,
) -> Array:
    """Return for each group how well the most distinctive features tell it from the others on rows not looked at.

    In one half of the rows `rank` chooses the `_N_NAMED` features of every group and a linear discriminant is fitted
    to them; its AUC is taken in the other half; then the halves change places, and the two are averaged. At most
    1,000 rows of a side are used.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    groups : ndarray of shape (n_samples,)
        Group of each row, -1 for none.
    n_groups : int
    rank : callable
        Takes rows of X and their groups, returns (n_groups, n_features) columns, most distinctive first.
    sets : ndarray of shape (n_samples,), default=None
        Rows of one set, by their numbers, are in one half together; those in none (-1) are in no half.

    Returns
    -------
    ndarray of shape (n_groups,)
        About 0.5 if there is nothing to find; NaN for a group or a rest of fewer than two rows or sets.
    """
    halves = _split_groups(groups, n_groups, sets)
    scores = np.full((2, n_groups), np.nan)
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    possible = (sizes >= 2) & (sizes.sum() - sizes >= 2)
    parts = [np.flatnonzero(halves == h) for h in (0, 1)]
    for rows in parts:
        counts = np.bincount(groups[rows], minlength=n_groups)
        possible &= (counts > 0) & (counts.sum() > counts)
    if not possible.any() or any(len(np.unique(groups[rows])) < 2 for rows in parts):
        return np.full(n_groups, np.nan)
    tables = [(X[rows], groups[rows]) for rows in parts]
    for h in (0, 1):
        (known, known_groups), (unseen, unseen_groups) = tables[h], tables[1 - h]
        named = rank(known, known_groups)[:, :_N_NAMED]
        for g in np.flatnonzero(possible):
            sides = [
                dense_rows_of(table, _side(of, int(g), inside), named[g])
                for table, of in ((known, known_groups), (unseen, unseen_groups))
                for inside in (True, False)
            ]
            scores[h, g] = _auc_of_discriminant(*sides)
    found: Array = scores.mean(axis=0)
    return found


def _split_groups(
    groups: npt.NDArray[np.int32], n_groups: int, sets: npt.NDArray[np.integer[Any]] | None = None
) -> npt.NDArray[np.int8]:
    """Give the rows of each group to two halves at random with a fixed seed; -1 for rows beyond what is needed.

    Rows of one set, by their numbers, come to the same half; rows in none (-1) to no half.
    """
    rng = np.random.default_rng(0)
    half = np.full(len(groups), -1, dtype=np.int8)
    of_set = None if sets is None else np.full(int(sets.max(initial=-1)) + 1, -1, dtype=np.int8)
    for g in range(n_groups):
        rows = rng.permutation(np.flatnonzero(groups == g))
        if sets is None or of_set is None:
            rows = rows[: 2 * _ROWS]
            half[rows] = np.arange(len(rows)) % 2
            continue
        rows = rows[sets[rows] >= 0][: 2 * _ROWS]
        found, first = np.unique(sets[rows], return_index=True)
        new = found[np.argsort(first)]
        new = new[of_set[new] < 0]
        of_set[new] = np.arange(len(new)) % 2
        half[rows] = of_set[sets[rows]]
    return half


def _side(groups: npt.NDArray[np.int32], g: int, inside: bool) -> npt.NDArray[np.intp]:
    """Return rows of a group, or evenly spaced ones of all other groups."""
    rows = np.flatnonzero(groups == g) if inside else np.flatnonzero((groups >= 0) & (groups != g))
    return rows[evenly_spaced(len(rows), _ROWS)]


def _auc_of_discriminant(inside: Array, outside: Array, new_inside: Array, new_outside: Array) -> float:
    """Fit a linear discriminant to two sides and return its AUC on two others."""
    both = np.concatenate([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    scale = np.sqrt(np.mean(both**2, axis=0))
    scale[scale == 0] = 1.0
    gap = (inside.mean(axis=0) - outside.mean(axis=0)) / scale
    covariance = inner_products(both / scale) / len(both)
    weights = stacked_solve((covariance + _DAMPING * np.eye(len(gap)))[None], gap[None, :, None])[0, :, 0] / scale
    high, low = product(new_inside, weights), np.sort(product(new_outside, weights))
    below = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return float(below.mean() / (2 * len(low)))
