"""Clusters over several maps of the same rows: how they move, deform and touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.labels import TO_CLASSES, measured_labels, sort_into_classes
from gnomon.linalg import mean_shape

__all__ = ["NEAREST_MEMBER", "ClusterStability", "check_clusters", "follow_clusters"]

NEAREST_MEMBER = 5
"""The spacing of a cluster is the median distance of its members to so many-th nearest other member."""

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ClusterStability(ShortRepr):
    """What clusters do over runs; lengths are over the size of the map.

    Attributes
    ----------
    names : list of str
    sizes : ndarray of shape (n_clusters,), int64
        Members.
    movement : ndarray of shape (n_clusters,), float64
        Standard deviation of the place of the centroid over runs, in the maps laid over each other.
    deformation : ndarray of shape (n_clusters,), float64
        Standard deviation over runs of the places of members once the cluster itself is rotated, reflected and moved
        onto its mean shape, over the radius (root mean square distance from the centroid) of that shape: 0 keeps its
        shape and size. NaN for a cluster of one.
    distances : ndarray of shape (n_runs, n_clusters, n_clusters), float64
        Between centroids.
    touching : ndarray of shape (n_runs, n_clusters, n_clusters), bool
        Whether two clusters touch in a run; False on the diagonal.
    """

    names: list[str]
    sizes: npt.NDArray[np.int64]
    movement: Floats
    deformation: Floats
    distances: Floats
    touching: npt.NDArray[np.bool_]

    @property
    def touch_share(self) -> Floats:
        """Share of the runs in which two clusters touch, (n_clusters, n_clusters)."""
        share: Floats = self.touching.mean(axis=0)
        return share

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}
        return {**plain, "touch_share": self.touch_share.tolist()}


def check_clusters(labels: Any, n_samples: int) -> list[tuple[str, Rows]]:
    """Return names and rows of clusters, those without a row left out.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or mapping of str to mask
        Classes, or masks of shape (n_samples,), which may overlap.
    n_samples : int

    Raises
    ------
    ValueError
        If labels are measured, masks have another length, or there is no cluster.
    """
    if isinstance(labels, Mapping):
        found = []
        for name, given in labels.items():
            mask = np.asarray(given)
            if mask.dtype.kind != "b" or mask.shape != (n_samples,):
                what = f"labels[{name!r}] of {mask.dtype} and shape {mask.shape}"
                raise ValueError(message(what, f"a mask of shape ({n_samples},)"))
            found.append((str(name), np.flatnonzero(mask)))
    else:
        checked = check_labels(labels, n_samples)
        if measured_labels(checked) is not None:
            fact = "they are dates or measured numbers"
            raise ValueError(message("labels", "classes", fact=fact, remedy=TO_CLASSES))
        classes = sort_into_classes(checked)
        found = [(name, np.flatnonzero(classes.codes == code)) for code, name in enumerate(classes.names)]
    found = [(name, rows) for name, rows in found if len(rows)]
    if not found:
        raise ValueError(message("labels", "such that one row at least has one", fact="none has"))
    return found


def follow_clusters(
    runs: Floats, clusters: list[tuple[str, Rows]], *, size: float, touching: float
) -> ClusterStability:
    """Follow clusters over maps that are laid over each other.

    Parameters
    ----------
    runs : ndarray of shape (n_runs, n_samples, n_components), float64
        NaN where a map does not hold a row.
    clusters : list of (str, ndarray of int)
        Names and rows, as from `check_clusters`.
    size : float
        Unit of lengths.
    touching : float in (0, 1]
        Two clusters touch if so large a share of the members of the smaller one, one at least, have a member of the
        other nearer than the wider of the two spacings (see `NEAREST_MEMBER`; a cluster of one has none).
    """
    centers = np.stack([_center(runs[:, rows]) for _, rows in clusters], axis=1)
    between = np.linalg.norm(centers[:, :, None] - centers[:, None], axis=3) / size
    n_runs = len(runs)
    movement = np.sqrt(np.sum((centers - centers.mean(axis=0)) ** 2, axis=(0, 2)) / max(n_runs - 1, 1)) / size
    return ClusterStability(
        names=[name for name, _ in clusters],
        sizes=np.array([len(rows) for _, rows in clusters], dtype=np.int64),
        movement=movement,
        deformation=np.array([_deformation(runs[:, rows]) for _, rows in clusters]),
        distances=between,
        touching=np.stack([_touching(one, [rows for _, rows in clusters], touching) for one in runs]),
    )


def _center(places: Floats) -> Floats:
    known: npt.NDArray[np.bool_] = np.all(np.isfinite(places), axis=2, keepdims=True)
    count = np.maximum(known.sum(axis=1), 1)
    center: Floats = np.where(known.any(axis=1), np.where(known, places, 0.0).sum(axis=1) / count, np.nan)
    return center


def _deformation(places: Floats) -> float:
    """Return the standard deviation of a shape over runs, each moved onto their mean, over its radius."""
    if places.shape[1] < 2:
        return float("nan")
    found = mean_shape(list(places), scaling=False)
    radius = np.nanmean(np.sum((found.mean - np.nanmean(found.mean, axis=0)) ** 2, axis=1))
    if not radius > 0 or len(places) < 2:
        return float("nan")
    variance = np.nanmean(np.nansum((found.aligned - found.mean) ** 2, axis=2)) * len(places) / (len(places) - 1)
    return float(np.sqrt(variance / radius))


def _touching(Y: Floats, clusters: list[Rows], share: float) -> npt.NDArray[np.bool_]:
    from scipy.spatial import cKDTree

    workers = current_run().n_threads
    placed = [Y[rows][np.isfinite(Y[rows]).all(axis=1)] for rows in clusters]
    trees = [cKDTree(points) for points in placed]
    spacings = [_spacing(tree, workers) for tree in trees]
    found = np.zeros((len(clusters), len(clusters)), dtype=np.bool_)
    for a in range(len(clusters)):
        for b in range(a):
            small, large = (a, b) if len(placed[a]) <= len(placed[b]) else (b, a)
            if len(placed[small]) == 0:
                continue
            reach = np.fmax(spacings[a], spacings[b])  # within 0 or NaN there is no row
            nearest = trees[large].query(placed[small], distance_upper_bound=reach, workers=workers)[0]
            wanted = max(1, int(np.ceil(share * len(placed[small]) - 1e-9)))
            found[a, b] = found[b, a] = int(np.isfinite(nearest).sum()) >= wanted
    return found


def _spacing(tree: Any, workers: int) -> float:
    k = min(NEAREST_MEMBER, tree.n - 1)
    return float(np.median(tree.query(tree.data, k=[k + 1], workers=workers)[0])) if k > 0 else float("nan")
