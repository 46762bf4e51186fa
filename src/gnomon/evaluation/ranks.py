"""The ranks of all rows, seen from anchors, compared between the data and the map, for neighbourhoods of every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import geometric, log
from gnomon._run import current_run
from gnomon.evaluation.anchors import DistanceRows, pairs_among
from gnomon.evaluation.scores import rank_penalty_scale

__all__ = [
    "AnchorRanks",
    "auc_offset",
    "auc_weights",
    "coranking_curve",
    "local_and_global",
    "local_size",
    "neighborhood_sizes",
    "random_rank_errors",
    "rank_anchors",
    "rank_error_scale",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_EVERY_SIZE = 128  # rows up to which curves have a value for every size
_N_SIZES = 96
_GROUPS = 25
_COUNT_BYTES = 2**30  # of counts by max(r, e), which every thread has of its own
_COLUMNS = (
    "nearest_in_data",
    "nearest_in_map",
    "shared",
    "intruders",
    "extruders",
    "errors_in_map",
    "errors_in_data",
    "auc",
    "discordant",
    "moments",
    "data_radii",
    "map_radii",
    "pairs_data",
    "pairs_map",
)


@dataclass(frozen=True)
class AnchorRanks:
    """What the ranks of all rows from each anchor say: r in the data, e in the map, both 1 for the nearest.

    Attributes
    ----------
    anchors : ndarray of shape (m,), int64
        Row numbers.
    sizes : ndarray of shape (g,), int64
        Sizes k of neighbourhoods that the sums below are for, ascending.
    nearest_in_data, nearest_in_map : ndarray of shape (m, n_nearest), int32
        Nearest rows; equal distances by row number.
    data_radii, map_radii : ndarray of shape (m, n_nearest, 2), float64
        Distances in the data, and in the map, to the rows of both lists: the nearest in the data, those in the map.
    shared : ndarray of shape (m, g), int64
        Rows with r <= k and e <= k.
    intruders, extruders : ndarray of shape (m, g), int64
        Sum of r - k over rows with e <= k < r, and with r and e exchanged.
    errors_in_map, errors_in_data : ndarray of shape (m, g), float64
        Sum of |r - e| / e over rows with e <= k, and of |r - e| / r over rows with r <= k.
    auc : ndarray of shape (m,), float64
        Area under R_NX of each anchor.
    discordant : ndarray of shape (m,), int64
        Pairs of rows in opposite order of distance, counted twice, and pairs tied on one side, counted once.
    moments : ndarray of shape (m, 5), float64
        Sums over the other rows of x, y, x^2, y^2 and x y, with x the distance in the data and y in the map.
    pairs_data, pairs_map : ndarray of shape (p,), float64
        Distances of some or all pairs.
    all_pairs : bool
        Whether these are all pairs, each once. Otherwise each anchor has as many, one anchor after the other.
    coranked : ndarray of shape (n_groups, n), int64
        Pairs of an anchor and a row by max(r, e), for random groups of anchors of about the same size.
    """

    anchors: Ints
    sizes: Ints
    nearest_in_data: npt.NDArray[np.int32]
    nearest_in_map: npt.NDArray[np.int32]
    data_radii: Floats
    map_radii: Floats
    shared: Ints
    intruders: Ints
    extruders: Ints
    errors_in_map: Floats
    errors_in_data: Floats
    auc: Floats
    discordant: Ints
    moments: Floats
    pairs_data: Floats
    pairs_map: Floats
    all_pairs: bool
    coranked: Ints

    @property
    def n_samples(self) -> int:
        """Rows in all."""
        return int(self.coranked.shape[1])

    def at(self, k: int) -> int:
        """Return the place of a size in `sizes`."""
        return int(np.searchsorted(self.sizes, k))

    def kept(self) -> Floats:
        """Return Q_NX of each anchor: the share of common neighbours, (m, g)."""
        shares: Floats = self.shared / self.sizes
        return shares

    def beyond_chance(self) -> Floats:
        """Return R_NX of each anchor, (m, g): Q_NX scaled to 0 for a random map; NaN for n - 1 neighbours."""
        return self.scaled(self.kept())

    def scaled(self, kept: Floats) -> Floats:
        """Return R_NX from Q_NX at all sizes."""
        n = self.n_samples
        rest = np.where(self.sizes < n - 1, n - 1.0 - self.sizes, np.nan)
        shares: Floats = ((n - 1) * kept - self.sizes) / rest
        return shares

    def trust(self) -> Floats:
        """Return the trustworthiness of each anchor, (m, g); NaN from n / 2 neighbours on."""
        return 1.0 - self._penalty_scales() * self.intruders

    def continuity(self) -> Floats:
        """Return the continuity of each anchor, (m, g); NaN from n / 2 neighbours on."""
        return 1.0 - self._penalty_scales() * self.extruders

    def _penalty_scales(self) -> Floats:
        n = self.n_samples
        return np.array([rank_penalty_scale(n, int(k)) if 2 * k < n else np.nan for k in self.sizes])

    def mrre(self) -> tuple[Floats, Floats]:
        """Return 1 - the mean relative rank errors of each anchor: of neighbours in the map, and in the data."""
        scales = rank_error_scale(self.n_samples)[self.sizes - 1]
        return 1.0 - self.errors_in_map / scales, 1.0 - self.errors_in_data / scales

    def triplets(self) -> Floats:
        """Return of each anchor the share of all pairs of other rows in the same order of distance, ties half."""
        pairs = (self.n_samples - 1) * (self.n_samples - 2)
        shares: Floats = 1.0 - self.discordant / pairs
        return shares

    def topographic(self, k: int) -> Floats:
        """Return the mean log of Bauer & Pawelzik's P3 over 1 ... k neighbours; NaN where a distance is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            in_data = log(self.data_radii[:, :k, 1]) - log(self.data_radii[:, :k, 0])
            in_map = log(self.map_radii[:, :k, 1]) - log(self.map_radii[:, :k, 0])
            means = np.cumsum(in_data + in_map, axis=1) / (2.0 * np.arange(1, k + 1))
        values: Floats = means.mean(axis=1)
        return np.where(np.isfinite(values), values, np.nan)


