"""Start at the eigenvectors of the smallest eigenvalues of the graph's normalised Laplacian."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.affinities.base import Affinities
from gnomon.initialization.starts import HALF_WIDTH, NOISE, normal_noise, principal_start, uniform_in_ball
from gnomon.linalg import MAX_SPECTRAL_VECTORS, GraphLaplacian, connected_components, eigenpairs

__all__ = ["ComponentLayout", "SpectralStart", "lay_out_components", "place_components", "spectral_start"]

_SHARE = 0.45  # of the distance to the nearest centre: two components keep a tenth of it between them
_APART = 1e-3  # of the extent: noise that parts centres in the same place
# A column whose typical distance from its median is smaller, relative to its largest entry, shows a few points and
# nothing of the bulk: the mark of a graph that is all but disconnected.
_COLLAPSED = 1e-3
_TOLERANCE = 0.1  # a start needs no more: the space spanned is then off by an angle of about 1e-3
_TURN = 0.02  # or, where eigenvalues crowd at 0, this: the map is then off by two or three percent


@dataclass(frozen=True)
class ComponentLayout:
    """Positions of all points, each connected component in a disc of its own.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float64
        Centred on the middle of its extent.
    centres : ndarray of shape (n_graph_components, n_components), float64
        Where the origin of each component's own layout lies.
    solved : ndarray of shape (n_graph_components,), bool
        Whether a component was laid out by the solver; small ones lie at random.
    """

    embedding: npt.NDArray[np.float64]
    centres: npt.NDArray[np.float64]
    solved: npt.NDArray[np.bool_]


def lay_out_components(
    matrix: Any,
    labels: npt.NDArray[np.int32],
    solve: Callable[[Any], npt.NDArray[np.float64]],
    n_components: int,
    *,
    X: Any = None,
    seed: int = 0,
) -> ComponentLayout:
    """Lay a disconnected graph out one component at a time, inside discs that do not overlap.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
        Symmetric.
    labels : ndarray of shape (n_samples,), int32
        Component of each row, numbered from 0 without gaps.
    solve : callable
        CSR of one component -> its vectors, (n_rows, n_components). Called in the order of the components for those of
        more than 2 n_components + 1 rows; fewer rows span no more than a random placement does.
    n_components : int
        Dimension of the embedding.
    X, seed : as in `place_components`
        Where the discs lie.

    Returns
    -------
    ComponentLayout
    """
    centres, radii = place_components(labels, n_components, X=X, seed=seed)
    matrix = scipy.sparse.csr_array(matrix)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    places = np.empty(labels.size, dtype=matrix.indices.dtype)  # of each row within its component
    places[order] = np.arange(labels.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    solved = sizes > 2 * n_components + 1
    layout = uniform_in_ball(labels.size, n_components, seed)[order]
    for label, (begin, size) in enumerate(zip(np.cumsum(sizes) - sizes, sizes, strict=True)):
        if size == 1:
            layout[begin] = 0.0
        elif solved[label]:
            rows = matrix[order[begin : begin + size]]  # all their columns lie in the component
            of_component = scipy.sparse.csr_array((rows.data, places[rows.indices], rows.indptr), shape=(size, size))
            del rows  # its columns are a third of what a large graph takes here
            vectors = solve(of_component)
            layout[begin : begin + size] = vectors / np.linalg.norm(vectors, axis=1).max()
    layout = centres[labels[order]] + radii[labels[order], None] * layout
    result = np.empty_like(layout)
    result[order] = layout
    middle = 0.5 * (result.max(axis=0) + result.min(axis=0))
    return ComponentLayout(result - middle, centres - middle, solved)


def place_components(
    labels: npt.NDArray[np.int32], n_components: int, *, X: Any = None, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Find centres and radii of discs that do not overlap, one for each connected component.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,), int32
        Component of each point, numbered from 0 without gaps.
    n_components : int
        Dimension of the embedding.
    X : ndarray or CSR of shape (n_samples, n_features), or None, default=None
        Centres are the means of the principal scores of each component's rows. Without a table, components stand on a
        square lattice in order of size.
    seed : int, default=0
        Of the noise that parts centres in the same place.

    Returns
    -------
    centres : ndarray of shape (n_graph_components, n_components), float64
    radii : ndarray of shape (n_graph_components,), float64
        At most 0.45 of the distance to the nearest other centre, and at most the extent of all centres times the
        component's share of the points to the power 1 / n_components.
    """
    sizes = np.bincount(labels)
    if X is None:
        centres = _lattice(sizes, n_components)
    else:
        scores = principal_start(X, n_components, seed=seed)[0].astype(np.float64)
        sums = [np.bincount(labels, weights=column, minlength=sizes.size) for column in scores.T]
        centres = np.stack(sums, axis=1) / sizes[:, None]
    extent = float(np.ptp(centres, axis=0).max())
    if extent <= 0.0:
        centres, extent = _lattice(sizes, n_components), float(np.ceil(sizes.size ** (1.0 / n_components)))
    nearest = _nearest_distances(centres)
    close = nearest < _APART * extent
    if close.any():
        noise = normal_noise(sizes.size, n_components, seed)
        centres = centres + _APART * extent * noise * close[:, None]
        nearest = _nearest_distances(centres)
    shares = (sizes / labels.size) ** (1.0 / n_components)
    return centres, np.minimum(_SHARE * nearest, extent * shares)


