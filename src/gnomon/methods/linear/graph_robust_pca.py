"""Robust principal component analysis on a graph: neighbours also have close rows of low rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import sparse_product
from gnomon._costs import Cost
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Real, Rule, message, warn
from gnomon.affinities import neighbor_laplacian
from gnomon.data import find_duplicate_rows
from gnomon.exceptions import DataWarning
from gnomon.linalg.proximal import LARGEST_FACTOR
from gnomon.methods.forecast import Forecast
from gnomon.methods.given_neighbors import GraphEmbedder
from gnomon.methods.linear.decomposition import DECOMPOSED, RULES, Decomposition, decompose, prepare
from gnomon.methods.linear.robust_pca import PublishesParts
from gnomon.methods.parameters import check_n_components
from gnomon.objectives import LowRankSparse

__all__ = ["GraphRobustPCA"]

_SMOOTHNESS = 0.1  # of the sparsity, where smoothness is None


@dataclass(eq=False, repr=False)
class GraphRobustPCA(PublishesParts, GraphEmbedder):
    """Robust PCA whose low-rank part changes little between neighbours.

    The loss is that of `RobustPCA` plus `smoothness` times tr(L' Phi L), half the sum over edges of the squared
    distances of rows of L, with Phi the Laplacian of the graph of nearest neighbours over its mean degree. That helps
    where rows are many and noisy and lie in clusters or along a curve; large errors also blur the neighbours, so no row
    should have many. With smoothness=0 it is `RobustPCA`, and where that leaves next to nothing so does this, with the
    same warning (``variance_kept_``).

    Equal rows may have different neighbours; they share the mean of their rows of L, and so one position. The parts of
    neighbours depend on each other, so that there is no formula for new rows: `transform` blends the map's own points.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map, at most min(n_samples, n_features).
    n_neighbors : int >= 1, default=10
        Neighbours of each row, the row itself not counted.
    smoothness : float >= 0 or None, default=None
        Price of squared distances (gamma), in units of one over X; None takes 0.1 ``sparsity_`` over the mean of
        ``|X - center_|``, so that a multiple of X has that multiple of the parts. The value used is ``smoothness_``.
    sparsity, penalty, tol, max_iter, center : as in `RobustPCA`
        Price of the sparse part, the iteration and its end, and what is taken off the columns first.
    metric, metric_params, precomputed_knn : as in `UMAP`
        They choose the neighbours; not "precomputed", because the rows are needed.
    random_state, n_jobs : as in `RobustPCA`
        The seed used is ``seed_``.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the iteration early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        Scores of the rows of L, in the units of the features.
    smoothness_ : float
    graph_ : NeighborGraph
        Neighbours of the rows.
    components_, mean_, explained_variance_, explained_variance_ratio_, low_rank_, sparse_, rank_, center_, sparsity_
        As in `RobustPCA`.
    variance_kept_, loss_, convergence_, solution_, n_iter_, seed_, timings_
        Likewise.

    References
    ----------
    .. [1] Shahid, Kalofolias, Bresson, Bronstein & Vandergheynst, "Robust principal component analysis on graphs",
       ICCV 2015.
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int = 10
    smoothness: float | None = None
    sparsity: float | None = None
    penalty: str = "increasing"
    tol: float = 1e-4
    max_iter: int = 1000
    center: str | None = "median"

    _merges_equal_rows: ClassVar[bool] = False
    _memory: ClassVar[Mapping[str, Cost]] = {
        **DECOMPOSED,
        "decomposition": Cost(fixed=2e5, entry=175.0),
    }
    _writes_out: ClassVar[bool] = True
    _rules: ClassVar[dict[str, Rule]] = {
        **RULES,
        "n_neighbors": Integer(1),
        "smoothness": Either(Real(0.0), Nothing()),
    }

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        found = super()._forecast(n_samples, n_features, parameters)
        factor = 8.0 * n_samples**2 if n_samples <= LARGEST_FACTOR else 0.0
        return found if found is None else found.beside(factor, "a factor")

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        reporter = current_run().reporter
        if parameters["metric"] == "precomputed":
            raise ValueError(message("metric='precomputed'", "a metric of rows", fact="the rows are taken apart"))
        check_n_components(parameters["n_components"], min(X.shape))
        self.graph_ = self._find_neighbors(X, parameters["n_neighbors"], parameters)
        reporter.begin("preparation")
        prepared = prepare(X, parameters["center"])
        self.sparsity_ = parameters["sparsity"]
        if self.sparsity_ is None:
            self.sparsity_ = 1.0 / float(np.sqrt(max(X.shape)))
        problem = None
        self.smoothness_ = 0.0 if parameters["smoothness"] is None else parameters["smoothness"]
        if prepared.size > 0.0:
            smoothness = self.smoothness_ * prepared.size  # of the table divided by its size
            if parameters["smoothness"] is None:
                smoothness = _SMOOTHNESS * self.sparsity_ / float(np.abs(prepared.values).mean())
                self.smoothness_ = smoothness / prepared.size
            problem = LowRankSparse(
                prepared.values,
                self.sparsity_,
                laplacian=neighbor_laplacian(self.graph_),
                smoothness=smoothness,
                seed=self.seed_,
            )
        found = decompose(prepared, problem, parameters)
        if problem is not None:
            found = _joined(found, X)
        reporter.begin("components")
        self._publish(found, parameters["n_components"], self.seed_)
        return self._model.transform(self.low_rank_)


def _joined(found: Decomposition, X: Any) -> Decomposition:
    """Give equal rows the mean of their rows of L, with a warning if there are any; the sum of the parts stays."""
    first, copies = find_duplicate_rows(X)
    n = len(copies)
    if len(first) == n:
        return found
    warn(f"{n:,} rows hold {len(first):,} distinct rows; equal rows share one position.", DataWarning)
    shares = 1.0 / np.bincount(copies)[copies]
    mean = sparse_product(scipy.sparse.csr_array((shares, (copies, np.arange(n)))), found.low_rank)
    low_rank = mean[copies]
    return replace(found, low_rank=low_rank, sparse=found.sparse + (found.low_rank - low_rank))
