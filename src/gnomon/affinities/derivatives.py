"""Affinities in float64 as functions of the data, with their derivatives; the sets of neighbours are held fixed.

The weights of each row are a `RowWeights`, calibrated in the file of their affinity; `DataAffinities` makes functions
of the data of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, row_distances
from gnomon._validation import message
from gnomon.affinities.base import Affinities, Join, rows_as_matrix
from gnomon.neighbors import NeighborGraph, check_graph

if TYPE_CHECKING:
    from gnomon.affinities.affinity import NeighborAffinity

__all__ = [
    "AffinityDerivative",
    "DataAffinities",
    "DataDistances",
    "Float64",
    "JacobianWeights",
    "RowWeights",
    "bisect_scale",
]

Float64 = npt.NDArray[np.float64]

_STEPS = 100  # halvings of a bracket of 120 units of a logarithm: below rounding
_BRACKET = 60.0
_DIFFERENCE = 6e-6  # relative step of central differences: the third root of a rounding


class RowWeights(Protocol):
    """Weights w (n_rows, n_neighbors) of neighbours, each row a function of its own squared distances s."""

    @property
    def values(self) -> Float64:
        """Return w."""
        ...

    def pull(self, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return sum_j slopes_j dw_j/ds for some rows: (len(rows), n_neighbors, n) from the same shape."""
        ...

    def push(self, rows: npt.NDArray[np.intp], changes: Float64) -> Float64:
        """Return dw = sum_j dw/ds_j changes_j for some rows: (len(rows), n_neighbors, n) from the same shape."""
        ...


