"""Further terms of a loss, such as the density around each point, which act for the later part of a descent."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._validation import Instance, Real, Rule, check_parameters, message
from gnomon.objectives.base import Embedding

__all__ = ["AddedTerm", "AddedTerms", "added_terms", "shares_of"]


class AddedTerm(ABC):
    """A term of the embedding that joins a loss: weight * (sum of all affinities) * its own loss.

    The sum of the affinities is the weight of all attractions, over ordered pairs, so `weight` is the share of the term
    in the loss of one edge. It means the same for every number of points and every scale of the affinities.

    A subclass gives `loss` and `gradient`, and those of the following that differ from the default. One of which a part
    is estimated from the embedding says so by `every` and does it in `refresh`; between two estimates the part is held
    fixed, and loss and gradient are those with the part fixed. Such a term belongs to one objective alone.

    Attributes
    ----------
    rules : dict
        Of the class: what may be given for the numbers below, and for others that the term takes.
    weight : float >= 0, default 1.0
        Share in the loss of one edge.
    begins : float in [0, 1], default 0.0
        Share of the iterations after which the term acts; 0 acts always.
    rises : float in [0, 1], default 0.0
        Share of the iterations in which the term acts, the first ones, over which its weight rises linearly to its full
        size. A term that acts from the first iteration on has its full weight there.
    unsampled : bool, default False
        Whether the term wants the forces of all pairs where it acts, even in a descent that samples them.
    cost : float > 0, default 1.0
        What an epoch of a sampled descent takes with the term, relative to one without, about.
    every : int >= 0, default 0
        Iterations between two calls of `refresh`, the first of which is made where the term begins to act; 0 for none.
    fixes_place : bool, default=False
        Whether the term changes when all points move together, so that no optimizer may centre the embedding.
    held : bool, default=False
        Whether the term puts points back after each step, in `hold`.
    """

    rules: ClassVar[dict[str, Rule]] = {"weight": Real(low=0.0), "begins": Real(low=0.0, high=1.0)}
    weight: float = 1.0
    begins: float = 0.0
    rises: float = 0.0
    unsampled: bool = False
    cost: float = 1.0
    every: int = 0
    fixes_place: bool = False
    held: bool = False

    @abstractmethod
    def loss(self, Y: Any) -> float:
        """Return the loss, without the weight."""

    @abstractmethod
    def gradient(self, Y: Any) -> npt.NDArray[Any]:
        """Return the gradient of the loss, (n_samples, n_components), the same for any number of threads."""

    def reference(self, Y: Any) -> tuple[float, npt.NDArray[Any]]:
        """Return loss and gradient in float64; unless a subclass does better, those above."""
        return self.loss(Y), self.gradient(Y)

    def stiffness(self) -> npt.NDArray[np.float64] | None:
        """Return the second derivative of the loss along each component at each point; None if it is not constant."""
        return None

    def refresh(self, Y: npt.NDArray[Any], iteration: int) -> None:  # noqa: B027  a term may have nothing to estimate
        """Estimate anew from an embedding what is held fixed; the result must depend on the arguments alone."""

    def hold(self, Y: npt.NDArray[Any]) -> None:  # noqa: B027  most terms hold nothing
        """Put points that the term holds back to their positions, in place; called after each step of a descent."""

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return what the term learned, which an estimator keeps as its fitted attributes.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_components)
            The embedding at the end of the descent.
        copies : ndarray of shape (n_rows,) or None, default=None
            The point of each row that was fitted, where equal rows share one; None if the points are the rows. What is
            said of each point is returned for each row.

        Returns
        -------
        dict
            By the name of the attribute, which ends in an underscore. A term learns nothing unless it says so.
        """
        return {}


_TERM = Instance((AddedTerm,), "terms with loss(Y) and gradient(Y), derived from gnomon.objectives.AddedTerm")


def _first(term: AddedTerm, max_iter: int) -> int:
    """Return the first iteration in which a term acts."""
    return math.ceil(term.begins * max_iter - 1e-9)  # 0.07 * 100 is a little above 7


def _share(term: AddedTerm, iteration: int, max_iter: int) -> float:
    """Return the share of a term's weight that counts in an iteration, 0 before the term begins."""
    first = _first(term, max_iter)
    if iteration < first:
        return 0.0
    rising = term.rises * (max_iter - first) if first > 0 else 0.0
    return min(1.0, (iteration - first + 1) / rising) if rising > 0 else 1.0


