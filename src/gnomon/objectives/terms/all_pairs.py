"""A sum over all pairs of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._arithmetic import log
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._threads import in_order
from gnomon._validation import message
from gnomon.kernels.laws import curvature_of_law, evaluate_law
from gnomon.objectives.base import Embedding
from gnomon.objectives.expansion import TermExpansion, blocks, flat, squared_distances, without_own
from gnomon.objectives.pairs import compile_kernel, pair_force
from gnomon.objectives.terms.base import Draws, Float64, check_law, curved, drawn_force, named

if TYPE_CHECKING:
    from gnomon.kernels import CustomLaw, OutputKernel

__all__ = ["INTERPOLATION_FROM", "TREE_FROM", "AllPairs", "ByDegree"]

TREE_FROM = 4000
"""Points from which "auto" does not sum over all pairs: there the tree costs a quarter of them. Up to here they add
less than half a millisecond to an iteration, and have no error."""

INTERPOLATION_FROM = {1: TREE_FROM, 2: 20_000}
"""Points from which "auto" interpolates where it can, by the number of components; up to here the tree costs less."""

Factors = tuple[npt.NDArray[np.floating], ...]

_MANY = 1 << 18  # points of a map so wide that two meshes beside each other are too large
_BLOCK = 512  # rows at a time in float64
_NO_LOGARITHM = "Use another optimizer, or a loss without that logarithm, such as CrossEntropy or InfoNCE."


class AllPairs:
    """scale * sum over all pairs i != j of (u_i v_j + v_i u_j) F(k_ij), or a logarithm of such a sum.

    Parameters
    ----------
    n_samples : int
        Number of points.
    kernel : OutputKernel
        k.
    law : {"value", "log", "log_deficit", "square"} or CustomLaw, default="value"
        F.
    weights : pair of ndarray of shape (n_samples,) or None, default=None
        u and v; None gives every pair the weight 1.
    masses : ndarray of shape (n_samples,) or None, default=None
        m, instead of weights: every pair has the weight m_i m_j.
    link : {"identity", "log", "row_log"}, default="identity"
        "log": scale * log(sum_ij k_ij), the normaliser of t-SNE. "row_log": scale * sum_i log(sum_j k_ij), those of
        SNE, each row multiplied by u_i and each k_ij by v_j where weights are given.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="exact"
        "exact" sums over all pairs. "interpolated" goes through a mesh: one or two components, and a smooth kernel, law
        "value", no weights but masses, or the law "log_deficit" of a similarity with any weights, of which pairs
        closer than the spacing feel the slope at it. "tree" takes far groups of points as one: up to three components.
        "auto" does not interpolate the law "log_deficit" and is exact up to 4000 points. Beyond, it interpolates from
        20000 points on (of one component at once), takes the tree up to there, either for the other where it can do one
        alone, and else is exact.
    spacing : float, default=0.3
        Spacing of the mesh in units of the distance at which the kernel is one half.
    theta : float, default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.
    scale : float, default=1.0
        May be changed between evaluations.
    by_degree : ByDegree or None, default=None
        How the weights change with the degrees of a graph, if they do.
    dtype : type, default=float32
        In which precision `expand` takes the weights.
    """

    @part("AllPairs")
    def __init__(
        self,
        n_samples: int,
        kernel: OutputKernel,
        law: str | CustomLaw = "value",
        *,
        weights: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        masses: npt.ArrayLike | None = None,
        link: str = "identity",
        evaluation: str = "exact",
        spacing: float = 0.3,
        theta: float = 0.8,
        scale: float = 1.0,
        by_degree: ByDegree | None = None,
        dtype: type = np.float32,
    ) -> None:
        self.n_samples = n_samples
        self.kernel = kernel
        self.law = check_law(law, kernel)
        self.link = link
        self.requested_evaluation = evaluation
        self.spacing = spacing
        self.theta = theta
        self.scale = scale
        self.compiled_kernel = compile_kernel(kernel) if isinstance(law, str) else None
        self.by_degree = by_degree
        self._charges = np.empty(0, dtype=np.float32)  # of the mesh
        self._other_charges: npt.NDArray[np.float32] | None = None
        if masses is not None:
            self._charges = np.ascontiguousarray(masses, dtype=np.float32)
            weights = (0.5 * np.asarray(masses, dtype=np.float64), masses)
        self._exact = None if weights is None else tuple(np.asarray(w, dtype=dtype).astype(np.float64) for w in weights)
        self._weights = None if weights is None else tuple(np.ascontiguousarray(w, dtype=np.float32) for w in weights)
        self.coarsening = 1.0  # factor on the spacing of the mesh; may be changed between evaluations
        self._meshes: dict[float, _core.ParticleMesh] = {}  # by spacing: a mesh remembers the transform of its kernel
        self._tree: _core.Tree | None = None
        if self.law == "log_deficit" and self._weights is not None:
            self._charges, self._other_charges = self._weights
        if evaluation == "interpolated" and not (self._can_interpolate or self._can_interpolate_deficit):
            raise ValueError(
                message(
                    "evaluation='interpolated'",
                    "used with a kernel of bounded slope and equal weights, or masses, or the law 'log_deficit'",
                    fact=f"{kernel}",
                    remedy="Use evaluation='exact' or 'tree'.",
                )
            )
        if evaluation == "tree" and not self._can_take_tree:
            raise ValueError(
                message(
                    "evaluation='tree'",
                    "used with a compiled kernel and one sum over all pairs",
                    fact=f"{kernel}, law={self.law!r}, link={link!r}",
                    remedy="Use evaluation='exact'.",
                )
            )

    @property
    def factors(self) -> tuple[npt.NDArray[np.float32], ...] | None:
        """The factors u and v; None where every pair has the weight 1."""
        return self._weights

    @property
    def charges(self) -> tuple[npt.NDArray[np.float32], ...]:
        """The charges of the points on a mesh: of no kind where all are 1, of one, or of two, with a mesh each."""
        first = (self._charges,) if self._charges.size else ()
        return first if self._other_charges is None else (*first, self._other_charges)

    @property
    def _can_interpolate(self) -> bool:
        by_mass = self._weights is None or self._charges.size > 0
        plain = self.law == "value" and by_mass and self.link != "row_log"
        return plain and self.kernel.smooth and self.compiled_kernel is not None

    @property
    def _can_interpolate_deficit(self) -> bool:
        return self.law == "log_deficit" and self.link == "identity" and self.compiled_kernel is not None

    @property
    def _can_take_tree(self) -> bool:
        laws = ("value", "log_deficit")
        return self.law in laws and self.link != "row_log" and self.compiled_kernel is not None

    def evaluation_for(self, n_components: int) -> str:
        """Return how an embedding of n_components dimensions is evaluated."""
        if self.requested_evaluation != "auto":
            return self.requested_evaluation
        if self.n_samples < TREE_FROM or n_components > 3:
            return "exact"
        interpolates = self._can_interpolate and n_components <= 2
        if interpolates and self.n_samples >= INTERPOLATION_FROM[n_components]:
            return "interpolated"
        return "tree" if self._can_take_tree else "interpolated" if interpolates else "exact"

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

    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return an unbiased estimate of the force from the points drawn."""
        if self.link != "identity":
            what, rule, remedy = f"link={self.link!r}", "'identity' to be sampled", _NO_LOGARITHM
            fact = "the logarithm of a sum has no unbiased estimate from a few of its pairs"
            raise ValueError(message(what, rule, fact=fact, remedy=remedy))
        weights = np.full(draws.points.shape, self.scale * self.n_samples / draws.n_draws)
        if self._weights is not None:
            u, v = (w.astype(np.float64) for w in self._weights)
            weights *= u[:, None] * v[draws.points] + v[:, None] * u[draws.points]
        return drawn_force(Y, draws.points, weights, self.law, self.kernel, self.compiled_kernel)

    def _evaluate(self, Y: Embedding, *, with_energy: bool) -> tuple[float, Embedding]:
        """Return energy and force; without a logarithm of the sum the energy may be left out."""
        if self.compiled_kernel is None:
            energy, reference = self.reference(Y.astype(np.float64))
            return energy, np.asarray(reference, dtype=Y.dtype)
        if self.link == "row_log":
            return self._rows_normalised(Y)
        force, total = self._sums(Y, with_energy=with_energy or self.link == "log")
        if self.link == "identity":
            return self.scale * total, np.multiply(force, np.float32(-4.0 * self.scale), out=force)
        factor = -4.0 * self.scale / total if total else 0.0
        with np.errstate(all="ignore"):  # a diverged embedding gives NaN, which the optimizers look for
            return self.scale * float(log(total)), np.multiply(force, np.float32(factor), out=force)

    def _sums(self, Y: Embedding, *, with_energy: bool) -> tuple[Embedding, float]:
        """Return sum_j a_ij F' k' (y_i - y_j) and sum_ij a_ij F."""
        u, v = self._weight_arrays()
        kernel = self._compiled()
        evaluation = self.evaluation_for(Y.shape[1])
        if evaluation == "interpolated":
            self._check_components(Y, 2)
            spacing = self.coarsening * self.spacing
            if spacing not in self._meshes:
                if self.n_samples >= _MANY:
                    self._meshes.clear()
                self._meshes[spacing] = _core.ParticleMesh(kernel, spacing, named(self.law))
            mesh = self._meshes[spacing]
            force, total = mesh.evaluate(Y, self._charges, current_run().n_threads, self._other_charges)
            return np.negative(force, out=force), total
        if evaluation == "tree":
            self._check_components(Y, 3)
            if self._tree is None:
                self._tree = _core.Tree(self.theta)
            return self._tree.evaluate(named(self.law), Y, u, v, kernel, current_run().n_threads, with_energy)
        return _core.pair_sums(named(self.law), Y, u, v, kernel, current_run().n_threads, with_energy)

    def _rows_normalised(self, Y: Embedding) -> tuple[float, Embedding]:
        kernel = self._compiled()
        rows, charges = np.ones(self.n_samples), np.ones(self.n_samples, dtype=np.float32)
        if self._weights is not None:
            rows, charges = self._weights[0].astype(np.float64), self._weights[1]
        totals = _core.row_sums(Y, charges, kernel, current_run().n_threads)
        with np.errstate(all="ignore"):
            energy = self.scale * float((rows * log(totals)).sum())
            shares = np.asarray(rows / totals, dtype=np.float32)
        force, _ = _core.pair_sums("value", Y, shares, charges, kernel, current_run().n_threads, False)
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
        return v if self.link == "row_log" else np.asarray(u.mean() * v + v.mean() * u)

    def _check_components(self, Y: Embedding, most: int) -> None:
        if Y.shape[1] > most:
            raise ValueError(
                message(
                    f"n_components={Y.shape[1]}",
                    f"at most {most} for evaluation={self.requested_evaluation!r}",
                    remedy="Use evaluation='exact'.",
                )
            )

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64, block by block of rows; only the kernel's own functions are used."""
        total, row_totals, force = 0.0, np.empty(self.n_samples), np.empty_like(Y)
        for rows in blocks(self.n_samples, _BLOCK):
            row_totals[rows], force[rows] = self._sums_of_rows(Y, rows, self._weights)
            total += float(row_totals[rows].sum())
        if self.link == "identity":
            return self.scale * total, -4.0 * self.scale * force
        with np.errstate(all="ignore"):
            if self.link == "log":
                return self.scale * float(log(total)), (-4.0 * self.scale / total) * force
            u, v = self._row_weights(self._weights)
            share = u / row_totals
            for rows in blocks(self.n_samples, _BLOCK):
                both = share[rows, None] * v + v[rows, None] * share
                force[rows] = pair_force(self._plain_slopes(Y, rows) * both, Y[rows], Y)
            return self.scale * float((share * row_totals * log(row_totals)).sum()), -2.0 * self.scale * force

    def _sums_of_rows(self, Y: Float64, rows: slice, factors: Factors | None) -> tuple[Float64, Float64]:
        """Return sum_j a_ij F and sum_j a_ij F' k' (y_i - y_j) of some rows i, j running over all others."""
        values, slopes = evaluate_law(self.law, self.kernel, squared_distances(Y, rows))
        weights = self._weights_of(rows, factors)
        slopes = without_own(weights * slopes, rows)
        return without_own(weights * values, rows).sum(axis=1), pair_force(slopes, Y[rows], Y)

    def expand(self, Y: Float64) -> TermExpansion:
        """Return the term to second order at a map, in float64."""

        def part(rows: slice) -> tuple[Float64, Float64]:
            return self._sums_of_rows(Y, rows, self._exact)

        done = list(in_order(part, list(blocks(self.n_samples))))
        totals, forces = (np.concatenate(parts) for parts in zip(*done, strict=True))
        factors: tuple[Float64, Float64] | None = None
        weight: Any = lambda rows: self._weights_of(rows, self._exact)  # noqa: E731
        if self.link == "log":
            Z = float(totals.sum())
            energy, gradient = self.scale * float(log(Z)), 4.0 * self.scale * forces / Z
            factors = (flat(gradient)[None, :], np.array([-1.0 / self.scale]))
            weight = lambda rows: self._weights_of(rows, self._exact) / Z  # noqa: E731
        elif self.link == "row_log":
            shares, charges = self._row_weights(self._exact)
            vectors = self._row_gradients(Y, totals)
            energy = self.scale * float((shares * log(totals)).sum())
            gradient = self.scale * (shares @ vectors).reshape(Y.shape[1], -1).T
            factors = (vectors, -self.scale * shares)
            per_row = 0.5 * shares / totals
            weight = lambda rows: per_row[rows, None] * charges + charges[rows, None] * per_row  # noqa: E731
        else:
            energy, gradient = self.scale * float(totals.sum()), 4.0 * self.scale * forces

        def coefficients(rows: slice) -> tuple[Float64, Float64]:
            s = squared_distances(Y, rows)
            factor = self.scale * weight(rows)
            slopes = factor * evaluate_law(self.law, self.kernel, s)[1]
            bends = factor * curvature_of_law(self.law, curved(self.kernel), s)
            return without_own(slopes, rows), without_own(bends, rows)

        return TermExpansion(energy, gradient, coefficients, factors)

    def _weights_of(self, rows: slice, factors: Factors | None) -> Float64 | float:
        """Return the weights of the pairs of some rows in float64, in the sum inside of a logarithm."""
        if factors is None:
            return 1.0
        u, v = (w.astype(np.float64) for w in factors)
        return v if self.link == "row_log" else np.asarray(u[rows, None] * v + v[rows, None] * u)

    def _row_weights(self, factors: Factors | None) -> tuple[Float64, Float64]:
        """Return what multiplies each row's logarithm, and each point in the sums inside, in float64."""
        if factors is None:
            return np.ones(self.n_samples), np.ones(self.n_samples)
        u, v = (w.astype(np.float64) for w in factors)
        return u, v

    def _row_gradients(self, Y: Float64, totals: Float64) -> Float64:
        """Return the gradient of log Z_i for each i, (n_samples, n_components * n_samples)."""
        n, d = Y.shape
        vectors = np.empty((n, d, n))
        for rows in blocks(n):
            slopes = 2.0 * evaluate_law(self.law, self.kernel, squared_distances(Y, rows))[1] / totals[rows, None]
            slopes = slopes * self._weights_of(rows, self._exact)
            own = np.arange(rows.start, rows.stop)
            for a in range(d):
                part = without_own(slopes * (Y[None, :, a] - Y[rows, a, None]), rows)
                part[own - rows.start, own] = -part.sum(axis=1)
                vectors[rows, a] = part
        return vectors.reshape(n, d * n)

    def share(self, Y: Float64, Z: Float64) -> Float64 | None:
        """Return the derivatives of the products of Z with the gradient by the degrees, (n_samples, q)."""
        if self.by_degree is None or self._exact is None:
            return None
        u, v = self._exact
        by_u = self._along(Y, Z, v)
        return self.by_degree.pull(by_u, self._along(Y, Z, u) if self.by_degree.both else None)

    def pull(
        self, Y: Float64, Z: Float64, heads: npt.NDArray[np.intp], tails: npt.NDArray[np.intp], share: Float64 | None
    ) -> Float64 | float:
        """Return the derivatives of the products of Z with the gradient by the affinities of pairs."""
        return 0.0 if share is None else share[heads[:, None]] + share[tails]

    def push(
        self,
        Y: Float64,
        heads: npt.NDArray[np.intp],
        tails: npt.NDArray[np.intp],
        changes: Float64,
        found: Float64,
    ) -> None:
        """Add what changes of the affinities of pairs do to the gradient, through the degrees."""
        if self.by_degree is None or self._exact is None:
            return
        ends, every = np.concatenate([heads, tails]), np.arange(len(heads))
        ones = scipy.sparse.csr_array(
            (np.ones(len(ends)), (ends, np.tile(every, 2))), shape=(self.n_samples, len(every))
        )
        by_u, by_v = self.by_degree.push(np.asarray(ones @ changes))
        u, v = self._exact
        self._push_weights(Y, by_u, v, found)
        if by_v is not None:
            self._push_weights(Y, by_v, u, found)

    def _along(self, Y: Float64, Z: Float64, w: Float64) -> Float64:
        """Return 4 scale sum_j w_j S_ij (y_i - y_j) (z_i - z_j) for each i, (n_samples, q)."""
        along = np.einsum("id,idq->iq", Y, Z)
        found = np.empty((self.n_samples, Z.shape[2]))
        for rows in blocks(self.n_samples):
            slopes = self._plain_slopes(Y, rows) * w
            part = slopes.sum(axis=1)[:, None] * along[rows] + slopes @ along
            part -= np.einsum("idq,id->iq", Z[rows], slopes @ Y)
            part -= np.einsum("id,idq->iq", Y[rows], np.tensordot(slopes, Z, 1))
            found[rows] = 4.0 * self.scale * part
        return found

    def _push_weights(self, Y: Float64, changes: Float64, w: Float64, found: Float64) -> None:
        """Add what changes (n_samples, f) of one factor of the weights, the other one being w, do to the gradient."""
        for rows in blocks(self.n_samples):
            slopes = 4.0 * self.scale * self._plain_slopes(Y, rows)
            to_others = slopes * w
            own = to_others.sum(axis=1)[:, None] * Y[rows] - to_others @ Y
            found[rows] += own[:, :, None] * changes[rows, None, :]
            others = slopes @ changes
            for a in range(Y.shape[1]):
                found[rows, a] += w[rows, None] * (Y[rows, a, None] * others - slopes @ (Y[:, a, None] * changes))

    def _plain_slopes(self, Y: Float64, rows: slice) -> Float64:
        return without_own(np.array(evaluate_law(self.law, self.kernel, squared_distances(Y, rows))[1]), rows)


