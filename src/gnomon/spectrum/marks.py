"""Where other maps of the same rows lie on a spectrum, by measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._progress import Reporter
from gnomon.evaluate import embedding_similarity
from gnomon.methods import UMAP, ForceAtlas2, NegTSNE
from gnomon.neighbors import NeighborGraph

__all__ = ["METHODS", "Mark", "fit_methods", "most_similar"]

METHODS: dict[str, Any] = {"ForceAtlas2": ForceAtlas2, "UMAP": UMAP, "NegTSNE": NegTSNE}
"""The methods that can be located; each takes the neighbours of a graph."""

_MAX_ROWS = 5_000  # that a distance correlation rests on


@dataclass(frozen=True)
class Mark:
    """A map made otherwise, and the value of the spectrum whose map resembles it most.

    Attributes
    ----------
    name : str
        Of the method.
    exaggeration : float
        The value found; infinite for the Laplacian eigenmaps.
    similarity : float
        Distance correlation with the map at that value, in [0, 1].
    similarities : ndarray of shape (n_values + 1,), float64
        With the Laplacian eigenmaps and the maps at all values, in the order of the spectrum.
    embedding : ndarray of shape (n_samples, n_components), float32
        The map, turned to the one it resembles most and of its spread.
    """

    name: str
    exaggeration: float
    similarity: float
    similarities: npt.NDArray[np.float64]
    embedding: npt.NDArray[np.float32]


def most_similar(
    embedding: npt.ArrayLike, frames: Sequence[npt.ArrayLike], *, n_jobs: int | None
) -> npt.NDArray[np.float64]:
    """Return the distance correlation of an embedding with each of several."""
    return np.asarray(
        [
            embedding_similarity(embedding, frame, "distance_correlation", max_rows=_MAX_ROWS, n_jobs=n_jobs)
            for frame in frames
        ]
    )


def fit_methods(
    names: Sequence[str], graph: NeighborGraph, n_components: int, *, seed: int, n_threads: int, reporter: Reporter
) -> dict[str, npt.NDArray[np.float32]]:
    """Fit methods, with their own defaults, on the neighbours of a graph."""
    distances = _distances(graph)
    maps = {}
    for name in names:
        reporter.begin(name)
        estimator = METHODS[name](
            n_neighbors=graph.n_neighbors,
            n_components=n_components,
            metric="precomputed",
            init="spectral",
            random_state=seed,
            n_jobs=n_threads,
        )
        maps[name] = estimator.fit_transform(distances)
    return maps


def _distances(graph: NeighborGraph) -> sp.csr_array:
    """Return the distances of a graph as a sparse matrix, zeros between neighbours stored."""
    kept = np.isfinite(graph.distances) if graph.mask is None else graph.mask
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    shape = (graph.n_samples, graph.n_samples)
    return sp.csr_array((graph.distances[kept], graph.indices[kept], offsets), shape=shape)
