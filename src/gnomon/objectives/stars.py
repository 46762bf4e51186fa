"""Attraction of the points of a map to stars: StarMAP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon._entrance import entrance
from gnomon._validation import Rule, check_parameters, message
from gnomon.objectives.added import AddedTerm, shares_of

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["StarAttraction"]

Float64Array = npt.NDArray[np.float64]


class StarAttraction(AddedTerm):
    """Stars that stay where they are, each of which attracts its points as a neighbour of theirs would.

    With c(i) the star of point i at position t and masses m_i of the points (1 unless given),

        loss = sum_i m_i (-log k(|y_i - t_c(i)|^2)) / sum_i m_i.

    As an added term, weight * (sum of all affinities) * loss joins the loss (`AddedTerm`): with weight 1 the star of a
    mean point attracts it as all its neighbours together do at the same distance.

    Parameters
    ----------
    stars : array-like of shape (n_stars, n_components)
        Their positions, in units of the map.
    of_points : array-like of shape (n_samples,), int
        The star of each point.
    kernel : OutputKernel
        k, a similarity between 0 and 1.
    masses : array-like of shape (n_samples,) or None, default=None
        Positive; None for 1.
    weight : float >= 0, default=1.0
        Share in the loss of one edge.
    """

    rules: ClassVar[dict[str, Rule]] = {"weight": AddedTerm.rules["weight"]}
    fixes_place = True

    @entrance("StarAttraction")
    def __init__(
        self,
        stars: npt.ArrayLike,
        of_points: npt.ArrayLike,
        kernel: OutputKernel,
        *,
        masses: npt.ArrayLike | None = None,
        weight: float = 1.0,
    ) -> None:
        self.weight: float = check_parameters(self.rules, {"weight": weight})["weight"]
        self.stars = np.array(stars, dtype=np.float64)
        self.of_points = np.array(of_points, dtype=np.intp)
        if self.stars.ndim != 2 or not np.isfinite(self.stars).all():
            raise ValueError(message("stars", "finite positions of shape (n_stars, n_components)"))
        numbers = self.of_points
        if numbers.ndim != 1 or not (numbers.size and numbers.min() >= 0 and numbers.max() < len(self.stars)):
            raise ValueError(message("of_points", f"the number of a star, below {len(self.stars)}, for each point"))
        if not kernel.bounded:
            raise ValueError(message(f"kernel={kernel}", "a similarity between 0 and 1"))
        self.kernel = kernel
        self._shares = shares_of(masses, len(numbers))

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.of_points)

    def loss(self, Y: Any) -> float:
        """Return the loss, without the weight."""
        away = self._away(Y)
        return float(-(self._shares * log(self.kernel.value(np.square(away).sum(axis=1)))).sum())

    def gradient(self, Y: Any) -> Float64Array:
        """Return the gradient of the loss, in float64."""
        away = self._away(Y)
        s = np.square(away).sum(axis=1)
        slopes = -self.kernel.derivative(s) / self.kernel.value(s)
        return np.asarray(2.0 * (self._shares * slopes)[:, None] * away)

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return ``stars_``, the positions, and ``star_of_rows_``, the number of each row's star."""
        return {"stars_": self.stars, "star_of_rows_": self.of_points if copies is None else self.of_points[copies]}

    def _away(self, Y: Any) -> Float64Array:
        away: Float64Array = np.asarray(Y, dtype=np.float64) - self.stars[self.of_points]
        return away
