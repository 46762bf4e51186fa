"""Start at the bottom eigenvectors of the graph's normalised Laplacian."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities.base import Affinities
from gnomon.initialization.components import lay_out_components
from gnomon.initialization.scattered import HALF_WIDTH, NOISE, normal_noise
from gnomon.linalg import MAX_SPECTRAL_VECTORS, GraphLaplacian, connected_components, eigenpairs

__all__ = ["SpectralStart", "spectral_start"]

# A column whose typical distance from its median is smaller, relative to its largest entry, shows a few points and
# nothing of the bulk: the mark of a graph that is all but disconnected.
_COLLAPSED = 1e-3
_TOLERANCE = 0.1  # a start needs no more: the space spanned is then off by an angle of about 1e-3


@dataclass(frozen=True)
class SpectralStart:
    """A spectral start or the reason why there is none.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float32, or None
        None if a fall-back is needed.
    note : str or None
        Why, or what is out of the ordinary.
    converged : bool
        Whether all eigenvectors reached the tolerance.
    """

    embedding: npt.NDArray[np.float32] | None
    note: str | None = None
    converged: bool = True


class _Solver:
    """Eigenvectors under one time budget for all components; remembers whether all converged."""

    def __init__(self, n_components: int, seed: int, n_threads: int, time_budget: float | None) -> None:
        self._n_components = n_components
        self._seed = seed
        self._n_threads = n_threads
        self._deadline = None if time_budget is None else time.perf_counter() + time_budget
        self.converged = True
        self.out_of_time = False

    def __call__(self, matrix: Any) -> npt.NDArray[np.float64]:
        left = None if self._deadline is None else max(self._deadline - time.perf_counter(), 0.0)
        found = eigenpairs(
            GraphLaplacian(matrix),
            self._n_components,
            seed=self._seed,
            n_threads=self._n_threads,
            tolerance=_TOLERANCE,
            time_budget=left,
        )
        self.converged &= found.converged
        self.out_of_time |= found.out_of_time
        return found.vectors

    @property
    def note(self) -> str | None:
        if self.converged:
            return None
        cause = "the time budget ended" if self.out_of_time else "the allowed number of products did not suffice for"
        return f"{cause} the iteration for the spectral start; its approximate eigenvectors are used"


def spectral_start(
    affinities: Affinities,
    n_components: int,
    *,
    X: Any = None,
    seed: int = 0,
    n_threads: int = 1,
    time_budget: float | None = None,
) -> SpectralStart:
    """Lay a graph out by eigenvectors.

    A connected graph starts at the bottom eigenvectors of its normalised Laplacian. In a disconnected graph each
    component with enough points starts at its own eigenvectors and the others at random, inside discs that do not
    overlap (see `place_components`). All is scaled to a largest coordinate of 10; normal noise of 1e-4 is added.

    Parameters
    ----------
    affinities : Affinities
    n_components : int >= 1
    X : ndarray or CSR of shape (n_samples, n_features), or None, default=None
        Places the components.
    seed : int, default=0
        Of the iteration's start and the noise.
    n_threads : int >= 1, default=1
        Does not change the result.
    time_budget : float or None, default=None
        Seconds for all eigenvectors.

    Returns
    -------
    SpectralStart
    """
    matrix = affinities.matrix
    n_samples = affinities.n_samples
    if n_components > min(MAX_SPECTRAL_VECTORS, n_samples - 1):
        most = f"n_components={n_components} eigenvectors are not to be had from n_samples={n_samples}"
        return SpectralStart(None, f"{most} (at most {MAX_SPECTRAL_VECTORS})")
    if matrix.nnz == 0:
        return SpectralStart(None, "the graph has no edges")
    solve = _Solver(n_components, seed, n_threads, time_budget)
    labels = connected_components(matrix)
    if labels.max() == 0:
        layout = solve(matrix)
        notes = [solve.note]
        spread = np.median(np.abs(layout - np.median(layout, axis=0)), axis=0)
        if (spread < _COLLAPSED * np.abs(layout).max(axis=0)).any() and n_samples > 10 * n_components:
            return SpectralStart(None, "the graph is nearly disconnected and its eigenvectors show a few points only")
    else:
        layout = lay_out_components(matrix, labels, solve, n_components, X=X, seed=seed, n_threads=n_threads).embedding
        sizes = np.sort(np.bincount(labels))[::-1]
        shown = ", ".join(map(str, sizes[:5])) + (", ..." if sizes.size > 5 else "")
        notes = [solve.note, f"the graph has {sizes.size} connected components ({shown} points), laid out one by one"]
    layout *= HALF_WIDTH / np.abs(layout).max()
    layout += NOISE * normal_noise(n_samples, n_components, seed, n_threads)
    note = "; ".join(text for text in notes if text) or None
    return SpectralStart(np.ascontiguousarray(layout, dtype=np.float32), note, solve.converged)
