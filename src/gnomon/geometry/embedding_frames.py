"""Where the leading tangent directions of the data point in a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import message

if TYPE_CHECKING:
    from gnomon.geometry.frames import TangentFrames

__all__ = ["EmbeddingFrames"]


@dataclass(frozen=True)
class EmbeddingFrames(ShortRepr):
    """Orthonormal frames of a map that follow the tangent frames of the data.

    With Jacobians ``J_i = sum_j (y_j - y_i) coefficients[i, j]'`` over the neighbours j, of shape (n_components,
    n_directions), frame Q_i is the polar factor of J_i: the matrix with orthonormal columns closest to it. Column l is
    where tangent direction l of the data points in the map. Rotating the map rotates the frames; rotating the tangent
    frame of a point rotates its frame alike.

    Attributes
    ----------
    indices : ndarray of shape (n_samples, n_neighbors), int32
        Neighbours of each point.
    coefficients : ndarray of shape (n_samples, n_neighbors, n_directions), float32
        Weights of the neighbours' displacements, up to a factor > 0 for each point; 0 where there is no neighbour.
    ranks : ndarray of shape (n_samples,), int32
        How many of the directions a point has; the others have coefficients of 0.
    """

    indices: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.float32]
    ranks: npt.NDArray[np.int32]

    @classmethod
    def following(cls, frames: TangentFrames, n_directions: int) -> EmbeddingFrames:
        """Return the frames that follow the leading tangent directions of a table, those of all its rows.

        Parameters
        ----------
        frames : TangentFrames
            Fitted for all rows in their order. Its coefficients are those of the Jacobian as well.
        n_directions : int >= 1
            Directions wanted, such as the number of components of the map; fewer if the frames have fewer.
        """
        width = min(n_directions, frames.n_directions)
        ranks = np.where(frames.mask, np.minimum(frames.rank, width), 0).astype(np.int32)
        used = (frames.weights[frames.rows] > 0)[:, :, None] & (np.arange(width) < ranks[:, None])[:, None, :]
        coefficients = np.where(used, frames.coefficients[:, :, :width], 0.0)
        largest = np.abs(coefficients).max(axis=(1, 2), keepdims=True, initial=0.0)
        coefficients /= np.where(largest > 0, largest, 1.0)  # data of any unit fit in float32, and frames have none
        return cls(frames.indices[frames.rows], coefficients.astype(np.float32), ranks)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.ranks)

    @property
    def n_directions(self) -> int:
        """Number of tangent directions."""
        return int(self.coefficients.shape[2])

    @entrance("EmbeddingFrames")
    def of(self, Y: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the frames of an embedding, (n_samples, n_components, n_directions).

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            The embedding.

        Returns
        -------
        ndarray of shape (n_samples, n_components, n_directions), float64
            Columns of length 1, at right angles; all 0 for a direction that the point has not, or at a point whose
            Jacobian sends two directions onto one, so that no frame is closest.
        """
        points = np.ascontiguousarray(Y, dtype=np.float32)
        if points.ndim != 2 or points.shape[0] != self.n_samples:
            rule = f"of shape (n_samples={self.n_samples}, n_components)"
            raise ValueError(message(f"Y of shape {points.shape}", rule))
        n = self.n_samples
        width = min(self.n_directions, points.shape[1])
        coefficients = np.ascontiguousarray(self.coefficients[:, :, :width]).reshape(n, -1)
        ranks = np.minimum(self.ranks, width).astype(np.int32)
        found: npt.NDArray[np.float64] = _core.embedding_frames(
            points, self.indices, coefficients, ranks, current_run().n_threads
        )
        return found
