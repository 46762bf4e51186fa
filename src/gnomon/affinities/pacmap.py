"""The three kinds of pairs of PaCMAP: near, mid-near and further."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance, part
from gnomon._validation import SEED, Integer, Real, Rule, check_parameters, message
from gnomon.affinities.affinity import Inputs, NewRows, sums_to_one
from gnomon.affinities.base import sum_of_directions
from gnomon.affinities.candidates import local_scales, nearest_by_scale, random_others
from gnomon.neighbors import pair_distances
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["PacmapAffinity", "PacmapPairs", "mid_near_partners", "near_and_further", "pacmap_pairs"]

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "mid_near_ratio": Real(0.0),
    "further_ratio": Real(0.0),
    "seed": SEED,
}
_GROUP = 6  # random points of which the second nearest is a mid-near partner
_MID_NEAR_STREAM, _FURTHER_STREAM = 0x6D6964, 0x666172  # "mid", "far"


@dataclass(frozen=True)
class PacmapPairs:
    """Pairs of points as symmetric matrices.

    An entry is half the number of times that a pair was chosen (once or twice: from either end), so that a sum over all
    entries counts every choice once.

    Attributes
    ----------
    near, mid_near, further : csr_array of shape (n_samples, n_samples), float32
        Symmetric, entries 0.5 or 1, zero diagonal (not stored).
    """

    near: scipy.sparse.csr_array
    mid_near: scipy.sparse.csr_array
    further: scipy.sparse.csr_array

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.near.shape[0])


@part("pacmap_pairs")
def pacmap_pairs(
    X: Any,
    graph: NeighborGraph,
    *,
    n_neighbors: int = 10,
    mid_near_ratio: float = 0.5,
    further_ratio: float = 2.0,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    seed: int = 0,
    chosen: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]] | None = None,
) -> PacmapPairs:
    """Choose the pairs of points that PaCMAP pulls together and drives apart.

    Near: of the neighbours in the graph those with the smallest d_ij^2 / (sigma_i sigma_j), sigma being the mean
    distance to the fourth to sixth neighbour. Mid-near: the second nearest of six random points. Further: random points
    that are not near. The random points of a row are different from each other; where there are too few rows for all of
    them, mid-near partners are chosen among fewer, and fewer pairs are made.

    Parameters
    ----------
    X : ndarray or CSR matrix of n_samples rows
        What the graph was made of.
    graph : NeighborGraph of n_samples rows
        The authors take 50 neighbours more than `n_neighbors`.
    n_neighbors : int in [1, graph.n_neighbors], default=10
        Near pairs of a row.
    mid_near_ratio, further_ratio : float >= 0, default=0.5 and 2.0
        Mid-near and further pairs of a row for each near one, rounded down.
    metric : str or callable, default="euclidean"
        Of the graph.
    metric_params : mapping or None, default=None
        Further arguments of the metric.
    seed : int in [0, 2**63), default=0
        Decides the random points.
    chosen : tuple of three ndarray or None, default=None
        What `near_and_further` returned for the same graph and seed, where that is known.

    Returns
    -------
    PacmapPairs

    Raises
    ------
    ValueError
        If `n_neighbors` exceeds that of the graph.

    References
    ----------
    .. [1] Wang, Huang, Rudin & Shaposhnik, "Understanding how dimension reduction tools work: an empirical approach to
       deciphering t-SNE, UMAP, TriMap, and PaCMAP for data visualization", JMLR 22, 2021, section 4.
    """
    given = {name: value for name, value in locals().items() if name in _RULES}
    values = check_parameters(_RULES, given)
    n_neighbors = values["n_neighbors"]
    if n_neighbors > graph.n_neighbors:
        raise ValueError(message(f"n_neighbors={n_neighbors}", f"at most {graph.n_neighbors}, those of the graph"))
    if chosen is None:
        chosen = near_and_further(graph, n_neighbors, values["further_ratio"], seed=values["seed"])
    near, squares, further = chosen
    partners = mid_near_partners(
        X, int(n_neighbors * values["mid_near_ratio"]), metric=metric, metric_params=metric_params, seed=values["seed"]
    )
    return PacmapPairs(
        sum_of_directions(near, np.isfinite(squares)),
        sum_of_directions(partners),
        sum_of_directions(further),
    )


def near_and_further(
    graph: NeighborGraph, n_neighbors: int, further_ratio: float, *, seed: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Return the partners that each row chooses, near ones and further ones.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Among whose neighbours the near ones are chosen.
    n_neighbors : int in [1, graph.n_neighbors]
        Near partners of a row.
    further_ratio : float >= 0
        Further partners for each near one.
    seed : int in [0, 2**63)
        Decides the further ones.

    Returns
    -------
    near : ndarray of shape (n_samples, n_neighbors), int32
    squares : ndarray of shape (n_samples, n_neighbors), float64
        Their scaled squared distances; inf where a row has no such neighbour.
    further : ndarray of shape (n_samples, n_further), int32
    """
    near, squares = nearest_by_scale(graph, n_neighbors, local_scales(graph))
    n_further = min(int(n_neighbors * further_ratio), graph.n_samples - 1 - n_neighbors)
    return near, squares, random_others(near, n_further, seed=seed, stream=_FURTHER_STREAM)


