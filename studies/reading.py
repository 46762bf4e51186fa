"""What gnomon says of the map of a latent space."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon

__all__ = ["Reading", "read_latent_space"]

_CLUSTER_SHARE = 0.03  # of the points: smaller groups are not called clusters
_MAPS = 5  # over which the number of clusters and how well they stand apart are medians
_ROUNDING = 1e-4  # noise in all of these layers but the first, of the standard deviation


@dataclass(frozen=True)
class Reading:
    """The map of a latent space and what can be said about it.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, 2)
    clusters : ndarray of shape (n_samples,), int
        Clusters of the map as an eye sees them, found without labels; -1 between them.
    separation : ndarray of shape (n_units, n_classes), in [-1, 1]
        2 AUC - 1 of every unit for every class against the rest: 0, the unit does not tell; 1, it is higher for every
        member. Units that tell most come first.
    units : ndarray of shape (n_units,)
        Numbers of the units in that order.
    worst_pair : tuple of two labels
        The classes that the units tell apart least.
    figures : dict of str to float
    """

    embedding: npt.NDArray[np.float64]
    clusters: npt.NDArray[np.int64]
    separation: npt.NDArray[np.float64]
    units: npt.NDArray[np.int64]
    worst_pair: tuple[Any, Any]
    figures: dict[str, float]


def _visible_clusters(embedding: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], float]:
    """Return the clusters that an eye sees in a map, and how well they stand apart (silhouette; 0 for fewer than 2)."""
    from sklearn.cluster import HDBSCAN
    from sklearn.metrics import silhouette_score

    size = max(5, int(_CLUSTER_SHARE * len(embedding)))
    clusters = HDBSCAN(min_cluster_size=size, min_samples=5, copy=True).fit_predict(embedding)
    member = clusters >= 0
    if len(np.unique(clusters[member])) < 2:
        return clusters, 0.0
    return clusters, float(silhouette_score(embedding[member], clusters[member]))


def _told_apart(latent: npt.NDArray[np.float32], labels: npt.NDArray[Any]) -> dict[tuple[Any, Any], float]:
    """Return for each pair of classes how well the best unit alone tells them apart, |2 AUC - 1|."""
    found = {}
    for one, other in combinations(np.unique(labels).tolist(), 2):
        contrast = gnomon.contrast(latent, labels == one, labels == other)
        found[one, other] = float(np.abs(2 * contrast.auc - 1).max())
    return found


def read_latent_space(
    latent: npt.NDArray[np.float32], labels: npt.NDArray[Any], *, seed: int = 0, n_jobs: int | None = None
) -> Reading:
    """Map a latent space by UMAP, then explain and evaluate the map.

    The last bits of the layer may turn one map into another of the same quality, with other clusters to the eye: their
    number and separation are medians over five maps, of the layer and of four copies with a noise of a ten-thousandth.

    Parameters
    ----------
    latent : ndarray of shape (n_samples, n_units), float32
    labels : ndarray of shape (n_samples,)
        True classes; they do not shape the map.
    seed : int, default=0
    n_jobs : int or None, default=None
    """
    rng = np.random.default_rng(seed)
    size = _ROUNDING * latent.std()
    layers = [latent, *(latent + (size * rng.normal(size=latent.shape)).astype(np.float32) for _ in range(_MAPS - 1))]
    maps = [
        np.asarray(gnomon.UMAP(random_state=seed, n_jobs=n_jobs).fit_transform(layer), dtype=np.float64)
        for layer in layers
    ]
    embedding = maps[0]
    explanation = gnomon.explain(latent, embedding, n_jobs=n_jobs)
    evaluation = gnomon.evaluate(latent, embedding, labels=labels, n_jobs=n_jobs)
    seen = [_visible_clusters(Y) for Y in maps]
    counts = [int(clusters.max()) + 1 for clusters, _ in seen]
    clusters = seen[0][0]
    profiles = gnomon.cluster_profiles(latent, labels, n_top=None, n_jobs=n_jobs)
    auc = np.empty((latent.shape[1], len(profiles)))
    for column, profile in enumerate(profiles.values()):
        auc[profile.indices, column] = profile.auc
    total = float(explanation.global_importance.sum())
    importance = explanation.global_importance / (total if total > 0 else 1.0)
    separation = 2 * auc - 1
    units = np.argsort(-np.abs(separation).sum(axis=1), kind="stable")
    pairs = _told_apart(latent, labels)
    worst = min(pairs, key=lambda pair: pairs[pair])
    figures = {
        "visible_clusters": float(np.median(counts)),
        "fewest_clusters": min(counts),
        "most_clusters": max(counts),
        "visible_separation": float(np.median([apart for _, apart in seen])),
        **evaluation.scores(),
        "median_r2": float(np.nanmedian(explanation.r2)),
        "live_units": int(np.count_nonzero(latent.std(axis=0) > 0)),
        "units_in_use": float(1.0 / np.sum(importance**2)) if total > 0 else 0.0,
        "worst_pair_told_apart": pairs[worst],
    }
    return Reading(embedding, clusters, separation[units], units, worst, figures)
