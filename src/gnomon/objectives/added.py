"""Further terms of a loss, such as the density around each point, which act for the later part of a descent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gnomon._validation import Having, Real, Rule, check_parameters
from gnomon.objectives.base import Embedding

__all__ = ["AddedTerm", "AddedTerms", "Refreshed"]

_RULES: dict[str, Rule] = {
    "weight": Real(low=0.0),
    "begins": Real(low=0.0, high=1.0),
    "added": Having(("loss", "gradient"), "terms with loss(Y) and gradient(Y)"),
}


class AddedTerm(Protocol):
    """A term of the embedding that joins a loss: weight * (sum of all affinities) * its own loss.

    The sum of the affinities is the weight of all attractions, over ordered pairs, so `weight` is the share of the term
    in the loss of one edge. It means the same for every number of points and every scale of the affinities.

    Attributes
    ----------
    weight : float >= 0
        Share in the loss of one edge.
    begins : float in [0, 1]
        Share of the iterations after which the term acts; 0 acts always.
    """

    @property
    def weight(self) -> float:
        """Share in the loss of one edge."""
        ...

    @property
    def begins(self) -> float:
        """Share of the iterations after which the term acts."""
        ...

    def loss(self, Y: Any) -> float:
        """Return the loss, without the weight."""
        ...

    def gradient(self, Y: Any) -> npt.NDArray[Any]:
        """Return the gradient of the loss, (n_samples, n_components), the same for any number of threads."""
        ...


@runtime_checkable
class Rising(Protocol):
    """An added term whose weight does not begin at once: it rises linearly to its full size.

    One that acts from the first iteration on has its full weight there.

    Attributes
    ----------
    rises : float in [0, 1]
        Share of the iterations in which the term acts, the first ones, that the rise takes.
    """

    rises: float


@runtime_checkable
class Unsampled(Protocol):
    """An added term that wants the forces of all pairs where it acts, even in a descent that samples them.

    Attributes
    ----------
    unsampled : bool
    """

    unsampled: bool


@runtime_checkable
class Refreshed(Protocol):
    """An added term of which a part, such as local frames, is estimated from the embedding now and then.

    Between two estimates the part is held fixed, and loss and gradient are those with the part fixed.

    Attributes
    ----------
    every : int >= 1
        Iterations between estimates; the first is made where the term begins to act.
    """

    every: int

    def refresh(self, Y: npt.NDArray[Any], iteration: int) -> None:
        """Estimate the part anew from an embedding; the result must depend on the arguments alone."""
        ...


def _first(term: AddedTerm, max_iter: int) -> int:
    """Return the first iteration in which a term acts."""
    return math.ceil(term.begins * max_iter - 1e-9)  # 0.07 * 100 is a little above 7


def _share(term: AddedTerm, iteration: int, max_iter: int) -> float:
    """Return the share of a term's weight that counts in one of the iterations in which it acts."""
    first = _first(term, max_iter)
    rising = term.rises * (max_iter - first) if first > 0 and isinstance(term, Rising) else 0.0
    return min(1.0, (iteration - first + 1) / rising) if rising > 0 else 1.0