def mid_near_partners(
    X: Any,
    count: int,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> npt.NDArray[np.int32]:
    """Return for each row the second nearest of each of `count` groups of six random rows (n_samples, count).

    Rows of a group, and the groups, are different from each other; if there are fewer other rows than 6 `count`, groups
    are smaller, and a group of one gives that one.
    """
    n_samples = X.shape[0]
    count = min(count, n_samples - 1)
    size = min(_GROUP, (n_samples - 1) // count) if count else 1
    nobody = np.empty((n_samples, 0), dtype=np.int32)
    drawn = random_others(nobody, count * size, seed=seed, stream=_MID_NEAR_STREAM)
    if size == 1:
        return drawn
    distances = pair_distances(X, drawn, metric=metric, metric_params=metric_params)
    groups, lengths = drawn.reshape(n_samples, count, size), distances.reshape(n_samples, count, size)
    second = np.argsort(lengths, axis=2, kind="stable")[:, :, 1:2]
    return np.ascontiguousarray(np.take_along_axis(groups, second, axis=2)[:, :, 0])


@dataclass(frozen=True)
class PacmapAffinity:
    """The pairs of PaCMAP, and the near ones of new rows, see `pacmap_pairs`.

    Parameters
    ----------
    n_neighbors : int >= 1, default=10
        Near pairs of each point.
    mid_near_ratio : float >= 0, default=0.5
        Mid-near pairs for each near one.
    further_ratio : float >= 0, default=2.0
        Further pairs for each near one.
    metric : str or callable, default="euclidean"
        In which mid-near pairs are measured.
    metric_params : mapping or None, default=None
        Further arguments of the metric.
    """

    n_neighbors: int = 10
    mid_near_ratio: float = 0.5
    further_ratio: float = 2.0
    metric: Any = "euclidean"
    metric_params: Mapping[str, Any] | None = None

    def chosen(self, inputs: Inputs) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the partners that rows choose, see `near_and_further`."""
        return near_and_further(inputs.neighbors, self.n_neighbors, self.further_ratio, seed=inputs.seed)

    def __call__(
        self, inputs: Inputs, chosen: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]] | None = None
    ) -> PacmapPairs:
        """Return the pairs of a table, whose near and further partners may be known."""
        return pacmap_pairs(
            inputs.X,
            inputs.neighbors,
            n_neighbors=self.n_neighbors,
            mid_near_ratio=self.mid_near_ratio,
            further_ratio=self.further_ratio,
            metric=self.metric,
            metric_params=self.metric_params,
            seed=inputs.seed,
            chosen=chosen,
        )

    @entrance("PaCMAP")
    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return the rule for new rows."""
        return ScaledRows(local_scales(inputs.neighbors), self.n_neighbors)


@dataclass(frozen=True)
class ScaledRows:
    """The neighbours of smallest distance in units of their local scale, all alike; the others not at all."""

    scales: npt.NDArray[np.float64]
    count: int

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return 1 / count for those chosen, 0 for the others."""
        squares = np.square(distances.astype(np.float64)) / self.scales[indices]
        chosen = np.argsort(squares, axis=1, kind="stable")[:, : self.count]
        weights = np.zeros(distances.shape, dtype=np.float32)
        np.put_along_axis(weights, chosen, np.float32(1.0), axis=1)
        return sums_to_one(np.where(np.isfinite(distances), weights, np.float32(0.0)))
