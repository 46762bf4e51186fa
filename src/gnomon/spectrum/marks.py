"""Where other maps of the same rows lie on a spectrum, by measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._run import current_run
from gnomon.evaluation import embedding_similarity
from gnomon.methods import UMAP, ForceAtlas2, NegTSNE
from gnomon.neighbors import NeighborGraph

__all__ = ["METHODS", "Mark", "fit_methods", "likeness"]

METHODS: dict[str, Any] = {"ForceAtlas2": ForceAtlas2, "UMAP": UMAP, "NegTSNE": NegTSNE}
"""The methods that can be located; each takes the neighbours of a graph."""

_MAX_ROWS = 5_000  # that likeness rests on, a random sample of more
_NEIGHBORS = 50  # whose overlap is counted, at most a twentieth of the rows
_SAMPLE = 0x6D61726B  # "mark"


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
        Likeness to the map at that value, in [0, 1]: the mean of distance correlation, which sees where groups lie,
        and neighbour overlap, which sees what they are made of.
    distance_correlations, neighbor_overlaps : ndarray of shape (n_values + 1,), float64
        With the Laplacian eigenmaps and the maps at all values, in the order of the spectrum.
    embedding : ndarray of shape (n_samples, n_components), float32
        The map, rotated to the one it resembles most and of its spread.
    """

    name: str
    exaggeration: float
    similarity: float
    distance_correlations: npt.NDArray[np.float64]
    neighbor_overlaps: npt.NDArray[np.float64]
    embedding: npt.NDArray[np.float32]

    @property
    def similarities(self) -> npt.NDArray[np.float64]:
        """Likeness to all maps of the spectrum, the Laplacian eigenmaps first."""
        return (self.distance_correlations + self.neighbor_overlaps) / 2.0


def likeness(
    embedding: npt.ArrayLike, frames: Sequence[npt.ArrayLike]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return distance correlation and neighbour overlap of an embedding with each of several.

    Both rest on the same rows, all or a sample that does not depend on the embeddings.
    """
    given = np.asarray(embedding)
    n = len(given)
    rows = np.arange(n) if n <= _MAX_ROWS else np.sort(np.random.default_rng(_SAMPLE).permutation(n)[:_MAX_ROWS])
    n_neighbors = max(1, min(_NEIGHBORS, len(rows) // 20))

    def compare(metric: str) -> npt.NDArray[np.float64]:
        return np.asarray(
            [
                embedding_similarity(given[rows], np.asarray(one)[rows], metric, n_neighbors=n_neighbors)
                for one in frames
            ]
        )

    return compare("distance_correlation"), compare("knn")


def fit_methods(
    names: Sequence[str], graph: NeighborGraph, n_components: int, *, seed: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Fit methods, with their own defaults, on the neighbours of a graph."""
    distances = _distances(graph)
    maps = {}
    for name in names:
        current_run().reporter.begin(name)
        estimator = METHODS[name](
            n_neighbors=graph.n_neighbors,
            n_components=n_components,
            metric="precomputed",
            init="spectral",
            random_state=seed,
            n_jobs=current_run().n_threads,
        )
        maps[name] = estimator.fit_transform(distances)
    return maps


def _distances(graph: NeighborGraph) -> sp.csr_array:
    """Return the distances of a graph as a sparse matrix, zeros between neighbours stored."""
    kept = np.isfinite(graph.distances) if graph.mask is None else graph.mask
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    shape = (graph.n_samples, graph.n_samples)
    return sp.csr_array((graph.distances[kept], graph.indices[kept], offsets), shape=shape)
