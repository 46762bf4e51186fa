"""Points whose place hangs on little: the curvature of the loss in one point's place, the others held still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._estimator import check_is_fitted
from gnomon._threads import in_order, single_threaded_blas
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.data import check_table
from gnomon.linalg import product, small_svd, stacked_eigen, stacked_products, stacked_solve

__all__ = ["Singularities", "check_rows", "loss_of_map", "singularities", "upper_share"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Singularities:
    """How firmly each point is held by its own part of the loss, all other points staying where they are.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,), float64
        Singularity score: 1 over the least curvature; inf where that is not positive, so that the point is at no
        minimum of its part. In units of the map squared over those of the loss.
    curvatures : ndarray of shape (n_samples, n_components), float64
        Eigenvalues of the Hessian of the loss in the place of one point, ascending.
    pull : ndarray of shape (n_samples,), float64
        How far one Newton step would move the point: 0 at a minimum; NaN where there is none.
    rows : ndarray of shape (n_rows,), int64
        Rows whose response was asked for.
    response : ndarray of shape (n_rows,), float64
        Largest singular value of the derivative of the point's place by its row, the others held still: units of the
        map for a unit of the data, in the direction of the data that moves it most. NaN where there is no minimum.
    """

    scores: Floats
    curvatures: Floats
    pull: Floats
    rows: npt.NDArray[np.int64]
    response: Floats

    def __repr__(self) -> str:
        return f"Singularities(n_samples={len(self.scores)})"

    def columns(self) -> dict[str, Floats]:
        """Return a number for each point, by name, as `metadata` of a map takes them; inf becomes NaN."""
        scores = np.where(np.isfinite(self.scores), self.scores, np.nan)
        found = {"singularity": scores}
        if len(self.rows):
            found["response to its row"] = np.full(len(scores), np.nan)
            found["response to its row"][self.rows] = self.response
        return found

    def largest(self, share: float = 0.05) -> npt.NDArray[np.int64]:
        """Return the rows with the largest scores, of which [1]_ takes the mean to compare values of a parameter.

        Parameters
        ----------
        share : float in (0, 1), default=0.05
            That share of the rows is returned, largest score first.

        Returns
        -------
        ndarray of int64

        References
        ----------
        .. [1] Liu, Ma & Zhong, "Assessing and improving reliability of neighbor embedding methods: a map-continuity
           perspective", Nature Communications 16, 2025.
        """
        return upper_share(self.scores, share)

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {name: value.tolist() for name, value in vars(self).items()}


@entrance("singularities")
def singularities(
    estimator: Any,
    X: Any,
    *,
    embedding: npt.ArrayLike | None = None,
    rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
    n_jobs: int | None = None,
) -> Singularities:
    """Find points of a map that a small change could move far: the leave-one-out map and its singularities.

    The leave-one-out map of a row places it where the loss is least while the other points stay. It tears where the
    Hessian of that loss is singular: points there fall to one side or the other by chance, and a cluster seems to have
    parts. The score of a point is 1 over the least eigenvalue of that Hessian.

    Parameters
    ----------
    estimator : fitted neighbour embedding
        One that `gnomon.sensitivity` differentiates, such as TSNE or UMAP, with metric="euclidean".
    X : array-like of shape (n_samples, n_features)
        The data it was fitted to, without equal rows.
    embedding : array-like of shape (n_samples, n_components), default=None
        The map to look at, such as one that `gnomon.sensitivity` polished; None takes ``estimator.embedding_``.
    rows : sequence of int or None, default=None
        Rows whose response is computed too, some hundredths of a second each; None takes none.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Singularities

    Raises
    ------
    TypeError
        If the estimator has no loss with a second derivative, or X is sparse.
    ValueError
        If its metric is not Euclidean, X is other data, or a row does not exist.

    Notes
    -----
    The score is the singularity score of [1]_ for t-SNE, and the same of the losses of other methods. The response is
    ours: the derivative of the leave-one-out map, with bandwidths and affinities that follow the data. It is the limit
    of the perturbation score of [1]_ for small changes, over their length; what a change of finite length does, such
    as a jump to another cluster, `perturbations` sees.

    Goes through all pairs of rows. Scores of methods with different losses do not compare.

    References
    ----------
    .. [1] Liu, Ma & Zhong, "Assessing and improving reliability of neighbor embedding methods: a map-continuity
       perspective", Nature Communications 16, 2025.
    """
    loss, Y = loss_of_map(estimator, X, embedding)
    asked = check_rows(rows, len(Y))
    expansion = loss.expand(Y)
    with single_threaded_blas():
        blocks = expansion.own_blocks()
        curvatures = np.ascontiguousarray(stacked_eigen(blocks)[0][:, ::-1])
        held = curvatures[:, 0] > 0
        inverse = np.full(blocks.shape, np.nan)
        inverse[held] = stacked_solve(blocks[held], np.broadcast_to(np.eye(blocks.shape[1]), blocks[held].shape))
        pull = np.linalg.norm(stacked_products(inverse, expansion.gradient[:, :, None])[:, :, 0], axis=1)

        def respond(i: int) -> float:
            if not held[i]:
                return float("nan")
            return float(small_svd(product(inverse[i], loss.push(Y, i)[i]))[1].max(initial=0.0))

        response = np.array(list(in_order(respond, asked.tolist())), dtype=np.float64)
    scores = np.where(held, 1.0 / np.where(held, curvatures[:, 0], 1.0), np.inf)
    return Singularities(scores, curvatures, pull, asked, response)


def loss_of_map(estimator: Any, X: Any, embedding: npt.ArrayLike | None) -> tuple[Any, Floats]:
    """Return the loss of a fitted neighbour embedding as a function of map and data, and the map to look at."""
    rule = "a neighbour embedding whose loss has a second derivative"
    refused = TypeError(message(f"estimator={type(estimator).__name__}", rule))
    if not callable(getattr(estimator, "_loss_of_data", None)):
        raise refused
    check_is_fitted(estimator)
    values = np.asarray(check_table(X, accept_sparse=False).values, dtype=np.float64)
    if getattr(estimator, "metric", "euclidean") != "euclidean":
        fact = "others have no derivative here"
        raise ValueError(message(f"metric={estimator.metric!r}", "'euclidean'", fact=fact))
    n = len(estimator.embedding_)
    if len(values) != n:
        raise ValueError(message(f"X with {len(values):,} rows", f"the data of the fit, of {n:,} rows"))
    Y = np.asarray(estimator.embedding_ if embedding is None else embedding, dtype=np.float64)
    if Y.shape != estimator.embedding_.shape or not np.isfinite(Y).all():
        what = f"embedding of shape {Y.shape}"
        raise ValueError(message(what, f"of shape {estimator.embedding_.shape}, without NaN"))
    try:
        return estimator._loss_of_data(values), Y
    except NotImplementedError:  # its map is a formula
        raise refused from None


def upper_share(scores: Floats, share: float) -> npt.NDArray[np.int64]:
    """Return the rows whose score is above the quantile 1 - share of all, largest first; NaN are none."""
    rules: dict[str, Rule] = {"share": Real(0.0, 1.0, low_open=True, high_open=True)}
    wanted = check_parameters(rules, {"share": share}, who="largest")["share"]
    known = np.flatnonzero(~np.isnan(scores))
    order = known[np.argsort(-scores[known], kind="stable")]
    return order[: int(wanted * len(known))].astype(np.int64)


def check_rows(rows: Any, n: int) -> npt.NDArray[np.int64]:
    """Return the rows asked for, none for None."""
    if rows is None:
        return np.empty(0, dtype=np.int64)
    found = np.asarray(rows)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(message(f"rows of {found.dtype} and shape {found.shape}", "a list of row numbers"))
    outside = found[(found < 0) | (found >= n)]
    if len(outside):
        raise ValueError(message(f"rows with {outside[0]}", f"in [0, {n})"))
    return found.astype(np.int64)
