"""How far a point goes when its row moves a finite step: the perturbation score of the leave-one-out map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import in_order, single_threaded_blas
from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.evaluation.singularities import check_rows, loss_of_map, upper_share
from gnomon.linalg import product, symmetric_eigen

__all__ = ["Perturbations", "perturbations"]

Floats = npt.NDArray[np.float64]

_SAMPLE = 2000  # rows that are moved in a larger table
_STREAM = 0x7065
_BLOCK = 16  # rows whose distances are taken together
_RULES: dict[str, Rule] = {"length": Real(0.0, low_open=True), "n_directions": Integer(1)}


@dataclass(frozen=True, repr=False)
class Perturbations:
    """How far points go when their rows are moved, all other points staying where they are.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,), float64
        Perturbation score: the largest displacement of the point over all moves of its row, in units of the map; NaN
        for rows that were not moved.
    rows : ndarray of shape (n_rows,), int64
        Rows that were moved.
    displacements : ndarray of shape (n_rows, 2 * n_directions), float64
        Of each move: along the first direction, against it, along the second, and so on. NaN where the neighbourhood
        has no such direction.
    unmoved : ndarray of shape (n_rows,), float64
        How far the point goes when it is placed anew and its row is not moved: 0 at the lowest place of its part of
        the loss.
    steps : ndarray of shape (n_rows, n_directions), float64
        Lengths of the moves in the data.
    size : float
        Root mean square distance of the map's points from their mean.
    """

    scores: Floats
    rows: npt.NDArray[np.int64]
    displacements: Floats
    unmoved: Floats
    steps: Floats
    size: float

    def __repr__(self) -> str:
        return f"Perturbations(n_samples={len(self.scores)}, n_rows={len(self.rows)})"

    def columns(self) -> dict[str, Floats]:
        """Return a number for each point, by name, as `metadata` of a map takes them."""
        return {"perturbation": self.scores.copy()}

    def largest(self, share: float = 0.05) -> npt.NDArray[np.int64]:
        """Return the rows with the largest scores.

        Parameters
        ----------
        share : float in (0, 1), default=0.05
            Rows above the quantile 1 - share of the scores are returned, largest first.

        Returns
        -------
        ndarray of int64
        """
        return upper_share(self.scores, share)

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}


@entrance("perturbations", seeded=True)
def perturbations(
    estimator: Any,
    X: Any,
    *,
    embedding: npt.ArrayLike | None = None,
    rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
    length: float = 2.0,
    n_directions: int = 3,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Perturbations:
    """Find points of a map that a step of their row would move far: the leave-one-out map under finite perturbation.

    Each row is moved both ways along the main directions of its neighbourhood, and its point alone goes to the lowest
    loss, the others staying. A point between two clusters that the map has put into one of them jumps to the other:
    the map shows it more sure of its cluster than the data are.

    Parameters
    ----------
    estimator : fitted neighbour embedding
        Of affinities joined over both directions and a loss of sums over pairs, such as TSNE or UMAP, with
        metric="euclidean".
    X : array-like of shape (n_samples, n_features)
        The data it was fitted to, without equal rows.
    embedding : array-like of shape (n_samples, n_components), default=None
        The map to look at; None takes ``estimator.embedding_``.
    rows : sequence of int or None, default=None
        Rows to move; None takes all up to 2000, and 2000 random ones of more.
    length : float > 0, default=2.0
        Of a move, in standard deviations of the row's neighbours along the direction.
    n_directions : int >= 1, default=3
        Principal directions of the row's neighbours, each weighed by its affinity; where there are fewer, all.
    random_state : int, Generator, RandomState or None, default=0
        Draws the rows of a large table.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Perturbations

    Raises
    ------
    TypeError
        If the estimator has no such loss or affinities, or X is sparse.
    ValueError
        If its metric is not Euclidean, X is other data, or a row does not exist.

    Notes
    -----
    The perturbation score of [1]_ for t-SNE, and the same of other losses, with these choices of ours. Moves go along
    the main directions of the row's neighbourhood by a length in its own units; the published program moves all rows
    along the three first principal components of the table by one length in the units of the data. The other rows keep
    their calibration (as with ``approx=2`` there), and the point descends from the best of its own place, its
    neighbours' places and their mean. Above 4,096 rows the repulsion is summed over 4,096 points.

    Scores of maps of different size or methods compare as shares of `size`.

    References
    ----------
    .. [1] Liu, Ma & Zhong, "Assessing and improving reliability of neighbor embedding methods: a map-continuity
       perspective", Nature Communications 16, 2025.
    """
    checked = check_parameters(_RULES, {"length": length, "n_directions": n_directions})
    loss, Y = loss_of_map(estimator, X, embedding)
    left_out = loss.leave_one_out(Y)
    n = len(left_out.X)
    asked = check_rows(rows, n)
    if rows is None:
        drawn = np.random.default_rng((current_run().seed, _STREAM)).permutation(n)[:_SAMPLE]
        asked = np.sort(drawn).astype(np.int64)
    count = checked["n_directions"]
    values, indices, weights = left_out.X, loss.affinities.indices, loss.affinities.weights.values
    norms = np.square(values).sum(axis=1)

    def move(block: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        axes = [_main_directions(values[indices[i]], weights[i], count) for i in block]
        steps = np.stack([checked["length"] * deviations for _, deviations in axes])
        probes = np.concatenate([np.vstack([values[i], axis]) for i, (axis, _) in zip(block, axes, strict=True)])
        products = product(values, probes.T).reshape(n, len(block), count + 1)
        found = np.empty((len(block), 2 * count + 1))
        for b, i in enumerate(block):
            squared = np.maximum(norms + norms[i] - 2.0 * products[:, b, 0], 0.0)
            along = products[i, b, 1:] - products[:, b, 1:]  # of x_i - x_j on the directions
            signed = np.repeat(steps[b], 2) * np.tile([1.0, -1.0], count)
            shifted = squared + 2.0 * np.repeat(along, 2, axis=1).T * signed[:, None] + np.square(signed)[:, None]
            places = left_out.place(int(i), np.maximum(np.vstack([squared, shifted]), 0.0))
            found[b] = np.linalg.norm(places - Y[i], axis=1)
            found[b, 1:][signed == 0.0] = np.nan
        return found, steps

    with single_threaded_blas():
        blocks = [asked[first : first + _BLOCK] for first in range(0, len(asked), _BLOCK)]
        parts = list(in_order(move, blocks))
    moved = np.concatenate([part[0] for part in parts]) if parts else np.empty((0, 2 * count + 1))
    steps = np.concatenate([part[1] for part in parts]) if parts else np.empty((0, count))
    scores = np.full(n, np.nan)
    scores[asked] = np.fmax.reduce(moved[:, 1:], axis=1)
    size = float(np.sqrt(np.square(Y - Y.mean(axis=0)).sum(axis=1).mean()))
    return Perturbations(scores, asked, moved[:, 1:], moved[:, 0], steps, size)


def _main_directions(near: Floats, weights: Floats, count: int) -> tuple[Floats, Floats]:
    """Return principal directions (count, n_features) of weighted rows and deviations along them, 0 for none."""
    shares = weights / weights.sum()
    centred = np.sqrt(shares)[:, None] * (near - product(shares[None], near)[0])
    variances, vectors = symmetric_eigen(product(centred, centred.T), count)
    variances = variances[:count]
    kept = variances > 1e-12 * max(variances[0], np.finfo(float).tiny)
    axes = product(vectors.T, centred) / np.sqrt(np.where(kept, variances, 1.0))[:, None]
    directions, deviations = np.zeros((count, near.shape[1])), np.zeros(count)
    directions[: len(axes)] = np.where(kept[:, None], axes, 0.0)
    deviations[: len(axes)] = np.sqrt(np.where(kept, variances, 0.0))
    return directions, deviations
