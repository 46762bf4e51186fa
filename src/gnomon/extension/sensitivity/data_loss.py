"""A loss as a function of map and data: an objective of affinities that follow the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import part
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.affinities import Affinities, AffinityDerivative
from gnomon.extension.sensitivity.leave_one_out import LeaveOneOut
from gnomon.linalg import connected_components
from gnomon.objectives import Expansion, PairObjective
from gnomon.objectives.terms import Float64
from gnomon.objectives.terms.base import curved

__all__ = ["DataLoss"]


class DataLoss:
    """A loss of map and data, in float64, twice differentiable.

    Parameters
    ----------
    affinities : AffinityDerivative
        Affinities of the data and their derivatives, such as ``GaussianAffinity(30).derivative(Inputs(X, graph))``, or
        `gnomon.affinities.DataDistances`.
    loss : callable
        Affinities -> objective, a sum of terms over pairs: `gnomon.objectives.KLDivergence` or any `PairObjective`.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64
        The data, centred.
    objective : PairObjective
        The loss in float64.
    """

    dtype = np.float64
    evaluation = "exact"

    @part("sensitivity")
    def __init__(self, affinities: AffinityDerivative, loss: Callable[[Any], Any]) -> None:
        self.affinities, self.X = affinities, affinities.X
        values = affinities.values
        objective = loss(values)
        if not isinstance(objective, PairObjective) or objective.added.terms:
            what = f"loss={type(objective).__name__}"
            fact = "added terms have no second derivative here" if hasattr(objective, "added") else ""
            raise TypeError(message(what, "a sum of terms over pairs", fact=fact))
        for term in objective.terms:
            curved(term.kernel).second_derivative(np.ones(1))  # one of the user's own says here what is missing
        self.objective = objective
        self._graph = values.matrix if isinstance(values, Affinities) else None
        self._seen: Expansion | None = None

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.X)

    @property
    def kind(self) -> str:
        """Name of the loss."""
        return str(getattr(self.objective, "name", type(self.objective).__name__))

    @property
    def n_pieces(self) -> int:
        """Number of pieces of the graph; more than one repel each other without end, and there is no minimum."""
        return 1 if self._graph is None else int(connected_components(scipy.sparse.csr_array(self._graph)).max()) + 1

    @part("sensitivity")
    def expand(self, Y: npt.ArrayLike) -> Expansion:
        """Return the loss to second order at Y; the last map seen costs nothing."""
        points = np.ascontiguousarray(Y, dtype=np.float64)
        if self._seen is None or not np.array_equal(self._seen.Y, points):
            with single_threaded_blas():
                self._seen = self.objective.expand(points.copy())
        return self._seen

    def loss(self, Y: npt.ArrayLike) -> float:
        """Return the loss."""
        return self.expand(Y).loss

    def gradient(self, Y: npt.ArrayLike) -> Float64:
        """Return the gradient."""
        return self.expand(Y).gradient.copy()

    def loss_and_gradient(self, Y: npt.ArrayLike) -> tuple[float, Float64]:
        """Return both."""
        found = self.expand(Y)
        return found.loss, found.gradient.copy()

    def forces(self, Y: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return minus the gradient as one force, and nothing."""
        gradient = self.expand(Y).gradient
        return -gradient, np.zeros_like(gradient)

    def evaluation_for(self, n_components: int) -> str:
        """Return how forces are evaluated: "exact"."""
        return self.evaluation

    def leave_one_out(self, Y: npt.ArrayLike) -> LeaveOneOut:
        """Return the map in which one row at a time is placed anew, the others staying."""
        return LeaveOneOut(self.affinities, self.objective, Y)

    def hessian(self, Y: npt.ArrayLike) -> Float64:
        """Return the Hessian, component by component."""
        return self.expand(Y).hessian()

    def share(self, Y: Float64, Z: Float64) -> list[Any]:
        """Return what `pull` needs of directions Z (n_samples, n_components, q) once for all rows, by term."""
        return [term.share(Y, Z) for term in self.objective.terms]

    def pull(self, Y: Float64, Z: Float64, i: int, share: list[Any], columns: slice = slice(None)) -> Float64:
        """Return the derivative by x_i of the products of some directions with the gradient: (q, n_features)."""
        heads, tails = self.affinities.pairs(i)
        some: Float64 = Z[:, :, columns]
        total: Any = 0.0
        for term, known in zip(self.objective.terms, share, strict=True):
            total = total + term.pull(Y, some, heads, tails, None if known is None else known[..., columns])
        return self.affinities.pull(i, np.broadcast_to(total, (*tails.shape, some.shape[2])))

    def push(self, Y: Float64, i: int) -> Float64:
        """Return the derivative of the gradient by x_i, (n_samples, n_components, n_features)."""
        heads, tails = self.affinities.pairs(i)
        changes = self.affinities.push(i).reshape(-1, self.X.shape[1])
        ends = np.repeat(heads, tails.shape[1]), tails.ravel()
        found = np.zeros((*Y.shape, self.X.shape[1]))
        for term in self.objective.terms:
            term.push(Y, *ends, changes, found)
        return found
