"""How well a map keeps the density around each point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._arithmetic import exp, inner, log
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.linalg import kernel_graph
from gnomon.objectives.added import AddedTerm
from gnomon.objectives.base import Embedding
from gnomon.objectives.pairs import check_embedding, compile_kernel, pair_force

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.neighbors import NeighborGraph

__all__ = ["DensityCorrelation", "log_radii"]

Float64Array = npt.NDArray[np.float64]

_SMALLEST = 1e-8  # added to a mean squared distance before its logarithm, as in the paper's program; in the data
# as a share of the mean over all edges, so that radii do not depend on the units of the features


def log_radii(weights: scipy.sparse.csr_array, squared_distances: npt.ArrayLike) -> Float64Array:
    """Return log(1e-8 m + sum_j w_ij d_ij^2 / sum_j w_ij) for each point, NaN for points without weights.

    m is the mean of d_ij^2 over all edges, 1 if all are 0: in other units all logarithms move by one number.

    Parameters
    ----------
    weights : csr_array of shape (n_samples, n_samples)
        w, not negative.
    squared_distances : array-like of shape (n_edges,)
        d_ij^2 of the stored entries, in their order.
    """
    n = weights.shape[0]
    rows = np.repeat(np.arange(n), np.diff(weights.indptr))
    values = np.asarray(weights.data, dtype=np.float64)
    sums = np.bincount(rows, weights=values, minlength=n)
    squared = np.asarray(squared_distances, dtype=np.float64)
    moments = np.bincount(rows, weights=values * squared, minlength=n)
    usual = float(squared.mean()) if squared.any() else 1.0
    return np.asarray(log(_SMALLEST * usual + np.divide(moments, sums, out=np.full(n, np.nan), where=sums > 0)))


class DensityCorrelation(AddedTerm):
    """Minus the correlation of log radii in the map with those in the data: the term that makes UMAP densMAP.

    The radius of a point is the root of the mean squared distance to its neighbours, weighted by memberships in the
    data and by similarities in the map, on the same edges. With original log radii R_i, map log radii r_i, and R
    standardised,

        loss = -cov(R, r) / sqrt(var(r) + variance_shift).

    As an added term, weight * sum_ij mu_ij * loss joins the cross-entropy summed over ordered pairs (`AddedTerm`):
    the loss that densMAP's weight refers to, and on average the step that umap-learn takes with the same number.
    Points without edges have no radius and are left out.

    Where the term begins, its forces are far larger than those of the edges: at full weight at once they tear
    neighbours apart. So its weight rises linearly over the first half of its iterations. And it is descended with the
    forces of all pairs: sampled ones are those of no loss and come to rest elsewhere, with worse radii.

    Parameters
    ----------
    affinities : Affinities
        Memberships; their edges, stored from both ends, are those of both radii.
    squared_distances : array-like of shape (n_edges,)
        Squared distances of the data along the stored edges.
    kernel : OutputKernel
        Similarity in the map, between 0 and 1.
    weight : float >= 0, default=2.0
        Share in the loss of one edge.
    begins : float in [0, 1], default=0.7
        Share of the iterations after which the term acts.
    variance_shift : float >= 0, default=0.1
        Keeps the slope finite where all radii are alike.

    Attributes
    ----------
    radii : ndarray of shape (n_samples,)
        R, before standardisation; NaN without edges.
    rises : float, 0.5
        Share of the iterations in which the term acts, the first ones, that its weight rises in (see `AddedTerm`).
    cost : float, 10.0
        What an epoch takes with all pairs, relative to a sampled one.
    unsampled : bool, True
        Where the term acts, `SampledDescent` takes the forces of all pairs, by the tree (see `AddedTerm`).

    References
    ----------
    .. [1] Narayan, Berger & Cho, "Assessing single-cell transcriptomic variability through density-preserving data
       visualization", Nature Biotechnology 39, 2021.
    """

    rules: ClassVar[dict[str, Rule]] = {**AddedTerm.rules, "variance_shift": Real(low=0.0)}
    evaluation = "exact"
    dtype = np.float32
    rises = 0.5
    unsampled = True
    cost = 10.0

    @entrance("DensityCorrelation")
    def __init__(
        self,
        affinities: Affinities,
        squared_distances: npt.ArrayLike,
        kernel: OutputKernel,
        *,
        weight: float = 2.0,
        begins: float = 0.7,
        variance_shift: float = 0.1,
    ) -> None:
        given = {"weight": weight, "begins": begins, "variance_shift": variance_shift}
        checked = check_parameters(self.rules, given)
        self.weight: float = checked["weight"]
        self.begins: float = checked["begins"]
        self.variance_shift: float = checked["variance_shift"]
        if not kernel.bounded:
            raise ValueError(message(f"kernel={kernel}", "a similarity between 0 and 1"))
        self.kernel = kernel
        self._compiled = compile_kernel(kernel)
        matrix = _with_distances(affinities, squared_distances)
        self.radii = log_radii(scipy.sparse.csr_array(affinities.matrix), squared_distances)
        self._offsets, self._columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        self._edges = _core.Graph(self._offsets, self._columns, np.ones(matrix.nnz, dtype=np.float32))
        known = ~np.isnan(self.radii)
        centred = np.where(known, self.radii - self.radii[known].mean(), 0.0) if known.any() else np.zeros(len(known))
        spread = np.sqrt(np.square(centred).sum() / max(known.sum(), 1))
        self._standard = np.ascontiguousarray(centred / (spread if spread > 0 else 1.0))

    @classmethod
    @entrance("DensityCorrelation")
    def from_neighbors(
        cls,
        affinities: Affinities,
        graph: NeighborGraph,
        kernel: OutputKernel,
        *,
        weight: float = 2.0,
        begins: float = 0.7,
        variance_shift: float = 0.1,
    ) -> Self:
        """Return the term of affinities whose edges are neighbours in a graph, with the distances found there.

        Parameters
        ----------
        affinities, kernel, weight, begins, variance_shift
            As above.
        graph : NeighborGraph of n_samples rows
            Every edge (i, j) of the affinities has j among the neighbours of i or i among those of j.
        """
        matrix = scipy.sparse.csr_array(affinities.matrix)
        distances = _core.edge_distances(
            kernel_graph(matrix),
            np.ascontiguousarray(graph.indices, dtype=np.int32),
            np.ascontiguousarray(graph.distances, dtype=np.float32),
            current_run().n_threads,
        )
        if np.isnan(distances).any():
            rule = "affinities between neighbours in the graph"
            raise ValueError(message("affinities", rule))
        squared = np.square(distances.astype(np.float64))
        return cls(affinities, squared, kernel, weight=weight, begins=begins, variance_shift=variance_shift)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.radii)

    @entrance("DensityCorrelation")
    def map_radii(self, Y: npt.ArrayLike) -> Float64Array:
        """Return the log radii of a map of shape (n_samples, n_components), NaN for points without edges."""
        if self._compiled is None:
            return self._moments(np.asarray(Y, dtype=np.float64))[0]
        points = check_embedding(Y, self.n_samples)
        return _core.map_radii(self._edges, self._compiled, points, current_run().n_threads)

    def loss(self, Y: npt.ArrayLike) -> float:
        """Return minus the correlation."""
        return self._evaluate(Y, with_gradient=False)[0]

    def gradient(self, Y: npt.ArrayLike) -> Embedding:
        """Return the gradient of minus the correlation."""
        return self._evaluate(Y, with_gradient=True)[1]

    def _evaluate(self, Y: npt.ArrayLike, *, with_gradient: bool) -> tuple[float, Embedding]:
        points = check_embedding(Y, self.n_samples)
        if self._compiled is None:
            loss, slope = self.reference(points)
            return loss, slope.astype(np.float32)
        correlation, gradient = _core.density_correlation(
            self._edges,
            self._compiled,
            self._standard,
            self.variance_shift,
            points,
            with_gradient,
            current_run().n_threads,
        )
        return -correlation, np.negative(gradient)

    def reference(self, Y: npt.ArrayLike) -> tuple[float, Float64Array]:
        """Return loss and gradient in float64, edge by edge: the oracle of the compiled sums.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Taken as float64.
        """
        points, n = np.asarray(Y, dtype=np.float64), self.n_samples
        r, moments, sums, s, k, slope = self._moments(points)
        known = ~np.isnan(r)
        away = np.where(known, r - r[known].mean(), 0.0)
        deviation = np.sqrt(np.square(away).sum() / known.sum() + self.variance_shift)
        if not deviation > 0:
            return 0.0, np.zeros_like(points)
        covariance = inner(self._standard, away) / known.sum()
        by_radius = (self._standard / deviation - covariance * away / (deviation * deviation * deviation)) / known.sum()
        i, j = self._ends
        by_distance = ((k + s * slope) / sums[i] - moments[i] * slope / sums[i] ** 2) / exp(r)[i]
        directed = scipy.sparse.csr_array((by_radius[i] * by_distance, (i, j)), shape=(n, n))
        return -float(covariance / deviation), -2.0 * pair_force(directed + directed.T, points)

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return ``radii_``, ``map_radii_`` and ``density_correlation_``, their correlation over all rows."""
        radii, map_radii = self.radii, self.map_radii(Y)
        if copies is not None:
            radii, map_radii = radii[copies], map_radii[copies]
        return {
            "radii_": radii,
            "map_radii_": map_radii,
            "density_correlation_": _correlation(radii, map_radii),
        }

    @property
    def _ends(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]:
        """Both ends of the stored edges."""
        return np.repeat(np.arange(self.n_samples), np.diff(self._offsets)), self._columns

    def _moments(self, Y: Float64Array) -> tuple[Float64Array, ...]:
        """Return log radii, sums of k s and of k over each row's edges, and s, k and dk/ds of the edges."""
        (i, j), n = self._ends, self.n_samples
        s = np.square(Y[i] - Y[j]).sum(axis=1)
        k, slope = self.kernel.value(s), self.kernel.derivative(s)
        moments = np.bincount(i, weights=k * s, minlength=n).astype(np.float64)
        sums = np.bincount(i, weights=k, minlength=n).astype(np.float64)
        edges = np.diff(self._offsets) > 0
        means = np.divide(moments, sums, out=np.where(edges, 0.0, np.nan), where=sums > 0)
        return np.asarray(log(_SMALLEST + means)), moments, sums, s, k, slope


