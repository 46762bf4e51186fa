"""Published scores of single points: EMBEDR, scDEED and DynamicViz, by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import in_order, single_threaded_blas
from gnomon._validation import Either, Integer, Nothing, Real, Rule, check_parameters, message
from gnomon.affinities.gaussian import gaussian_weights
from gnomon.data import check_table
from gnomon.evaluation.refits import method_again
from gnomon.linalg import principal_components, project_rows
from gnomon.neighbors import compute_neighbors

__all__ = ["PointNulls", "beside_nulls", "dynamicviz", "embedr", "scdeed"]

Floats = npt.NDArray[np.float64]

_BLOCK = 2**21  # numbers of a block of distances
_STREAM = 0x6E75
_LEAST_AFFINITY = float(np.finfo(np.float64).eps)
_RULES: dict[str, Rule] = {
    "perplexity": Real(1.0, low_open=True),
    "n_nulls": Integer(1),
    "share": Real(0.0, 1.0, low_open=True),
    "n_pcs": Either(Integer(1), Nothing()),
    "n_others": Either(Integer(1), Nothing()),
}


@dataclass(frozen=True, repr=False)
class PointNulls:
    """A score of every point beside those of points of tables without structure, mapped by the same method.

    Attributes
    ----------
    name : str
        "embedr", "scdeed", "perturbation" or "singularity".
    scores : ndarray of shape (n_samples,), float64
    null : ndarray of shape (n_nulls, n_samples), float64
        Scores in the maps of tables whose columns were shuffled, each by itself.
    p_values : ndarray of shape (n_samples,), float64
        Share of all null scores that are as good as that of the point, or better, in [0, 1].
    embedding : ndarray of shape (n_samples, n_components), float64
        The map that was scored.
    """

    name: str
    scores: Floats
    null: Floats
    p_values: Floats
    embedding: Floats

    def __repr__(self) -> str:
        return f"PointNulls(name={self.name!r}, n_samples={len(self.scores)}, n_nulls={len(self.null)})"

    def verdicts(self, alpha: float = 0.05) -> npt.NDArray[np.str_]:
        """Sort points by where their score lies among those of nulls.

        Parameters
        ----------
        alpha : float in (0, 0.5), default=0.05
            "trustworthy" is a point whose p-value is below it, "dubious" one whose p-value is above 1 - level,
            "undecided" any other. With 0.05 these are scDEED's quantiles; EMBEDR shows p-values and has no verdicts.

        Returns
        -------
        ndarray of shape (n_samples,), str
        """
        rules: dict[str, Rule] = {"alpha": Real(0.0, 0.5, low_open=True, high_open=True)}
        bound = check_parameters(rules, {"alpha": alpha}, who="verdicts")["alpha"]
        words = ["trustworthy", "dubious"]
        return np.select([self.p_values < bound, self.p_values > 1.0 - bound], words, "undecided")

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}


@entrance("embedr", seeded=True)
def embedr(
    estimator: Any,
    X: Any,
    embedding: npt.ArrayLike | None = None,
    *,
    perplexity: float = 30.0,
    n_nulls: int = 1,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PointNulls:
    """Score each point of a map by EMBEDR: the divergence of its neighbourhood, and how often chance does as well.

    The score of row i is the Kullback-Leibler divergence sum over j of p_ij log(p_ij / q_ij), over its
    3 perplexity nearest rows j in the data. p_ij is the Gaussian of the given perplexity, q_ij is
    1 / (1 + |y_i - y_j|^2); both sum to 1 over these j. Low is good. The null is the score of rows of a table whose
    columns are shuffled, each by itself, mapped by the same method; null scores of all rows and maps are pooled.

    Parameters
    ----------
    estimator : object with get_params, set_params and fit_transform
        The method, ours or another library's; it is not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table.
    embedding : array-like of shape (n_samples, n_components), default=None
        The map of the table by this method; None makes it.
    perplexity : float in (1, n_samples - 1], default=30.0
        Effective number of neighbours, exp(entropy in nats).
    n_nulls : int >= 1, default=1
        Shuffled tables to map.
    random_state : int, Generator, RandomState or None, default=0
        Shuffles columns; the seed of the maps too where the method has none.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    PointNulls
        ``p_values``: share of null scores at most the point's.

    Notes
    -----
    As in the published program the sums go over the neighbours in the data alone. Rows that are near in the map and
    far in the data do not enter, and a row that lies far from all its neighbours alike scores log(neighbours /
    perplexity), whatever its false neighbours are. The p of the published program are made symmetric in some of its
    settings; here they are those of the row. Sizes of maps matter, since q has a unit.

    References
    ----------
    .. [1] Johnson, Kath & Mani, "EMBEDR: distinguishing signal from noise in single-cell omics data", Patterns 3,
       2022.
    """
    given = {"perplexity": perplexity, "n_nulls": n_nulls}
    checked = check_parameters(_RULES, given, list(given))
    values = check_table(X, accept_sparse=True).values
    n = int(values.shape[0])
    if not checked["perplexity"] <= n - 1:
        raise ValueError(message(f"perplexity={perplexity}", f"at most {n - 1}", fact=f"{n:,} rows"))
    n_neighbors = min(n - 1, int(np.ceil(3.0 * checked["perplexity"])))

    def score(table: Any, Y: Floats, _: Any) -> Floats:
        graph = compute_neighbors(table, n_neighbors)
        weights = gaussian_weights(graph.distances, perplexity=checked["perplexity"])[0]
        p = np.maximum(weights.astype(np.float64), _LEAST_AFFINITY)
        squared = np.sum((Y[:, None] - Y[graph.indices]) ** 2, axis=2)
        q = 1.0 / (1.0 + squared)
        q /= q.sum(axis=1, keepdims=True)
        divergence: Floats = np.sum(p * log(p / q), axis=1)
        return divergence

    return beside_nulls("embedr", score, estimator, values, embedding, checked["n_nulls"], low_is_good=True)


@entrance("scdeed", seeded=True)
def scdeed(
    estimator: Any,
    X: Any,
    embedding: npt.ArrayLike | None = None,
    *,
    share: float = 0.5,
    n_pcs: int | None = None,
    n_nulls: int = 1,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PointNulls:
    """Score each point of a map by scDEED: whether its distances in the map rise as those in the data do.

    The score of row i is the correlation (Pearson) of two lists: distances in the map to the `share` of the rows that
    are nearest in the data, nearest in the data first; and distances in the map to as many rows that are nearest in
    the map, nearest first. High is good, 1 if both spaces rank all of them alike. The null is the score of rows of a
    table whose columns are shuffled, each by itself, mapped by the same method. A row is dubious below the 5 %
    quantile of the null, trustworthy above the 95 % quantile: `PointNulls.verdicts`.

    Parameters
    ----------
    estimator, X, embedding : as in `embedr`
        The method, the table and its map.
    share : float in (0, 1], default=0.5
        Share of the rows that are compared with each.
    n_pcs : int >= 1 or None, default=None
        Principal components of the table in which distances are taken and of which the map is made, those of the
        shuffled table anew, as scDEED does of genes; None takes the table itself.
    n_nulls : int >= 1, default=1
        Shuffled tables to map; scDEED takes one.
    random_state : int, Generator, RandomState or None, default=0
        Shuffles columns; the seed of the maps too where the method has none.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    PointNulls
        ``p_values``: share of null scores at least the point's. NaN where a list is constant.

    Notes
    -----
    Goes through all pairs of rows.

    References
    ----------
    .. [1] Xia, Lee & Li, "Statistical method scDEED for detecting dubious 2D single-cell embeddings and optimizing
       t-SNE and UMAP hyperparameters", Nature Communications 15, 2024.
    """
    given = {"share": share, "n_pcs": n_pcs, "n_nulls": n_nulls}
    checked = check_parameters(_RULES, given, list(given))
    values = check_table(X, accept_sparse=True).values
    n = int(values.shape[0])
    selected = int(n * checked["share"])
    selected = min(selected, n - 1)
    if selected < 2:
        rule = f"at least {2 / n:.3g}, which is two rows"
        raise ValueError(message(f"share={share}", rule, fact=f"{n:,} rows"))

    def score(table: Any, Y: Floats, _: Any) -> Floats:
        return _rank_agreement(table, Y, selected)

    return beside_nulls(
        "scdeed", score, estimator, values, embedding, checked["n_nulls"], low_is_good=False, n_pcs=checked["n_pcs"]
    )


def beside_nulls(
    name: str,
    score: Any,
    estimator: Any,
    X: Any,
    embedding: Any,
    n_nulls: int,
    *,
    low_is_good: bool,
    n_pcs: int | None = None,
) -> PointNulls:
    """Score the map of a table and those of shuffled tables, by `score` of a table, its map and the fitted method."""
    seed = current_run().seed
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    own = {"random_state": seed % 2**31} if known.get("random_state", 0) is None else {}

    def coordinates(table: Any) -> Any:
        return table if n_pcs is None else _scores(table, n_pcs, seed)

    def fitted(table: Any) -> tuple[Floats, Any]:
        method = method_again(estimator, own)
        return np.asarray(method.fit_transform(table), dtype=np.float64), method

    mapped = coordinates(X)
    Y, method = fitted(mapped) if embedding is None else (np.asarray(embedding, dtype=np.float64), estimator)
    if Y.ndim != 2 or len(Y) != X.shape[0] or not np.isfinite(Y).all():
        what = f"embedding of shape {Y.shape}"
        raise ValueError(message(what, f"of shape ({X.shape[0]}, n_components), without NaN"))
    null = []
    for number in range(n_nulls):
        table = coordinates(_shuffled(X, np.random.default_rng((seed, _STREAM, number))))
        null.append(score(table, *fitted(table)))
    scores, pooled = score(mapped, Y, method), np.sort(np.concatenate(null))
    pooled = pooled[~np.isnan(pooled)]
    if low_is_good:
        better = np.searchsorted(pooled, scores, side="right")
    else:
        better = len(pooled) - np.searchsorted(pooled, scores, side="left")
    p_values = np.where(~np.isnan(scores) & (len(pooled) > 0), better / max(len(pooled), 1), np.nan)
    return PointNulls(name, scores, np.stack(null), p_values, Y)


def _shuffled(X: Any, generator: np.random.Generator) -> Any:
    """Return the table with each column in an order of its own."""
    if isinstance(X, np.ndarray):
        return generator.permuted(X, axis=0)
    columns = X.tocsc(copy=True)
    n = columns.shape[0]
    for j in range(columns.shape[1]):
        inside = slice(columns.indptr[j], columns.indptr[j + 1])
        columns.indices[inside] = generator.choice(n, size=inside.stop - inside.start, replace=False)
    columns.has_sorted_indices = False
    columns.sort_indices()
    return columns.tocsr()


def _scores(X: Any, n_pcs: int, seed: int) -> Floats:
    found = principal_components(X, n_pcs, seed=seed)
    return np.asarray(project_rows(X.astype(np.float64, copy=False), found.mean, found.components))


def _rank_agreement(X: Any, Y: Floats, selected: int) -> Floats:
    """Return the correlation of distances in the map, in the order of the data and in their own, for each row."""
    from sklearn.metrics import pairwise_distances

    n = len(Y)
    blocks = np.array_split(np.arange(n), max(1, n * n // _BLOCK))

    def one(rows: npt.NDArray[np.intp]) -> Floats:
        in_data, in_map = pairwise_distances(X[rows], X), pairwise_distances(Y[rows], Y)
        in_data[np.arange(len(rows)), rows] = -1.0  # the row itself comes first and is left out
        in_map[np.arange(len(rows)), rows] = -1.0
        nearest = np.argsort(in_data, axis=1, kind="stable")[:, 1 : selected + 1]
        own = np.sort(in_map, axis=1)[:, 1 : selected + 1]
        return _correlations(np.take_along_axis(in_map, nearest, axis=1), own)

    with single_threaded_blas():
        return np.concatenate([one(rows) for rows in blocks])


def _correlations(a: Floats, b: Floats) -> Floats:
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    size = np.sqrt(np.sum(a * a, axis=1) * np.sum(b * b, axis=1))
    found: Floats = np.where(size > 0, np.sum(a * b, axis=1) / np.where(size > 0, size, 1.0), np.nan)
    return found


@entrance("dynamicviz", seeded=True)
def dynamicviz(
    embeddings: Sequence[npt.ArrayLike],
    drawn: npt.ArrayLike | None = None,
    *,
    n_others: int | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Floats:
    """Score each point over bootstrap maps by the variance score of DynamicViz.

    The variance over maps of the distance of points i and j, over the squared mean distance of all pairs, and of this
    the mean over j. A pair counts in the maps that were made of both rows, so that no alignment is needed; 0 is
    perfectly stable, and 1 / (1 + score) DynamicViz's stability.

    Parameters
    ----------
    embeddings : sequence of array-like of shape (n_samples, n_components)
        Two maps at least, row i of all the same thing; NaN where a map does not hold a row. DynamicViz counts the map
        of the whole table among them.
    drawn : array-like of shape (n_maps, n_samples), bool, default=None
        Which rows each map was made of; None takes those it holds.
    n_others : int >= 1 or None, default=None
        Take so many random points as j, the same for all i; None takes all, in time of n_samples^2.
    random_state : int, Generator, RandomState or None, default=0
        Draws these points.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    ndarray of shape (n_samples,), float64
        NaN for a point that no two maps hold together with another.

    Notes
    -----
    The published program counts the distance of a point to itself and pairs seen in one map, both with variance 0,
    and a row drawn twice as two; here these do not count.

    References
    ----------
    .. [1] Sun, Ma & Zou, "Dynamic visualization of high-dimensional data", Nature Computational Science 3, 2023.
    """
    wanted = check_parameters(_RULES, {"n_others": n_others}, ["n_others"])["n_others"]
    maps = [np.asarray(one, dtype=np.float64) for one in embeddings]
    if len(maps) < 2 or maps[0].ndim != 2 or any(one.shape != maps[0].shape for one in maps):
        shapes = ", ".join(str(one.shape) for one in maps) or "none"
        raise ValueError(message(f"embeddings of shapes {shapes}", "two or more of the same shape (n, d)"))
    Y = np.stack(maps)
    held: npt.NDArray[np.bool_] = np.all(np.isfinite(Y), axis=2)
    if drawn is not None:
        made_of = np.asarray(drawn)
        if made_of.shape != held.shape or made_of.dtype.kind != "b":
            what = f"drawn of {made_of.dtype} and shape {made_of.shape}"
            raise ValueError(message(what, f"a mask of shape {held.shape}"))
        held = held & made_of
    n = Y.shape[1]
    others = np.arange(n)
    if wanted is not None and wanted < n:
        others = np.sort(np.random.default_rng((current_run().seed, _STREAM)).permutation(n)[:wanted])
    Y = np.where(held[:, :, None], Y, 0.0)

    def one(rows: npt.NDArray[np.intp]) -> tuple[Floats, float, int]:
        both = held[:, rows, None] & held[:, None, others]
        both &= rows[:, None] != others
        squared = sum((Y[:, rows, c][:, :, None] - Y[:, others, c][:, None]) ** 2 for c in range(Y.shape[2]))
        distances = np.where(both, np.sqrt(squared), 0.0)
        times = both.sum(axis=0)
        means = distances.sum(axis=0) / np.maximum(times, 1)
        variances = np.where(both, (distances - means) ** 2, 0.0).sum(axis=0) / np.maximum(times, 1)
        counted = times > 1
        per_row = np.where(counted, variances, 0.0).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        seen = times > 0
        return np.where(counted.any(axis=1), per_row, np.nan), float(means[seen].sum()), int(seen.sum())

    blocks = np.array_split(np.arange(n), max(1, Y.shape[0] * n * len(others) // _BLOCK))
    parts = list(in_order(one, blocks))
    mean_distance = sum(part[1] for part in parts) / max(sum(part[2] for part in parts), 1)
    scores = np.concatenate([part[0] for part in parts])
    found: Floats = scores / mean_distance**2 if mean_distance > 0 else np.where(np.isfinite(scores), 0.0, np.nan)
    return found
