"""Springs that hold points of a map near given positions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Rule, check_parameters, message
from gnomon.objectives.added import AddedTerm

__all__ = ["Anchors", "Springs"]

Float64Array = npt.NDArray[np.float64]


class Springs(AddedTerm):
    """Springs from points of a map to positions that may be moved.

    With positions a_i and strengths c_i >= 0, summed over the points that have a position,

        loss = 1 / n sum_i c_i |y_i - a_i|^2.

    As an added term, weight * (sum of all affinities) * loss joins the loss (`AddedTerm`): a spring of weight and
    strength 1 holds as strongly as a mean point is held by its neighbours, at a distance of 1 in the map.

    Parameters
    ----------
    positions : array-like of shape (n_samples, n_components)
        In units of the map; NaN in all of a row for a point without a spring.
    strengths : array-like of shape (n_samples,) or None, default=None
        c, at least 0; None for 1.
    weight : float >= 0, default=1.0
        Share in the loss of one edge.
    """

    rules: ClassVar[dict[str, Rule]] = {"weight": AddedTerm.rules["weight"]}
    fixes_place = True
    _distances = "spring_lengths_"

    @entrance()
    def __init__(
        self, positions: npt.ArrayLike, *, strengths: npt.ArrayLike | None = None, weight: float = 1.0
    ) -> None:
        self.weight: float = check_parameters(self.rules, {"weight": weight})["weight"]
        given = np.array(positions, dtype=np.float64)
        if given.ndim != 2:
            raise ValueError(message(f"positions of shape {given.shape}", "of shape (n_samples, n_components)"))
        self.n_samples = len(given)
        self.rows = np.flatnonzero(~np.isnan(given).all(axis=1))
        self._positions = given[self.rows]
        if not np.isfinite(self._positions).all():
            raise ValueError(message("positions", "finite, or NaN in all of a row for a point without one"))
        c = np.ones(self.n_samples) if strengths is None else np.array(strengths, dtype=np.float64)
        if c.shape != (self.n_samples,) or not (np.isfinite(c).all() and (c >= 0).all()):
            raise ValueError(message("strengths", f"a finite number >= 0 for each of {self.n_samples:,} points"))
        self._strengths = c[self.rows, None] / max(self.n_samples, 1)

    def pull_to(self, positions: Float64Array) -> None:
        """Move the positions of the points that have one, (n_rows, n_components), in the order of `rows`."""
        self._positions = positions

    def loss(self, Y: Any) -> float:
        """Return the loss, without the weight."""
        return float((self._strengths * np.square(self._away(Y))).sum())

    def gradient(self, Y: Any) -> Float64Array:
        """Return the gradient of the loss, in float64."""
        gradient = np.zeros(np.shape(Y))
        gradient[self.rows] = 2.0 * self._strengths * self._away(Y)
        return gradient

    def stiffness(self) -> Float64Array:
        """Return the second derivative of the loss at each point, 0 without a spring."""
        found = np.zeros(self.n_samples)
        found[self.rows] = 2.0 * self._strengths[:, 0]
        return found

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return ``spring_lengths_``, how far each row lies from its position, (n_rows,); NaN for those without one."""
        distances = np.full(self.n_samples, np.nan)
        distances[self.rows] = np.sqrt(np.square(self._away(Y)).sum(axis=1))
        return {self._distances: distances if copies is None else distances[copies]}

    def _away(self, Y: Any) -> Float64Array:
        away: Float64Array = np.asarray(Y)[self.rows].astype(np.float64) - self._positions
        return away


class Anchors(Springs):
    """Given positions that points of a map are held near, or at.

    Parameters
    ----------
    positions : array-like of shape (n_samples, n_components)
        In units of the map; NaN in all of a row for a point that is free.
    weight : float >= 0 or inf, default=1.0
        Share in the loss of one edge (`Springs`). With inf the points lie exactly at their positions, which an
        optimizer restores after each step.

    Attributes
    ----------
    held : bool
        Whether the weight is inf; the term then adds nothing to the loss.
    """

    _distances = "anchor_distances_"

    @entrance()
    def __init__(self, positions: npt.ArrayLike, *, weight: float = 1.0) -> None:
        self.held = bool(weight == np.inf)
        super().__init__(positions, weight=0.0 if self.held else weight)

    def hold(self, Y: npt.NDArray[Any]) -> None:
        """Put the points back, in place, if they are held."""
        if self.held:
            Y[self.rows] = self._positions
