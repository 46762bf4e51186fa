"""How well kernel principal components keep geodesic neighbourhoods of rows that they were not found from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.affinities.geodesics import geodesic_distances
from gnomon.affinities.gram_sources import symmetrized
from gnomon.exceptions import NeighborsWarning
from gnomon.kernels import InputKernel
from gnomon.kernels.inputs import squared_distances
from gnomon.neighbors import compute_neighbors, join_components

__all__ = [
    "Fidelity",
    "Fold",
    "Spectrum",
    "geodesics_of_rows",
    "make_fold",
    "measure_fidelity",
    "spectrum_of",
    "standard_error",
]

Float64Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_ZERO = 1e-12  # an eigenvalue below this share of the largest is rounding


@dataclass(frozen=True)
class Fold:
    """Rows that components are found from, and others that they are judged by.

    Attributes
    ----------
    fitted, held : ndarray of int
        Row numbers.
    ranks : ndarray of shape (n_held, n_fitted)
        Of the fitted rows from each held one, by geodesic distance; 0 is the nearest.
    positions, held_positions : ndarray of shape (n_fitted, n_fitted) and (n_held, n_fitted)
        Geodesic distances to the fitted rows, which say where along the data a row lies.
    """

    fitted: Indices
    held: Indices
    ranks: npt.NDArray[np.intp]
    positions: Float64Array
    held_positions: Float64Array


@dataclass(frozen=True)
class Fidelity:
    """How true the places of rows held out are to the data, row by row.

    Attributes
    ----------
    order : ndarray of shape (n_held,)
        Area under R_NX: how far the order of the fitted rows by distance in the map is that by geodesic distance,
        neighbourhoods of all sizes weighed by one over their size. 1 at best and about 0 at random.
    position : ndarray of shape (n_held,)
        One minus the squared error of the geodesic position as the mean of those of the nearest rows in the map, over
        its mean square from their mean. The mean over rows is the share of variance explained: 1 at best, below 0 where
        the mean of all rows says more. Low where the map lays sheets of the data over each other.
    ratio : float
        Mean over the folds of the leading eigenvalues' share in the trace.
    """

    order: Float64Array
    position: Float64Array
    ratio: float

    @property
    def rows(self) -> Float64Array:
        """Mean of order and position."""
        return (self.order + self.position) / 2.0

    @property
    def mean(self) -> float:
        """Mean over the rows."""
        return float(self.rows.mean())

    @property
    def error(self) -> float:
        """Standard error of the mean, as if the rows were independent."""
        return standard_error(self.rows)


def standard_error(values: Float64Array) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def geodesics_of_rows(rows: Any, n_neighbors: int) -> Float64Array:
    """Return lengths of shortest paths in the graph of nearest neighbours, its pieces joined, over the largest entry.

    The units are those of the rows over their largest entry, so that no length is out of the range of float32.
    """
    largest = float(abs(rows).max())
    scaled = rows / largest if largest > 0.0 else rows
    graph = compute_neighbors(scaled, n_neighbors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeighborsWarning)  # pieces are no fault of the data here
        bridges, _ = join_components(scaled, graph, "connect")
    return np.asarray(geodesic_distances(graph, bridges=bridges), dtype=np.float64)


def make_fold(fitted: Indices, held: Indices, geodesics: Float64Array) -> Fold:
    """Return a fold of row numbers with its ranks and positions."""
    from_held = geodesics[np.ix_(held, fitted)]
    return Fold(fitted, held, _ranks(from_held), geodesics[np.ix_(fitted, fitted)], from_held)


def _ranks(distances: Float64Array) -> npt.NDArray[np.intp]:
    """Return the rank of each column in its row, from 0; equal distances by column."""
    order = np.argsort(distances, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(distances.shape[1]), distances.shape), axis=1)
    return ranks


def _row_areas(ranks: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> Float64Array:
    """Return the area under R_NX of each row, from its ranks in the data and in the map."""
    n_rows, n = ranks.shape
    sizes = np.arange(1, n)
    both = np.maximum(ranks, others) + n * np.arange(n_rows)[:, None]
    common = np.cumsum(np.bincount(both.ravel(), minlength=n_rows * n).reshape(n_rows, n), axis=1)[:, :-1] / sizes
    beyond_chance = (n * common - sizes) / (n - sizes)
    areas: Float64Array = (beyond_chance / sizes).sum(axis=1) / np.sum(1.0 / sizes)
    return areas


def _explained(fold: Fold, ranks: npt.NDArray[np.intp], n_neighbors: int) -> Float64Array:
    """Return for each held row what the positions of its nearest rows in the map tell of its own, see `Fidelity`."""
    nearest = np.argsort(ranks, axis=1, kind="stable")[:, :n_neighbors]
    told = sum(fold.positions[column] for column in nearest.T) / n_neighbors
    base = float(np.square(fold.held_positions - fold.positions.mean(axis=0)).sum(axis=1).mean())
    missed = np.square(fold.held_positions - told).sum(axis=1)
    explained: Float64Array = 1.0 - missed / (base if base > 0.0 else 1.0)
    return explained


def _centred_gram(kernel: InputKernel, rows: Any) -> tuple[Float64Array, Float64Array]:
    """Return H K H, and the means of the columns of K.

    Not through Gram, whose threads would wait for each other's turn with BLAS.
    """
    matrix = symmetrized(kernel.block(rows, rows))
    matrix = (matrix + matrix.T) / 2.0
    np.fill_diagonal(matrix, kernel.diagonal(rows))
    means = matrix.mean(axis=0)
    matrix -= means[:, None] + (means - means.mean())
    return matrix, means


def _leading(matrix: Float64Array, n_values: int) -> tuple[Float64Array, Float64Array]:
    """Return the largest eigenvalues, falling, with their vectors."""
    n = len(matrix)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(n - n_values, n - 1), check_finite=False)
    if len(values) < n_values:  # LAPACK may find none of many eigenvalues that are nearly equal
        values, vectors = scipy.linalg.eigh(matrix, check_finite=False, driver="evd")
        values, vectors = values[-n_values:], vectors[:, -n_values:]
    return values[::-1], vectors[:, ::-1]


@dataclass(frozen=True)
class Spectrum:
    """Largest eigenvalues of H K H over the sum of the positive ones, and the negative ones' share of all."""

    shares: Float64Array
    negative_inertia: float


