"""The end of the spectrum where attraction prevails: Laplacian eigenmaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities import Affinities
from gnomon.initialization import initialize
from gnomon.linalg import GraphLaplacian, connected_components, eigenpairs

__all__ = ["Limit", "default_exaggerations", "laplacian_limit"]

_DISCONNECTED_FROM = 100.0  # where a spectrum begins that has no critical exaggeration
_SHARE = 2.0 / 3.0  # of the critical exaggeration: nearer to it, maps grow too slowly from their collapse
_LEAST = 4.0
_TOWARDS_ONE = 11  # values down to 1
_BEYOND = (0.7, 0.5)
_TOLERANCE = 1e-2  # of eigenvectors: angles of about 1e-3 between the spaces found and exact


@dataclass(frozen=True)
class Limit:
    """Laplacian eigenmaps of a graph, and where t-SNE with exaggeration collapses towards them.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float64
        Eigenvectors of the random walk on the graph, the trivial one left out.
    critical : float
        The exaggeration from which on the last component collapses; infinite for a graph in several pieces.
    note : str or None
        What is out of the ordinary.
    """

    embedding: npt.NDArray[np.float64]
    critical: float
    note: str | None = None


def laplacian_limit(
    affinities: Affinities, n_components: int, *, X: Any = None, seed: int, n_threads: int, who: str
) -> Limit:
    """Find the Laplacian eigenmaps of a graph.

    While all points are close together, all output similarities are 1 and the forces are linear: a displacement along
    an eigenvector of the Laplacian grows if the exaggeration is below 1 / (n_samples * eigenvalue), else it shrinks.
    """
    if connected_components(affinities.matrix).max() > 0:
        start = initialize(
            "spectral",
            X=X,
            affinities=affinities,
            n_components=n_components,
            seed=seed,
            n_threads=n_threads,
            who=who,
        )
        return Limit(start.embedding.astype(np.float64), math.inf, start.note)
    laplacian = GraphLaplacian(affinities.matrix)
    found = eigenpairs(laplacian, n_components, tolerance=_TOLERANCE, seed=seed, n_threads=n_threads, who=who)
    degrees = np.asarray(affinities.matrix.sum(axis=1, dtype=np.float64)).ravel()
    eigenvalue = float(found.values[-1])
    critical = 1.0 / eigenvalue if eigenvalue > 0 else math.inf
    return Limit(found.vectors / np.sqrt(degrees)[:, None], critical)


def default_exaggerations(critical: float) -> list[float]:
    """Return the values of a spectrum: evenly on a logarithmic scale down to 1, then a little below it."""
    top = max(_SHARE * critical, _LEAST) if math.isfinite(critical) else _DISCONNECTED_FROM
    return [float(f"{value:.2g}") for value in np.geomspace(top, 1.0, _TOWARDS_ONE)] + list(_BEYOND)