def _nearest_distances(centres: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    distances, _ = scipy.spatial.cKDTree(centres).query(centres, k=[2])
    nearest: npt.NDArray[np.float64] = np.asarray(distances)[:, 0]
    return nearest


def _lattice(sizes: npt.NDArray[np.int64], n_components: int) -> npt.NDArray[np.float64]:
    """Return points of the smallest square lattice that has one for each component, the largest component first."""
    side = 1
    while side**n_components < sizes.size:
        side += 1
    order = np.argsort(-sizes, kind="stable")
    lattice = np.empty((sizes.size, n_components))
    lattice[order] = np.stack(np.unravel_index(np.arange(sizes.size), (side,) * n_components), axis=1)
    return lattice


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

    def __init__(self, n_components: int, seed: int, time_budget: float | None) -> None:
        self._n_components = n_components
        self._seed = seed
        self._deadline = None if time_budget is None else time.perf_counter() + time_budget
        self.converged = True
        self.out_of_time = False

    def __call__(self, matrix: Any) -> npt.NDArray[np.float64]:
        left = None if self._deadline is None else max(self._deadline - time.perf_counter(), 0.0)
        found = eigenpairs(
            GraphLaplacian(matrix),
            self._n_components,
            seed=self._seed,
            tol=_TOLERANCE,
            turn=_TURN,
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
    affinities: Affinities, n_components: int, *, X: Any = None, seed: int = 0, time_budget: float | None = None
) -> SpectralStart:
    """Lay a graph out by eigenvectors.

    A connected graph starts at the eigenvectors of the smallest eigenvalues of its normalised Laplacian. In a
    disconnected graph each component with enough points starts at its own eigenvectors and the others at random, inside
    discs that do not overlap (see `place_components`). All is scaled to a largest coordinate of 10; normal noise of
    1e-4 is added.

    Parameters
    ----------
    affinities : Affinities
    n_components : int >= 1
    X : ndarray or CSR of shape (n_samples, n_features), or None, default=None
        Places the components.
    seed : int, default=0
        Of the iteration's start and the noise.
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
    solve = _Solver(n_components, seed, time_budget)
    labels = connected_components(matrix)
    if labels.max() == 0:
        layout = solve(matrix)
        notes = [solve.note]
        spread = np.median(np.abs(layout - np.median(layout, axis=0)), axis=0)
        if (spread < _COLLAPSED * np.abs(layout).max(axis=0)).any() and n_samples > 10 * n_components:
            return SpectralStart(None, "the graph is nearly disconnected and its eigenvectors show a few points only")
    else:
        layout = lay_out_components(matrix, labels, solve, n_components, X=X, seed=seed).embedding
        sizes = np.sort(np.bincount(labels))[::-1]
        shown = ", ".join(map(str, sizes[:5])) + (", ..." if sizes.size > 5 else "")
        notes = [solve.note, f"the graph has {sizes.size} connected components ({shown} points), laid out one by one"]
    layout *= HALF_WIDTH / np.abs(layout).max()
    layout += NOISE * normal_noise(n_samples, n_components, seed)
    note = "; ".join(text for text in notes if text) or None
    return SpectralStart(np.ascontiguousarray(layout, dtype=np.float32), note, solve.converged)
