"""A loss as a sum of terms over pairs of points, and what it makes of one new point among the fixed ones of a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.objectives.added import AddedTerm, AddedTerms
from gnomon.objectives.base import Embedding
from gnomon.objectives.expansion import Expansion
from gnomon.objectives.pairs import check_embedding
from gnomon.objectives.terms import AllPairs, Draws, EdgePairs, TargetPairs, Term

if TYPE_CHECKING:
    from gnomon.kernels import CustomLaw, OutputKernel

__all__ = ["PairObjective", "PairTerm", "Repulsion", "RowLoss"]


@dataclass(frozen=True)
class PairTerm:
    """scale * F(k(s)) of a pair of points at squared distance s.

    Attributes
    ----------
    kernel : OutputKernel
        k.
    law : str or CustomLaw
        F, see `gnomon.kernels.laws`.
    scale : float
    """

    kernel: OutputKernel
    law: str | CustomLaw
    scale: float = 1.0


@dataclass(frozen=True)
class Repulsion:
    """What all points of a map do to a new one: R = c sum_l v_l F(k_l), or a logarithm of it.

    Attributes
    ----------
    kernel, law
        k and F.
    strength : float
        c.
    link : {"sum", "log", "contrast"}, default="sum"
        "sum": R. "log": log R. "contrast": sum_j p_j log(k_j + R), k the kernel of the attraction.
    charges : ndarray of shape (n_samples,), float64, or None, default=None
        v; None for 1.
    """

    kernel: OutputKernel
    law: str | CustomLaw
    strength: float
    link: str = "sum"
    charges: npt.NDArray[np.float64] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class RowLoss:
    """What a new point at y minimises among the fixed points z: sum_j p_j A(|y - z_j|^2) and the repulsions.

    The affinities p of the new row sum to 1; every objective divides its loss by what they do.

    Attributes
    ----------
    attractions : tuple of PairTerm
        A is their sum.
    repulsions : tuple of Repulsion
    zoom : ndarray of shape (n_samples,), float64, or None, default=None
        With a zoom z_j of the points and z of the new one the squared distances count z^2 z_j^2 times; None for 1.
    """

    attractions: tuple[PairTerm, ...]
    repulsions: tuple[Repulsion, ...]
    zoom: npt.NDArray[np.float64] | None = field(default=None, compare=False)

    @property
    def compiled(self) -> bool:
        """Whether the compiled sums know it: one attraction, one repulsion, compiled kernels."""
        parts = [(part.kernel, part.law) for part in self.attractions] + [(p.kernel, p.law) for p in self.repulsions]
        simple = len(self.attractions) == len(self.repulsions) == 1
        return simple and self.zoom is None and all(kernel.compiled and isinstance(law, str) for kernel, law in parts)


class PairObjective:
    """The sum of terms over pairs of points; every objective of this room is one.

    Parameters
    ----------
    attractions, repulsions : sequence of Term
        What pulls points together and what pushes them apart.
    constant : float, default=0.0
        Added to the loss.
    exaggerated : sequence of Term or None, default=None
        The terms that `exaggeration` multiplies, some of those above; None: the attractions.
    added : sequence of AddedTerm, default=()
        Terms of the whole embedding, such as `DensityCorrelation`, in units of `added_unit`.
    added_unit : float, default=1.0
        Sum of all affinities.
    masses : ndarray of shape (n_samples,), float64, or None, default=None
        Of the points, counted in the terms already.

    Attributes
    ----------
    added : AddedTerms
        The added terms; `at` of a scheduled objective decides which act.
    masses : ndarray of shape (n_samples,), float64, or None
        How many rows each point stands for; None for 1. The gradient at a point is the sum of theirs.
    exaggeration : float, default 1.0
        Factor on the attractions, or on the terms named `exaggerated`, in `gradient` and `forces`, which an optimizer
        may set for a while ("early exaggeration"). `loss` never counts it.
    """

    @entrance()
    def __init__(
        self,
        attractions: Sequence[Term],
        repulsions: Sequence[Term],
        *,
        constant: float = 0.0,
        exaggerated: Sequence[Term] | None = None,
        added: Sequence[AddedTerm] = (),
        added_unit: float = 1.0,
        masses: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.attractions = list(attractions)
        self.repulsions = list(repulsions)
        self.constant = constant
        self.added = AddedTerms(added, added_unit)
        self.masses = masses
        self.exaggeration = 1.0
        self._named = None if exaggerated is None else list(exaggerated)
        numbers = sorted({term.n_samples for term in self.terms})
        if len(numbers) > 1:
            found = f"terms of {' and '.join(map(str, numbers))} points"
            raise ValueError(message(found, "of the same points", remedy="Give all of them one n_samples."))

    @property
    def terms(self) -> list[Term]:
        """All terms."""
        return [*self.attractions, *self.repulsions]

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.terms[0].n_samples

    @property
    def evaluation(self) -> str:
        """How a two-dimensional embedding is evaluated: "exact", "interpolated" or "tree"."""
        return self.evaluation_for(2)

    def evaluation_for(self, n_components: int) -> str:
        """Return how an embedding of n_components dimensions is evaluated."""
        evaluations = {term.evaluation_for(n_components) for term in self.terms if isinstance(term, AllPairs)}
        return next(iter(sorted(evaluations - {"exact"})), "exact")

    def loss(self, Y: Embedding) -> float:
        """Return the loss."""
        points = self._check(Y)
        return self.constant + sum(term.energy(points) for term in self.terms) + self.added.loss(points)

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient, attractions (or what the objective exaggerates instead) multiplied by `exaggeration`."""
        points = self._check(Y)
        force: Embedding | None = None
        exaggerated = self._exaggerated
        for term in self.terms:
            if term not in exaggerated:
                force = term.force(points, force)
        if self.exaggeration != 1.0 and force is not None:
            force *= np.float32(1.0 / self.exaggeration)
        for term in exaggerated:
            force = term.force(points, force)
        assert force is not None  # there is at least one term
        force *= np.float32(-self.exaggeration)
        return force - self.added.force(points) if self.added.acting else force

    def loss_and_gradient(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both at the cost of the costlier one; `exaggeration` is not counted."""
        points = self._check(Y)
        loss, force = self.constant, np.zeros_like(points)
        for term in self.terms:
            energy, part = term.energy_and_force(points)
            loss, force = loss + energy, force + part
        if self.added.acting:
            loss, force = loss + self.added.loss(points), force + self.added.force(points)
        return loss, np.asarray(-force)

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient.

        Added terms count as attraction.
        """
        points = self._check(Y)
        attraction, repulsion = (
            np.asarray(sum((self._factor(term) * term.force(points) for term in terms), np.zeros_like(points)))
            for terms in (self.attractions, self.repulsions)
        )
        return attraction + self.added.force(points) if self.added.acting else attraction, repulsion

    @entrance()
    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return an unbiased estimate of minus the gradient: sums over all pairs from the points drawn for each point.

        Edges and added terms count in full, `exaggeration` not at all. Where an added term asks for the forces of all
        pairs (`Unsampled`), nothing is drawn.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_components), float32
            The map.
        draws : Draws
            The points drawn in this epoch.

        Returns
        -------
        ndarray of shape (n_samples, n_components), float32

        Raises
        ------
        ValueError
            If a term has no unbiased estimate from a few pairs: a logarithm of a sum over all of them, or one that
            takes the means of whole rows.
        """
        points = self._check(Y)
        if self.added.unsampled:
            return -self.gradient(points)
        force = np.asarray(sum((term.sampled_force(points, draws) for term in self.terms), np.zeros_like(points)))
        return force + self.added.force(points) if self.added.acting else force

    @property
    def largest_pair(self) -> float:
        """The largest weight of an edge or of a pair with a target; 1 without either. The unit of sampled forces."""
        own = [term.largest_pair for term in self.terms if isinstance(term, EdgePairs | TargetPairs)]
        return max(own, default=1.0) or 1.0

    def reference(self, Y: npt.ArrayLike) -> tuple[float, npt.NDArray[np.float64]]:
        """Return loss and gradient in float64 by the plain sum over pairs: the oracle of everything above.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Taken as float64; `exaggeration` is not counted.

        Returns
        -------
        loss : float
        gradient : ndarray of shape (n_samples, n_components), float64
        """
        points = np.asarray(Y, dtype=np.float64)
        loss, force = self.constant, np.zeros_like(points)
        for term in self.terms:
            energy, part = term.reference(points)
            loss, force = loss + energy, force + part
        more, slope = self.added.reference(points)
        return loss + more, slope - force

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss | None:
        """Return the loss of one new row among the points of a map, which stay, divided by what its affinities do.

        Of sums over edges the new row takes its own affinities as weights; of sums over all pairs it takes its pairs,
        with the weights of a mean point, and of the logarithm of such a sum the linear part.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            The map.
        degree : float or None, default=None
            Sum of the new row's affinities before they are divided by it; None takes the mean of the rows.

        Returns
        -------
        RowLoss or None
            None if a term is none of these.
        """
        points = self._check(np.asarray(Y))
        return self.row_loss_by(lambda term: term.energy(points), degree)

    def row_loss_by(self, energy: Callable[[AllPairs], float], degree: float | None) -> RowLoss | None:
        """Return the same by a function that gives the energies of sums over all pairs at the map."""
        edges = [term for term in self.terms if isinstance(term, EdgePairs)]
        others = [term for term in self.terms if isinstance(term, AllPairs)]
        if not edges or len(edges) + len(others) < len(self.terms):
            return None
        pulls = [term.strength(degree) for term in edges]
        share = abs(pulls[0])
        return RowLoss(
            tuple(PairTerm(term.kernel, term.law, pull / share) for term, pull in zip(edges, pulls, strict=True)),
            tuple(_row_repulsion(term, energy, share) for term in others),
        )

    def expand(self, Y: npt.ArrayLike) -> Expansion:
        """Return the loss to second order at a map, in float64: what its Hessian is made of.

        Exact sums over all pairs, whatever the evaluation; `exaggeration` and added terms are not counted.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
        """
        points = np.asarray(Y, dtype=np.float64)
        terms = [term.expand(points) for term in (*self.repulsions, *self.attractions)]
        gradient, pulls = np.zeros_like(points), np.zeros_like(points)
        for place, term in enumerate(terms):
            gradient = gradient + term.gradient
            if place >= len(self.repulsions) or term.attraction is not None:
                pulls += term.gradient if term.attraction is None else term.attraction
        loss = self.constant + sum(term.energy for term in reversed(terms))
        return Expansion(points, loss, gradient, float(np.linalg.norm(pulls)), terms)

    @property
    def _exaggerated(self) -> list[Term]:
        return self.attractions if self._named is None else self._named

    def _factor(self, term: Term) -> np.float32:
        return np.float32(self.exaggeration if term in self._exaggerated else 1.0)

    @entrance()
    def _check(self, Y: Embedding) -> Embedding:
        return check_embedding(Y, self.n_samples)


def _row_repulsion(term: AllPairs, energy: Callable[[AllPairs], float], share: float) -> Repulsion:
    """Return what all points do to a new one, in units of the attraction of a mean row, share / n."""
    n, charges = term.n_samples, term.charges_of_a_row()
    if term.link == "log":
        strength = term.scale * n / (math.exp(energy(term) / term.scale) * share)
        return Repulsion(term.kernel, term.law, strength, charges=charges)
    if term.link == "row_log":
        return Repulsion(term.kernel, term.law, term.scale, "log", charges)
    mean = 1.0 if charges is None else float(charges.mean())
    return Repulsion(
        term.kernel, term.law, term.scale * n * mean / share, charges=None if charges is None else charges / mean
    )