class AddedTerms:
    """The added terms of an objective, and which of them act: outside a descent all, with their full weights.

    Parameters
    ----------
    terms : sequence of AddedTerm
        Each has a weight >= 0 and begins in [0, 1].
    unit : float
        Sum of all affinities, by which the weights are multiplied.
    """

    def __init__(self, terms: Sequence[AddedTerm], unit: float) -> None:
        self.terms: tuple[AddedTerm, ...] = ()
        self.unit = unit
        self.join(*terms)
        self._now: tuple[int, int] | None = None  # iteration and max_iter, in a descent
        self._estimated: dict[int, npt.NDArray[Any]] = {}  # by term: the embedding of its present estimate

    @property
    def acting(self) -> bool:
        """Whether any term acts in the present iteration."""
        return bool(self._acting)

    @property
    def unsampled(self) -> bool:
        """Whether a term acts that wants the forces of all pairs."""
        return any(term.unsampled for term, _ in self._acting)

    @property
    def scheduled(self) -> bool:
        """Whether anything changes from iteration to iteration."""
        return any(term.begins > 0 or term.every > 0 for term in self.terms)

    @property
    def fixes_place(self) -> bool:
        """Whether a term changes when all points move together."""
        return any(term.fixes_place for term in self.terms)

    @property
    def held(self) -> bool:
        """Whether a term puts points back after each step."""
        return any(term.held for term in self.terms)

    def costs(self, max_iter: int) -> list[tuple[int, float]]:
        """Return from which epochs of a sampled descent on one takes how many times as long as without terms."""
        return sorted((_first(term, max_iter), term.cost) for term in self.terms if term.weight > 0)

    def join(self, *terms: AddedTerm) -> None:
        """Add terms to those there are."""
        for term in terms:
            check_parameters({"added": _TERM}, {"added": term})
            check_parameters(AddedTerm.rules, {"weight": term.weight, "begins": term.begins})
        self.terms += terms
        self.__dict__.pop("stiffness", None)  # of the terms before

    def hold(self, Y: npt.NDArray[Any]) -> None:
        """Put points that terms hold back to their positions, in place."""
        for term in self.terms:
            term.hold(Y)

    def at(self, iteration: int, max_iter: int) -> None:
        """Let those terms act that have begun by an iteration, counted from 0, of max_iter."""
        self._now = iteration, max_iter

    def estimate(self, Y: npt.NDArray[Any], anchors: npt.NDArray[Any] | None, *, anew: bool) -> npt.NDArray[Any] | None:
        """Bring what terms estimate from the embedding to where a descent stands, after `at`.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_components)
            The present embedding.
        anchors : ndarray of shape (n_terms, n_samples, n_components) or None
            The embeddings that the terms' estimates are made from; None before the first.
        anew : bool
            Whether estimates that are due are made from Y.

        Returns
        -------
        ndarray of shape (n_terms, n_samples, n_components) or None
            The embeddings from which the estimates are made now.
        """
        for index, term in enumerate(self.terms):
            assert self._now is not None
            iteration, max_iter = self._now
            since = iteration - _first(term, max_iter)
            if term.every == 0 or since < 0:
                continue
            if anew and since % term.every == 0:
                anchors = np.zeros((len(self.terms), *Y.shape), dtype=Y.dtype) if anchors is None else anchors
                anchors[index] = Y
            if anchors is not None and not np.array_equal(self._estimated.get(index, ()), anchors[index]):
                self._estimated[index] = anchors[index].copy()
                term.refresh(anchors[index].copy(), iteration - since % term.every)
        return anchors

    @cached_property
    def stiffness(self) -> npt.NDArray[np.float64] | None:
        """The sum of the terms' second derivatives at each point, at full weight; None if one is not known."""
        known = [(term.weight, term.stiffness()) for term in self.terms]
        if not known or any(found is None for _, found in known):
            return None
        return np.asarray(sum(self.unit * weight * found for weight, found in known if found is not None))

    def loss(self, Y: npt.NDArray[Any]) -> float:
        """Return the sum of the acting terms' losses, weights included."""
        return self.unit * sum((share * term.weight * term.loss(Y) for term, share in self._acting), 0.0)

    def gradient(self, Y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the gradient of that sum, in float64."""
        total = np.zeros(Y.shape)
        for term, share in self._acting:
            total += (self.unit * share * term.weight) * np.asarray(term.gradient(Y), dtype=np.float64)
        return total

    def force(self, Y: Embedding, scale: float = 1.0) -> Embedding:
        """Return minus the gradient times a scale, in float32."""
        return np.asarray(-scale * self.gradient(Y), dtype=np.float32)

    def reference(self, Y: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        """Return loss and gradient in float64, by the terms' own `reference`."""
        loss, gradient = 0.0, np.zeros_like(Y)
        for term, share in self._acting:
            one, slope = term.reference(Y)
            loss += self.unit * share * term.weight * one
            gradient += (self.unit * share * term.weight) * np.asarray(slope, dtype=np.float64)
        return loss, gradient

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return what all terms learned, also those without weight; see `AddedTerm.learned`."""
        return {name: value for term in self.terms for name, value in term.learned(Y, copies).items()}

    @property
    def _acting(self) -> list[tuple[AddedTerm, float]]:
        """The terms of some weight that act in the present iteration, with the shares of their weights."""
        shares = [(term, 1.0 if self._now is None else _share(term, *self._now)) for term in self.terms]
        return [(term, share) for term, share in shares if share > 0 and term.weight > 0]


def added_terms(objective: object) -> AddedTerms:
    """Return the added terms of an objective.

    Parameters
    ----------
    objective : Objective
        Any, also one of a kind that takes no terms.

    Returns
    -------
    AddedTerms
        Without terms if the objective has none.
    """
    added = getattr(objective, "added", None)
    return added if isinstance(added, AddedTerms) else AddedTerms((), 0.0)


def shares_of(masses: npt.ArrayLike | None, n_samples: int) -> npt.NDArray[np.float64]:
    """Return masses of points divided by their sum, equal ones for None; refuse what is no positive number for each."""
    weights = np.ones(n_samples) if masses is None else np.array(masses, dtype=np.float64)
    if weights.shape != (n_samples,) or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(message("masses", f"a positive number for each of {n_samples:,} points"))
    return np.asarray(weights / weights.sum())
