"""What stands for a table where neighbours are found and a map is made, while the table itself explains the map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr

__all__ = ["Reduction", "Representation"]

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Representation(ShortRepr):
    """Coordinates of the rows, such as principal components, in which neighbours are found and a map is made.

    Attributes
    ----------
    name : str
        What they are called, such as "X_pca".
    values : ndarray of shape (n_samples, n_coordinates), float32 or float64
        The coordinates of each row.
    center : ndarray of shape (n_features,), float64, or None
        The row of features whose coordinates are 0; None if the coordinates are no known function of the features.
    components : ndarray of shape (n_coordinates, n_features), float64, or None
        Orthonormal directions: the coordinates of a row x of features are ``components @ (x - center)``.
    """

    name: str
    values: npt.NDArray[Any]
    center: Float64Array | None = None
    components: Float64Array | None = None

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self.values.shape[1])

    @property
    def has_formula(self) -> bool:
        """Whether the coordinates are a known function of the features, which new rows and derivatives need."""
        return self.center is not None and self.components is not None

    def __str__(self) -> str:
        return f"{self.name} ({self.n_coordinates} coordinates)"


@dataclass(frozen=True, eq=False)
class Reduction(ShortRepr):
    """Principal components that are to stand for a table, before they are computed.

    Attributes
    ----------
    n_components : int
        How many, at most the rows and the columns that they are made of.
    columns : ndarray of shape (n_features,), bool, or None
        Columns that they are made of, such as the highly variable genes; None for all.
    """

    n_components: int
    columns: npt.NDArray[np.bool_] | None = None
