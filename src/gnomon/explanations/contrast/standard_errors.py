"""How sure a contrast is: standard errors of its numbers, and how well the features it names tell the groups apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.explanations.rows import dense_rows_of

__all__ = ["auc_errors", "effect_size_errors", "held_out_auc", "split_groups"]

Array = npt.NDArray[np.float64]

N_NAMED = 10
"""Features that the discriminant of a contrast uses."""

_ROWS = 1000  # rows of a side that the discriminant sees at most
_DAMPING = 1e-3


def effect_size_errors(effect: Array, n_selected: int, n_rest: int) -> Array:
    """Return the standard errors of Cohen's d for normal features of equal variance; NaN where d is infinite.

    References
    ----------
    .. [1] Hedges & Olkin, "Statistical methods for meta-analysis", 1985, chapter 5.
    """
    total = n_selected + n_rest
    finite = np.where(np.isfinite(effect), effect, np.nan)
    return np.sqrt(total / (n_selected * n_rest) + finite**2 / (2.0 * total))


def auc_errors(auc: Array, n_selected: int, n_rest: int) -> Array:
    """Return the standard errors of ranking probabilities.

    References
    ----------
    .. [1] Hanley & McNeil, "The meaning and use of the area under a ROC curve", Radiology 143, 1982.
    """
    both_selected, both_rest = auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)
    variance = auc * (1.0 - auc) + (n_selected - 1) * (both_selected - auc**2) + (n_rest - 1) * (both_rest - auc**2)
    error: Array = np.sqrt(np.maximum(variance, 0.0) / (n_selected * n_rest))
    return error


def split_groups(groups: npt.NDArray[np.int32], n_groups: int) -> npt.NDArray[np.int8]:
    """Give the rows of each group to two halves at random with a fixed seed; -1 for rows beyond what is needed."""
    rng = np.random.default_rng(0)
    half = np.full(len(groups), -1, dtype=np.int8)
    for g in range(n_groups):
        rows = rng.permutation(np.flatnonzero(groups == g))[: 2 * _ROWS]
        half[rows] = np.arange(len(rows)) % 2
    return half


def _side(groups: npt.NDArray[np.int32], g: int, inside: bool) -> npt.NDArray[np.intp]:
    """Return rows of a group, or evenly spaced ones of all other groups."""
    rows = np.flatnonzero(groups == g) if inside else np.flatnonzero((groups >= 0) & (groups != g))
    if len(rows) <= _ROWS:
        return rows
    chosen: npt.NDArray[np.intp] = rows[np.linspace(0, len(rows) - 1, _ROWS).astype(np.intp)]
    return chosen


def held_out_auc(
    X: Any,
    groups: npt.NDArray[np.int32],
    n_groups: int,
    rank: Callable[[Any, npt.NDArray[np.int32]], npt.NDArray[np.integer[Any]]],
) -> Array:
    """Return for each group how well the most distinctive features tell it from the others on rows not looked at.

    In one half of the rows `rank` chooses the `N_NAMED` features of every group and a linear discriminant is fitted
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

    Returns
    -------
    ndarray of shape (n_groups,)
        About 0.5 if there is nothing to find; NaN for a group or a rest of fewer than two rows.
    """
    halves = split_groups(groups, n_groups)
    scores = np.full((2, n_groups), np.nan)
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    possible = (sizes >= 2) & (sizes.sum() - sizes >= 2)
    parts = [np.flatnonzero(halves == h) for h in (0, 1)]
    if not possible.any() or any(len(np.unique(groups[rows])) < 2 for rows in parts):
        return np.full(n_groups, np.nan)
    tables = [(X[rows], groups[rows]) for rows in parts]
    for h in (0, 1):
        (known, known_groups), (unseen, unseen_groups) = tables[h], tables[1 - h]
        named = rank(known, known_groups)[:, :N_NAMED]
        for g in np.flatnonzero(possible):
            sides = [
                dense_rows_of(table, _side(of, int(g), inside), named[g])
                for table, of in ((known, known_groups), (unseen, unseen_groups))
                for inside in (True, False)
            ]
            if all(len(side) for side in sides):
                scores[h, g] = _auc_of_discriminant(*sides)
    found: Array = scores.mean(axis=0)
    return found


def _auc_of_discriminant(inside: Array, outside: Array, new_inside: Array, new_outside: Array) -> float:
    """Fit a linear discriminant to two sides and return its AUC on two others."""
    both = np.concatenate([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    scale = np.sqrt(np.mean(both**2, axis=0))
    scale[scale == 0] = 1.0
    gap = (inside.mean(axis=0) - outside.mean(axis=0)) / scale
    with single_threaded_blas():
        covariance = (both / scale).T @ (both / scale) / len(both)
        weights = np.linalg.solve(covariance + _DAMPING * np.eye(len(gap)), gap) / scale
        high, low = new_inside @ weights, np.sort(new_outside @ weights)
    below = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return float(below.mean() / (2 * len(low)))
