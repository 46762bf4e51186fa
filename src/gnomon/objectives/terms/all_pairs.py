"""A sum over all pairs of points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from gnomon import _core
from gnomon._validation import message
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives.base import Embedding
from gnomon.objectives.edges import compile_kernel
from gnomon.objectives.pair_force import pair_force
from gnomon.objectives.terms.base import Float64, check_law

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["INTERPOLATION_FROM", "TREE_FROM", "AllPairs"]

INTERPOLATION_FROM = 4000
"""Points from which "auto" interpolates. On two cores both cost the same at about 2,000 points; up to here all pairs
add less than half a millisecond to an iteration, and have no error."""

TREE_FROM = 4000
"""Points from which "auto" takes the tree where it cannot interpolate: there it costs a quarter of all pairs."""

_BLOCK = 512  # rows at a time in float64


class AllPairs:
    """scale * sum over all pairs i != j of (u_i v_j + v_i u_j) F(k_ij), or a logarithm of such a sum.

    Parameters
    ----------
    n_samples : int
        Number of points.
    kernel : OutputKernel
        k.
    law : {"value", "log", "log_deficit", "square"}, default="value"
        F.
    weights : pair of ndarray of shape (n_samples,) or None, default=None
        u and v; None gives every pair the weight 1.
    link : {"identity", "log", "row_log"}, default="identity"
        "log": scale * log(sum_ij k_ij), the normaliser of t-SNE. "row_log": scale * sum_i log(sum_j k_ij), those of
        SNE, each row multiplied by u_i where weights are given.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="exact"
        "exact" sums over all pairs. "interpolated" goes through a mesh: one or two components, a smooth kernel, law
        "value", no weights. "tree" takes far groups of points as one: up to three components. "auto" interpolates from
        4000 points on where it can, takes the tree from 4000 points on where it can, and else is exact.
    spacing : float, default=0.5
        Spacing of the mesh in units of the distance at which the kernel is one half.
    theta : float, default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.
    scale : float, default=1.0
        May be changed between evaluations.
    n_threads : int, default=1
        Does not change the result.
    who : str
        Opens the error text.
    """

    def __init__(
        self,
        n_samples: int,
        kernel: OutputKernel,
        law: str = "value",
        *,
        weights: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        link: str = "identity",
        evaluation: str = "exact",
        spacing: float = 0.5,
        theta: float = 0.8,
        scale: float = 1.0,
        n_threads: int = 1,
        who: str = "AllPairs",
    ) -> None:
        self.n_samples = n_samples
        self.kernel = kernel
        self.law = check_law(law, kernel, who=who)
        self.link = link
        self.requested_evaluation = evaluation
        self.spacing = spacing
        self.theta = theta
        self.scale = scale
        self.n_threads = n_threads
        self.compiled_kernel = compile_kernel(kernel)
        self._who = who
        self._weights = None if weights is None else tuple(np.ascontiguousarray(w, dtype=np.float32) for w in weights)
        self._mesh: _core.ParticleMesh | None = None
        self._tree: _core.Tree | None = None
        if evaluation == "interpolated" and not self._can_interpolate:
            raise ValueError(
                message(
                    who,
                    "evaluation='interpolated'",
                    "used with a kernel of bounded slope and equal weights",
                    fact=f"{kernel}",
                    remedy="Use evaluation='exact' or 'tree'.",
                )
            )
        if evaluation == "tree" and not self._can_take_tree:
            raise ValueError(
                message(
                    who,
                    "evaluation='tree'",
                    "used with a compiled kernel and one sum over all pairs",
                    fact=f"{kernel}, law={self.law!r}, link={link!r}",
                    remedy="Use evaluation='exact'.",
                )
            )

    @property
    def _can_interpolate(self) -> bool:
        plain = self.law == "value" and self._weights is None and self.link != "row_log"
        return plain and self.kernel.smooth and self.compiled_kernel is not None

    @property
    def _can_take_tree(self) -> bool:
        laws = ("value", "log_deficit")
        return self.law in laws and self.link != "row_log" and self.compiled_kernel is not None

    def evaluation_for(self, n_components: int) -> str:
        """Return how an embedding of n_components dimensions is evaluated."""
        if self.requested_evaluation != "auto":
            return self.requested_evaluation
        if n_components <= 2 and self._can_interpolate and self.n_samples >= INTERPOLATION_FROM:
            return "interpolated"
        if n_components <= 3 and self._can_take_tree and self.n_samples >= TREE_FROM:
            return "tree"
        return "exact"

    def force(self, Y: Embedding, base: Embedding | None = None) -> Embedding:
        """Return the force on each point, added to `base` where that is given."""
        force = self._evaluate(Y, with_energy=False)[1]
        return force if base is None else np.asarray(base + force)

    def energy(self, Y: Embedding) -> float:
        """Return the energy."""
        return self.energy_and_force(Y)[0]

    def energy_and_force(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both, from one pass over the pairs."""
        return self._evaluate(Y, with_energy=True)

    def _evaluate(self, Y: Embedding, *, with_energy: bool) -> tuple[float, Embedding]:
        """Return energy and force; without a logarithm of the sum the energy may be left out."""
        if self.compiled_kernel is None:
            energy, reference = self.reference(Y.astype(np.float64))
            return energy, np.asarray(reference, dtype=Y.dtype)
        if self.link == "row_log":
            return self._rows_normalised(Y)
        force, total = self._sums(Y, with_energy=with_energy or self.link == "log")
        if self.link == "identity":
            return self.scale * total, np.asarray(np.float32(-4.0 * self.scale) * force)
        factor = -4.0 * self.scale / total if total else 0.0
        with np.errstate(all="ignore"):  # a diverged embedding gives NaN, which the optimizers look for
            return self.scale * float(np.log(total)), np.asarray(np.float32(factor) * force)

    def _sums(self, Y: Embedding, *, with_energy: bool) -> tuple[Embedding, float]:
        """Return sum_j a_ij F' k' (y_i - y_j) and sum_ij a_ij F."""
        u, v = self._weight_arrays()
        kernel = self._compiled()
        evaluation = self.evaluation_for(Y.shape[1])
        if evaluation == "interpolated":
            self._check_components(Y, 2)
            if self._mesh is None:
                self._mesh = _core.ParticleMesh(kernel, self.spacing)
            force, total = self._mesh.evaluate(Y, self.n_threads)
            return np.negative(force, out=force), total
        if evaluation == "tree":
            self._check_components(Y, 3)
            if self._tree is None:
                self._tree = _core.Tree(self.theta)
            return self._tree.evaluate(self.law, Y, u, v, kernel, self.n_threads, with_energy)
        return _core.pair_sums(self.law, Y, u, v, kernel, self.n_threads, with_energy)

    def _rows_normalised(self, Y: Embedding) -> tuple[float, Embedding]:
        kernel = self._compiled()
        totals = _core.row_sums(Y, kernel, self.n_threads)
        rows = np.ones(self.n_samples) if self._weights is None else self._weights[0].astype(np.float64)
        with np.errstate(all="ignore"):
            energy = self.scale * float(rows @ np.log(totals))
            shares = np.asarray(rows / totals, dtype=np.float32)
        ones = np.ones_like(shares)
        force, _ = _core.pair_sums("value", Y, shares, ones, kernel, self.n_threads, False)
        return energy, np.asarray(np.float32(-2.0 * self.scale) * force)

    def _compiled(self) -> _core.OutputKernel:
        assert self.compiled_kernel is not None  # others are summed in NumPy
        return self.compiled_kernel

    def _weight_arrays(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        if self._weights is None:
            nothing = np.empty(0, dtype=np.float32)
            return nothing, nothing
        return self._weights[0], self._weights[1]

    def charges_of_a_row(self) -> Float64 | None:
        """Return the weights of the pairs that a new point with mean weights makes with all others; None for 1."""
        if self._weights is None:
            return None
        u, v = (w.astype(np.float64) for w in self._weights)
        return np.asarray(u.mean() * v + v.mean() * u)

    def _check_components(self, Y: Embedding, most: int) -> None:
        if Y.shape[1] > most:
            raise ValueError(
                message(
                    self._who,
                    f"n_components={Y.shape[1]}",
                    f"at most {most} for evaluation={self.requested_evaluation!r}",
                    remedy="Use evaluation='exact'.",
                )
            )

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64, block by block of rows; only the kernel's own functions are used."""
        total = 0.0
        row_totals = np.empty(self.n_samples)
        force = np.empty_like(Y)
        for rows, s, weights in self._blocks(Y):
            values, slopes = self._off_diagonal(rows, s, weights)
            row_totals[rows] = values.sum(axis=1)
            total += float(row_totals[rows].sum())
            if self.link != "row_log":
                force[rows] = pair_force(slopes, Y[rows], Y)
        if self.link == "identity":
            return self.scale * total, -4.0 * self.scale * force
        with np.errstate(all="ignore"):
            if self.link == "log":
                return self.scale * float(np.log(total)), (-4.0 * self.scale / total) * force
            share = (1.0 if self._weights is None else self._weights[0].astype(np.float64)) / row_totals
            for rows, s, _ in self._blocks(Y):
                slopes = self._off_diagonal(rows, s, 1.0)[1] * (share[rows, None] + share[None, :])
                force[rows] = pair_force(slopes, Y[rows], Y)
            return self.scale * float((share * row_totals) @ np.log(row_totals)), -2.0 * self.scale * force

    def _blocks(self, Y: Float64) -> Iterator[tuple[slice, Float64, Float64 | float]]:
        for first in range(0, self.n_samples, _BLOCK):
            rows = slice(first, min(first + _BLOCK, self.n_samples))
            weights: Float64 | float = 1.0
            if self._weights is not None and self.link != "row_log":
                u, v = (w.astype(np.float64) for w in self._weights)
                weights = u[rows, None] * v[None, :] + v[rows, None] * u[None, :]
            yield rows, cdist(Y[rows], Y, "sqeuclidean"), weights

    def _off_diagonal(self, rows: slice, s: Float64, weights: Float64 | float) -> tuple[Float64, Float64]:
        values, slopes = evaluate_law(self.law, self.kernel, s)
        values, slopes = weights * values, weights * slopes
        own = np.arange(rows.start, rows.stop)
        values[own - rows.start, own] = 0.0
        slopes[own - rows.start, own] = 0.0
        return values, slopes
