"""A sum over the edges of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._arithmetic import sparse_product
from gnomon._cached import cached_property
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.kernels import Cauchy
from gnomon.kernels.laws import curvature_of_law, evaluate_law
from gnomon.linalg import check_symmetric
from gnomon.objectives.base import Embedding
from gnomon.objectives.expansion import TermExpansion
from gnomon.objectives.pairs import Edges, compile_kernel, pair_force
from gnomon.objectives.terms.base import Float64, check_law, curved, named

if TYPE_CHECKING:
    from gnomon.kernels import CustomLaw, OutputKernel
    from gnomon.objectives.terms.base import Draws

__all__ = ["EdgePairs", "are_ordered", "edge_force"]

_ORDERED_AT = (25, 100)  # forces before which edges are put in the order of the map: roughly, and once it has its shape
_SCATTERED = 1 << 21  # points from which on caches hold too few of them; up to there, the order is worth no memory


class EdgePairs:
    """scale * sum over edges of a_ij F(k_ij): attraction along a graph, or any correction that is sparse.

    Parameters
    ----------
    matrix : csr_array of shape (n_samples, n_samples)
        Weights a_ij of either sign, the same in both directions; the diagonal adds nothing. Pass (A + A.T) / 2 of a
        matrix A of directed edges, such as those to nearest neighbours.
    kernel : OutputKernel
        k.
    law : {"value", "log", "log_deficit", "square"} or CustomLaw, default="log"
        F.
    scale : float, default=1.0
        May be changed between evaluations.
    normalized : float >= 0, default=0.0
        What the weights add up to where the scale divides by their sum; 0 where it does not.
    fixed_total : bool, default=True
        Whether that sum stays the same when affinities change with the data.
    symmetric : bool, default=False
        Whether the matrix is known to be symmetric, and is not looked at.
    """

    @part("EdgePairs")
    def __init__(
        self,
        matrix: Any,
        kernel: OutputKernel,
        law: str | CustomLaw = "log",
        *,
        scale: float = 1.0,
        normalized: float = 0.0,
        fixed_total: bool = True,
        symmetric: bool = False,
    ) -> None:
        self.law = check_law(law, kernel)
        self.matrix = scipy.sparse.csr_array(matrix)
        self.edges = Edges.from_matrix(self.matrix)
        if not symmetric:
            check_symmetric(self.matrix, "affinities")
        self.kernel = kernel
        self.scale = scale
        self.normalized = normalized
        self.fixed_total = fixed_total
        self.compiled_kernel = compile_kernel(kernel) if isinstance(law, str) else None
        self._n_forces = 0
        self._ordered: _core.OrderedGraph | None = None

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.edges.n_samples

    def strength(self, degree: float | None = None) -> float:
        """Return scale times the sum of all weights, or times that of as many rows of one degree."""
        if self.normalized:
            return self.normalized
        if degree is not None:
            return self.scale * degree * self.n_samples
        return self.scale * float(self.edges.values.sum(dtype=np.float64))

    @property
    def largest_pair(self) -> float:
        """Largest magnitude of scale * a_ij."""
        return abs(self.scale) * float(np.abs(self.edges.values).max())

    def force(self, Y: Embedding, base: Embedding | None = None) -> Embedding:
        """Return the force on each point, added to `base` where that is given."""
        if self.compiled_kernel is None:
            force = self.reference(Y.astype(np.float64))[1]
            return np.asarray(force if base is None else base + force, dtype=Y.dtype)
        self._n_forces += 1
        if self._n_forces in _ORDERED_AT and self._is_ordered(Y):
            self._ordered = None  # before the next one takes memory
            self._ordered = _core.OrderedGraph(self.edges.graph, Y, current_run().n_threads)
        if self._ordered is None:
            return edge_force(self.edges.graph, Y, self.compiled_kernel, named(self.law), self.scale, base)
        return self._ordered.cauchy_sums(Y, -4.0 * self.scale, _base(base, Y), 1.0, current_run().n_threads)

    def _is_ordered(self, Y: Embedding) -> bool:
        """Whether edges are taken in the order of the map."""
        of_tsne = isinstance(self.kernel, Cauchy) and self.law == "log" and Y.shape[1] == 2
        if not of_tsne or not are_ordered(self.n_samples):
            return False
        return int(np.diff(self.matrix.indptr).max()) <= _core.OrderedGraph.most_edges

    def energy(self, Y: Embedding) -> float:
        """Return the energy."""
        if self.compiled_kernel is None:
            return self.reference(Y.astype(np.float64))[0]
        return self.scale * _core.edge_energy(
            self.edges.graph, Y, self.compiled_kernel, named(self.law), current_run().n_threads
        )

    def energy_and_force(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both."""
        return self.energy(Y), self.force(Y)

    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return the force: every edge with its weight, the mean of edges drawn as often as they weigh."""
        return self.force(Y)

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64, edge by edge."""
        edges = self.matrix.tocoo()
        off = edges.row != edges.col
        rows, columns, weights = edges.row[off], edges.col[off], edges.data[off].astype(np.float64)
        values, slopes = evaluate_law(self.law, self.kernel, np.square(Y[rows] - Y[columns]).sum(axis=1))
        coefficients = scipy.sparse.csr_array((weights * slopes, (rows, columns)), shape=self.matrix.shape)
        return self.scale * float(weights @ values), -4.0 * self.scale * pair_force(coefficients, Y)

    def expand(self, Y: Float64) -> TermExpansion:
        """Return the term to second order at a map, in float64."""
        matrix = self.matrix
        if not (matrix.data.dtype == np.float64 and _is_symmetric(matrix)):
            rule = "symmetric and in float64"
            raise ValueError(message("affinities", rule, remedy="Join both directions."))
        s = np.square(Y[self._heads] - Y[matrix.indices]).sum(axis=1)
        energies, slopes = evaluate_law(self.law, self.kernel, s)
        edges, bends = (
            scipy.sparse.csr_array((self.scale * matrix.data * part, matrix.indices, matrix.indptr), shape=matrix.shape)
            for part in (slopes, curvature_of_law(self.law, curved(self.kernel), s))
        )
        return TermExpansion(
            self.scale * float(matrix.data @ energies),
            4.0 * pair_force(edges, Y),
            lambda rows: (edges[rows].toarray(), bends[rows].toarray()),
        )

    @cached_property
    def _heads(self) -> npt.NDArray[np.intp]:
        return np.repeat(np.arange(self.n_samples), np.diff(self.matrix.indptr))

    def _slopes(self, across: Float64) -> Float64:
        return 4.0 * self.scale * evaluate_law(self.law, self.kernel, np.square(across).sum(axis=-1))[1]

    def share(self, Y: Float64, Z: Float64) -> Float64 | None:
        """Return what each pair's affinity takes from all others through a sum of affinities that moves, (q,)."""
        if not self.normalized or self.fixed_total:
            return None
        return np.asarray(-2.0 * self.scale / self.normalized * np.einsum("id,idq->q", self.expand(Y).gradient, Z))

    def pull(
        self, Y: Float64, Z: Float64, heads: npt.NDArray[np.intp], tails: npt.NDArray[np.intp], share: Float64 | None
    ) -> Float64:
        """Return the derivatives of the products of Z with the gradient by the affinities of pairs."""
        across = Y[heads[:, None]] - Y[tails]
        along = np.einsum("lkd,lkdq->lkq", across, Z[heads[:, None]] - Z[tails])
        found = self._slopes(across)[:, :, None] * along
        return np.asarray(found if share is None else found + share)

    def push(
        self,
        Y: Float64,
        heads: npt.NDArray[np.intp],
        tails: npt.NDArray[np.intp],
        changes: Float64,
        found: Float64,
    ) -> None:
        """Add what changes of the affinities of pairs do to the gradient."""
        across = Y[heads] - Y[tails]
        slopes = self._slopes(across)
        every, ends = np.arange(len(heads)), np.concatenate([heads, tails])
        for a in range(Y.shape[1]):
            values = slopes * across[:, a]
            spread = scipy.sparse.csr_array(
                (np.concatenate([values, -values]), (ends, np.tile(every, 2))), shape=(self.n_samples, len(every))
            )
            found[:, a] += sparse_product(spread, changes)
        if self.normalized and not self.fixed_total:
            total = 2.0 * self.scale / self.normalized * changes.sum(axis=0)
            found -= self.expand(Y).gradient[:, :, None] * total


