"""Frames of the local tangent spaces of a table: which directions the data vary in, around each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.geometry.check import check_values
from gnomon.linalg import product, small_svd
from gnomon.linalg.table import RowTable, evenly_spaced
from gnomon.neighbors import NeighborGraph, check_graph
from gnomon.neighbors.images import images_around, metric_wraps

__all__ = ["TangentFrames", "tangent_frames"]

_EXPANDED_BYTES = 1 << 28  # frames held expanded at one time
_EDGES_PER_FRAME = 8  # edges of a part for each frame it may hold; parts that need more frames are halved
_MEDIAN_ROWS = 2048  # points whose dimensions are looked at to choose n_components


@dataclass(frozen=True)
class TangentFrames(ShortRepr):
    """Orthonormal frames of the local tangent spaces of n points, made by `tangent_frames`.

    The frame of row i is ``V_i = sum_j (x_j - x_i) outer coefficients[i, j]`` over its neighbours j, of shape
    (n_features, n_directions). Methods that need the data take it again: nothing of size n_features is stored.
    Importances and consistencies do not change if singular vectors change sign or a frame is rotated in its plane.

    Attributes
    ----------
    rows : ndarray of shape (n,), int64
        Row numbers of the points that the other arrays describe.
    values : ndarray of shape (n, n_directions), float64
        Singular values of the weighted displacements, descending, in units of the data; zero where a point has fewer
        directions. Their squares are the local variances about the point along its directions.
    coefficients : ndarray of shape (n, n_neighbors, n_directions), float64
        The frames, per unit of the data. Their signs are arbitrary; `expand` fixes them.
    total_variance : ndarray of shape (n,), float64
        Sum of all squared singular values, kept or not: the weighted mean squared distance of the neighbours.
    dimension : ndarray of shape (n,), int32
        Smallest number of directions that hold the share of the variance asked for; 0 where `mask` is False.
    gap_dimension : ndarray of shape (n,), int32
        Number of directions before the largest drop from one singular value to the next, an estimate of the local
        dimension that needs no share; 0 where `mask` is False.
    mask : ndarray of shape (n,), bool
        False where fewer than two neighbours differ from the point and from each other: there is no frame.
    indices, weights : ndarray of shape (n_samples, n_neighbors), int32 and float32
        The neighbours used; weight 0 where there is none.
    """

    rows: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    coefficients: npt.NDArray[np.float64]
    total_variance: npt.NDArray[np.float64]
    dimension: npt.NDArray[np.int32]
    gap_dimension: npt.NDArray[np.int32]
    mask: npt.NDArray[np.bool_]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    @property
    def n_directions(self) -> int:
        """Columns of each frame."""
        return int(self.values.shape[1])

    @cached_property
    def rank(self) -> npt.NDArray[np.int32]:
        """Columns of each frame that are not zero, (n,) int32."""
        counts: npt.NDArray[np.int32] = np.count_nonzero(self.values, axis=1).astype(np.int32)
        return counts

    def expand(self, X: Any, rows: Any) -> npt.NDArray[np.float64]:
        """Return the frames of some rows, (len(rows), n_features, n_directions) float64.

        Columns are orthonormal, the entry of largest magnitude of each is positive, and those beyond a point's rank
        are zero. An error of the data's rounding, about 1e-16, grows by the squared ratio of the largest singular
        value to the column's.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The data of the fit.
        rows : int or array of row numbers
            Rows that were fitted; one row number gives an array of length 1.
        """
        frames = self._expand(X, self._positions(rows), np.float64)
        largest = np.take_along_axis(frames, np.abs(frames).argmax(axis=2)[:, :, None], axis=2)
        frames *= np.where(largest < 0, -1.0, 1.0)
        columns: npt.NDArray[np.float64] = frames.transpose(0, 2, 1)
        return columns

    def importance(self, X: Any, rows: Any = None, *, weighted: bool = True) -> npt.NDArray[np.float32]:
        """Return how much of each feature lies in the tangent space of each point, (len(rows), n_features).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The data of the fit.
        rows : int or array of row numbers, default=None
            Rows that were fitted; all by default.
        weighted : bool, default=True
            If True, the root mean square displacement of the feature within the frame, in units of the feature:
            ``norm(V[f] * S)``. With all directions kept it is `local_deviation`. If False, ``norm(V[f])`` in [0, 1],
            which ignores how much the data vary along each direction; its squares sum to the point's rank.

        Returns
        -------
        ndarray of shape (len(rows), n_features), float32
            NaN where there is no frame.
        """
        each: npt.NDArray[np.float32] = self._importance(X, self._positions(rows), weighted, False)[0]
        return each

    def mean_importance(self, X: Any, *, weighted: bool = True) -> npt.NDArray[np.float64]:
        """Return the mean of `importance` over the points with a frame, (n_features,); the table is not formed."""
        mean: npt.NDArray[np.float64] = self._importance(X, self._positions(None), weighted, True)[1]
        return mean

    def local_deviation(self, X: Any, rows: Any = None) -> npt.NDArray[np.float32]:
        """Return the weighted root mean square of x_jf - x_if over the neighbours j, (len(rows), n_features).

        In units of each feature; NaN where there is no frame. Parameters as in `importance`.
        """
        at = self._positions(rows)
        each, _ = self._call("local_deviation", X, at, self.mask[at].astype(np.uint8), False, current_run().n_threads)
        deviation: npt.NDArray[np.float32] = each
        return deviation

    @entrance("consistency")
    def consistency(self, X: Any, pairs: Any = None, *, kind: str = "aligned") -> npt.NDArray[np.float64]:
        """Return how far the tangent spaces of pairs of points agree, from 0 (orthogonal) to 1 (the same).

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The data of the fit.
        pairs : ndarray of shape (n_pairs, 2) of row numbers, default=None
            Both rows of a pair were fitted. By default every fitted point with each of its neighbours.
        kind : {"aligned", "projector"}, default="aligned"
            "aligned": cosine of the frames after the best rotation of one onto the other, the mean cosine of the
            angles between the spaces. "projector": the mean squared cosine. For frames of r_i and r_j columns the sum
            is divided by ``sqrt(r_i * r_j)``.

        Returns
        -------
        ndarray of shape (n_pairs,), or (n, n_neighbors) if no pairs are given, float64
            NaN where one of the two has no frame or, without `pairs`, the neighbour does not exist or was not fitted.

        Notes
        -----
        The cosine of the frames as they stand, ``sum(V_i * V_j)``, is of no use: one plane gives anything from -1 to
        1, by the choice of its basis.
        """
        if kind not in ("aligned", "projector"):
            raise ValueError(message(f"kind={kind!r}", '"aligned" or "projector"'))
        if pairs is None:
            wanted = self.weights[self.rows] > 0
            ends = self._lookup(self.indices[self.rows])
            wanted &= ends >= 0
            starts = np.broadcast_to(np.arange(len(self.rows))[:, None], ends.shape)
            result = np.full(ends.shape, np.nan)
            edges = np.column_stack([starts[wanted], ends[wanted]])
            result[wanted] = _edge_consistency(self, X, edges, kind == "aligned")
            return result
        listed = np.asarray(pairs)
        if listed.ndim != 2 or listed.shape[1] != 2:
            raise ValueError(message(f"pairs of shape {listed.shape}", "of shape (n_pairs, 2)"))
        edges = self._positions(listed.ravel()).reshape(-1, 2)
        return _edge_consistency(self, X, edges, kind == "aligned")

    def transport(self, X: Any, i: int, j: int) -> npt.NDArray[np.float64]:
        """Return the orthogonal matrix O that carries the frame of row i to that of row j: ``V_i @ O`` is next to V_j.

        It is ``A @ B.T`` of the singular value decomposition ``V_i.T @ V_j = A S B.T``, for frames as `expand` returns
        them: of shape (n_directions, n_directions), NaN if one of the two has no frame. Both must have the same rank
        or O is not determined on the directions that are missing.
        """
        first, second = self.expand(X, [i, j])
        if not self.mask[self._positions([i, j])].all():
            return np.full((self.n_directions, self.n_directions), np.nan)
        left, _, right = small_svd(product(first.T, second))
        return product(left, right.T)

    def _lookup(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the positions of row numbers in `rows`, -1 where they were not fitted."""
        position = np.full(self.indices.shape[0], -1, dtype=np.int64)
        position[self.rows] = np.arange(len(self.rows))
        found: npt.NDArray[np.int64] = position[rows]
        return found

    def _positions(self, rows: Any) -> npt.NDArray[np.int64]:
        if rows is None:
            return np.arange(len(self.rows), dtype=np.int64)
        wanted = np.atleast_1d(np.asarray(rows))
        n = self.indices.shape[0]
        if wanted.size and (wanted.dtype.kind not in "iu" or not 0 <= wanted.min() <= wanted.max() < n):
            raise ValueError(message("rows", f"row numbers from 0 to {n - 1}", who="TangentFrames"))
        found = self._lookup(wanted.astype(np.int64))
        if np.any(found < 0):
            raise ValueError(message(f"row {wanted[found < 0][0]}", "among those fitted", who="TangentFrames"))
        return found

    def _call(self, name: str, X: Any, at: npt.NDArray[np.int64], *arguments: Any) -> Any:
        """Call a kernel that reads the displacements of the points at some positions."""
        table = RowTable.of(X)
        if table.shape[0] != self.indices.shape[0]:
            fact = f"X with {table.shape[0]:,} rows and frames of {self.indices.shape[0]:,}"
            raise ValueError(message(fact, "of the same table", who="TangentFrames"))
        return getattr(_core, name)(table.core, self.indices, self.weights, self.rows[at], *arguments)

    def _flat(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        n, k, m = self.coefficients.shape
        whole = self.coefficients.reshape(n, k * m)
        return whole if len(at) == n and np.array_equal(at, np.arange(n)) else whole[at]

    def _expand(self, X: Any, at: npt.NDArray[np.int64], dtype: Any) -> npt.NDArray[Any]:
        """Return the frames at some positions with their own signs, (len(at), n_directions, n_features)."""
        single = np.dtype(dtype) == np.float32
        order = np.arange(len(at), dtype=np.int64)
        frames: npt.NDArray[Any] = self._call(
            "expand_frames", X, at, self._flat(at), order, single, current_run().n_threads
        )
        return frames

    def _importance(self, X: Any, at: npt.NDArray[np.int64], weighted: bool, mean_only: bool) -> Any:
        scales = self.values[at] if weighted else (self.values[at] > 0).astype(np.float64)
        defined = self.mask[at].astype(np.uint8)
        return self._call(
            "frame_importance", X, at, self._flat(at), scales, defined, mean_only, current_run().n_threads
        )


def _parts(edges: npt.NDArray[np.int64], most: int) -> Any:
    """Cut edges, in order, into parts with at most `most` different ends; yield slices and their ends."""
    begin, size = 0, most * _EDGES_PER_FRAME
    while begin < len(edges):
        end = min(len(edges), begin + size)
        ends, inverse = np.unique(edges[begin:end], return_inverse=True)
        if len(ends) > most and end - begin > 1:
            size = max(1, (end - begin) // 2)
            continue
        yield slice(begin, end), ends, inverse.reshape(-1, 2)
        begin = end


def _edge_consistency(
    frames: TangentFrames, X: Any, edges: npt.NDArray[np.int64], aligned: bool
) -> npt.NDArray[np.float64]:
    """Return the aligned or the projector cosine of the frames at both ends of each edge (two positions)."""
    m = frames.n_directions
    most = max(2, _EXPANDED_BYTES // (4 * m * int(X.shape[1])))
    result = np.empty(len(edges))
    for part, ends, inverse in _parts(edges, most):
        expanded = frames._expand(X, ends, np.float32).reshape(len(ends), -1)
        local = np.ascontiguousarray(inverse, dtype=np.int32)
        result[part] = _core.frame_overlaps(expanded, m, local, aligned, current_run().n_threads)
    rank = frames.rank.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = result / np.sqrt(rank[edges[:, 0]] * rank[edges[:, 1]])
    whole: npt.NDArray[np.float64] = np.minimum(cosines, 1.0)
    return whole


def _check_weights(graph: NeighborGraph, weights: npt.NDArray[Any] | None) -> npt.NDArray[np.float32]:
    """Return one weight for each neighbour of the graph; those that do not exist get 0."""
    shape = graph.indices.shape
    if weights is None:
        checked = np.ones(shape, dtype=np.float32)
    else:
        checked = np.array(weights, dtype=np.float32, order="C")
        if checked.shape != shape or not np.all(np.isfinite(checked)) or np.any(checked < 0):
            rule = f"finite, not negative and of the graph's shape {shape}"
            raise ValueError(message(f"weights of shape {checked.shape}", rule))
    if graph.mask is not None:
        checked[~graph.mask] = 0.0
    return checked


def _check_rows(rows: npt.NDArray[Any] | None, n_samples: int) -> npt.NDArray[np.int64]:
    if rows is None:
        return np.arange(n_samples, dtype=np.int64)
    listed = np.asarray(rows)
    if listed.ndim != 1 or (listed.size and listed.dtype.kind not in "iu"):
        raise ValueError(message(f"rows of shape {listed.shape} and type {listed.dtype}", "a list of row numbers"))
    if listed.size and not 0 <= int(listed.min()) <= int(listed.max()) < n_samples:
        raise ValueError(message("rows", f"from 0 to {n_samples - 1}"))
    return np.ascontiguousarray(listed, dtype=np.int64)


def _frames_around(
    X: Any,
    metric: str,
    indices: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float32],
    rows: npt.NDArray[np.int64],
    given: tuple[int, bool, float],
) -> tuple[Any, ...]:
    """Return what the kernel does of rows whose neighbours are at their nearest images."""
    parts = []
    for piece in images_around(X[rows], X, indices[rows], metric):
        these = rows[piece.rows]
        shape = len(piece.table), indices.shape[1]
        near, share = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.float32)
        near[: len(these)], share[: len(these)] = piece.indices, weights[these]
        table, listed = RowTable.of(piece.table), np.arange(len(these), dtype=np.int64)
        parts.append(_core.tangent_frames(table.core, near, share, listed, *given, current_run().n_threads))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


@entrance("tangent_frames")
def tangent_frames(
    X: Any,
    graph: NeighborGraph,
    *,
    weights: npt.NDArray[Any] | None = None,
    rows: npt.NDArray[Any] | None = None,
    n_components: int | None = None,
    variance_share: float = 0.9,
) -> TangentFrames:
    """Fit, around each point, an orthonormal frame of the directions in which the data vary there.

    For point i with the displacements x_j - x_i of its neighbours as rows of Z and their weights, divided by their
    sum, on the diagonal of W, the frame holds the leading right singular vectors of ``W^1/2 Z``. They come from the
    small matrix of inner products, ``W^1/2 Z Z.T W^1/2``, and are kept as coefficients of the neighbours.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The data. float32, float64, uint8 and CSR are read where they lie. Displacements are formed in float64 (bytes:
        exactly, in integers), so a constant offset costs no precision.
    graph : NeighborGraph of n_samples rows
        Neighbours in the data; at their nearest images where columns have a period under its metric.
    weights : ndarray of shape (n_samples, n_neighbors), default=None
        Weight >= 0 of each neighbour, equal by default; only their ratios at a point matter.
    rows : ndarray of row numbers, default=None
        The points wanted; all by default.
    n_components : int in [1, min(n_neighbors, n_features)], default=None
        Directions of each frame. By default the median of `TangentFrames.dimension`, halves rounded up, over the
        points wanted; over 2,048 evenly spaced ones of them if there are more.
    variance_share : float in (0, 1], default=0.9
        The dimension of a point is the smallest number of directions that holds this share of the variance there.

    Returns
    -------
    TangentFrames

    Raises
    ------
    ValueError
        If X and the graph differ in length, or a parameter is outside of its range.

    Notes
    -----
    Where a point has fewer directions than n_components, the remaining singular values and columns are zero: those
    whose singular value is at most 1e-6 of the largest are lost in rounding.

    References
    ----------
    .. [1] Yang et al., "Interpretable Dimensionality Reduction by Feature Preserving Manifold Approximation and
       Projection", 2022, section 3 (weights and singular vectors).
    """
    values = check_values(X)
    check_graph(graph, values.shape[0], ordered=False)
    most = min(graph.n_neighbors, values.shape[1])
    rules: dict[str, Rule] = {"variance_share": Real(0.0, 1.0, low_open=True)}
    given: dict[str, Any] = {"variance_share": variance_share}
    if n_components is not None:
        rules["n_components"] = Integer(1, most)
        given["n_components"] = n_components
    checked = check_parameters(rules, given)
    table = RowTable.of(values)
    indices = np.ascontiguousarray(graph.indices, dtype=np.int32)
    used = _check_weights(graph, weights)
    listed = _check_rows(rows, table.shape[0])

    wraps = metric_wraps(graph.metric, table.shape[1]) and listed.size > 0

    def fit(these: npt.NDArray[np.int64], m: int, vectors: bool) -> tuple[Any, ...]:
        given = m, vectors, checked["variance_share"]
        if wraps:
            return _frames_around(values, graph.metric, indices, used, these, given)
        found: tuple[Any, ...] = _core.tangent_frames(table.core, indices, used, these, *given, current_run().n_threads)
        return found

    if n_components is None:
        looked = listed[evenly_spaced(listed.size, _MEDIAN_ROWS)]
        dimension = fit(looked, 1, False)[3]
        m = max(1, int(np.floor(np.median(dimension[dimension > 0]) + 0.5))) if np.any(dimension) else 1
    else:
        m = checked["n_components"]
    singular, coefficients, total, dimension, gap = fit(listed, m, True)
    return TangentFrames(
        rows=listed,
        values=singular,
        coefficients=coefficients,
        total_variance=total,
        dimension=dimension,
        gap_dimension=gap,
        mask=dimension > 0,
        indices=indices,
        weights=used,
    )
