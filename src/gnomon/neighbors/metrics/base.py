"""What every metric that is searched here has to say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.neighbors.euclidean import Distances
from gnomon.neighbors.searched import SearchedRows

__all__ = ["NativeMetric"]


class NativeMetric(ABC):
    """A metric: how rows are prepared, what searches them, and which distances come out.

    Attributes
    ----------
    name : str
        The name that a `NeighborGraph` carries; with its arguments in brackets, where it has some, so that the name
        alone says what the distances are.
    needs_direction : bool
        Whether a row of zeros is equally far from all others, however near they are to each other.
    """

    name: str
    needs_direction: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """Make the metric with the arguments a user gave it."""
        if params:
            raise ValueError(message(f"metric_params={dict(params)!r}", f"empty for metric={cls.name!r}"))
        return cls()

    @abstractmethod
    def rows(self, X: Any, *, alone: bool = False) -> Any:
        """Return rows prepared, an array or CSR; each is a function of its row alone.

        Parameters
        ----------
        X : ndarray of float32 or float64, or sparse matrix, of shape (n_rows, n_features)
        alone : bool, default=False
            Whether they are only ever compared with each other, which may save a column.

        Raises
        ------
        ValueError
            If the metric is not defined for some row, or its arguments do not suit the columns.

        Warns
        -----
        DataWarning
            If a stated rule decides for some rows.
        """

    def periods(self, n_features: int) -> npt.NDArray[np.float64] | None:
        """Return the period of each column, inf where it has none; None where no column has one."""
        return None

    @abstractmethod
    def searched(self, rows: Any) -> SearchedRows:
        """Make prepared rows ready to be searched."""

    def distances(self, found: Distances) -> Distances:
        """Turn what a search found into distances."""
        return found

    @abstractmethod
    def between(self, a: Any, b: Any) -> npt.NDArray[np.float64]:
        """Return the distances between all of two tables of prepared rows; each is a function of its two rows alone."""