def coranking_curve(coranked: npt.NDArray[Any]) -> Floats:
    """Return Q_NX for every k = 1 ... n - 1 from counts of pairs by max(r, e), both in the last axis."""
    n = coranked.shape[-1]
    counts = np.cumsum(coranked[..., 1:], axis=-1)
    curve: Floats = counts * ((n - 1) / (np.arange(1, n) * counts[..., -1:]))
    return curve


def rank_anchors(
    X: Any,
    Y: Floats,
    anchors: Ints,
    *,
    metric: str,
    sizes: Ints,
    n_nearest: int,
    n_pairs: int | None,
    seed: int,
) -> AnchorRanks:
    """Rank all n >= 3 rows from each anchor in the data and in the map.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features), or (n, n) of distances
    Y : ndarray of shape (n, n_components), float64
    anchors : ndarray of shape (m,), int64
        Ascending row numbers.
    metric : str
        As for `gnomon.evaluate`.
    sizes : ndarray of shape (g,), int64
        Sizes of neighbourhoods, ascending, each in [1, n - 1].
    n_nearest : int in [1, n - 1]
        Nearest rows to list.
    n_pairs : int or None
        Pairs of rows to keep the distances of, about; None for all. All are kept too if there are no more and all rows
        are anchors.
    seed : int
        Draws the pairs.
    """
    n, m = len(Y), len(anchors)
    all_pairs = m == n and (n_pairs is None or n * (n - 1) // 2 <= n_pairs)
    drawn = 0 if all_pairs else n - 1 if n_pairs is None else max(1, min(n - 1, n_pairs // m))
    rows = DistanceRows(X, metric, n_nearest, anchors)
    weights, parts = auc_weights(n), []
    n_groups = min(_GROUPS, m)
    groups = (np.argsort(_core.random_keys(seed, m), kind="stable") % n_groups).astype(np.int32)
    coranked, at = np.zeros((n_groups, n), dtype=np.int64), 0
    n_threads = min(current_run().n_threads, max(1, _COUNT_BYTES // coranked.nbytes))
    for some, distances in rows:
        mine = groups[at : at + len(some)]
        at += len(some)
        *found, data_pairs, map_pairs, counts = _core.rank_anchors(
            distances,
            Y,
            some,
            sizes,
            weights,
            mine,
            n_groups,
            n_nearest,
            drawn,
            rows.unit,
            rows.squared,
            seed,
            n_threads,
        )
        coranked += counts
        near = np.stack(found[:2], axis=2)
        flat = near.reshape(len(some), -1).astype(np.int64)
        in_data = _in_units(np.take_along_axis(distances, flat, axis=1).astype(np.float64), rows)
        in_map = np.sqrt(np.sum((Y[flat] - Y[some][:, None, :]) ** 2, axis=2))
        if all_pairs:
            data_pairs, map_pairs = pairs_among(distances, Y, some)
            data_pairs, map_pairs = _in_units(data_pairs, rows), np.sqrt(map_pairs)
        radii = [in_data.reshape(near.shape), in_map.reshape(near.shape)]
        parts.append((*found, *radii, data_pairs.ravel(), map_pairs.ravel()))
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    given = dict(zip(_COLUMNS, columns, strict=True))
    given["auc"] = given["auc"] - auc_offset(n)
    return AnchorRanks(anchors=anchors, sizes=sizes, all_pairs=all_pairs, coranked=coranked, **given)


def _in_units(distances: Floats, rows: DistanceRows) -> Floats:
    """Return distances in units of the data."""
    return rows.unit * (np.sqrt(np.maximum(distances, 0.0)) if rows.squared else distances)


def neighborhood_sizes(n: int, *wanted: int) -> Ints:
    """Return sizes for curves: every one of few rows, else about a hundred from 1 to n - 2, closer where small."""
    if n <= _EVERY_SIZE:
        sizes = np.arange(1, max(n - 1, 2))
    else:
        sizes = np.unique(np.round(geometric(1, n - 2, _N_SIZES)).astype(np.int64))
    return np.union1d(sizes, np.array(wanted, dtype=np.int64)).astype(np.int64)


def auc_weights(n: int) -> Floats:
    """Return what a row with max(r, e) = 0 ... n - 1 adds to the area under R_NX of one anchor."""
    k = np.arange(1.0, n - 1.0)
    steps = (n - 1.0) / (k * k * (n - 1.0 - k)) / np.sum(1.0 / k)
    weights = np.zeros(n)
    weights[1:-1] = np.cumsum(steps[::-1])[::-1]
    weights[0] = weights[1]
    return weights


def auc_offset(n: int) -> float:
    """Return what chance adds to the weights of one anchor."""
    k = np.arange(1.0, n - 1.0)
    return float(np.sum(1.0 / (n - 1.0 - k)) / np.sum(1.0 / k))


def local_size(curve: Floats) -> npt.NDArray[np.int64]:
    """Return the size at which Q_NX, for every k = 1 ... n - 1 in the last axis, is farthest above chance."""
    n = curve.shape[-1] + 1
    sizes: npt.NDArray[np.int64] = np.argmax(curve - np.arange(1, n) / (n - 1), axis=-1) + 1
    return sizes


def local_and_global(coranked: npt.NDArray[Any]) -> Floats:
    """Return the means of Q_NX up to the local size and from it on, (..., 2), from counts in the last axis.

    References
    ----------
    .. [1] Lee & Verleysen, "Scale-independent quality criteria for dimensionality reduction", Pattern Recognition
       Letters 31, 2010.
    """
    curve = coranking_curve(coranked)
    n = curve.shape[-1] + 1
    size = local_size(curve)
    sums = np.cumsum(curve, axis=-1)
    up_to = np.take_along_axis(sums, size[..., None] - 1, axis=-1)[..., 0]
    at = np.take_along_axis(curve, size[..., None] - 1, axis=-1)[..., 0]
    means: Floats = np.stack([up_to / size, (sums[..., -1] - up_to + at) / (n - size)], axis=-1)
    return means


def rank_error_scale(n: int) -> Floats:
    """Return the normaliser of the mean relative rank errors of one row for k = 1 ... n - 1."""
    rank = np.arange(1, n)
    scale: Floats = np.cumsum(np.abs(n - 2.0 * rank + 1.0) / rank)
    return scale


def random_rank_errors(n: int, k: int) -> float:
    """Return 1 - the mean relative rank error that a random map is expected to get."""
    rank = np.arange(1.0, k + 1.0)
    gaps = ((rank - 1.0) * rank + (n - 1.0 - rank) * (n - rank)) / (2.0 * (n - 1.0))
    return 1.0 - float(np.sum(gaps / rank) / rank_error_scale(n)[k - 1])
