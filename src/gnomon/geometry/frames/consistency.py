"""Agreement of tangent frames along edges, without expanding all frames at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import _core

if TYPE_CHECKING:
    from gnomon.geometry.frames.tangent import TangentFrames

__all__ = ["edge_consistency"]

_EXPANDED_BYTES = 1 << 28  # frames held expanded at one time
_EDGES_PER_FRAME = 8  # edges of a part for each frame it may hold; parts that need more frames are halved


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


def edge_consistency(
    frames: TangentFrames, X: Any, edges: npt.NDArray[np.int64], aligned: bool, n_threads: int
) -> npt.NDArray[np.float64]:
    """Return the aligned or the projector cosine of the frames at both ends of each edge (two positions)."""
    m = frames.n_directions
    most = max(2, _EXPANDED_BYTES // (4 * m * int(X.shape[1])))
    result = np.empty(len(edges))
    for part, ends, inverse in _parts(edges, most):
        expanded = frames._expand(X, ends, np.float32, n_threads).reshape(len(ends), -1)
        local = np.ascontiguousarray(inverse, dtype=np.int32)
        result[part] = _core.frame_overlaps(expanded, m, local, aligned, n_threads)
    rank = frames.rank.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = result / np.sqrt(rank[edges[:, 0]] * rank[edges[:, 1]])
    whole: npt.NDArray[np.float64] = np.minimum(cosines, 1.0)
    return whole