def spectrum_of(kernel: InputKernel, rows: Any, n_values: int) -> Spectrum:
    """Return the spectrum of a kernel on all rows."""
    matrix, _ = _centred_gram(kernel, rows)
    values = _leading(matrix, n_values)[0]
    negative = 0.0
    if not kernel.semidefinite:
        every = scipy.linalg.eigvalsh(matrix, check_finite=False)
        negative = float(-every[every < -_ZERO * np.abs(every).max()].sum())
    positive = float(np.trace(matrix)) + negative
    total = positive if positive > 0.0 else 1.0
    return Spectrum(np.maximum(values, 0.0) / total, negative / (total + negative))


def measure_fidelity(
    kernel: InputKernel, rows: Any, folds: Sequence[Fold], n_components: int, n_neighbors: int
) -> Fidelity:
    """Judge the leading components of a kernel by rows held out.

    Parameters
    ----------
    kernel : InputKernel
    rows : ndarray or CSR of shape (n_samples, n_features), float64
        As `KernelPCA` hands them to the kernel.
    folds : sequence of Fold
        Of row numbers.
    n_components : int >= 1
        Less than the fitted rows of each fold.
    n_neighbors : int >= 1
        Rows of the map that tell the position of a row; at most the fitted rows of each fold.

    Returns
    -------
    Fidelity
        Of the held rows of all folds in turn.
    """
    order, position, ratios = [], [], []
    for fold in folds:
        fitted, held = rows[fold.fitted], rows[fold.held]
        matrix, means = _centred_gram(kernel, fitted)
        values, vectors = _leading(matrix, n_components)
        kept = values > _ZERO * max(float(values[0]), 0.0)
        roots = np.sqrt(np.where(kept, values, 1.0))
        between = kernel.block(held, fitted)
        between -= means + (between.mean(axis=1) - means.mean())[:, None]
        places = between @ np.where(kept, vectors / roots, 0.0)
        ranks = _ranks(squared_distances(places, np.where(kept, vectors * roots, 0.0)))
        order.append(_row_areas(fold.ranks, ranks))
        position.append(_explained(fold, ranks, n_neighbors))
        trace = float(np.trace(matrix))
        ratios.append(float(values[kept].sum()) / trace if trace > 0.0 else 0.0)
    return Fidelity(np.concatenate(order), np.concatenate(position), float(np.mean(ratios)))
