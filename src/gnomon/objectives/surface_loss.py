"""A loss of points on a curved surface: the terms of a flat one, by geodesic distances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives.cross_entropy import CrossEntropy
from gnomon.objectives.pair_objective import PairObjective
from gnomon.objectives.pairs import compile_kernel
from gnomon.objectives.terms import AllPairs, EdgePairs
from gnomon.objectives.terms.base import named

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel
    from gnomon.objectives.pair_objective import RowLoss
    from gnomon.objectives.terms import Term
    from gnomon.surfaces import Surface

__all__ = ["OnSurface", "on_surface", "repulsion_on_surface"]

Floats = npt.NDArray[np.float64]

_ROWS = 256  # of all pairs at a time, in the oracle


class OnSurface:
    """The loss of points on a surface whose pairs are as far apart as the shortest way along it.

    Every term of the flat loss is one of squared distances, which are those of the surface here. As half the squared
    distance has the gradient -log_i(j), the vector from i to j, the gradients of the terms keep their form: what was
    y_i - y_j is the vector at i, of the distance's length, that leads away from j.

    Parameters
    ----------
    flat : PairObjective
        Sums over edges, and over all pairs or the logarithm of one; without added terms, of kernels that are compiled.
    surface : Surface
        Where the points lie.
    """

    dtype = np.float64

    @entrance("OnSurface")
    def __init__(self, flat: PairObjective, surface: Surface) -> None:
        if flat.added.terms:
            fact = "they are of flat maps"
            raise ValueError(message("added terms", "left out on a surface", fact=fact))
        self.flat, self.surface = flat, surface
        self._terms = [_checked(term) for term in flat.terms]
        self.compiled_surface = _core.Surface(surface.name, surface.radius)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.flat.n_samples

    def evaluation_for(self, n_components: int) -> str:
        """Return "exact": all pairs are summed, unless the optimizer samples them."""
        return "exact"

    def loss(self, points: Floats) -> float:
        """Return the loss of points (n_samples, width)."""
        return self.loss_and_gradient(points)[0]

    def gradient(self, points: Floats) -> Floats:
        """Return the Riemannian gradient, vectors along the surface (n_samples, width) per unit of the map."""
        return self.loss_and_gradient(points)[1]

    def loss_and_gradient(self, points: Floats) -> tuple[float, Floats]:
        """Return both, from one evaluation."""
        loss, gradient = self.flat.constant, np.zeros_like(points)
        for term in self._terms:
            energy, part = self._of_edges(term, points) if isinstance(term, EdgePairs) else self._of_all(term, points)
            loss, gradient = loss + energy, gradient + part
        return loss, gradient

    def _of_edges(self, term: EdgePairs, points: Floats) -> tuple[float, Floats]:
        edges = term.edges
        heads = np.repeat(np.arange(edges.n_samples), np.diff(edges.offsets))
        squared, away = self.surface.meet(points[heads], points[edges.columns])
        energies, slopes = evaluate_law(term.law, term.kernel, squared)
        weights = np.where(heads == edges.columns, 0.0, edges.values)
        forces = (4.0 * term.scale * weights * slopes)[:, None] * away
        gradient = [np.bincount(heads, column, edges.n_samples) for column in forces.T]
        return term.scale * float(weights @ energies), np.stack(gradient, axis=1).astype(np.float64)

    def _of_all(self, term: AllPairs, points: Floats) -> tuple[float, Floats]:
        if term.factors is None:
            energies, slopes = self._sums(term, points, np.empty(0, dtype=np.float32))
        else:
            u, v = term.factors
            (e_v, s_v), (e_u, s_u) = self._sums(term, points, v), self._sums(term, points, u)
            energies, slopes = u * e_v + v * e_u, u[:, None] * s_v + v[:, None] * s_u
        return _linked(term, float(energies.sum()), slopes)

    def _sums(self, term: AllPairs, points: Floats, weights: npt.NDArray[np.float32]) -> tuple[Floats, Floats]:
        """Return sum_l w_l F and sum_l w_l F' (the vector away from l) of each point."""
        return _core.surface_pair_sums(
            self.compiled_surface,
            named(term.law),
            _compiled(term.kernel),
            np.ascontiguousarray(points),
            np.ascontiguousarray(points),
            weights,
            True,
            current_run().n_threads,
        )

    def row_loss(self, coordinates: npt.ArrayLike, *, degree: float | None = None) -> RowLoss | None:
        """Return the loss of one new row among fixed points, as `PairObjective.row_loss`, of their coordinates.

        None where that of the flat loss is of a kind of its own.
        """
        if isinstance(self.flat, CrossEntropy):  # whose repulsion does not depend on the map
            return self.flat.row_loss(coordinates, degree=degree)
        if type(self.flat).row_loss is not PairObjective.row_loss:
            return None
        points = self.surface.points(coordinates)
        return self.flat.row_loss_by(lambda term: self._of_all(term, points)[0], degree)

    def reference(self, points: npt.ArrayLike) -> tuple[float, Floats]:
        """Return loss and gradient in float64 by the plain sum over pairs, the oracle of the compiled sums.

        Parameters
        ----------
        points : array-like of shape (n_samples, width)
        """
        here = np.asarray(points, dtype=np.float64)
        loss, gradient = self.flat.constant, np.zeros_like(here)
        for term in self._terms:
            if isinstance(term, EdgePairs):
                energy, part = self._of_edges(term, here)
            else:
                energy, part = self._reference_of_all(term, here)
            loss, gradient = loss + energy, gradient + part
        return loss, gradient

    def _reference_of_all(self, term: AllPairs, points: Floats) -> tuple[float, Floats]:
        total, slopes = 0.0, np.empty_like(points)
        for first in range(0, len(points), _ROWS):
            rows = np.arange(first, min(first + _ROWS, len(points)))
            squared, away = self.surface.meet(points[rows, None], points)
            values, derivatives = evaluate_law(term.law, term.kernel, squared)
            weights = np.ones(squared.shape)
            if term.factors is not None:
                u, v = (w.astype(np.float64) for w in term.factors)
                weights = u[rows, None] * v + v[rows, None] * u
            weights[rows - first, rows] = 0.0
            total += float((weights * values).sum())
            slopes[rows] = np.einsum("ij,ijc->ic", weights * derivatives, away)
        return _linked(term, total, slopes)


