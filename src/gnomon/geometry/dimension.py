"""How many dimensions the data have, overall and around each point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Real, Rule, check_parameters
from gnomon.data import check_table, find_duplicate_rows
from gnomon.geometry import dimension_estimators as estimators
from gnomon.geometry.common_directions import directions_beside_noise
from gnomon.geometry.dimension_growth import (
    GROWS_OVER,
    Growth,
    growth_beyond_noise,
    linear_dimension,
    mean_of_squares,
    neighborhood_growth,
)
from gnomon.geometry.dimension_noise import components_above_noise, is_seen_above
from gnomon.geometry.dimension_result import NOISY, DimensionEstimate, IntrinsicDimension
from gnomon.linalg import inner_products, stacked_products, symmetric_eigen, uniform_matrix
from gnomon.linalg.table import as_bytes
from gnomon.neighbors import (
    NeighborGraph,
    among_rows,
    check_graph,
    compute_neighbors,
    pair_distances,
    repeats_of_graph,
    succession_of_rows,
)
from gnomon.neighbors.metrics import native_metric

__all__ = ["DimensionEstimate", "IntrinsicDimension", "directions_of_rows", "intrinsic_dimension"]

Float64Array = npt.NDArray[np.float64]

_FEWEST_ROWS = 4
_SAMPLE = 2000  # rows for growth, the correlation dimension and local PCA: two million pairs
_FEW = 128  # rows of the sample among which neighbours are looked for beyond noise
_GROUPS = 20  # of rows that lie together, left out in turn for the error of growth
_STREAM_SAMPLE = 141
_MOST_COLUMNS = 256  # of which the directions are counted
_NO_DIRECTION = 1e-11  # of the largest variance: rounding
_MIDDLE = 32  # of the rows, the share whose distance is in the middle of the scales
_MOST_ALIKE = 1.1  # times as many dimensions within noise as beyond it: no more than an interval is narrow
_BLOCK = 256  # rows of whose neighbours products are formed together
_NUMBERS = 1 << 21  # of these neighbours, at most
_RULES: dict[str, Rule] = {"n_neighbors": Integer(3), "confidence": Real(0.0, 1.0, low_open=True, high_open=True)}


@entrance("intrinsic_dimension", seeded=True)
def intrinsic_dimension(
    X: Any,
    *,
    n_neighbors: int = 20,
    metric: str | Callable[..., float] = "euclidean",
    graph: NeighborGraph | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> IntrinsicDimension:
    """Estimate how many coordinates the data need, overall and around each row.

    The answer, with its interval, is the dimension of the spheres, or products of circles and Gaussians, in which
    neighbourhoods of 1, 2, 4, ... 256 rows grow as they do in the data, with allowance for borders, uneven density,
    curvature and noise ("growth"). Five simpler estimators look at the data in different ways, and agree where they
    lie evenly on a smooth set without noise; all of them fall short in high dimensions, where neighbours are far and
    near a border: nine is often found for ten. "extrapolated", the limit for small neighbourhoods, does not, but noise
    raises it most.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers. Of equal rows one is used, and one of each set of rows measured several times, see Notes.
    n_neighbors : int >= 3, default=20
        Neighbours looked at; estimates by maximum likelihood are averaged from half of it on. Lowered to n_samples - 1.
    metric : str or callable, default="euclidean"
        Distance of rows; local PCA is Euclidean always.
    graph : NeighborGraph or None, default=None
        Neighbours of the rows in this metric, if they are known; `n_neighbors` is lowered to theirs.
    confidence : float in (0, 1), default=0.95
        Of the intervals. That of the answer (`low`, `high`) is for sets about as long as wide; see Notes. That of
        "extrapolated" allows for curvature and an uneven density, those of the others for nothing but chance.
    random_state : int, Generator, RandomState or None, default=0
        Draws the 2000 rows that growth, the correlation dimension and local PCA look at.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.

    Returns
    -------
    IntrinsicDimension

    Raises
    ------
    ValueError
        If X has fewer than two rows or the graph is of other rows.

    Notes
    -----
    The interval of the answer rests on an assumption where neighbours are far: 500 rows of a ten-dimensional set have
    their first neighbours at half the typical distance. What is allowed for is a set about as long as wide, evenly or
    unevenly filled, with curvature and borders, or a product of circles and straight directions alike. The latter is
    told by how many straight directions the set fills, the participation ratio of its principal variances. It does not
    hold for sets folded otherwise within the distance to the neighbours, for those with directions shorter than that
    distance (of 20 columns with standard deviations 1, 1/2, 1/3, ... only some are seen), nor for noise that fills only
    a few dimensions. `caution` says so as far as the data show it.

    With more rows the nearest come to lie within the noise, where the data have the dimensions of the noise. So growth
    is also looked at among sets of 128 rows, which are farther apart. Where noise is found there, surely less than half
    as many dimensions beyond it, and no gap as between clusters, the answer is that beyond; `within_noise` is what the
    nearest tell, the interval reaches up to it, and `caution` gives both: 6,000 rows on a circle with noise of 13 % of
    the spread in 30 columns have 1.3 dimensions (0.9 to 30), and 30 within the noise.

    Sets that are dense in the middle, as wells and Gaussians, lie within the noise there already with fewer rows. Of
    Euclidean distances, up to 512 columns and at least twice as many rows (at most 2000 are looked at) it is also asked
    which principal components stand above the noise: where principal variances fall by a factor of 8 at least to a
    floor that has a quarter of the variance at most and fills four directions, neighbours in the components above
    differ below as any two rows do, and there are fewer dimensions above (by more than a tenth), the answer is that in
    these components, `n_above_noise` of them; `within_noise` is what all directions tell, and the interval holds it.

    Where at least 20 columns go together in a few directions and each holds noise of its own besides, as counts do of
    which a square root was taken, and the noise is larger than that, the answer is the dimension of the rows with it,
    above that of what was measured, and so is its interval. `n_common` is the number of those directions then.

    Rows that were measured several times are noise near by and the set itself only far off. Where a tenth of the rows
    at least could be spared, as they lie in sets of two to ten far nearer to each other than to other rows, one of each
    set is used and `caution` says so: 100 rows of a normal plane five times each with noise of 0.02 give 2.4 (1.4 to
    3.3) and not 0.8 (0.5 to 1.1). Noise as large as the distances between different rows hides them.

    Rows of a grid, as of a design of experiments, are no independent draws: where the nearest are more alike in
    distance than independent rows are in as many dimensions as there are directions, rows are taken for set out evenly.
    There is no noise then, and small neighbourhoods count as far only as the shells of a lattice let them: 10 by 10 by
    10 rows give 3.0 (2.3 to 3.0). Of rows that repeat unequally often, as answers from 1 to 5 do, none is taken for
    such.

    The interval is that of independent rows. Frames of a trajectory are not: near by rows lie along its way, which has
    one dimension. Where rows that follow each other in the table are alike, `caution` says so, and which to keep; in a
    table that was shuffled this cannot be seen.

    Rows have no more dimensions than directions of their columns in which they differ, which bounds all numbers but for
    distances given and metrics of your own.

    Measured coverage stands in the documentation, "Reading a map".

    References
    ----------
    .. [1] Levina & Bickel, NeurIPS 17, 2004; MacKay & Ghahramani, 2005; Facco et al., Scientific Reports 7, 2017;
       Grassberger & Procaccia, Physica D 9, 1983; Fukunaga & Olsen, IEEE Trans. Computers 20, 1971 (local PCA);
       Denti et al., Scientific Reports 12, 2022 (ratios of distances at all scales).
    """
    given = {"n_neighbors": n_neighbors, "confidence": confidence}
    checked = check_parameters(_RULES, given)
    table = check_table(X, accept_sparse=True, min_samples=2)
    values = table.values
    seed = current_run().seed
    if graph is not None:
        check_graph(graph, values.shape[0])
    representatives, copies = find_duplicate_rows(values)
    if len(representatives) < values.shape[0]:
        values, graph = among_rows(values, representatives, metric), None
    if values.shape[0] < _FEWEST_ROWS:
        return _unknown(table.values.shape[0], checked["confidence"])
    n_neighbors = checked["n_neighbors"]
    if graph is None:
        graph = compute_neighbors(values, min(n_neighbors, values.shape[0] - 1), metric=metric, seed=seed)
    n_distinct = values.shape[0]
    counts = np.bincount(copies)
    as_often = bool(counts.min() == counts.max())
    kept, of_kept = repeats_of_graph(graph)
    if _FEWEST_ROWS <= len(kept) < n_distinct:
        values, copies = among_rows(values, kept, metric), of_kept[copies]
        graph = compute_neighbors(values, min(n_neighbors, len(kept) - 1), metric=metric, seed=seed)
    k = min(n_neighbors, graph.n_neighbors)
    with single_threaded_blas():
        growth, near, n_above, estimates, most = _estimates(
            values, graph, k, metric, seed, checked["confidence"], as_often
        )
    local = (
        np.minimum(one, most)
        for one in estimators.local_likelihood(graph.distances, k, confidence=checked["confidence"])
    )
    rows = slice(None) if values.shape[0] == table.values.shape[0] else copies
    value, low, high = (one[rows] for one in local)
    return IntrinsicDimension(
        {name: _at_most(one, most) for name, one in estimates.items()},
        value,
        low,
        high,
        (_smallest(k), k),
        checked["confidence"],
        growth.noise,
        growth.resolution,
        n_distinct - values.shape[0],
        most,
        growth.estimate.value,
        succession_of_rows(values, metric),
        None if near is None else _at_most(near, most),
        n_above,
        _beside_noise(values, metric, min(growth.estimate.value, most)) if near is None else None,
    )


def _smallest(k: int) -> int:
    return max(3, k // 2)


def _estimates(
    values: Any, graph: NeighborGraph, k: int, metric: Any, seed: int, confidence: float, as_often: bool
) -> tuple[Growth, DimensionEstimate | None, int | None, dict[str, DimensionEstimate], float]:
    ks = range(_smallest(k), k + 1)
    draws = uniform_matrix(seed, _STREAM_SAMPLE, (values.shape[0], 1)).ravel()
    order = np.argsort(draws, kind="stable")
    sample = np.sort(order[:_SAMPLE])
    some = among_rows(values, sample, metric)
    between = _distances_between(some, metric)
    of_all, of_each = estimators.likelihoods(graph.distances, ks, confidence=confidence)
    mixed = np.searchsorted(sample, order[:_SAMPLE])
    groups = _nearest_of(between, mixed[:_GROUPS])
    mean_square = mean_of_squares(between) * sample.size / (sample.size - 1)
    linear = linear_dimension(between)
    named = isinstance(metric, str) and metric != "precomputed"
    most = directions_of_rows(some) if named else math.inf
    among = _nearest_distances(between)
    growth = neighborhood_growth(
        graph.distances[sample].astype(np.float64) if sample.size < values.shape[0] else np.empty((sample.size, 0)),
        among,
        mean_square,
        groups,
        linear=linear,
        directions=most if as_often else math.inf,  # values in steps are no grid where rows repeat by chance
        confidence=confidence,
    )
    beyond, n_above = None, None
    if sample.size >= 2 * _FEW:
        few, rows = _nearest_among_few(between, mixed)
        beyond = growth_beyond_noise(
            growth, among, few, mean_square, groups[rows], linear=linear, confidence=confidence
        )
    near = None
    if beyond is None and metric == "euclidean":
        beyond, n_above = _above_noise(growth, some, between, mixed, groups, confidence)
    if beyond is not None:
        near, far = growth.estimate, beyond.estimate
        growth = beyond._replace(
            estimate=DimensionEstimate(far.value, min(far.low, near.low), max(far.high, near.high)),
            resolution=growth.resolution,
        )
    found = {
        "growth": growth.estimate,
        "mle": of_all,
        "levina_bickel": of_each,
        "two_nn": estimators.two_nn(graph.distances, confidence=confidence),
        "correlation": estimators.correlation(between, sample.size, confidence=confidence),
        "local_pca": _local_pca(values, graph, sample, k, confidence),
        "extrapolated": estimators.extrapolated(graph.distances, range(3, k + 1), confidence=confidence),
    }
    return growth, near, n_above, found, most


def _above_noise(
    growth: Growth,
    some: Any,
    between: npt.NDArray[np.float32],
    mixed: npt.NDArray[np.intp],
    groups: npt.NDArray[np.intp],
    confidence: float,
) -> tuple[Growth | None, int | None]:
    """Return what rows tell in the principal components above noise, and their number; None if no fewer dimensions.

    Noise fills these components too. Where the nearest of all rows lie within it, sets of a few rows are looked at.
    """
    above = components_above_noise(some)
    if above is None or not above.noise > NOISY:
        return None, None
    apart = _distances_between(above.rows, "euclidean")
    among = _nearest_distances(apart)
    reached = float(np.square(among[:, max(len(among) // _MIDDLE, 1) - 1]).mean())
    if not is_seen_above(above, apart, between, reached):
        return None, None
    m, n_components = len(among), int(above.rows.shape[1])
    if m >= 2 * _FEW and np.square(among[:, 0]).mean() < above.above:
        among, rows = _nearest_among_few(apart, mixed)
        groups = groups[rows]
    found = neighborhood_growth(
        np.empty((len(among), 0)),
        among,
        mean_of_squares(apart) * m / (m - 1),
        groups,
        linear=linear_dimension(apart),
        confidence=confidence,
    )
    estimate = _at_most(found.estimate, n_components)
    if not _MOST_ALIKE * estimate.value < growth.estimate.value:
        return None, None
    return Growth(estimate, above.noise, growth.resolution), n_components


def _beside_noise(values: Any, metric: Any, dimension: float) -> int | None:
    """Return in how many directions columns go together beside noise of each, where rows show more dimensions."""
    if not isinstance(metric, str) or metric == "precomputed" or not dimension > 1.0:
        return None
    number = directions_beside_noise(values)
    return number if number is not None and number + 1 < dimension else None


def directions_of_rows(rows: Any) -> float:
    """Return in how many directions of their columns rows differ, which is the most that their dimension can be.

    Rows fewer than columns differ in fewer directions than what they were drawn from: then all columns count that vary.
    """
    dense = isinstance(rows, np.ndarray)
    high, low = (np.asarray(one if dense else one.toarray()).ravel() for one in (rows.max(axis=0), rows.min(axis=0)))
    varying = np.flatnonzero(high > low)
    if not 1 < varying.size <= _MOST_COLUMNS or rows.shape[0] <= varying.size + 1:
        return float(max(varying.size, 1))
    some = np.asarray(rows[:, varying] if dense else rows[:, varying].toarray(), dtype=np.float64)
    some = (some - low[varying]) / (high - low)[varying]
    some -= some.mean(axis=0)
    values, _ = symmetric_eigen(inner_products(np.ascontiguousarray(some)), 0)
    return float(max(int((values > _NO_DIRECTION * values[0]).sum()), 1))


def _at_most(found: DimensionEstimate, most: float) -> DimensionEstimate:
    if math.isnan(found.value):
        return found
    return DimensionEstimate(min(found.value, most), min(found.low, most), min(found.high, most))


def _distances_between(rows: Any, metric: Any) -> npt.NDArray[np.float32]:
    """Return the distances of all pairs of rows, as `compute_neighbors` measures them; each pair is measured once."""
    m = rows.shape[0]
    if native_metric(metric) is None:
        everyone = compute_neighbors(rows, m - 1, metric=metric, method="exact")
        indices, distances = everyone.indices, everyone.distances
    else:
        indices = (np.arange(m, dtype=np.int32)[:, None] + np.arange(1, m // 2 + 1, dtype=np.int32)) % m
        distances = pair_distances(rows, indices, metric=metric)
    found = np.zeros((m, m), dtype=np.float32)
    for begin in range(0, m, _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        np.put_along_axis(found[rows], indices[rows].astype(np.intp), distances[rows], axis=1)
    return np.maximum(found, found.T)


def _nearest_distances(between: npt.NDArray[np.float32]) -> Float64Array:
    """Return the distances of each row to those of the others, the nearest quarter, that growth looks at, ascending."""
    m, k = len(between), min(GROWS_OVER, len(between) // 4)
    nearest = np.empty((m, k))
    for begin in range(0, m, _BLOCK):
        some = between[begin : begin + _BLOCK].copy()
        some[np.arange(len(some)), np.arange(begin, begin + len(some))] = np.inf
        some.partition(max(k - 1, 0), axis=1)
        nearest[begin : begin + _BLOCK] = np.sort(some[:, :k], axis=1)
    return nearest


def _nearest_among_few(
    between: npt.NDArray[np.float32], mixed: npt.NDArray[np.intp]
) -> tuple[Float64Array, npt.NDArray[np.intp]]:
    """Return the distances of rows to their nearest in sets of a few, dealt in mixed order, and whose they are."""
    sets = mixed[: mixed.size // _FEW * _FEW].reshape(-1, _FEW)
    return np.concatenate([_nearest_distances(between[np.ix_(one, one)]) for one in sets]), sets.ravel()


def _nearest_of(between: npt.NDArray[np.float32], chosen: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return which of the chosen rows is nearest to each row, by its place among them; to a chosen row it is itself."""
    by_number = np.argsort(chosen)
    nearest: npt.NDArray[np.intp] = by_number[between[:, chosen[by_number]].argmin(axis=1)]
    nearest[chosen] = np.arange(chosen.size)
    return nearest


