"""Affinities in float64 as functions of the data, with their derivatives; the sets of neighbours are held fixed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.extension.sensitivity.row_weights import Float64, MembershipWeights, PerplexityWeights, RowWeights
from gnomon.neighbors import NeighborGraph, check_graph

__all__ = ["DataAffinities"]

Join = Literal["total", "rows", "membership"]

_RULES: dict[str, Rule] = {
    "perplexity": Real(1.0),
    "local_connectivity": Real(0.0),
    "set_op_mix_ratio": Real(0.0, 1.0),
}


class DataAffinities:
    """Affinities a_ij of rows of data, and how they change with the data.

    Made by `gaussian`, `conditional` and `fuzzy`, which compute in float64 what `gaussian_affinities`,
    `conditional_affinities` and `fuzzy_simplicial_set` compute in float32. Derivatives include those of the
    calibration: of the precision that keeps the perplexity, of the nearest distance and the bandwidth of a fuzzy set.
    Which rows are neighbours is held fixed, which is exact unless two distances tie.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        The data.
    indices, mask : ndarray of shape (n_samples, n_neighbors)
        Neighbours, and which of them there are.
    weights : RowWeights
        w_j|i of the neighbours.
    matrix : csr_array of shape (n_samples, n_samples), float64
        a, symmetric, zero diagonal.
    join : {"total", "rows", "membership"}
        "total": (w_j|i + w_i|j) / (2 n), all sum to 1. "rows": (w_j|i + w_i|j) / 2, what SNE's attraction weighs.
        "membership": r (w_j|i + w_i|j - w_j|i w_i|j) + (1 - r) w_j|i w_i|j.
    """

    def __init__(self, X: npt.ArrayLike, graph: NeighborGraph, join: Join, mix: float = 1.0, *, who: str) -> None:
        self.X = _rows(X, graph, who)
        self.join = join
        self.indices = graph.indices.astype(np.intp)
        self.mask = np.ones(self.indices.shape, dtype=bool) if graph.mask is None else np.asarray(graph.mask)
        self.n_samples, self.n_neighbors = self.indices.shape
        self._mix = mix
        order = np.argsort(self.indices.ravel(), kind="stable")
        self._seen_from = order // max(self.n_neighbors, 1)  # rows that have a row among their neighbours, by that row
        self._starts = np.searchsorted(self.indices.ravel()[order], np.arange(self.n_samples + 1))

    @classmethod
    def gaussian(cls, X: npt.ArrayLike, graph: NeighborGraph, *, perplexity: float = 30.0) -> DataAffinities:
        """Return t-SNE's joint probabilities, as `gaussian_affinities`."""
        return cls(X, graph, "total", who="DataAffinities.gaussian")._calibrated(perplexity)

    @classmethod
    def conditional(cls, X: npt.ArrayLike, graph: NeighborGraph, *, perplexity: float = 30.0) -> DataAffinities:
        """Return SNE's probabilities of each row, as `conditional_affinities`."""
        return cls(X, graph, "rows", who="DataAffinities.conditional")._calibrated(perplexity)

    @classmethod
    def fuzzy(
        cls, X: npt.ArrayLike, graph: NeighborGraph, *, local_connectivity: float = 1.0, set_op_mix_ratio: float = 1.0
    ) -> DataAffinities:
        """Return UMAP's memberships, as `fuzzy_simplicial_set`."""
        who = "DataAffinities.fuzzy"
        given = {"local_connectivity": local_connectivity, "set_op_mix_ratio": set_op_mix_ratio}
        checked = check_parameters(who, _RULES, given, list(given))
        made = cls(X, graph, "membership", checked["set_op_mix_ratio"], who=who)
        return made._join(MembershipWeights.of(made._squared(), made.mask, checked["local_connectivity"]))

    def _calibrated(self, perplexity: float) -> DataAffinities:
        checked = check_parameters("DataAffinities", _RULES, {"perplexity": perplexity}, ["perplexity"])
        return self._join(PerplexityWeights.of(self._squared(), self.mask, checked["perplexity"]))

    def _squared(self) -> Float64:
        squared = np.empty(self.indices.shape)
        for i in range(self.n_samples):
            squared[i] = np.square(self.X[self.indices[i]] - self.X[i]).sum(axis=1)
        return squared

    def _join(self, weights: RowWeights) -> DataAffinities:
        self.weights = weights
        n, k = self.indices.shape
        starts = np.arange(0, n * k + 1, k)
        directed: Any = sp.csr_array((weights.values.ravel(), self.indices.ravel(), starts), shape=(n, n))
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
            factor = 0.5 if self.join == "rows" else 0.5 / max(int(self.mask.any(axis=1).sum()), 1)
            matrix = factor * (directed + directed.T)
            self.slopes = np.full((n, k), factor)
        self.matrix = sp.csr_array(matrix)
        self.matrix.eliminate_zeros()
        self.matrix.sort_indices()
        return self

    def touched(self, i: int) -> npt.NDArray[np.intp]:
        """Return the rows whose weights depend on row i: itself, and those that have it among their neighbours."""
        return np.append(i, self._seen_from[self._starts[i] : self._starts[i + 1]]).astype(np.intp)

    def pull(self, i: int, rows: npt.NDArray[np.intp], slopes: Float64) -> Float64:
        """Return the derivative by x_i of a sum of slopes times affinities.

        Parameters
        ----------
        i : int
            The row that moves.
        rows : ndarray of shape (m,)
            ``touched(i)``.
        slopes : ndarray of shape (m, n_neighbors, q)
            Derivative of q sums by a_lj = a_jl, for rows l and their neighbours j.

        Returns
        -------
        ndarray of shape (q, n_features)
        """
        squared = self.weights.pull(rows, slopes * self.slopes[rows][:, :, None])
        own = 2.0 * np.einsum("jq,jf->qf", squared[0], self.X[i] - self.X[self.indices[i]])
        hits = (self.indices[rows[1:]] == i) & self.mask[rows[1:]]
        onto = (squared[1:] * hits[:, :, None]).sum(axis=1)
        return np.asarray(own + 2.0 * onto.T @ (self.X[i] - self.X[rows[1:]]))

    def push(self, i: int, rows: npt.NDArray[np.intp]) -> Float64:
        """Return the part of da_lj/dx_i that comes through w_j|l, for ``rows = touched(i)`` and their neighbours j.

        The derivative of an affinity is the sum of that through w_j|l and through w_l|j.

        Returns
        -------
        ndarray of shape (len(rows), n_neighbors, n_features)
        """
        changes = np.zeros((len(rows), self.n_neighbors, self.X.shape[1]))
        changes[0] = 2.0 * (self.X[i] - self.X[self.indices[i]])
        hits = (self.indices[rows[1:]] == i) & self.mask[rows[1:]]
        changes[1:] += hits[:, :, None] * (2.0 * (self.X[i] - self.X[rows[1:]]))[:, None, :]
        return np.asarray(self.weights.push(rows, changes) * self.slopes[rows][:, :, None])


def _rows(X: npt.ArrayLike, graph: NeighborGraph, who: str) -> Float64:
    """Return the data in float64, which the graph must fit."""
    if hasattr(X, "toarray"):
        raise TypeError(message(who, "X", "a dense array", fact="found a sparse matrix", remedy="Pass X.toarray()."))
    rows = np.array(X, dtype=np.float64, ndmin=2)
    if rows.ndim != 2 or len(rows) != graph.n_samples:
        what = f"X of shape {rows.shape} with a graph of {graph.n_samples} rows"
        remedy = "Equal rows share one node of a fitted graph: drop copies before the fit."
        raise ValueError(message(who, what, "of the same length", remedy=remedy))
    check_graph(graph, len(rows), who=who)
    metric = graph.metric
    if str(metric).split(",")[0] != "euclidean":
        raise ValueError(message(who, f"metric={metric!r}", "'euclidean'", fact="others have no derivative here"))
    return np.asarray(rows - rows.mean(axis=0))
