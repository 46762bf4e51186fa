"""The exact sensitivity of fitted estimators to their data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._estimator import check_is_fitted
from gnomon._validation import message
from gnomon.data import check_table
from gnomon.extension.sensitivity import Sensitivity
from gnomon.methods.base import Differentiable, Embedder
from gnomon.neighbors import NATIVE_METRICS

__all__ = ["sensitivity"]


@entrance("sensitivity")
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

    The answer is exact at a minimum of the method's loss. UMAP, sampled or not, ends at no minimum, neither of the loss
    that its paper states nor of the one that it lowers, `CrossEntropy`, which is taken here; t-SNE stops early as well.
    Then a warning says so. ``polish=True`` goes on to the minimum first; the answer is then that of ``embedding`` of
    the result, which is another map.

    Parameters
    ----------
    estimator : fitted neighbour embedding, MDS (variant="metric"), ClassicalMDS or PCA (not whitened)
        With metric="euclidean". A neighbour embedding needs an affinity that knows its derivatives (those with a name
        and any `gnomon.affinities.NeighborAffinity`), a loss that is a sum of terms over pairs, without added ones, and
        a kernel with a second derivative: TSNE, SymmetricSNE, SNE, UMAP, LargeVis, NegTSNE, ForceAtlas2, and
        `NeighborEmbedding` of such parts, the user's own included.
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
        If a part of the estimator has no derivative, or X is sparse.
    ValueError
        If its metric is not Euclidean, or rows were merged in the fit.

    Warns
    -----
    ConvergenceWarning
        If the map is not at a minimum of the loss.
    """
    if not isinstance(estimator, Differentiable):
        rule = "a neighbour embedding, MDS, ClassicalMDS or PCA"
        raise TypeError(message(f"estimator={type(estimator).__name__}", rule))
    check_is_fitted(estimator)
    table = check_table(X, accept_sparse=False)
    _check_metric(estimator)
    values = np.asarray(table.values, dtype=np.float64)
    Y = estimator.embedding_
    if len(values) != len(Y):
        raise ValueError(message(f"X with {len(values):,} rows", f"the data of the fit, of {len(Y):,} rows"))
    return estimator._differentiate(
        values, table.feature_names, rows=rows, polish=polish, max_iter=max_iter, damping=damping, solver=solver
    )


def _check_metric(estimator: Embedder) -> None:
    metric = getattr(estimator, "metric", "euclidean")
    name = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
    if name != "euclidean" or getattr(estimator, "metric_params", None):
        raise ValueError(message(f"metric={metric!r}", "'euclidean'", fact="others have no derivative here"))
