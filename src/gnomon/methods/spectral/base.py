"""What maps by eigenvectors of a neighbour graph share: one eigenproblem for each component that is mapped apart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message, warn
from gnomon.exceptions import ConvergenceWarning
from gnomon.initialization import lay_out_components
from gnomon.linalg import Eigenpairs
from gnomon.methods.base import PlacesRows
from gnomon.methods.given_neighbors import GraphEmbedder

__all__ = ["ComponentSolver", "GraphEigenmaps", "check_distinct_rows"]

Float64Array = npt.NDArray[np.float64]


class ComponentSolver(ABC):
    """The coordinates of one connected component; remembers in ``found`` the eigenpairs of each that was asked for."""

    def __init__(self) -> None:
        self.found: list[Eigenpairs] = []

    @abstractmethod
    def __call__(self, matrix: scipy.sparse.csr_array) -> Float64Array:
        """Return the coordinates of the component with this matrix; add its eigenpairs to ``found``."""

    @property
    def name(self) -> str:
        """The solvers used."""
        return ", ".join(sorted({one.solver for one in self.found})) or "random"

    @property
    def converged(self) -> bool:
        """Whether all eigenpairs have converged."""
        return all(one.converged for one in self.found)


class GraphEigenmaps(PlacesRows, GraphEmbedder):
    """A method whose coordinates are eigenvectors of a matrix of the neighbour graph."""

    def _solve(
        self, X: Any, matrix: scipy.sparse.csr_array, labels: npt.NDArray[np.int32], solver: ComponentSolver
    ) -> tuple[Float64Array, Float64Array]:
        """Return positions and, for each component mapped apart, the centre of its map; X may be None.

        Eigenvalues, residuals and solver become attributes; a warning says if they did not converge.
        """
        n_components = int(self.n_components)
        if labels.max() == 0:
            positions, centres = solver(matrix), np.zeros((1, n_components))
            self.eigenvalues_, self.residuals_ = solver.found[0].values, solver.found[0].residuals
        else:
            laid = lay_out_components(matrix, labels, solver, n_components, X=X, seed=self.seed_)
            positions, centres = laid.embedding, laid.centres
            self.eigenvalues_, self.residuals_ = np.full(centres.shape, np.nan), np.full(centres.shape, np.nan)
            for label, pairs in zip(np.flatnonzero(laid.solved), solver.found, strict=True):
                self.eigenvalues_[label], self.residuals_[label] = pairs.values, pairs.residuals
        self.solver_, self.converged_ = solver.name, solver.converged
        if not self.converged_:
            worst = float(np.nanmax(self.residuals_))
            text = f"eigenvectors did not converge, the largest residual is {worst:.1e}; see residuals_."
            warn(text, ConvergenceWarning)
        return positions, centres


def check_distinct_rows(n_components: int, n_rows: int) -> None:
    """Raise ValueError if the distinct rows have fewer eigenvectors besides the constant one than are wanted."""
    if n_components > n_rows - 1:
        what, fact = f"n_components={n_components}", f"{n_rows:,} distinct rows"
        remedy = "Lower n_components or pass more rows."
        raise ValueError(message(what, f"at most {n_rows - 1}", fact=fact, remedy=remedy))
