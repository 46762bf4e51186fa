"""Why one point lies where it lies: its most important features, with their arrows and the fit's fidelity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.explain.table import format_number, format_table

__all__ = ["LOW_FIDELITY", "Why"]

LOW_FIDELITY = 0.3
"""Below this predicted R2 an explanation says of itself that it should be read with care."""


@dataclass(frozen=True)
class Why:
    """The features that move one point most.

    Attributes
    ----------
    index : int
        Row number of the point.
    features : list of str
        Names, most important first.
    indices : ndarray of shape (n_top,), int32
        Their column numbers.
    values : ndarray of shape (n_top,), float64
        Their values at the point.
    arrows : ndarray of shape (n_top, n_components), float32
        Displacement in the map per one local standard deviation of the feature.
    importance : ndarray of shape (n_top,), float32
        Length of the arrow, in units of the map.
    fidelity : float in [0, 1], or NaN
        Share of the neighbours' displacements that the fit to the others predicts; NaN where nothing can be said.
    r2 : float at most 1, or NaN
        Share that the fit itself accounts for.
    """

    index: int
    features: list[str]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    arrows: npt.NDArray[np.float32]
    importance: npt.NDArray[np.float32]
    fidelity: float
    r2: float

    @property
    def defined(self) -> bool:
        """Whether anything can be said about the point."""
        return bool(np.isfinite(self.fidelity))

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values."""
        return {
            "index": self.index,
            "fidelity": self.fidelity,
            "r2": self.r2,
            "features": [
                {"feature": name, "value": value, "importance": length, "arrow": arrow}
                for name, value, length, arrow in zip(
                    self.features,
                    self.values.tolist(),
                    self.importance.tolist(),
                    self.arrows.tolist(),
                    strict=True,
                )
            ],
        }

    def __str__(self) -> str:
        if not self.defined:
            return f"point {self.index}: nothing can be said (no place, or fewer than two distinct neighbours)"
        head = f"point {self.index}: fidelity {self.fidelity:.2f} (fit R2 {self.r2:.2f})"
        if self.fidelity < LOW_FIDELITY:
            head += ", the map is hardly linear here: read the arrows with care"
        rows = [
            [name, format_number(value), format_number(length), "(" + ", ".join(map(format_number, arrow)) + ")"]
            for name, value, length, arrow in zip(
                self.features,
                self.values.tolist(),
                self.importance.tolist(),
                self.arrows.tolist(),
                strict=True,
            )
        ]
        return head + "\n" + format_table(["feature", "value", "importance", "arrow"], rows)
