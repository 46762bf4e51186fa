"""Fit of the tangent frames: leading singular vectors of the weighted displacements of the neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.geometry.check import check_values
from gnomon.geometry.frames.tangent import TangentFrames
from gnomon.linalg.table import RowTable
from gnomon.neighbors import NeighborGraph, check_graph

__all__ = ["tangent_frames"]

_WHO = "tangent_frames"
_MEDIAN_ROWS = 2048  # points whose dimensions are looked at to choose n_components


def _check_weights(graph: NeighborGraph, weights: npt.NDArray[Any] | None) -> npt.NDArray[np.float32]:
    """Return one weight for each neighbour of the graph; those that do not exist get 0."""
    shape = graph.indices.shape
    if weights is None:
        checked = np.ones(shape, dtype=np.float32)
    else:
        checked = np.array(weights, dtype=np.float32, order="C")
        if checked.shape != shape or not np.all(np.isfinite(checked)) or np.any(checked < 0):
            rule = f"finite, not negative and of the graph's shape {shape}"
            raise ValueError(message(_WHO, f"weights of shape {checked.shape}", rule))
    if graph.mask is not None:
        checked[~graph.mask] = 0.0
    return checked


def _check_rows(rows: npt.NDArray[Any] | None, n_samples: int) -> npt.NDArray[np.int64]:
    if rows is None:
        return np.arange(n_samples, dtype=np.int64)
    listed = np.asarray(rows)
    if listed.ndim != 1 or (listed.size and listed.dtype.kind not in "iu"):
        raise ValueError(
            message(_WHO, f"rows of shape {listed.shape} and type {listed.dtype}", "a list of row numbers")
        )
    if listed.size and not 0 <= int(listed.min()) <= int(listed.max()) < n_samples:
        raise ValueError(message(_WHO, "rows", f"from 0 to {n_samples - 1}"))
    return np.ascontiguousarray(listed, dtype=np.int64)


def tangent_frames(
    X: Any,
    graph: NeighborGraph,
    *,
    weights: npt.NDArray[Any] | None = None,
    rows: npt.NDArray[Any] | None = None,
    n_components: int | None = None,
    variance_share: float = 0.9,
    n_threads: int = 1,
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
        Neighbours in the data.
    weights : ndarray of shape (n_samples, n_neighbors), default=None
        Weight >= 0 of each neighbour, equal by default; only their ratios at a point matter.
    rows : ndarray of row numbers, default=None
        The points wanted; all by default.
    n_components : int in [1, min(n_neighbors, n_features)], default=None
        Directions of each frame. By default the median of `TangentFrames.dimension`, halves rounded up, over the
        points wanted; over 2,048 evenly spaced ones of them if there are more.
    variance_share : float in (0, 1], default=0.9
        The dimension of a point is the smallest number of directions that holds this share of the variance there.
    n_threads : int >= 1, default=1
        Does not change the result.

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
    values = check_values(X, who=_WHO)
    check_graph(graph, values.shape[0], who=_WHO, ordered=False)
    most = min(graph.n_neighbors, values.shape[1])
    rules: dict[str, Rule] = {"variance_share": Real(0.0, 1.0, low_open=True), "n_threads": Integer(1)}
    given: dict[str, Any] = {"variance_share": variance_share, "n_threads": n_threads}
    if n_components is not None:
        rules["n_components"] = Integer(1, most)
        given["n_components"] = n_components
    checked = check_parameters(_WHO, rules, given)
    table = RowTable.of(values)
    indices = np.ascontiguousarray(graph.indices, dtype=np.int32)
    used = _check_weights(graph, weights)
    listed = _check_rows(rows, table.shape[0])

    def fit(these: npt.NDArray[np.int64], m: int, vectors: bool) -> tuple[Any, ...]:
        found: tuple[Any, ...] = _core.tangent_frames(
            table.core, indices, used, these, m, vectors, checked["variance_share"], checked["n_threads"]
        )
        return found

    if n_components is None:
        n_looked = min(listed.size, _MEDIAN_ROWS)
        looked = listed[np.linspace(0, max(listed.size - 1, 0), n_looked).astype(np.int64)]
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
