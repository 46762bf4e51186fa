"""The affinities that the rooms exchange."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Affinities", "Join"]

Join = Literal["total", "rows", "membership"]
"""How affinities of rows are joined to those of pairs: `NeighborAffinity` says what each means."""


@dataclass(frozen=True)
class Affinities:
    """Non-negative affinities between points, symmetric unless they are each row's own.

    Attributes
    ----------
    matrix : csr_array of shape (n_samples, n_samples), float32
        Non-negative, zero diagonal (not stored), column indices sorted in each row; symmetric but for "rows".
    normalization : {"total", "membership", "rows", "weights"}
        "total": all entries sum to 1 (t-SNE). "membership": each entry is in (0, 1] (UMAP's fuzzy set). "rows": each
        row sums to 1 and is its own distribution (SNE). "weights": edges of a graph, on a scale of their own (Laplacian
        eigenmaps).
    bandwidths : ndarray of shape (n_samples,), float32, or None
        The scale found for each row, in the units of the metric.
    """

    matrix: sp.csr_array
    normalization: Literal["total", "membership", "rows", "weights"]
    bandwidths: npt.NDArray[np.float32] | None = None

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.matrix.shape[0])
