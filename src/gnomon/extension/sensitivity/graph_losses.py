"""Losses of neighbour embeddings as functions of map and data: attraction along a graph, repulsion of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon._threads import in_order
from gnomon._validation import Options, Real, Rule, check_parameters, message
from gnomon.extension.sensitivity.affinities import DataAffinities
from gnomon.extension.sensitivity.pairs import PairLoss, Pairs, blocks, flat, squared_distances
from gnomon.extension.sensitivity.row_weights import Float64
from gnomon.kernels import CurvedKernel, curvature_of_law, evaluate_law
from gnomon.linalg import connected_components
from gnomon.objectives.pair_force import pair_force

__all__ = ["LOSSES", "GraphLoss"]

LOSSES = ("kl", "conditional_kl", "cross_entropy", "stated_cross_entropy")

_RULES: dict[str, Rule] = {
    "loss": Options(*LOSSES),
    "negative_sample_rate": Real(low=0.0, low_open=True),
    "repulsion_strength": Real(low=0.0),
}
_JOINS = {"kl": ("total",), "conditional_kl": ("rows",), "cross_entropy": ("total", "membership")}


class GraphLoss(PairLoss):
    """A loss of a neighbour embedding and of its data.

    Parameters
    ----------
    affinities : DataAffinities
        "total" for t-SNE and symmetric SNE, "rows" for SNE, "membership" for UMAP.
    kernel : CurvedKernel
        Similarity of two points of the map, between 0 and 1.
    loss : {"kl", "conditional_kl", "cross_entropy", "stated_cross_entropy"}
        As `KLDivergence`, `ConditionalDivergence`, `CrossEntropy` (points drawn alike) and `StatedCrossEntropy`, but
        for a constant.
    negative_sample_rate, repulsion_strength : float, default=5 and 1
        Of "cross_entropy".
    n_threads : int, default=1
        Does not change the result.
    """

    def __init__(
        self,
        affinities: DataAffinities,
        kernel: CurvedKernel,
        loss: str,
        *,
        negative_sample_rate: float = 5.0,
        repulsion_strength: float = 1.0,
        n_threads: int = 1,
    ) -> None:
        given = {
            "loss": loss,
            "negative_sample_rate": negative_sample_rate,
            "repulsion_strength": repulsion_strength,
        }
        checked = check_parameters("sensitivity", _RULES, given)
        super().__init__(affinities.X, n_threads=n_threads)
        if not (hasattr(kernel, "second_derivative") and kernel.bounded):
            rule = "a similarity in (0, 1] with second_derivative(squared_distances)"
            raise TypeError(message("sensitivity", f"kernel={kernel}", rule))
        joins = _JOINS.get(loss, ("membership",))
        if affinities.join not in joins:
            what = f"affinities joined as {affinities.join!r}"
            raise ValueError(message("sensitivity", what, f"joined as {' or '.join(joins)} for loss={loss!r}"))
        self.affinities, self.kernel, self.kind = affinities, kernel, loss
        matrix = affinities.matrix
        self._heads = np.repeat(np.arange(self.n_samples), np.diff(matrix.indptr))
        self._factor = checked["negative_sample_rate"] * checked["repulsion_strength"] / (4.0 * self.n_samples)
        self._degrees = np.asarray(matrix.sum(axis=1)).ravel()
        self._state: Any = None

    @property
    def n_pieces(self) -> int:
        """Number of pieces of the graph; more than one repel each other without end, and there is no minimum."""
        return int(connected_components(self.affinities.matrix).max()) + 1

    def evaluate(self, Y: Float64) -> Pairs:
        """Return loss and gradient, and keep the slopes of the edges and the normalisers."""
        matrix = self.affinities.matrix
        s = np.square(Y[self._heads] - Y[matrix.indices]).sum(axis=1)
        energies, slopes, curvatures = self._edge_law(s)
        edges = sp.csr_array((matrix.data * slopes, matrix.indices, matrix.indptr), shape=matrix.shape)
        bends = sp.csr_array((matrix.data * curvatures, matrix.indices, matrix.indptr), shape=matrix.shape)
        attraction = 4.0 * pair_force(edges, Y)
        loss = float(matrix.data @ energies)
        energy, repulsion, normalisers, factors = self._repel(Y)
        self._state = (Y, edges, bends, normalisers)
        return Pairs(Y, loss + energy, attraction + repulsion, float(np.linalg.norm(attraction)), factors)

    def _edge_law(self, s: Float64) -> tuple[Float64, Float64, Float64]:
        """Return energy, slope and curvature that a unit of affinity adds."""
        energy, slope = evaluate_law("log", self.kernel, s)
        curvature = curvature_of_law("log", self.kernel, s)
        if self.kind != "stated_cross_entropy":
            return energy, slope, curvature
        less, less_slope = evaluate_law("log_deficit", self.kernel, s)
        return energy - less, slope - less_slope, curvature - curvature_of_law("log_deficit", self.kernel, s)

    @property
    def _law(self) -> str:
        return "value" if self.kind.endswith("kl") else "log_deficit"

    def _weights(self, rows: slice) -> Float64 | float:
        """Return the weights of the repulsion of some rows and all points."""
        if self.kind != "cross_entropy":
            return 1.0
        return np.asarray(self._factor * (self._degrees[rows, None] + self._degrees[None, :]))

    def _repel(self, Y: Float64) -> tuple[float, Float64, Any, tuple[Float64, Float64] | None]:
        """Return energy, gradient, normalisers and the part of low rank of the repulsion."""

        def part(rows: slice) -> tuple[Float64, Float64, Float64]:
            values, slopes = evaluate_law(self._law, self.kernel, squared_distances(Y, rows))
            weights = self._weights(rows)
            values, slopes = weights * values, weights * slopes
            own = np.arange(rows.start, rows.stop)
            values[own - rows.start, own] = 0.0
            slopes[own - rows.start, own] = 0.0
            return values.sum(axis=1), pair_force(slopes, Y[rows], Y), slopes

        done = [found[:2] for found in in_order(part, list(blocks(self.n_samples)), self.n_threads)]
        totals, forces = np.concatenate([sums for sums, _ in done]), np.concatenate([force for _, force in done])
        if self.kind == "kl":
            Z = float(totals.sum())
            gradient = 4.0 * forces / Z
            return float(np.log(Z)), gradient, Z, (flat(gradient)[None, :], np.array([-1.0]))
        if self.kind == "conditional_kl":
            vectors = self._row_gradients(Y, totals)
            gradient = vectors.sum(axis=0).reshape(Y.shape[1], -1).T
            return float(np.log(totals).sum()), gradient, totals, (vectors, np.full(self.n_samples, -1.0))
        return float(totals.sum()), 4.0 * forces, None, None

    def _row_gradients(self, Y: Float64, totals: Float64) -> Float64:
        """Return the gradient of log Z_i for each i, (n_samples, n_components * n_samples)."""
        n, d = Y.shape
        vectors = np.empty((n, d, n))
        for rows in blocks(n):
            slopes = 2.0 * self.kernel.derivative(squared_distances(Y, rows)) / totals[rows, None]
            for a in range(d):
                part = slopes * (Y[None, :, a] - Y[rows, a, None])
                own = np.arange(rows.start, rows.stop)
                part[own - rows.start, own] = 0.0
                part[own - rows.start, own] = -part.sum(axis=1)
                vectors[rows, a] = part
        return vectors.reshape(n, d * n)

    def _kept(self, pairs: Pairs) -> tuple[Any, Any, Any]:
        """Return slopes and curvatures of the edges and the normalisers at a map."""
        if self._state is None or self._state[0] is not pairs.Y:
            self.evaluate(pairs.Y)
        return self._state[1], self._state[2], self._state[3]

    def coefficients(self, pairs: Pairs, rows: slice) -> tuple[Float64, Float64]:
        """Return S and C of some rows."""
        edges, bends, normalisers = self._kept(pairs)
        s = squared_distances(pairs.Y, rows)
        slopes = evaluate_law(self._law, self.kernel, s)[1]
        curvatures = curvature_of_law(self._law, self.kernel, s)
        weights = self._weights(rows)
        if self.kind == "kl":
            weights = 1.0 / normalisers
        elif self.kind == "conditional_kl":
            weights = 0.5 / normalisers[rows, None] + 0.5 / normalisers[None, :]
        S, C = weights * slopes, weights * curvatures
        own = np.arange(rows.start, rows.stop)
        S[own - rows.start, own] = 0.0
        C[own - rows.start, own] = 0.0
        S += edges[rows].toarray()
        C += bends[rows].toarray()
        return S, C

    def share(self, pairs: Pairs, Z: Float64) -> Float64 | None:
        """Return the derivative of the products by the degrees, (n_samples, q), where repulsion depends on them."""
        if self.kind != "cross_entropy":
            return None
        Y = pairs.Y
        along = np.einsum("id,idq->iq", Y, Z)
        found = np.empty((self.n_samples, Z.shape[2]))
        for rows in blocks(self.n_samples):
            slopes = self._plain_slopes(Y, rows)
            part = slopes.sum(axis=1)[:, None] * along[rows] + slopes @ along
            part -= np.einsum("idq,id->iq", Z[rows], slopes @ Y)
            part -= np.einsum("id,idq->iq", Y[rows], np.tensordot(slopes, Z, 1))
            found[rows] = 4.0 * self._factor * part
        return found

    def pull(self, pairs: Pairs, Z: Float64, i: int, share: Float64 | None) -> Float64:
        """Return the derivative by x_i of the products of q directions Z with the gradient."""
        rows = self.affinities.touched(i)
        heads, tails = rows[:, None], self.affinities.indices[rows]
        across = pairs.Y[heads] - pairs.Y[tails]
        slopes = self._edge_law(np.square(across).sum(axis=2))[1]
        along = np.einsum("lkd,lkdq->lkq", across, Z[heads] - Z[tails])
        total = 4.0 * slopes[:, :, None] * along
        if share is not None:
            total += share[heads] + share[tails]
        return self.affinities.pull(i, rows, total)

    def push(self, pairs: Pairs, i: int) -> Float64:
        """Return the derivative of the gradient by x_i."""
        n, d = pairs.Y.shape
        rows = self.affinities.touched(i)
        changes = self.affinities.push(i, rows).reshape(-1, self.X.shape[1])
        heads = np.repeat(rows, self.affinities.n_neighbors)
        tails = self.affinities.indices[rows].ravel()
        across = pairs.Y[heads] - pairs.Y[tails]
        slopes = 4.0 * self._edge_law(np.square(across).sum(axis=1))[1]
        every, ends = np.arange(len(heads)), np.concatenate([heads, tails])
        found = np.empty((n, d, self.X.shape[1]))
        for a in range(d):
            values = slopes * across[:, a]
            spread = sp.csr_array((np.concatenate([values, -values]), (ends, np.tile(every, 2))), shape=(n, len(every)))
            found[:, a] = spread @ changes
        if self.kind == "cross_entropy":
            ones = sp.csr_array((np.ones(2 * len(every)), (ends, np.tile(every, 2))), shape=(n, len(every)))
            self._push_degrees(pairs.Y, np.asarray(ones @ changes), found)
        return found

    def _push_degrees(self, Y: Float64, degrees: Float64, found: Float64) -> None:
        """Add what changes of the degrees (n_samples, n_features) do to the repulsion."""
        for rows in blocks(self.n_samples):
            slopes = 4.0 * self._factor * self._plain_slopes(Y, rows)
            own = slopes.sum(axis=1)[:, None] * Y[rows] - slopes @ Y
            found[rows] += own[:, :, None] * degrees[rows, None, :]
            others = slopes @ degrees
            for a in range(Y.shape[1]):
                found[rows, a] += Y[rows, a, None] * others - slopes @ (Y[:, a, None] * degrees)

    def _plain_slopes(self, Y: Float64, rows: slice) -> Float64:
        slopes = evaluate_law("log_deficit", self.kernel, squared_distances(Y, rows))[1]
        own = np.arange(rows.start, rows.stop)
        slopes[own - rows.start, own] = 0.0
        return slopes
