"""New rows placed by triplets: nearer to their neighbours than to points of reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import log1p, power
from gnomon._run import current_run
from gnomon.extension.placement.placement import MAX_ITER, RowPlacement, step_tolerance
from gnomon.neighbors import cross_distances

__all__ = ["TripletPlacement"]

_FAR = 128  # points of reference
_ROWS = 1024  # placed at a time; their weights take 6 MB for 12 neighbours
_LOCAL = slice(3, 6)  # the neighbours whose mean distance is a row's scale

Float32Array = npt.NDArray[np.float32]


@dataclass
class TripletPlacement(RowPlacement):
    """How a map of triplets places new rows.

    The inliers of a new row are the fitted rows of smallest d^2 / (sigma sigma_j), as in the fit. The outliers are 128
    fitted rows taken evenly from the table, the same for all new rows, each joined with each inlier; a triplet weighs
    what its scaled squared distances differ by, at least 0, tempered as in the fit. Random triplets are left out.

    Parameters
    ----------
    scales : ndarray of shape (n_samples,)
        Of the fitted rows.
    n_inliers : int >= 1
    temperature : float >= 0
    """

    scales: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    n_inliers: int = 12
    temperature: float = 0.5

    @property
    def far(self) -> npt.NDArray[np.intp]:
        """The rows of reference."""
        n = len(self.Y)
        count = min(n, _FAR)
        return np.arange(count) * n // count

    def _positions(self, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        points = np.ascontiguousarray(self.Y, dtype=np.float32)
        far_points = np.ascontiguousarray(points[self.far])
        parts = []
        for begin in range(0, len(indices), _ROWS):
            rows = slice(begin, begin + _ROWS)
            inliers, weights = self._triplets(X_new[rows], indices[rows], distances[rows])
            found, _ = _core.place_by_triplets(
                points, far_points, inliers, weights, MAX_ITER, step_tolerance(points), current_run().n_threads
            )
            parts.append(found)
        return np.concatenate(parts)

    def _triplets(
        self, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array
    ) -> tuple[npt.NDArray[np.int32], Float32Array]:
        """Return the inliers of rows and the weights of their triplets, (n_rows, n_inliers * n_far)."""
        lengths = np.where(np.isfinite(distances), distances, np.float32(0.0)).astype(np.float64)
        middle = lengths[:, _LOCAL] if lengths.shape[1] > _LOCAL.start else lengths[:, -1:]
        own = np.zeros(len(lengths))
        for column in middle.T:
            own += column / middle.shape[1]
        own = np.maximum(own, 1e-10 * float(self.scales.mean()))
        squares = (distances / own[:, None]) * (distances / self.scales[indices])
        chosen = np.argsort(squares, axis=1, kind="stable")[:, : self.n_inliers]
        near = np.take_along_axis(squares, chosen, axis=1)
        to_far = self._distances_to(X_new, self.far)
        outer = (to_far / own[:, None]) * (to_far / self.scales[self.far][None, :])
        gaps = np.clip(np.nan_to_num(outer[:, None, :] - near[:, :, None], nan=0.0, posinf=1e30), 0.0, 1e30)
        t = self.temperature
        weights = log1p(gaps) if t == 1.0 else (power(1.0 + gaps, 1.0 - t) - 1.0) / (1.0 - t)
        top = weights.max(axis=(1, 2))  # a factor common to a row's triplets does not move it
        weights /= np.where(top > 0.0, top, 1.0)[:, None, None]
        flat = np.ascontiguousarray(weights.reshape(len(weights), -1), dtype=np.float32)
        return np.ascontiguousarray(np.take_along_axis(indices, chosen, axis=1)), flat

    def _distances_to(self, X_new: Any, columns: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        if isinstance(self.metric, str) and self.metric == "precomputed":
            if isinstance(X_new, np.ndarray):
                return np.asarray(X_new[:, columns], dtype=np.float64)
            stored: Any = X_new.copy()
            stored.data = np.ones_like(stored.data)
            known = stored[:, columns].toarray() > 0
            return np.where(known, X_new[:, columns].toarray(), np.inf)
        return np.asarray(
            cross_distances(X_new, self.rows[columns], metric=self.metric, metric_params=self.metric_params)
        )