@dataclass(frozen=True)
class JacobianWeights:
    """Weights that a function of the distances gives, with its derivatives by central differences.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_neighbors)
        w.
    jacobian : ndarray of shape (n_rows, n_neighbors, n_neighbors)
        dw_j/ds_l; 0 for neighbours at distance 0.
    """

    values: Float64
    jacobian: Float64

    @classmethod
    def of(
        cls, function: Callable[[Float64], Float64], squared: Float64, mask: npt.NDArray[np.bool_]
    ) -> JacobianWeights:
        """Differentiate a function of distances, which are inf where the mask is False."""
        distances = np.where(mask, np.sqrt(squared), np.inf)
        jacobian = np.zeros((*squared.shape, squared.shape[1]))
        for column in range(squared.shape[1]):
            d = distances[:, column]
            step = np.where((d > 0.0) & np.isfinite(d), _DIFFERENCE * d, 0.0)
            ahead, behind = distances.copy(), distances.copy()
            ahead[:, column] += step
            behind[:, column] -= step
            change = function(ahead) - function(behind)
            width = 4.0 * step * np.where(np.isfinite(d), d, 0.0)  # dd/ds = 1 / (2 d)
            jacobian[:, :, column] = np.where(step > 0.0, 1.0 / np.where(step > 0.0, width, 1.0), 0.0)[:, None] * change
        return cls(np.where(mask, function(distances), 0.0), jacobian)

    def pull(self, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return sum_j slopes_j dw_j/ds."""
        return np.asarray(np.einsum("ijl,ijq->ilq", self.jacobian[rows], slopes))

    def push(self, rows: npt.NDArray[np.intp], changes: Float64) -> Float64:
        """Return dw for changes of s."""
        return np.asarray(np.einsum("ijl,ilq->ijq", self.jacobian[rows], changes))


def bisect_scale(is_below: Callable[[Float64], npt.NDArray[np.bool_]], n_rows: int) -> Float64:
    """Return for each row the positive number at which `is_below` becomes False, by bisection of its logarithm."""
    low, high = np.full(n_rows, -_BRACKET), np.full(n_rows, _BRACKET)
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        below = is_below(exp(middle))
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(exp(0.5 * (low + high)))


class AffinityDerivative(Protocol):
    """Affinities of pairs of rows as functions of the data.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        The data, centred.
    """

    X: Float64

    @property
    def values(self) -> Any:
        """What an objective takes, in float64."""
        ...

    def pairs(self, i: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the pairs that depend on row i: rows (m,), and for each others (m, k)."""
        ...

    def pull(self, i: int, slopes: Float64) -> Float64:
        """Return the derivative by x_i, (q, n_features), of q sums whose slopes by these pairs (m, k, q) are given.

        A slope is that by a_lj and a_jl together.
        """
        ...

    def push(self, i: int) -> Float64:
        """Return the derivative of the pairs by x_i, (m, k, n_features); one named from both ends changes by both."""
        ...


class DataAffinities:
    """Affinities a_ij of rows of data to their neighbours, and how they change with the data.

    They are computed in float64 as `NeighborAffinity.weights` does in float32. Derivatives include those of the
    calibration: of the precision that keeps the perplexity, of the nearest distance and the bandwidth of a fuzzy set.
    Which rows are neighbours is held fixed, which is exact unless two distances tie.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data, dense.
    graph : NeighborGraph
        Neighbours by Euclidean distances.
    affinity : NeighborAffinity
        Gives the weights and how they are joined.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        The data, centred.
    indices, mask : ndarray of shape (n_samples, n_neighbors)
        Neighbours, and which of them there are.
    affinity : NeighborAffinity
    squared : ndarray of shape (n_samples, n_neighbors), float64
        Squared distances to the neighbours.
    weights : RowWeights
        w_j|i of the neighbours.
    matrix : csr_array of shape (n_samples, n_samples), float64
        a, zero diagonal.
    join : {"total", "rows", "membership"}
        "total": (w_j|i + w_i|j) / (2 n), all sum to 1. "rows": w_j|i, of which losses take the sum of both directions.
        "membership": r (w_j|i + w_i|j - w_j|i w_i|j) + (1 - r) w_j|i w_i|j.
    """

    def __init__(self, X: npt.ArrayLike, graph: NeighborGraph, affinity: NeighborAffinity) -> None:
        self.X = _rows(X, graph)
        self.join: Join = affinity.join
        self.indices = graph.indices.astype(np.intp)
        self.mask = np.ones(self.indices.shape, dtype=bool) if graph.mask is None else np.asarray(graph.mask)
        self.n_samples, self.n_neighbors = self.indices.shape
        self._mix = float(affinity.set_op_mix_ratio)
        order = np.argsort(self.indices.ravel(), kind="stable")
        self._seen_from = order // max(self.n_neighbors, 1)  # rows that have a row among their neighbours, by that row
        self._starts = np.searchsorted(self.indices.ravel()[order], np.arange(self.n_samples + 1))
        self.affinity, self.squared = affinity, self._squared()
        self.weights = affinity.calibrated(self.squared, self.mask)
        self._join()

    @property
    def values(self) -> Affinities:
        """The affinities that an objective takes."""
        return Affinities(self.matrix, self.join, symmetric=self.join != "rows")

    def _squared(self) -> Float64:
        squared = np.empty(self.indices.shape)
        for i in range(self.n_samples):
            squared[i] = np.square(self.X[self.indices[i]] - self.X[i]).sum(axis=1)
        return squared

    def _join(self) -> None:
        """Join both directions; `slopes` are da_ij / dw_j|i."""
        weights = self.weights
        n, k = self.indices.shape
        starts = np.arange(0, n * k + 1, k)
        directed: Any = scipy.sparse.csr_array((weights.values.ravel(), self.indices.ravel(), starts), shape=(n, n))
        if self.join == "rows":
            self.matrix, self.slopes = rows_as_matrix(self.indices, weights.values), np.ones((n, k))
            return
        keys = np.repeat(np.arange(n), k) * n + self.indices.ravel()
        back = self.indices.ravel() * n + np.repeat(np.arange(n), k)
        order = np.argsort(keys, kind="stable")
        place = order[np.minimum(np.searchsorted(keys, back, sorter=order), len(keys) - 1)]
        opposite = np.where(keys[place] == back, weights.values.ravel()[place], 0.0).reshape(n, k)
        if self.join == "membership":
            both = directed.multiply(directed.T)
            matrix = self._mix * (directed + directed.T) + (1.0 - 2.0 * self._mix) * both
            self.slopes = self._mix + (1.0 - 2.0 * self._mix) * opposite
        else:
            factor = 0.5 / max(int(self.mask.any(axis=1).sum()), 1)
            matrix = factor * (directed + directed.T)
            self.slopes = np.full((n, k), factor)
        self.matrix = scipy.sparse.csr_array(matrix)
        self.matrix.eliminate_zeros()
        self.matrix.sort_indices()

    @property
    def mean_degree(self) -> float:
        """Mean sum of a row of affinities, in the units of `joined_weights`."""
        total: float = float(self.matrix.sum()) / self.n_samples
        factor = 1 if self.join == "membership" else max(int(self.mask.any(axis=1).sum()), 1)
        return total * factor

    def joined_weights(self, one: Float64, other: Float64) -> Float64:
        """Join the weights of both directions of pairs, as `join` says, "total" without the number of rows."""
        if self.join == "membership":
            return self._mix * (one + other) + (1.0 - 2.0 * self._mix) * one * other
        return 0.5 * (one + other)

    def touched(self, i: int) -> npt.NDArray[np.intp]:
        """Return the rows whose weights depend on row i: itself, and those that have it among their neighbours."""
        return np.append(i, self._seen_from[self._starts[i] : self._starts[i + 1]]).astype(np.intp)

    def pairs(self, i: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the rows whose weights depend on row i, and their neighbours."""
        rows = self.touched(i)
        return rows, self.indices[rows]

    def pull(self, i: int, slopes: Float64) -> Float64:
        """Return the derivative by x_i of q sums with given slopes by the pairs."""
        rows = self.touched(i)
        squared = self.weights.pull(rows, slopes * self.slopes[rows][:, :, None])
        own = 2.0 * np.einsum("jq,jf->qf", squared[0], self.X[i] - self.X[self.indices[i]])
        hits = (self.indices[rows[1:]] == i) & self.mask[rows[1:]]
        onto = (squared[1:] * hits[:, :, None]).sum(axis=1)
        return np.asarray(own + 2.0 * onto.T @ (self.X[i] - self.X[rows[1:]]))

    def push(self, i: int) -> Float64:
        """Return the part of da_lj/dx_i that comes through w_j|l; the rest is that of the pair from its other end."""
        rows = self.touched(i)
        changes = np.zeros((len(rows), self.n_neighbors, self.X.shape[1]))
        changes[0] = 2.0 * (self.X[i] - self.X[self.indices[i]])
        hits = (self.indices[rows[1:]] == i) & self.mask[rows[1:]]
        changes[1:] += hits[:, :, None] * (2.0 * (self.X[i] - self.X[rows[1:]]))[:, None, :]
        return np.asarray(self.weights.push(rows, changes) * self.slopes[rows][:, :, None])


class DataDistances:
    """The Euclidean distances of all pairs of rows, and how they change with the data.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data, dense.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        The data, centred.
    values : ndarray of shape (n_samples, n_samples), float64
    """

    def __init__(self, X: npt.ArrayLike) -> None:
        rows = np.array(X, dtype=np.float64, ndmin=2)
        self.X: Float64 = rows - rows.mean(axis=0)
        self.values: Float64 = row_distances(self.X, self.X)

    def pairs(self, i: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return row i with all others."""
        return np.array([i]), np.arange(len(self.X))[None, :]

    def pull(self, i: int, slopes: Float64) -> Float64:
        """Return the derivative by x_i of q sums with given slopes by the pairs."""
        return np.asarray(slopes[0].T @ self.push(i)[0])

    def push(self, i: int) -> Float64:
        """Return the unit vectors from the others to row i; 0 for a row at distance 0."""
        delta = self.values[i]
        return np.asarray(((self.X[i] - self.X) / np.where(delta > 0.0, delta, np.inf)[:, None])[None])


def _rows(X: npt.ArrayLike, graph: NeighborGraph) -> Float64:
    """Return the data in float64, which the graph must fit."""
    if hasattr(X, "toarray"):
        raise TypeError(message("X", "a dense array", fact="found a sparse matrix", remedy="Pass X.toarray()."))
    rows = np.array(X, dtype=np.float64, ndmin=2)
    if rows.ndim != 2 or len(rows) != graph.n_samples:
        what = f"X of shape {rows.shape} with a graph of {graph.n_samples:,} rows"
        remedy = "Equal rows share one node of a fitted graph: drop copies before the fit."
        raise ValueError(message(what, "of the same length", remedy=remedy))
    check_graph(graph, len(rows))
    metric = graph.metric
    if str(metric).split(",")[0] != "euclidean":
        raise ValueError(message(f"metric={metric!r}", "'euclidean'", fact="others have no derivative here"))
    return np.asarray(rows - rows.mean(axis=0))
