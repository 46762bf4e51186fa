"""Ways to say which features matter at each point of a map: gnomon's, and the usual ones written plainly.

Each takes the table, its map, its neighbours and the rows wanted, and returns the importance of every feature at those
rows, (m, n_features); those that know directions also return the Jacobian, (m, n_components, n_features).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import tangent_frames
from gnomon.explanations import explain
from gnomon.neighbors import compute_neighbors

__all__ = ["EXPLAINERS", "SLOW", "gnomon_explanation"]

Floats = npt.NDArray[np.float64]
Answer = tuple[Floats, Floats | None]

_SAMPLES = 60  # of the surrogate, per point
_SHUFFLES = 3


def _displacements(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    return X[near[rows]] - X[rows][:, None], Y[near[rows]] - Y[rows][:, None]


def gnomon_explanation(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """gnomon.explain as it comes."""
    found = explain(X, Y, n_jobs=2)
    return found.importance[rows].astype(np.float64), np.array([found.axes(i) for i in rows.tolist()])


def _plain_regression(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Least squares through the point on 15 neighbours, in the directions that hold 90 % of their spread."""
    Z, T = _displacements(X, Y, near[:, :15], rows)
    _, s, vt = np.linalg.svd(Z, full_matrices=False)
    u = np.linalg.pinv(vt)  # (m, n_features, k)
    share = np.cumsum(s**2, axis=1) / np.sum(s**2, axis=1, keepdims=True)
    kept = np.concatenate([np.ones((len(s), 1), bool), share[:, :-1] < 0.9], axis=1)
    coordinates = Z @ u
    gain = np.where(kept, 1.0 / np.maximum(s**2, 1e-12 * s[:, :1] ** 2), 0.0)
    J = gain[:, :, None] * (np.swapaxes(coordinates, 1, 2) @ T)
    axes = np.swapaxes(u @ J, 1, 2)
    deviation = np.sqrt(np.mean(Z**2, axis=1))
    return np.linalg.norm(axes, axis=1) * deviation, axes


def _slopes_by_place(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Regress each feature on the place over the 100 nearest points of the map: the rule that costs nothing."""
    from scipy.spatial import cKDTree

    closest = cKDTree(Y).query(Y[rows], k=min(100, len(Y)))[1]
    Z, T = X[closest], Y[closest]
    Z, T = Z - Z.mean(axis=1, keepdims=True), T - T.mean(axis=1, keepdims=True)
    slopes = np.linalg.pinv(T) @ Z
    return np.linalg.norm(slopes, axis=1), slopes


def _featmap(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Take loadings of the data's tangent frames times singular values, as featMAP ranks features; without the map."""
    graph = compute_neighbors(X, 15)
    frames = tangent_frames(X, graph, rows=rows)
    return frames.importance(X, rows).astype(np.float64), None


def _gene_relevance(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Finite differences dY/dx_f to each of 15 neighbours, their median, as destiny's gene relevance."""
    Z, T = _displacements(X, Y, near[:, :15], rows)
    safe = np.where(np.abs(Z) > 0, Z, np.inf)
    axes = np.stack([np.median(T[:, :, c : c + 1] / safe, axis=1) for c in range(T.shape[2])], axis=1)
    return np.linalg.norm(axes, axis=1), axes


def _global_variance(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Variance of each feature over the table, the same for all points."""
    return np.tile(X.var(axis=0), (len(rows), 1)), None


class _NearestPlace:
    """The map as a black box for methods that need one: the mean place of the 15 nearest rows of the table."""

    def __init__(self, X: Floats, Y: Floats, n_neighbors: int = 15) -> None:
        self.X, self.Y, self.k, self.norms = X, Y, n_neighbors, np.sum(X**2, axis=1)

    def __call__(self, new: Floats) -> Floats:
        distances = self.norms - 2.0 * (new @ self.X.T)
        near = np.argpartition(distances, self.k, axis=1)[:, : self.k]
        mean: Floats = self.Y[near].mean(axis=1)
        return mean


def _permutation(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Mean distance that a row moves when one feature takes the value of a random other row."""
    place, rng = _NearestPlace(X, Y), np.random.default_rng(0)
    start = place(X[rows])
    moved = np.zeros((len(rows), X.shape[1]))
    for f in range(X.shape[1]):
        for _ in range(_SHUFFLES):
            changed = X[rows].copy()
            changed[:, f] = X[rng.integers(0, len(X), len(rows)), f]
            moved[:, f] += np.linalg.norm(place(changed) - start, axis=1)
    return moved / _SHUFFLES, None


def _surrogate(X: Floats, Y: Floats, near: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Answer:
    """Fit a weighted ridge regression to random perturbations of each row, as LIME does."""
    place, rng, D = _NearestPlace(X, Y), np.random.default_rng(0), X.shape[1]
    deviation = np.sqrt(np.mean(_displacements(X, Y, near[:, :30], rows)[0] ** 2, axis=1))
    axes = np.zeros((len(rows), Y.shape[1], D))
    for at, i in enumerate(rows):
        draws = rng.normal(size=(max(_SAMPLES, D), D))
        weights = np.exp(-np.sum(draws**2, axis=1) / (2 * 0.75**2 * D))
        T = place(X[i] + draws * deviation[at]) - place(X[i : i + 1])
        normal = draws.T @ (weights[:, None] * draws) + np.eye(D)
        axes[at] = np.linalg.solve(normal, draws.T @ (weights[:, None] * T)).T
    return np.linalg.norm(axes, axis=1), axes / np.maximum(deviation, 1e-300)[:, None]


EXPLAINERS: dict[str, Callable[[Floats, Floats, npt.NDArray[Any], npt.NDArray[Any]], Answer]] = {
    "gnomon": gnomon_explanation,
    "regression, 15 neighbours": _plain_regression,
    "slopes by place": _slopes_by_place,
    "featMAP-style": _featmap,
    "gene relevance": _gene_relevance,
    "permutation": _permutation,
    "local surrogate": _surrogate,
    "global variance": _global_variance,
}
"""By name; gnomon first."""

SLOW = ("permutation", "local surrogate")
