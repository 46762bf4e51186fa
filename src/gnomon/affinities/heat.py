"""Weights of the edges of a neighbour graph: binary, heat kernel, and two that follow the density of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, power, sparse_product
from gnomon._entrance import part
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.affinities.base import Affinities, usable_distances
from gnomon.neighbors.graph import NeighborGraph

if TYPE_CHECKING:
    from gnomon.neighbors.bridges import Bridges

__all__ = [
    "EdgeWeights",
    "divide_by_density",
    "edge_weights",
    "heat_affinities",
    "neighbor_edges",
    "weigh_edges",
    "with_bridges",
]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "weights": Options("binary", "heat", "self_tuning", "adapted"),
    "sigma": Either(Real(0.0, low_open=True), Nothing()),
    "min_neighbors": Either(Integer(1), Nothing()),
}
_SCALE_RANK = 7  # the neighbour whose distance is the scale of a row (Zelnik-Manor & Perona)
_FLOOR = 1e-3  # of the median scale: rows whose neighbours are all equal to them
_LEAST = 1e-20  # a weight that rounds to 0 would take the edge away and, with it, a row from the graph


@dataclass(frozen=True)
class EdgeWeights:
    """How the length of an edge becomes its weight, learned from a neighbour graph.

    Attributes
    ----------
    weights : {"binary", "heat", "self_tuning", "adapted"}
        See `heat_affinities`.
    sigma : float or None
        Scale of all edges, in the units of the metric; None but for "heat".
    scales : ndarray of shape (n_samples,), float64, or None
        Scale of each row; None for "binary" and "heat".
    least_scale : float
        No scale of a row is smaller.
    n_neighbors : int
        Neighbours of a row in the graph.
    min_neighbors : int or None
        Fewest neighbours a row keeps; None if each keeps all.
    mean_spread : float
        Mean over rows of the root mean square distance to the neighbours.
    """

    weights: str
    sigma: float | None
    scales: Float64Array | None
    least_scale: float
    n_neighbors: int
    min_neighbors: int | None
    mean_spread: float

    def kept(self, distances: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
        """Return how many of its neighbours, at distances (n_rows, n_neighbors), each row keeps."""
        n_neighbors = self.n_neighbors
        if self.min_neighbors is None:
            return np.full(len(distances), n_neighbors)
        spreads = _root_mean_squares(distances)
        wanted = np.full(len(distances), float(n_neighbors))
        np.divide(n_neighbors * self.mean_spread, spreads, out=wanted, where=spreads > 0.0)
        least = min(self.min_neighbors, n_neighbors)
        return np.asarray(np.clip(np.floor(wanted), least, n_neighbors).astype(np.int64))

    def of_edges(self, edges: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
        """Return the weights, float64, of the edges of a symmetric CSR matrix of lengths, where a stored 0 is one."""
        rows = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
        own, other = (None, None) if self.scales is None else (self.scales[rows], self.scales[edges.indices])
        values = self._values(edges.data, own, other)
        return scipy.sparse.csr_array((values, edges.indices, edges.indptr), shape=edges.shape)

    def of_new_rows(self, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.floating]) -> Float64Array:
        """Return the weights of new rows to the fitted rows nearest to them, both of shape (n_rows, n_neighbors)."""
        own = other = None
        if self.scales is not None:
            own = np.maximum(_scales(distances, self.weights), self.least_scale)[:, None]
            other = self.scales[indices]
        values = self._values(distances.astype(np.float64), own, other)
        absent = np.arange(distances.shape[1]) >= self.kept(distances)[:, None]
        return np.where(absent | ~np.isfinite(distances), 0.0, values)

    def _values(self, lengths: Float64Array, own: Any, other: Any) -> Float64Array:
        if self.weights == "binary":
            return np.ones_like(lengths)
        with np.errstate(under="ignore"):
            shares = lengths / self.sigma if self.sigma is not None else lengths / (np.sqrt(own) * np.sqrt(other))
            values: Float64Array = np.maximum(exp(-np.square(shares)), _LEAST)
        return values


def _root_mean_squares(distances: npt.NDArray[np.floating]) -> Float64Array:
    present = np.isfinite(distances)
    squares = np.square(np.where(present, distances, 0.0).astype(np.float64)).sum(axis=1)
    return np.asarray(np.sqrt(squares / np.maximum(present.sum(axis=1), 1)))


def _scales(distances: npt.NDArray[np.floating], weights: str) -> Float64Array:
    if weights == "adapted":
        return _root_mean_squares(distances)
    nearest = distances[:, :_SCALE_RANK]
    farthest: Float64Array = np.where(np.isfinite(nearest), nearest, 0.0).max(axis=1).astype(np.float64)
    return farthest


@part("edge_weights")
def edge_weights(
    graph: NeighborGraph, *, weights: str = "binary", sigma: float | None = None, min_neighbors: int | None = None
) -> EdgeWeights:
    """Learn from a neighbour graph how the length of an edge becomes its weight.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric.
    weights, sigma, min_neighbors : as in `heat_affinities`
        The default of `weights` is "binary" here.

    Returns
    -------
    EdgeWeights
    """
    given = {"weights": weights, "sigma": sigma, "min_neighbors": min_neighbors}
    values = check_parameters(_RULES, given)
    if sigma is not None and weights != "heat":
        raise ValueError(message(f"sigma={sigma!r}", f"None with weights={weights!r}", remedy="Use 'heat'."))
    distances = usable_distances(graph)
    sigma, scales, least = values["sigma"], None, 0.0
    if weights == "heat" and sigma is None:
        farthest = np.where(np.isfinite(distances), distances, 0.0).max(axis=1).astype(np.float64)
        sigma = float(farthest.mean()) or 1.0
    if weights in ("self_tuning", "adapted"):
        scales = _scales(distances, weights)
        least = 1e-12 * (float(scales.max()) or 1.0) + _FLOOR * float(np.median(scales))
        scales = np.maximum(scales, least)
    spread = float(_root_mean_squares(distances).mean())
    return EdgeWeights(weights, sigma, scales, least, graph.n_neighbors, values["min_neighbors"], spread)


@part("neighbor_edges")
def neighbor_edges(graph: NeighborGraph, kept: npt.NDArray[np.int64] | None = None) -> scipy.sparse.csr_array:
    """Join both directions of a neighbour graph: two rows share an edge if either is a neighbour of the other.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances in the units of the metric.
    kept : ndarray of shape (n_samples,), int, or None, default=None
        How many of its neighbours each row keeps; None: all.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float64
        Symmetric lengths in the units of the metric; a stored 0 is an edge.
    """
    distances = usable_distances(graph)
    n_samples, n_neighbors = distances.shape
    present = np.isfinite(distances)
    if kept is not None:
        present &= np.arange(n_neighbors) < kept[:, None]
    rows = np.repeat(np.arange(n_samples, dtype=np.int32), present.sum(axis=1))
    return _symmetric(n_samples, rows, graph.indices[present], distances[present])


def _symmetric(n_samples: int, rows: Any, columns: Any, lengths: Any) -> scipy.sparse.csr_array:
    """Return the edges in both directions; one that is given twice gets the mean of its lengths."""
    ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    doubled = np.concatenate([lengths, lengths]).astype(np.float64)
    total = scipy.sparse.csr_array((doubled, ends), shape=(n_samples, n_samples))
    count = scipy.sparse.csr_array((np.ones(doubled.size), ends), shape=(n_samples, n_samples))
    total.sum_duplicates()
    count.sum_duplicates()
    return scipy.sparse.csr_array((total.data / count.data, total.indices, total.indptr), shape=total.shape)


def with_bridges(edges: scipy.sparse.csr_array, bridges: Bridges) -> scipy.sparse.csr_array:
    """Return the edges and the bridges between them, in both directions."""
    rows = np.repeat(np.arange(edges.shape[0], dtype=np.int32), np.diff(edges.indptr))
    one_way = rows < edges.indices
    return _symmetric(
        edges.shape[0],
        np.concatenate([rows[one_way], bridges.sources]),
        np.concatenate([edges.indices[one_way], bridges.targets]),
        np.concatenate([edges.data[one_way], bridges.distances]),
    )


@part("heat_affinities")
def heat_affinities(
    graph: NeighborGraph,
    *,
    weights: str = "heat",
    sigma: float | None = None,
    min_neighbors: int | None = None,
    bridges: Bridges | None = None,
) -> Affinities:
    """Weigh the edges of a neighbour graph, both directions joined.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Distances d in the units of the metric. Two rows share an edge if either is a neighbour of the other.
    weights : {"binary", "heat", "self_tuning", "adapted"}, default="heat"
        "binary": 1. "heat": exp(-d^2 / sigma^2). "self_tuning": exp(-d_ij^2 / (s_i s_j)), s_i the distance of row i to
        its seventh neighbour, or to its last if it has fewer. "adapted": the same with the root mean square distance of
        row i to its neighbours, the weights of adapted Laplacian eigenmaps. The last two do not change with the unit of
        the metric; s_i is at least a thousandth of the median over rows. No weight is below 1e-20, so that no edge is
        lost to rounding.
    sigma : float > 0 or None, default=None
        In the units of the metric, for weights="heat"; None takes the mean distance to the last neighbour.
    min_neighbors : int >= 1 or None, default=None
        Let rows in sparse regions keep fewer neighbours, but so many at least: row i keeps its nearest
        n_neighbors * mean(r) / r_i, r_i its root mean square distance to all, rounded down and at most n_neighbors.
    bridges : Bridges or None, default=None
        Further edges; they are weighed by their own length like any other.

    Returns
    -------
    Affinities
        ``matrix``: weights in (0, 1], normalization "weights". ``bandwidths``: the scale of each row, sigma for all
        with "heat", None with "binary".

    References
    ----------
    .. [1] Belkin & Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural
       Computation 15, 2003.
    .. [2] Zelnik-Manor & Perona, "Self-tuning spectral clustering", NeurIPS 2004.
    .. [3] Jiang, Wang & Tu, adapted Laplacian eigenmaps, 2015, as reported by Tucker.
    """
    rule = edge_weights(graph, weights=weights, sigma=sigma, min_neighbors=min_neighbors)
    kept = None if min_neighbors is None else rule.kept(usable_distances(graph))
    edges = neighbor_edges(graph, kept)
    if bridges is not None and len(bridges):
        edges = with_bridges(edges, bridges)
    return weigh_edges(edges, rule)


def weigh_edges(edges: scipy.sparse.csr_array, rule: EdgeWeights) -> Affinities:
    """Return the weights of edges, lengths of shape (n_samples, n_samples), as affinities."""
    matrix = rule.of_edges(edges).astype(np.float32)
    matrix.has_canonical_format = True
    scales = rule.scales
    if rule.sigma is not None:
        scales = np.full(matrix.shape[0], rule.sigma)
    return Affinities(matrix, "weights", None if scales is None else scales.astype(np.float32))


def divide_by_density(
    affinities: Affinities, alpha: float, masses: Float64Array | None = None
) -> tuple[Affinities, Float64Array]:
    """Divide each weight by the degrees of both ends, to the power alpha, as diffusion maps do.

    With alpha = 1 the limit of many rows is the Laplace-Beltrami operator of the manifold whatever the density of the
    rows, with 1/2 a Fokker-Planck operator, with 0 nothing is divided.

    Parameters
    ----------
    affinities : Affinities
        Symmetric.
    alpha : float >= 0
        0 changes nothing.
    masses : ndarray of shape (n_samples,), float64, or None, default=None
        How many rows each row stands for, which its edges count in the degrees; None for 1.

    Returns
    -------
    affinities : Affinities
        Normalization "weights".
    factors : ndarray of shape (n_samples,), float64
        degree^-alpha of each row; 1 for a row without edges.

    References
    ----------
    .. [1] Coifman & Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 21, 2006.
    """
    matrix = affinities.matrix
    plain = matrix.astype(np.float64)
    degrees = plain.sum(axis=1) if masses is None else sparse_product(plain, masses)
    factors = power(np.where(degrees > 0.0, degrees, 1.0), -alpha)
    if alpha == 0.0:
        return affinities, factors
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = matrix.data * (factors[rows] * factors[matrix.indices])
    divided = scipy.sparse.csr_array((values.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)
    return replace(affinities, matrix=divided, normalization="weights"), factors
