"""A sum over the edges of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from gnomon import _core
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives.base import Embedding
from gnomon.objectives.edges import Edges, compile_kernel
from gnomon.objectives.pair_force import pair_force
from gnomon.objectives.terms.base import Float64, check_law

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["EdgePairs"]


class EdgePairs:
    """scale * sum over edges of a_ij F(k_ij): attraction along a graph, or any correction that is sparse.

    Parameters
    ----------
    matrix : csr_array of shape (n_samples, n_samples)
        Symmetric weights a_ij of either sign; the diagonal adds nothing.
    kernel : OutputKernel
        k.
    law : {"value", "log", "log_deficit", "square"}, default="log"
        F.
    scale : float, default=1.0
        May be changed between evaluations.
    normalized : bool, default=False
        Whether the scale divides by the sum of the weights, and so changes with them.
    n_threads : int, default=1
        Does not change the result.
    who : str
        Opens the error text.
    """

    def __init__(
        self,
        matrix: Any,
        kernel: OutputKernel,
        law: str = "log",
        *,
        scale: float = 1.0,
        normalized: bool = False,
        n_threads: int = 1,
        who: str = "EdgePairs",
    ) -> None:
        self.law = check_law(law, kernel, who=who)
        self.matrix = sp.csr_array(matrix)
        self.edges = Edges.from_matrix(self.matrix, who=who)
        self.kernel = kernel
        self.scale = scale
        self.normalized = normalized
        self.n_threads = n_threads
        self.compiled_kernel = compile_kernel(kernel)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.edges.n_samples

    def pull(self, degree: float | None = None) -> float:
        """Return scale times the sum of all weights, or times that of as many rows of one degree."""
        if self.normalized:
            return 1.0
        if degree is not None:
            return self.scale * degree * self.n_samples
        return self.scale * float(self.edges.values.sum(dtype=np.float64))

    def force(self, Y: Embedding, base: Embedding | None = None) -> Embedding:
        """Return the force on each point, added to `base` where that is given."""
        if self.compiled_kernel is None:
            force = self.reference(Y.astype(np.float64))[1]
            return np.asarray(force if base is None else base + force, dtype=Y.dtype)
        nothing = np.empty((0, Y.shape[1]), dtype=np.float32)
        return _core.edge_sums(
            self.edges.graph,
            Y,
            self.compiled_kernel,
            self.law,
            -4.0 * self.scale,
            nothing if base is None else base,
            1.0,
            self.n_threads,
        )

    def energy(self, Y: Embedding) -> float:
        """Return the energy."""
        if self.compiled_kernel is None:
            return self.reference(Y.astype(np.float64))[0]
        return self.scale * _core.edge_energy(self.edges.graph, Y, self.compiled_kernel, self.law, self.n_threads)

    def energy_and_force(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both."""
        return self.energy(Y), self.force(Y)

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64, edge by edge."""
        edges = self.matrix.tocoo()
        off = edges.row != edges.col
        rows, columns, weights = edges.row[off], edges.col[off], edges.data[off].astype(np.float64)
        values, slopes = evaluate_law(self.law, self.kernel, np.square(Y[rows] - Y[columns]).sum(axis=1))
        coefficients = sp.csr_array((weights * slopes, (rows, columns)), shape=self.matrix.shape)
        return self.scale * float(weights @ values), -4.0 * self.scale * pair_force(coefficients, Y)
