"""The exact sensitivity of a map to its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.extension.sensitivity.stationary import Stationarity
from gnomon.objectives.terms.base import Float64

__all__ = ["Sensitivity"]


@dataclass(frozen=True)
class Sensitivity:
    """What would have become of points had their rows been a little different: dY/dX, exactly.

    Displacements are those of least norm: shifts and turns of the whole map, which no loss of distances decides, are
    left out. PCA is an explicit function, and its displacements are its own.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        The rows asked for.
    own : ndarray of shape (m, n_components, n_features), float64
        Displacement of a row's own point per unit of each of its features, all points in balance again.
    fixed : ndarray of shape (m, n_components, n_features), float64
        The same with all other points held where they are, as when a new row is placed in a finished map.
    X : ndarray of shape (n_samples, n_features), float64
        The data, centred.
    embedding : ndarray of shape (n_samples, n_components), float64
        The map that was differentiated: the one given, or where polishing led.
    loss : str
        Which function: "kl", "stress", "principal components" and so on.
    stationarity : Stationarity or None
        How near the map is to a minimum of its loss; None for explicit functions.
    feature_names : list of str
    """

    rows: npt.NDArray[np.int64]
    own: Float64
    fixed: Float64
    X: Float64
    embedding: Float64
    loss: str
    stationarity: Stationarity | None
    feature_names: list[str]
    _respond: Callable[[int], Float64] = field(repr=False, compare=False)

    def others(self, i: int) -> Float64:
        """Return the displacement of every point per unit of each feature of row i.

        Parameters
        ----------
        i : int
            Any row, asked for before or not.

        Returns
        -------
        ndarray of shape (n_samples, n_components, n_features)
            That of point i itself is its `own`.
        """
        n = len(self.embedding)
        if not -n <= i < n:
            raise IndexError(message("Sensitivity", f"row {i}", f"below n_samples={n}"))
        return self._respond(int(i) % n)

    def rigidity(self) -> Float64:
        """Return, of each row, the norm of `own` over that of `fixed`: below 1 where the others hold the point back."""
        return np.asarray(np.linalg.norm(self.own, axis=(1, 2)) / np.linalg.norm(self.fixed, axis=(1, 2)))

    def summary(self, n_top: int = 5) -> str:
        """Return the features to which each row's point is most sensitive, and the state of the map, in words."""
        lines = []
        for i, own in zip(self.rows, self.own, strict=True):
            lengths = np.linalg.norm(own, axis=0)
            top = np.argsort(-lengths, kind="stable")[:n_top]
            words = ", ".join(f"{self.feature_names[f]} {lengths[f]:.3g}" for f in top if lengths[f] > 0.0)
            lines.append(f"row {i}: {words or 'no feature moves it'}")
        lines.append("Lengths of displacements per unit of the feature, all points in balance again.")
        if self.stationarity is not None:
            lines.append(self.stationarity.summary())
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and lists, as JSON takes them."""
        facts = self.stationarity
        return {
            "rows": self.rows.tolist(),
            "features": list(self.feature_names),
            "own": self.own.tolist(),
            "fixed": self.fixed.tolist(),
            "loss": self.loss,
            "stationarity": None
            if facts is None
            else {
                "gradient": facts.gradient,
                "step": facts.step,
                "curvature": None if np.isnan(facts.curvature) else facts.curvature,
                "damping": facts.damping,
                "moved": facts.moved,
                "is_minimum": facts.is_minimum,
            },
        }
