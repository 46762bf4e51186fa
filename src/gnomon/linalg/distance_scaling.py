"""Classical scaling: coordinates from distances, and places of new rows from their distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon.linalg.eigen.base import with_signs
from gnomon.linalg.eigen.eigenpairs import eigenpairs, symmetric_operator
from gnomon.linalg.products import product

__all__ = ["ClassicalScaling", "classical_scaling"]

Float64Array = npt.NDArray[np.float64]

_BLOCK = 1024  # rows worked on at a time, whatever the number of threads
_TOLERANCES = {np.dtype(np.float32): (3e-6, 1e-2), np.dtype(np.float64): (1e-12, 1e-4)}
_MAX_PRODUCTS = {np.dtype(np.float32): 60, np.dtype(np.float64): 250}
_NOISE = 1e-7  # of the largest eigenvalue: what float32 distances leave of a dimension that is not there


@dataclass(frozen=True)
class ClassicalScaling:
    """Points whose inner products come nearest to B = -1/2 H D^2 H, those that distances D imply; H takes off the mean.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_components,), float64
        Largest eigenvalues of B, falling, in squared units of the distances; those up to the noise have no axis.
    lowest_eigenvalue : float
        The smallest one; below zero, beyond rounding, the distances are not those of points of any Euclidean space.
    embedding : ndarray of shape (n_samples, n_components), float64
        The points, centred; a column without an axis is zero.
    n_positive : int
        Number of columns with an axis, whose eigenvalues are positive beyond the noise.
    squared_norm : float
        Sum of the squared entries of B; infinity beyond the range of float64.
    normalized_strain : float
        Sum of the squared differences between B and the inner products of the points, as a share of `squared_norm`.
    converged : bool
        Whether the eigenvalue solver met its tolerances.
    """

    eigenvalues: Float64Array
    lowest_eigenvalue: float
    embedding: Float64Array
    n_positive: int
    squared_norm: float
    normalized_strain: float
    converged: bool
    _scale: float
    _row_means: Float64Array
    _directions: Float64Array

    @property
    def strain(self) -> float:
        """Sum of the squared differences between B and the inner products of the points."""
        return self.normalized_strain * self.squared_norm if self.normalized_strain > 0.0 else 0.0

    def place(self, distances: npt.NDArray[Any]) -> Float64Array:
        """Place new points by their distances to those that were scaled (Gower's formula).

        Parameters
        ----------
        distances : ndarray of shape (n_points, n_samples), float32 or float64
            In the units of those that were scaled.

        Returns
        -------
        ndarray of shape (n_points, n_components), float64
            Each row is a function of its distances alone; for those of a point that was scaled, its place.
        """
        places = np.zeros((len(distances), len(self.eigenvalues)))
        for begin in range(0, len(distances), _BLOCK):
            rows = np.array(distances[begin : begin + _BLOCK], dtype=np.float64, order="C")
            rows /= self._scale
            some = np.empty((len(rows), self.n_positive))
            _core.project(np.square(rows, out=rows), self._row_means, self._directions, some, current_run().n_threads)
            places[begin : begin + _BLOCK, : self.n_positive] = some
        return places * self._scale


@entrance("classical_scaling")
def classical_scaling(
    distances: npt.NDArray[Any],
    n_components: int,
    *,
    weights: Float64Array | None = None,
    noise: float | None = None,
    seed: int = 0,
) -> ClassicalScaling:
    """Find the points whose inner products come nearest, in squares, to those that distances imply.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples), float32 or float64
        Symmetric and finite. Overwritten: there is no room for a copy of a large matrix.
    n_components : int >= 1
        Columns beyond n_samples are zero.
    weights : ndarray of shape (n_samples,), float64, or None, default=None
        How many points each point stands for, positive: H takes off the weighted mean, and the square of an entry of B
        counts w_i w_j times. None for 1.
    noise : float or None, default=None
        Eigenvalues up to this share of the largest magnitude stand for no dimension. None takes what rounding leaves:
        1e-7 for float32, 64 n_samples eps for float64. Give 1e-7 for float64 values that come from float32.
    seed : int in [0, 2**63), default=0
        Of the random start, where eigenvectors are found by iteration.

    Returns
    -------
    ClassicalScaling
        Residuals of the eigenvectors are below 1e-12 of the largest eigenvalue for float64, 3e-6 for float32; the
        lowest eigenvalue is found to 1e-4 and 1e-2 of it, up to 600 rows exactly.

    References
    ----------
    .. [1] Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
    .. [2] Gower, "Adding a point to vector diagrams in multivariate analysis", Biometrika 55, 1968.
    """
    n = len(distances)
    dtype = distances.dtype
    wanted = min(n_components, n)
    largest = float(distances.max())
    exponent = math.frexp(largest)[1] - 1 if largest > 0.0 else 0
    scale = math.ldexp(1.0, exponent)  # brings the largest distance to 1 or more, below 2: its square is a number
    tolerance, lowest_tolerance = _TOLERANCES[dtype]
    with ThreadPool() as pool, single_threaded_blas():
        B = _CentredSquares(distances, scale, pool, weights)
        ends = eigenpairs(
            symmetric_operator(B.times, n),
            wanted,
            which="largest",
            tol=tolerance,
            other_end=lowest_tolerance,
            seed=seed,
            max_products=_MAX_PRODUCTS[dtype],
        )
        assert ends.other_end is not None
        lowest = ends.other_end
    values = np.zeros(n_components)
    values[:wanted] = ends.values
    if noise is None:
        noise = _NOISE if dtype == np.float32 else 64.0 * n * np.finfo(np.float64).eps
    n_positive = int(np.count_nonzero(values > noise * max(values[0], -lowest, 0.0)))
    roots = np.sqrt(values[:n_positive])
    vectors = B.centred(ends.vectors[:, :n_positive])
    of_points = np.ones((n, 1)) if weights is None else np.sqrt(weights)[:, None]
    if weights is not None:  # signs by the points, not by what stands for them
        vectors = with_signs(vectors / of_points) * of_points
    embedding = np.zeros((n, n_components))
    embedding[:, :n_positive] = vectors / of_points * (roots * scale)
    kept = float(np.square(values[:n_positive]).sum())
    with np.errstate(over="ignore"):
        eigenvalues, lowest = np.ldexp(values, 2 * exponent), float(np.ldexp(lowest, 2 * exponent))
        squared_norm = float(np.ldexp(B.squared_norm, 4 * exponent))
    return ClassicalScaling(
        eigenvalues=eigenvalues,
        lowest_eigenvalue=lowest,
        embedding=embedding,
        n_positive=n_positive,
        squared_norm=squared_norm,
        normalized_strain=max(1.0 - kept / B.squared_norm, 0.0) if B.squared_norm > 0.0 else 0.0,
        converged=ends.converged,
        _scale=scale,
        _row_means=B.row_means,
        _directions=np.ascontiguousarray(of_points * vectors / (-2.0 * roots)),
    )


class _CentredSquares:
    """The matrix B = -1/2 H S H of squares S of scaled distances, in their place, some rows at a time.

    With weights w, H = I - 1 w' / sum(w) takes off weighted means, and what is kept is b_ij sqrt(w_i w_j).
    """

    def __init__(
        self, distances: npt.NDArray[Any], scale: float, pool: ThreadPool, weights: Float64Array | None = None
    ) -> None:
        self._matrix = np.ascontiguousarray(distances)
        self._pool = pool
        self._shares = None if weights is None else weights / weights.sum()
        roots = None if weights is None else np.sqrt(weights).astype(distances.dtype)

        def square(begin: int) -> Float64Array:
            rows = distances[begin : begin + _BLOCK]
            rows /= distances.dtype.type(scale)
            np.square(rows, out=rows)
            return np.asarray(
                rows.mean(axis=1, dtype=np.float64) if self._shares is None else product(rows, self._shares)
            )

        self.row_means = np.concatenate(self._by_block(square))
        columns, middle = self.row_means.astype(distances.dtype), float(np.average(self.row_means, weights=weights))

        def centre(begin: int) -> float:
            rows = distances[begin : begin + _BLOCK]
            rows -= columns
            rows -= (self.row_means[begin : begin + _BLOCK, None] - middle).astype(distances.dtype)
            rows *= -0.5
            if roots is not None:
                rows *= roots[begin : begin + _BLOCK, None] * roots
            return float(sum(np.square(row, dtype=np.float64).sum() for row in rows))

        self.squared_norm = float(sum(self._by_block(centre)))

    def _by_block(self, work: Callable[[int], Any]) -> list[Any]:
        return list(self._pool.map(work, range(0, len(self._matrix), _BLOCK)))

    def centred(self, V: Float64Array) -> Float64Array:
        """Return columns without their part along the vector that B takes to 0."""
        if self._shares is None:
            return np.asarray(V - V.mean(axis=0))
        null = np.sqrt(self._shares)
        return np.asarray(V - np.outer(null, product(V.T, null)))

    def times(self, V: Float64Array) -> Float64Array:
        """Return B V; the products of a float32 matrix are float32."""
        out = np.empty(V.shape, self._matrix.dtype)
        nothing = np.zeros(len(V))
        _core.project(self._matrix, nothing, np.ascontiguousarray(self.centred(V)), out, current_run().n_threads)
        return self.centred(out.astype(np.float64, copy=False))