def _with_distances(affinities: Affinities, squared_distances: npt.ArrayLike) -> scipy.sparse.csr_array:
    """Return the edges of positive weight, stored from both ends, or raise ValueError."""
    matrix = scipy.sparse.csr_array(affinities.matrix)
    squared = np.asarray(squared_distances, dtype=np.float64)
    if squared.shape != matrix.data.shape or not np.all(np.isfinite(squared) & (squared >= 0)):
        rule = f"a finite number >= 0 for each of the {matrix.nnz} edges"
        raise ValueError(message(f"squared_distances of shape {squared.shape}", rule))
    edges = scipy.sparse.csr_array((matrix.data > 0, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    edges.eliminate_zeros()
    edges.sort_indices()
    back = scipy.sparse.csr_array(edges.T)
    back.sort_indices()
    if not (np.array_equal(edges.indptr, back.indptr) and np.array_equal(edges.indices, back.indices)):
        raise ValueError(message("affinities", "symmetric, each edge stored from both ends"))
    return edges


def _correlation(first: Float64Array, second: Float64Array) -> float:
    """Return Pearson's correlation over rows with both numbers; nan where one does not vary."""
    known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        return float("nan")
    a, b = first[known] - first[known].mean(), second[known] - second[known].mean()
    size = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
    return float((a * b).sum()) / size if size > 0 else float("nan")
