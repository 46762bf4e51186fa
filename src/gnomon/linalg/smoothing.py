"""Solutions of (I + weight * M) Y = V for a sparse M with eigenvalues that are not negative, such as a Laplacian."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.linalg

from gnomon._entrance import entrance
from gnomon._validation import Options, Real, Rule, check_parameters, message

__all__ = ["Smoothing"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {"weight": Real(0.0), "solver": Options("auto", "factor", "chebyshev")}
_LARGEST_FACTOR = 1000  # rows; factors of graphs in many dimensions fill up beyond
_MOST_STEPS = 60
_ERROR = 1e-14


class Smoothing:
    """The map V -> (I + weight * M)^-1 V.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_samples, n_samples)
        Symmetric, eigenvalues not negative.
    weight : float >= 0
    solver : {"auto", "factor", "chebyshev"}, default="auto"
        "factor": sparse LU decomposition, done once. "chebyshev": products with the matrix, as many as its largest row
        sum asks for; they are fixed beforehand, so each column of the result depends on the same column of V alone.
        "auto": the first up to 1000 rows or where more than 60 products are needed.

    Attributes
    ----------
    solver : {"factor", "chebyshev"}
    """

    @entrance("Smoothing")
    def __init__(self, matrix: Any, weight: float, *, solver: str = "auto") -> None:
        given = check_parameters(_RULES, {"weight": weight, "solver": solver})
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(message(f"matrix of shape {matrix.shape}", "square"))
        self._matrix = sp.csr_array(matrix, dtype=np.float64)
        self.weight: float = given["weight"]
        bound = float(abs(self._matrix).sum(axis=1).max()) if self._matrix.nnz else 0.0
        self._largest = 1.0 + self.weight * bound  # eigenvalue of the sum, by Gershgorin's theorem; the least is 1
        root = math.sqrt(self._largest)
        rate = (root - 1.0) / (root + 1.0)
        self._n_steps = 0 if rate == 0.0 else math.ceil(math.log(_ERROR / 2.0) / math.log(rate))
        self.solver: str = given["solver"]
        if self.solver == "auto":
            small = self._matrix.shape[0] <= _LARGEST_FACTOR
            self.solver = "factor" if small or self._n_steps > _MOST_STEPS else "chebyshev"
        self._factor: Any = None
        if self.solver == "factor":
            system = sp.identity(self._matrix.shape[0], format="csc") + self.weight * self._matrix.tocsc()
            self._factor = scipy.sparse.linalg.splu(sp.csc_matrix(system))

    def solve(self, V: npt.ArrayLike) -> Float64Array:
        """Return (I + weight * M)^-1 V for V of shape (n_samples, n_columns)."""
        right = np.asarray(V, dtype=np.float64)
        if self._factor is not None:
            solved: Float64Array = np.ascontiguousarray(self._factor.solve(right))
            return solved
        return self._chebyshev(right)

    def _chebyshev(self, V: Float64Array) -> Float64Array:
        """Iterate by Chebyshev's polynomials on [1, largest] (Saad, Iterative Methods, algorithm 12.1)."""
        if self._n_steps == 0:
            return V.copy()
        centre, radius = (self._largest + 1.0) / 2.0, (self._largest - 1.0) / 2.0
        sigma = centre / radius
        rho = 1.0 / sigma
        residual = V.copy()
        change: Float64Array = residual / centre
        solution: Float64Array = change.copy()
        for _ in range(self._n_steps - 1):
            residual -= change
            residual -= self.weight * (self._matrix @ change)
            following = 1.0 / (2.0 * sigma - rho)
            change = following * rho * change + (2.0 * following / radius) * residual
            rho = following
            solution += change
        return solution
