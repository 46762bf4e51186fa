"""Frames of local tangent spaces, held as coefficients and expanded where they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.geometry.frames.consistency import edge_consistency
from gnomon.linalg.table import RowTable

__all__ = ["TangentFrames"]


@dataclass(frozen=True)
class TangentFrames:
    """Orthonormal frames of the local tangent spaces of n points, made by `tangent_frames`.

    The frame of row i is ``V_i = sum_j (x_j - x_i) outer coefficients[i, j]`` over its neighbours j, of shape
    (n_features, n_directions). Methods that need the data take it again: nothing of size n_features is stored.
    Importances and consistencies do not change if singular vectors change sign or a frame is turned in its plane.

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

    def expand(self, X: Any, rows: Any, *, n_threads: int = 1) -> npt.NDArray[np.float64]:
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
        n_threads : int >= 1, default=1
            Does not change the result.
        """
        frames = self._expand(X, self._positions(rows), np.float64, n_threads)
        largest = np.take_along_axis(frames, np.abs(frames).argmax(axis=2)[:, :, None], axis=2)
        frames *= np.where(largest < 0, -1.0, 1.0)
        turned: npt.NDArray[np.float64] = frames.transpose(0, 2, 1)
        return turned

    def importance(
        self, X: Any, rows: Any = None, *, weighted: bool = True, n_threads: int = 1
    ) -> npt.NDArray[np.float32]:
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
        n_threads : int >= 1, default=1
            Does not change the result.

        Returns
        -------
        ndarray of shape (len(rows), n_features), float32
            NaN where there is no frame.
        """
        each: npt.NDArray[np.float32] = self._importance(X, self._positions(rows), weighted, False, n_threads)[0]
        return each

    def mean_importance(self, X: Any, *, weighted: bool = True, n_threads: int = 1) -> npt.NDArray[np.float64]:
        """Return the mean of `importance` over the points with a frame, (n_features,); the table is not formed."""
        mean: npt.NDArray[np.float64] = self._importance(X, self._positions(None), weighted, True, n_threads)[1]
        return mean

    def local_deviation(self, X: Any, rows: Any = None, *, n_threads: int = 1) -> npt.NDArray[np.float32]:
        """Return the weighted root mean square of x_jf - x_if over the neighbours j, (len(rows), n_features).

        In units of each feature; NaN where there is no frame. Parameters as in `importance`.
        """
        at = self._positions(rows)
        each, _ = self._call("local_deviation", X, at, self.mask[at].astype(np.uint8), False, n_threads)
        deviation: npt.NDArray[np.float32] = each
        return deviation

    def consistency(
        self, X: Any, pairs: Any = None, *, kind: str = "aligned", n_threads: int = 1
    ) -> npt.NDArray[np.float64]:
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
        n_threads : int >= 1, default=1
            Does not change the result.

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
            raise ValueError(message("consistency", f"kind={kind!r}", '"aligned" or "projector"'))
        if pairs is None:
            wanted = self.weights[self.rows] > 0
            ends = self._lookup(self.indices[self.rows])
            wanted &= ends >= 0
            starts = np.broadcast_to(np.arange(len(self.rows))[:, None], ends.shape)
            result = np.full(ends.shape, np.nan)
            edges = np.column_stack([starts[wanted], ends[wanted]])
            result[wanted] = edge_consistency(self, X, edges, kind == "aligned", n_threads)
            return result
        listed = np.asarray(pairs)
        if listed.ndim != 2 or listed.shape[1] != 2:
            raise ValueError(message("consistency", f"pairs of shape {listed.shape}", "of shape (n_pairs, 2)"))
        edges = self._positions(listed.ravel()).reshape(-1, 2)
        return edge_consistency(self, X, edges, kind == "aligned", n_threads)

    def transport(self, X: Any, i: int, j: int) -> npt.NDArray[np.float64]:
        """Return the orthogonal matrix O that carries the frame of row i to that of row j: ``V_i @ O`` is next to V_j.

        It is ``A @ B.T`` of the singular value decomposition ``V_i.T @ V_j = A S B.T``, for frames as `expand` returns
        them: of shape (n_directions, n_directions), NaN if one of the two has no frame. Both must have the same rank
        or O is not determined on the directions that are missing.
        """
        first, second = self.expand(X, [i, j])
        if not self.mask[self._positions([i, j])].all():
            return np.full((self.n_directions, self.n_directions), np.nan)
        with single_threaded_blas():
            left, _, right = np.linalg.svd(first.T @ second)
            turn: npt.NDArray[np.float64] = left @ right
        return turn

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
            raise ValueError(message("TangentFrames", "rows", f"row numbers from 0 to {n - 1}"))
        found = self._lookup(wanted.astype(np.int64))
        if np.any(found < 0):
            raise ValueError(message("TangentFrames", f"row {wanted[found < 0][0]}", "among those fitted"))
        return found

    def _call(self, name: str, X: Any, at: npt.NDArray[np.int64], *arguments: Any) -> Any:
        """Call a kernel that reads the displacements of the points at some positions."""
        table = RowTable.of(X)
        if table.shape[0] != self.indices.shape[0]:
            fact = f"X with {table.shape[0]} rows and frames of {self.indices.shape[0]}"
            raise ValueError(message("TangentFrames", fact, "of the same table"))
        return getattr(_core, name)(table.core, self.indices, self.weights, self.rows[at], *arguments)

    def _flat(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        n, k, m = self.coefficients.shape
        whole = self.coefficients.reshape(n, k * m)
        return whole if len(at) == n and np.array_equal(at, np.arange(n)) else whole[at]

    def _expand(self, X: Any, at: npt.NDArray[np.int64], dtype: Any, n_threads: int) -> npt.NDArray[Any]:
        """Return the frames at some positions with their own signs, (len(at), n_directions, n_features)."""
        single = np.dtype(dtype) == np.float32
        order = np.arange(len(at), dtype=np.int64)
        frames: npt.NDArray[Any] = self._call("expand_frames", X, at, self._flat(at), order, single, n_threads)
        return frames

    def _importance(self, X: Any, at: npt.NDArray[np.int64], weighted: bool, mean_only: bool, n_threads: int) -> Any:
        scales = self.values[at] if weighted else (self.values[at] > 0).astype(np.float64)
        defined = self.mask[at].astype(np.uint8)
        return self._call("frame_importance", X, at, self._flat(at), scales, defined, mean_only, n_threads)
