"""The exact sensitivity of fitted estimators to their data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from gnomon._threads import resolve_n_threads
from gnomon._validation import message
from gnomon.data import check_table
from gnomon.extension.sensitivity import (
    DataAffinities,
    GraphLoss,
    PairLoss,
    Sensitivity,
    StressLoss,
    principal_sensitivity,
)
from gnomon.extension.sensitivity import sensitivity as loss_sensitivity
from gnomon.kernels import Cauchy, Gaussian, StudentT
from gnomon.methods.base import Embedder
from gnomon.methods.distance.classical_mds import ClassicalMDS
from gnomon.methods.distance.mds import MDS
from gnomon.methods.linear.pca import PCA
from gnomon.methods.neighbor.sne import SNE, SymmetricSNE
from gnomon.methods.neighbor.tsne import TSNE
from gnomon.methods.neighbor.umap import UMAP
from gnomon.neighbors import NATIVE_METRICS

__all__ = ["sensitivity"]

_KNOWN = (TSNE, SymmetricSNE, SNE, UMAP, MDS, ClassicalMDS, PCA)


def sensitivity(
    estimator: Embedder,
    X: Any,
    *,
    rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
    polish: bool = False,
    max_iter: int = 500,
    damping: float | None = None,
    solver: str = "auto",
    n_jobs: int | None = None,
) -> Sensitivity:
    """Differentiate the map of a fitted estimator by the data: what if this row had been different?

    The answer is exact at a minimum of the method's loss. UMAP samples its descent and ends at no minimum, neither of
    the loss it prints nor of the one it samples, `CrossEntropy`, which is taken here; t-SNE stops early as well. Then a
    warning says so. ``polish=True`` goes on to the minimum first; the answer is then that of ``embedding`` of the
    result, which is another map.

    Parameters
    ----------
    estimator : fitted TSNE, SymmetricSNE, SNE, UMAP, MDS (kind="metric"), ClassicalMDS or PCA (not whitened)
        With metric="euclidean".
    X : array-like or DataFrame of shape (n_samples, n_features)
        The data it was fitted to, without equal rows for neighbour embeddings.
    rows : sequence of int or None, default=None
        Rows whose points are asked about; None takes all, which costs as many solutions.
    polish : bool, default=False
        Go on from the map to a minimum first; not used for PCA and ClassicalMDS, which are explicit functions.
    max_iter : int >= 0, default=500
        Iterations of L-BFGS in polishing.
    damping : float >= 0 or None, default=None
        Added to the Hessian's diagonal; None adds what negative curvature asks for.
    solver : {"auto", "dense", "iterative"}, default="auto"
        As in `gnomon.extension.sensitivity.sensitivity`.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Sensitivity

    Raises
    ------
    TypeError
        If the estimator has no known loss, or X is sparse.
    ValueError
        If its metric is not Euclidean, or rows were merged in the fit.

    Warns
    -----
    ConvergenceWarning
        If the map is not at a minimum of the loss.
    """
    who = "sensitivity"
    if not isinstance(estimator, _KNOWN):
        names = ", ".join(kind.__name__ for kind in _KNOWN)
        raise TypeError(message(who, f"estimator={type(estimator).__name__}", f"one of {names}"))
    check_is_fitted(estimator)
    table = check_table(X, who=who, accept_sparse=False)
    _check_metric(estimator, who)
    values = np.asarray(table.values, dtype=np.float64)
    Y = estimator.embedding_
    if len(values) != len(Y):
        raise ValueError(message(who, f"X with {len(values)} rows", f"the data of the fit, of {len(Y)} rows"))
    if isinstance(estimator, PCA | ClassicalMDS):
        return principal_sensitivity(values, Y.shape[1], rows=rows, feature_names=table.feature_names)
    return loss_sensitivity(
        _loss_of(estimator, values, resolve_n_threads(n_jobs, who=who)),
        Y,
        rows=rows,
        polish=polish,
        max_iter=max_iter,
        damping=damping,
        solver=solver,
        feature_names=table.feature_names,
    )


def _check_metric(estimator: Embedder, who: str) -> None:
    metric = getattr(estimator, "metric", "euclidean")
    name = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
    if name != "euclidean" or getattr(estimator, "metric_params", None):
        raise ValueError(message(who, f"metric={metric!r}", "'euclidean'", fact="others have no derivative here"))
    if getattr(estimator, "whiten", False):
        raise ValueError(message(who, "whiten=True", "False"))
    if getattr(estimator, "kind", "metric") != "metric":
        raise ValueError(message(who, "kind='ordinal'", "'metric'", fact="disparities are no smooth function"))


def _loss_of(estimator: Any, X: npt.NDArray[np.float64], n_threads: int) -> PairLoss:
    """Return the loss that a fitted estimator's map should minimise."""
    if isinstance(estimator, MDS):
        return StressLoss(X, weights=estimator.weights, n_threads=n_threads)
    graph = estimator.graph_
    if isinstance(estimator, UMAP):
        affinities = DataAffinities.fuzzy(
            X, graph, local_connectivity=estimator.local_connectivity, set_op_mix_ratio=estimator.set_op_mix_ratio
        )
        return GraphLoss(
            affinities,
            estimator.kernel_,
            "cross_entropy",
            negative_sample_rate=estimator.negative_sample_rate,
            repulsion_strength=estimator.repulsion_strength,
            n_threads=n_threads,
        )
    perplexity = min(float(estimator.perplexity), float(graph.n_neighbors))
    if isinstance(estimator, SNE):
        affinities = DataAffinities.conditional(X, graph, perplexity=perplexity)
        return GraphLoss(affinities, Gaussian(), "conditional_kl", n_threads=n_threads)
    affinities = DataAffinities.gaussian(X, graph, perplexity=perplexity)
    if isinstance(estimator, SymmetricSNE):
        return GraphLoss(affinities, Gaussian(), "kl", n_threads=n_threads)
    kernel = Cauchy() if estimator.dof == 1.0 else StudentT(estimator.dof)
    return GraphLoss(affinities, kernel, "kl", n_threads=n_threads)