def are_ordered(n_samples: int) -> bool:
    """Say whether the edges of t-SNE are taken in the order of a map, once it has taken shape.

    Parameters
    ----------
    n_samples : int

    Returns
    -------
    bool
    """
    return n_samples >= _SCATTERED


def edge_force(
    graph: _core.Graph,
    Y: Embedding,
    kernel: _core.OutputKernel,
    law: str,
    scale: float,
    base: Embedding | None = None,
) -> Embedding:
    """Return the force of scale * sum of a_ij F(k_ij) on each point of a graph.

    Parameters
    ----------
    graph : _core.Graph of n_samples points
        a_ij.
    Y : ndarray of shape (n_samples, n_components), float32
        The points.
    kernel : _core.OutputKernel
        k.
    law : str
        F.
    scale : float
        Factor of the sum.
    base : ndarray of shape (n_rows, n_components), float32, or None, default=None
        What the force is added to, for the first n_rows points alone.

    Returns
    -------
    ndarray of shape (n_rows, n_components), float32
        Of all points where there is no base.
    """
    n_rows = None if base is None else len(base)
    return _core.edge_sums(graph, Y, kernel, law, -4.0 * scale, _base(base, Y), 1.0, current_run().n_threads, n_rows)


def _base(base: Embedding | None, Y: Embedding) -> Embedding:
    return np.empty((0, Y.shape[1]), dtype=np.float32) if base is None else base


def _is_symmetric(matrix: Any) -> bool:
    difference = abs(matrix - matrix.T)
    return not difference.nnz or float(difference.max()) <= 1e-9 * float(abs(matrix).max())
