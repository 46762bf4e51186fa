"""What a Gram matrix is computed from."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon.linalg import Eigenpairs

__all__ = ["Float64Array", "Rows", "Source", "centred"]

Float64Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp] | None
"""Row numbers; None for all."""


class Source(Protocol):
    """A symmetric matrix K of order n_samples. H below is the matrix that subtracts the mean."""

    @property
    def n_samples(self) -> int:
        """Order of K."""
        ...

    @property
    def semidefinite(self) -> bool | None:
        """Whether K is known to be positive semidefinite; None where that is not known."""
        ...

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        ...

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        ...

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        ...

    def diagonal(self) -> Float64Array:
        """Return the diagonal of K."""
        ...

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H."""
        ...

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return the largest eigenvalues of H K H with their vectors if there is a short way to them, else None."""
        ...


def centred(Y: Float64Array) -> Float64Array:
    """Return H Y: the columns minus their means."""
    return np.asarray(Y - Y.mean(axis=0), dtype=np.float64)
