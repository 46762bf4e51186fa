"""How far two sets of distances agree in who is near whom, over neighbourhoods of every size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.scores import rank_penalty_scale

__all__ = ["RankAgreement", "neighbor_ranks", "rank_agreement"]


@dataclass(frozen=True)
class RankAgreement:
    """Scores from the ranks of all rows from each row; 1 is best.

    Attributes
    ----------
    auc_rnx : float
        Mean over k = 1 ... n - 2, with weights 1 / k, of the share of common neighbours beyond chance; about 0 for a
        random map.
    trustworthiness : float
        Whether near in the second means near in the first, for neighbourhoods of the size asked for.
    neighborhood_preservation : float in [0, 1]
        Share of common neighbours there.
    """

    auc_rnx: float
    trustworthiness: float
    neighborhood_preservation: float


def neighbor_ranks(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    """Return the rank of each row from each: 0 for itself, 1 for the nearest; equal distances by row number.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Any increasing function of the distances.
    """
    n = len(distances)
    away = np.array(distances, dtype=np.float64)
    np.fill_diagonal(away, -np.inf)
    order = np.argsort(away, axis=1, kind="stable")
    ranks = np.empty((n, n), dtype=np.int32)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(n, dtype=np.int32), (n, n)), axis=1)
    return ranks


def rank_agreement(data: npt.NDArray[np.int32], embedded: npt.NDArray[np.int32], n_neighbors: int) -> RankAgreement:
    """Compare the ranks in the data with those in a map of the same n >= 4 rows.

    Parameters
    ----------
    data, embedded : ndarray of shape (n, n)
        Made by `neighbor_ranks`.
    n_neighbors : int in [1, (n - 1) / 2]
        For the scores of one size.

    References
    ----------
    .. [1] Lee, Peluffo-Ordonez & Verleysen, "Multi-scale similarities in stochastic neighbour embedding",
       Neurocomputing 169, 2015 (area under R_NX).
    """
    n = len(data)
    sizes = np.arange(1, n - 1)
    both = np.bincount(np.maximum(data, embedded).ravel(), minlength=n)[1:]  # without the rows themselves
    common = np.cumsum(both)[: n - 2] / (sizes * n)
    beyond_chance = ((n - 1) * common - sizes) / (n - 1 - sizes)
    intruders = (embedded <= n_neighbors) & (data > n_neighbors)
    penalty = float((data[intruders] - n_neighbors).sum()) / n
    return RankAgreement(
        auc_rnx=float(np.sum(beyond_chance / sizes) / np.sum(1.0 / sizes)),
        trustworthiness=1.0 - rank_penalty_scale(n, n_neighbors) * penalty,
        neighborhood_preservation=float(common[n_neighbors - 1]),
    )