def _local_pca(
    values: Any, graph: NeighborGraph, sample: npt.NDArray[np.intp], k: int, confidence: float
) -> DimensionEstimate:
    """Return the median over rows of the directions that hold 90 % of a neighbourhood's variance.

    The interval is that of a median of as many rows as there are neighbourhoods that do not overlap.
    """
    shares, step = [], max(1, min(_BLOCK, _NUMBERS // (k * int(values.shape[1]))))
    for begin in range(0, sample.size, step):
        rows = graph.indices[sample[begin : begin + step], :k]
        near = values[rows.ravel()]
        dense: Any = _written(near, k) if hasattr(near, "toarray") else near
        shares.append(estimators.local_shares(_products_of(dense, *rows.shape)))
    found = np.concatenate(shares)
    found = found[found > 0]
    if found.size < 2:
        return DimensionEstimate(math.nan, math.nan, math.nan)
    half = float(scipy.special.ndtri(0.5 + confidence / 2.0)) / (2.0 * math.sqrt(max(found.size / k, 1.0)))
    low, value, high = np.quantile(found, [max(0.5 - half, 0.0), 0.5, min(0.5 + half, 1.0)])
    return DimensionEstimate(float(value), float(low), float(high))


def _written(near: Any, k: int) -> npt.NDArray[Any]:
    """Return sparse rows written out, each k of them in columns of their own if they store few of the columns.

    Products among the k are the same.
    """
    n, d = near.shape
    if 2 * k * near.nnz > n * d:
        return np.asarray(near.toarray())
    row = np.repeat(np.arange(n), np.diff(near.indptr))
    stored, at = np.unique(row // k * d + near.indices, return_inverse=True)
    at -= np.searchsorted(stored, np.arange(0, n, k) // k * d)[row // k]
    found = np.zeros((n, int(at.max(initial=0)) + 1), dtype=near.dtype)
    found[row, at] = near.data
    return found


def _products_of(near: npt.NDArray[Any], n_rows: int, k: int) -> Float64Array:
    """Return the inner products of each k rows about their mean, (n_rows, k, k), in any unit; near is (n_rows k, d)."""
    small = as_bytes(near)
    if small.dtype == np.uint8:
        whole = small.astype(np.float64).reshape(n_rows, k, -1)
        products = stacked_products(whole, whole.transpose(0, 2, 1))
        products -= products.mean(axis=1, keepdims=True)
        products -= products.mean(axis=2, keepdims=True)
        return products
    wide = near.astype(np.float64).reshape(n_rows, k, -1)
    wide -= wide.mean(axis=1, keepdims=True)
    if near.dtype == np.float64:
        largest = np.abs(wide).max(axis=(1, 2), keepdims=True)
        wide /= np.where(largest > 0.0, largest, 1.0)  # squares of any unit stay in range
    return stacked_products(wide, wide.transpose(0, 2, 1))


def _unknown(n_samples: int, confidence: float) -> IntrinsicDimension:
    nothing = DimensionEstimate(math.nan, math.nan, math.nan)
    nowhere = np.full(n_samples, np.nan)
    names = ("growth", "mle", "levina_bickel", "two_nn", "correlation", "local_pca", "extrapolated")
    return IntrinsicDimension(
        dict.fromkeys(names, nothing), nowhere, nowhere, nowhere, (0, 0), confidence, math.nan, math.nan
    )