class AddedTerms:
    """The added terms of an objective, and which of them act.

    Outside a descent all terms act, with their full weights. A term with `refresh` belongs to one objective alone.

    Parameters
    ----------
    terms : sequence of AddedTerm
        Each has a weight >= 0 and begins in [0, 1].
    unit : float
        Sum of all affinities, by which the weights are multiplied.
    who : str
        Name of the objective, which opens error texts.
    """

    def __init__(self, terms: Sequence[AddedTerm], unit: float, *, who: str) -> None:
        for term in terms:
            found = {"added": term, "weight": getattr(term, "weight", 1.0), "begins": getattr(term, "begins", 0.0)}
            check_parameters(who, _RULES, found, names=("added", "weight", "begins"))
        self.terms = tuple(terms)
        self.unit = unit
        self._acting = self.terms
        self._shares = [1.0] * len(self.terms)  # of the acting terms' weights
        self._since = dict.fromkeys(range(len(self.terms)), 0)  # by term: the iteration of its present estimate
        self._estimated: dict[int, npt.NDArray[Any]] = {}  # by term: the embedding of its present estimate
        self._due: list[int] = []

    @property
    def acting(self) -> bool:
        """Whether any term acts in the present iteration."""
        return any(term.weight > 0 for term in self._acting)

    @property
    def unsampled(self) -> bool:
        """Whether a term acts that wants the forces of all pairs."""
        return any(isinstance(term, Unsampled) and term.unsampled and term.weight > 0 for term in self._acting)

    @property
    def scheduled(self) -> bool:
        """Whether anything changes from iteration to iteration."""
        return any(term.begins > 0 or isinstance(term, Refreshed) for term in self.terms)

    def at(self, iteration: int, max_iter: int) -> None:
        """Let those terms act that have begun by an iteration, counted from 0, of max_iter."""
        self._acting = tuple(term for term in self.terms if iteration >= _first(term, max_iter))
        self._shares = [_share(term, iteration, max_iter) for term in self._acting]
        self._due = []
        for index, term in enumerate(self.terms):
            if not isinstance(term, Refreshed) or term not in self._acting:
                continue
            first = _first(term, max_iter)
            self._since[index] = first + (iteration - first) // term.every * term.every
            if self._since[index] == iteration:
                self._due.append(index)

    def anchored(self, Y: npt.NDArray[Any], anchors: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        """Return the embeddings of the terms' estimates, (n_terms, *Y.shape): Y for those that are due, else as given.

        None while no term is estimated from the embedding.
        """
        if not self._due:
            return anchors
        anchors = np.zeros((len(self.terms), *Y.shape), dtype=Y.dtype) if anchors is None else anchors
        for index in self._due:
            anchors[index] = Y
        return anchors

    def restore(self, anchors: npt.NDArray[Any] | None) -> None:
        """Bring the estimates of the acting terms to the embeddings given, where they stem from others."""
        if anchors is None:
            return
        for index, term in enumerate(self.terms):
            if not isinstance(term, Refreshed) or term not in self._acting:
                continue
            before = self._estimated.get(index)
            if before is None or not np.array_equal(before, anchors[index]):
                term.refresh(anchors[index].copy(), self._since[index])
                self._estimated[index] = anchors[index].copy()

    def loss(self, Y: npt.NDArray[Any]) -> float:
        """Return the sum of the acting terms' losses, weights included."""
        return self.unit * sum((share * term.weight * term.loss(Y) for term, share in self._shared), 0.0)

    def gradient(self, Y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the gradient of that sum, in float64."""
        total = np.zeros(Y.shape)
        for term, share in self._shared:
            if term.weight > 0:
                total += (self.unit * share * term.weight) * np.asarray(term.gradient(Y), dtype=np.float64)
        return total

    def force(self, Y: Embedding, scale: float = 1.0) -> Embedding:
        """Return minus the gradient times a scale, in float32."""
        return np.asarray(-scale * self.gradient(Y), dtype=np.float32)

    def reference(self, Y: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        """Return loss and gradient in float64, by the terms' own `reference` where they have one."""
        loss, gradient = 0.0, np.zeros_like(Y)
        for term, share in self._shared:
            oracle = getattr(term, "reference", None)
            one, slope = (term.loss(Y), term.gradient(Y)) if oracle is None else oracle(Y)
            loss += self.unit * share * term.weight * one
            gradient += (self.unit * share * term.weight) * np.asarray(slope, dtype=np.float64)
        return loss, gradient

    @property
    def _shared(self) -> zip[tuple[AddedTerm, float]]:
        """The acting terms with the shares of their weights."""
        return zip(self._acting, self._shares, strict=True)
