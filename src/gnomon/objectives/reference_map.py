"""A loss shared with the squared distance of a map from a reference map: DREAMS."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.objectives.added import AddedTerm, shares_of
from gnomon.objectives.pair_objective import PairObjective, RowLoss

__all__ = ["ReferenceDistance", "SharedLoss"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {"share": Real(low=0.0, high=1.0)}
_ROUNDING = 1e-12


class ReferenceDistance(AddedTerm):
    """The mean squared distance of the points of a map from a reference map, which is scaled to the map.

    With a reference R of mean 0 and masses m_i of the points (1 unless given),

        loss = sum_i m_i |y_i - a r_i|^2 / sum_i m_i,    a = |Y - mean(Y)| / |R|,

    the norms weighted by the masses. The factor a is estimated before each iteration of a descent and held fixed in the
    gradient, as in the authors' program: the term turns and deforms a map towards the reference, but gives it no size.

    Parameters
    ----------
    reference : array-like of shape (n_samples, n_components)
        Finite, not all rows equal; its mean is subtracted.
    masses : array-like of shape (n_samples,) or None, default=None
        Positive; None for 1.

    Attributes
    ----------
    factor : float
        a; 1 before the first estimate.

    References
    ----------
    .. [1] Kury, Kobak & Damrich, "DREAMS: preserving both local and global structure in dimensionality reduction",
       arXiv:2508.13747, 2025.
    """

    every = 1
    fixes_place = True

    @entrance("ReferenceDistance")
    def __init__(self, reference: npt.ArrayLike, *, masses: npt.ArrayLike | None = None) -> None:
        given = np.array(reference, dtype=np.float64)
        if given.ndim != 2:
            raise ValueError(message(f"reference of shape {given.shape}", "of shape (n_samples, n_components)"))
        if not np.isfinite(given).all():
            raise ValueError(message("reference", "finite"))
        self._shares = shares_of(masses, len(given))[:, None]
        self.reference_map = given - (self._shares * given).sum(axis=0)
        self._norm = self._length(self.reference_map)
        if not self._norm > _ROUNDING * np.abs(given).max(initial=0.0):
            raise ValueError(message("reference", "a map of different points", fact="all rows are equal"))
        self.factor = 1.0

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.reference_map)

    def refresh(self, Y: npt.NDArray[Any], iteration: int) -> None:
        """Scale the reference to a map."""
        points = np.asarray(Y, dtype=np.float64)
        self.factor = self._length(points - (self._shares * points).sum(axis=0)) / self._norm

    def loss(self, Y: Any) -> float:
        """Return the loss with the factor that was estimated last."""
        return float((self._shares * np.square(self._away(Y))).sum())

    def gradient(self, Y: Any) -> Float64Array:
        """Return the gradient of the loss, in float64."""
        return np.asarray(2.0 * self._shares * self._away(Y))

    def stiffness(self) -> Float64Array:
        """Return the second derivative of the loss at each point."""
        return np.asarray(2.0 * self._shares[:, 0])

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return ``reference_``, the reference at the scale of the map, (n_rows, n_components)."""
        self.refresh(Y, 0)
        reference = self.factor * self.reference_map
        return {"reference_": reference if copies is None else reference[copies]}

    def _away(self, Y: Any) -> Float64Array:
        away: Float64Array = np.asarray(Y, dtype=np.float64) - self.factor * self.reference_map
        return away

    def _length(self, points: Float64Array) -> float:
        return float(np.sqrt((self._shares * np.square(points)).sum()))


class SharedLoss(PairObjective):
    """(1 - share) * a loss + share * a term of the whole map, neither of which is in units of affinities.

    Parameters
    ----------
    base : PairObjective
        The loss, without added terms.
    term : AddedTerm
        Such as `ReferenceDistance`.
    share : float in [0, 1]
        Of the term.

    Attributes
    ----------
    base : PairObjective
        The loss alone, which places new rows.
    pull : ndarray of shape (n_samples,), or None
        How stiff the attractions of the loss are at each point, where it knows it (`KLDivergence`).
    """

    @entrance("SharedLoss")
    def __init__(self, base: PairObjective, term: AddedTerm, share: float) -> None:
        self.share: float = check_parameters(_RULES, {"share": share})["share"]
        if base.added.terms:
            fact = f"it has {type(base.added.terms[0]).__name__}"
            raise ValueError(message(f"base={type(base).__name__}", "a loss without added terms", fact=fact))
        self.base = base
        self.attraction_weight = float(getattr(base, "attraction_weight", 1.0))
        super().__init__(
            [self._part(one) for one in base.attractions],
            [self._part(one) for one in base.repulsions],
            constant=(1.0 - self.share) * base.constant,
            masses=base.masses,
        )
        term.weight = self.share
        self.added.join(term)

    @cached_property
    def pull(self) -> npt.NDArray[np.floating] | None:
        """How stiff the attractions are at each point, as the loss has it, in its share."""
        pull: npt.NDArray[np.floating] | None = getattr(self.base, "pull", None)
        return None if pull is None else np.asarray((1.0 - self.share) * pull, dtype=pull.dtype)

    @property
    def scheduled(self) -> bool:
        """Whether an added term changes from iteration to iteration."""
        return self.added.scheduled

    def at(self, iteration: int, max_iter: int) -> None:
        """Let those terms act that have begun by an iteration, counted from 0, of max_iter."""
        self.added.at(iteration, max_iter)

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss | None:
        """Return that of the loss alone: the term says nothing of a new row."""
        return self.base.row_loss(Y, degree=degree)

    def _part(self, term: Any) -> Any:
        part = copy(term)
        part.scale = (1.0 - self.share) * term.scale
        return part
