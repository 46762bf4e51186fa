"""Classical scaling: coordinates from distances, and places of new rows from their distances."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.linalg.block_krylov import block_eigenpairs

__all__ = ["ClassicalScaling", "classical_scaling"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 1024  # rows multiplied at a time, whatever the number of threads
_TOLERANCES = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-10}
_LEAST_SHARE = 1e-7  # of the largest eigenvalue: what float32 distances leave of a dimension that is not there


@dataclass(frozen=True)
class ClassicalScaling:
    """Coordinates whose inner products come nearest to those that squared distances imply.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_components,), float64
        Largest eigenvalues of -1/2 H D^2 H, falling, in squared units of the distances; those below 1e-7 of the first
        may be rounding.
    lowest_eigenvalue : float
        The smallest one; below zero the distances are not those of points of any Euclidean space.
    embedding : ndarray of shape (n_samples, n_components), float64
        Centred; a column whose eigenvalue is not positive is zero.
    converged : bool
        Whether the eigenvalue solver met its tolerance.
    n_positive : int
        Number of columns that are not zero.
    """

    eigenvalues: Float64Array
    lowest_eigenvalue: float
    embedding: Float64Array
    converged: bool
    n_positive: int
    _scale: float
    _column_means: Float64Array
    _directions: Float64Array

    def place(self, distances: npt.NDArray[Any]) -> Float64Array:
        """Place new rows by their distances to those that were scaled (Gower's formula), each on its own.

        Parameters
        ----------
        distances : ndarray of shape (n_rows, n_samples)

        Returns
        -------
        ndarray of shape (n_rows, n_components), float64
        """
        places = np.zeros((len(distances), len(self.eigenvalues)))
        with single_threaded_blas():
            for i, row in enumerate(distances):  # one by one: a product of many rows may round differently
                squared = np.square(np.asarray(row, dtype=np.float64) / self._scale)
                places[i, : self.n_positive] = (self._column_means - squared) @ self._directions
        return places * self._scale


def classical_scaling(
    distances: npt.NDArray[Any], n_components: int, *, seed: int = 0, n_threads: int = 1
) -> ClassicalScaling:
    """Find coordinates from distances by the leading eigenvectors of the double-centred squares.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples), float32 or float64
        Symmetric and finite. Overwritten by their scaled squares: there is no room for a copy of a large matrix.
    n_components : int >= 1
        Columns beyond n_samples are zero.
    seed : int in [0, 2**63), default=0
        Of the eigenvalue solver.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ClassicalScaling

    References
    ----------
    .. [1] Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
    .. [2] Gower, "Adding a point to vector diagrams in multivariate analysis", Biometrika 55, 1968.
    """
    n = len(distances)
    largest = float(distances.max())
    scale = math.ldexp(1.0, math.frexp(largest)[1]) if largest > 0.0 else 1.0  # squares then are numbers
    distances /= distances.dtype.type(scale)
    np.square(distances, out=distances)
    with ThreadPoolExecutor(n_threads) as pool, single_threaded_blas():
        product = _CentredProduct(distances, pool)
        column_means = product.plain(np.full((n, 1), 1.0 / n))[:, 0]
        wanted = min(n_components, n)
        ends = block_eigenpairs(product, n, wanted, seed=seed, tolerance=_TOLERANCES[distances.dtype])
    values = np.zeros(n_components)
    values[:wanted] = ends.values
    n_positive = int(np.count_nonzero(values > _LEAST_SHARE * values[0])) if values[0] > 0.0 else 0
    roots = np.sqrt(values[:n_positive])
    embedding = np.zeros((n, n_components))
    vectors = ends.vectors[:, :n_positive] - ends.vectors[:, :n_positive].mean(axis=0)
    embedding[:, :n_positive] = vectors * (roots * scale)
    directions = np.ascontiguousarray(vectors / (2.0 * roots))
    squared = scale * scale
    return ClassicalScaling(
        values * squared, ends.lowest * squared, embedding, ends.converged, n_positive, scale, column_means, directions
    )


class _CentredProduct:
    """Products with -1/2 H S H for a symmetric matrix S of squares, some rows at a time."""

    def __init__(self, squares: npt.NDArray[Any], pool: ThreadPoolExecutor) -> None:
        self._squares = squares
        self._pool = pool

    def plain(self, V: Float64Array) -> Float64Array:
        """Return S V; the products of a float32 matrix are float32."""
        factor = V.astype(self._squares.dtype)
        out = np.empty(V.shape)

        def multiply(begin: int) -> None:
            out[begin : begin + _BLOCK] = self._squares[begin : begin + _BLOCK] @ factor

        list(self._pool.map(multiply, range(0, len(self._squares), _BLOCK)))
        return out

    def __call__(self, V: Float64Array) -> Float64Array:
        out = self.plain(V - V.mean(axis=0))
        out -= out.mean(axis=0)
        out *= -0.5
        return out
