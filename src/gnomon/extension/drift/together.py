"""New rows and those of a map as one table, which knows nothing of which row is new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._cached import cached_property
from gnomon.linalg import principal_components
from gnomon.linalg.table import evenly_spaced

__all__ = ["MOST_NEW", "MOST_OLD", "BothTables"]

MOST_OLD, MOST_NEW = 8000, 4000
"""Old and new rows that are looked at together."""
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BothTables:
    """Old and new rows together, evenly spaced ones of many.

    What a map, or its components, learned from the old rows takes these and new rows of the same distribution
    differently: new ones lie nearer to the middle. What is made of both tables alike does not.

    Attributes
    ----------
    X, X_new : ndarray or CSR of shape (n_rows, n_columns)
    n_components : int >= 0
        Principal components of both tables that rows are compared in, at most as many as the smaller side has; 0 for
        the columns themselves.
    """

    X: Any
    X_new: Any
    n_components: int = 0

    @cached_property
    def old(self) -> Rows:
        """Numbers of the old rows that are looked at."""
        return evenly_spaced(int(self.X.shape[0]), MOST_OLD)

    @cached_property
    def new(self) -> Rows:
        """Numbers of the new rows that are looked at."""
        return evenly_spaced(int(self.X_new.shape[0]), MOST_NEW)

    @cached_property
    def points(self) -> Any:
        """Coordinates of the old rows that are looked at, and then of the new ones."""
        parts = [self.X[self.old], self.X_new[self.new]]
        both = scipy.sparse.vstack(parts, format="csr") if scipy.sparse.issparse(self.X) else np.concatenate(parts)
        if not self.n_components:
            return both
        found = principal_components(both, min(self.n_components, *both.shape), seed=0)
        return found.transform(both)