@dataclass(frozen=True)
class ByDegree:
    """How the factors u and v of the weights change with the degrees d of a graph: u = a d + const, v as given.

    Attributes
    ----------
    slope : float
        a.
    v_slope : float, default=0.0
        Slope of v, where it is linear.
    shares : ndarray of shape (n_samples,) or None, default=None
        v = d^e / sum(d^e), where it is that.
    relative : ndarray of shape (n_samples,) or None, default=None
        e v / d.
    """

    slope: float
    v_slope: float = 0.0
    shares: Float64 | None = None
    relative: Float64 | None = None

    @property
    def both(self) -> bool:
        """Whether v changes as well."""
        return self.relative is not None or self.v_slope != 0.0

    def pull(self, by_u: Float64, by_v: Float64 | None) -> Float64:
        """Return derivatives by the degrees, (n_samples, q), given those by u and v."""
        if by_v is None:
            return self.slope * by_u
        if self.relative is None or self.shares is None:
            return self.slope * by_u + self.v_slope * by_v
        return self.slope * by_u + self.relative[:, None] * (by_v - self.shares @ by_v)

    def push(self, changes: Float64) -> tuple[Float64, Float64 | None]:
        """Return changes of u and v, (n_samples, f), given those of the degrees."""
        if not self.both:
            return self.slope * changes, None
        if self.relative is None or self.shares is None:
            return self.slope * changes, self.v_slope * changes
        own = self.relative[:, None] * changes
        return self.slope * changes, own - self.shares[:, None] * own.sum(axis=0)