def on_surface(flat: Any, surface: Surface) -> OnSurface:
    """Return a loss of points on a surface.

    Parameters
    ----------
    flat : PairObjective
        As `OnSurface` takes it.
    surface : Surface
        Where the points lie.

    Returns
    -------
    OnSurface

    Raises
    ------
    ValueError
        If the flat loss is no sum over pairs, or a term of it cannot be summed on a surface.
    """
    if not isinstance(flat, PairObjective):
        what, rule = f"loss {type(flat).__name__}", "a sum over pairs on a surface"
        raise ValueError(message(what, rule, remedy="Use the loss 'cross_entropy' or 'kl'."))
    return OnSurface(flat, surface)


def _checked(term: Term) -> EdgePairs | AllPairs:
    """Return a term that can be summed on a surface, or raise ValueError."""
    if isinstance(term, EdgePairs) and term.compiled_kernel is not None:
        return term
    if isinstance(term, AllPairs) and term.compiled_kernel is not None and term.link != "row_log":
        return term
    what = f"{type(term).__name__} with {term.kernel}"
    rule = "a sum over edges or all pairs with a kernel that has a name, on a surface"
    raise ValueError(message(what, rule, remedy="Use the loss 'cross_entropy' or 'kl'."))


def _compiled(kernel: OutputKernel) -> _core.OutputKernel:
    found = compile_kernel(kernel)
    assert found is not None  # others were refused
    return found


def _linked(term: AllPairs, total: float, slopes: Floats) -> tuple[float, Floats]:
    """Return energy and gradient of a sum over all pairs, or of the logarithm of one."""
    if term.link == "log":
        return term.scale * math.log(total), 4.0 * term.scale / total * slopes
    return term.scale * total, 4.0 * term.scale * slopes


def repulsion_on_surface(surface: Surface, loss: RowLoss, points: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Return what all points of a map do to new ones: the repulsion of each and its Riemannian gradient.

    Parameters
    ----------
    surface : Surface
        Where they lie.
    loss : RowLoss
        One repulsion, a plain sum with a compiled kernel.
    points : ndarray of shape (n_new, width), float64
        The new points.
    others : ndarray of shape (n_samples, width), float64
        The map.

    Returns
    -------
    energies : ndarray of shape (n_new,), float64
    gradient : ndarray of shape (n_new, width), float64
    """
    (push,) = loss.repulsions
    charges = np.empty(0, dtype=np.float32) if push.charges is None else push.charges.astype(np.float32)
    energies, slopes = _core.surface_pair_sums(
        _core.Surface(surface.name, surface.radius),
        named(push.law),
        _compiled(push.kernel),
        np.ascontiguousarray(points),
        others,
        charges,
        False,
        current_run().n_threads,
    )
    return push.strength * energies, 2.0 * push.strength * slopes
