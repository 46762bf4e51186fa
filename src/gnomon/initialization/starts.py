"""Starts from random numbers, principal components or distances, and the noise that starts need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import linalg
from gnomon.linalg.draws import normal_matrix, uniform_matrix
from gnomon.linalg.principal.components import principal_components, project_rows

if TYPE_CHECKING:
    from gnomon.affinities import Gram

__all__ = [
    "HALF_WIDTH",
    "NOISE",
    "classical_start",
    "normal_noise",
    "principal_start",
    "random_start",
    "strain_start",
    "uniform_in_ball",
]

HALF_WIDTH = 10.0
"""Largest coordinate of a random or spectral start, as in umap-learn."""
NOISE = 1e-4
"""Standard deviation of the noise that parts points with equal coordinates, as in umap-learn."""
_STREAM_UNIFORM, _STREAM_NOISE, _STREAM_BALL, _STREAM_STRAIN = 201, 202, 203, 204
_NO_VARIANCE = 1e-13  # of the variance along the first component: rounding of float32 squared
_NO_EIGENVALUE = 1e-7  # share of the largest eigenvalue that is rounding of float32


def random_start(n_samples: int, n_components: int, seed: int) -> npt.NDArray[np.float32]:
    """Return points uniform in [-10, 10) along each axis; each is a function of (seed, row)."""
    uniform = uniform_matrix(seed, _STREAM_UNIFORM, (n_samples, n_components))
    return ((2.0 * uniform - 1.0) * HALF_WIDTH).astype(np.float32)


def normal_noise(n_samples: int, n_components: int, seed: int) -> npt.NDArray[np.float64]:
    """Return standard normal noise (n_samples, n_components); each row is a function of (seed, row)."""
    return normal_matrix(seed, _STREAM_NOISE, (n_samples, n_components))


def uniform_in_ball(n_samples: int, n_components: int, seed: int) -> npt.NDArray[np.float64]:
    """Return points in the unit ball (n_samples, n_components), uniform in the cube inside it, by (seed, row)."""
    uniform = uniform_matrix(seed, _STREAM_BALL, (n_samples, n_components))
    points: npt.NDArray[np.float64] = (2.0 * uniform - 1.0) / np.sqrt(n_components)
    return points


def strain_start(gram: Gram, n_components: int, seed: int) -> npt.NDArray[np.float64]:
    """Return a small random start for the strain of a similarity, in its units.

    Normal with the variance lambda_1 / (100 n_samples): far from the saddle at zero, and inside the ball in which the
    largest safe step holds. Each row is a function of (seed, row) up to this factor; zero if nothing attracts.

    Parameters
    ----------
    gram : Gram of n_samples rows
        The similarity.
    n_components : int >= 1
        Dimension of the start.
    seed : int in [0, 2**63)
        Of the draws.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    deviation = np.sqrt(gram.centred_bounds[1] / (100.0 * gram.n_samples))
    normal = normal_matrix(seed, _STREAM_STRAIN, (gram.n_samples, n_components))
    start: npt.NDArray[np.float64] = normal * deviation
    return start


def principal_start(X: Any, n_components: int, *, seed: int = 0) -> tuple[npt.NDArray[np.float32], str | None]:
    """Return the scores of a table on its leading principal components.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Finite.
    n_components : int >= 1
        Columns of the result; those that the table has no variance for are normal noise of 1e-4 of the standard
        deviation of the first (of 1 where that is zero).
    seed : int, default=0
        Of the noise.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components), float32
        Multiplied by a power of two where the scores would be out of the range of float32.
    note : str or None
        Says which columns are noise.
    """
    n_samples = X.shape[0]
    n_found = min(n_components, *X.shape)
    components = principal_components(X, n_found, seed=seed)
    # Rounded, so that the last bits, which differ between builds of LAPACK, do not reach the map.
    directions = components.components.astype(np.float32).astype(np.float64)
    scores = np.zeros((n_samples, n_components))
    scores[:, :n_found] = project_rows(X, components.mean, directions)
    largest = float(np.abs(scores).max(initial=0.0))
    if largest > 0.0 and not 1e-15 < largest < 1e15:
        scores *= 2.0 ** -np.round(np.log2(largest))

    variance = components.explained_variance
    n_useful = int(np.count_nonzero(variance > _NO_VARIANCE * variance[0]))
    if n_useful == n_components:
        return scores.astype(np.float32), None
    spread = float(scores[:, 0].std()) if n_useful else 1.0
    noise = normal_noise(n_samples, n_components, seed)
    scores[:, n_useful:] = NOISE * spread * noise[:, n_useful:]
    note = f"X has variance along {n_useful} of {n_components} components only; the others start as small noise"
    return scores.astype(np.float32), note


def classical_start(distances: npt.ArrayLike, n_components: int, *, seed: int = 0) -> npt.NDArray[np.float32]:
    """Return the points whose inner products are nearest to those that the distances stand for.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        Symmetric and finite.
    n_components : int >= 1
        Columns of the result; those without a positive eigenvalue are normal noise of 1e-4 of the first's spread.
    seed : int, default=0
        Of the noise and of the start of the eigensolver.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float32

    References
    ----------
    .. [1] Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
    """
    copy = np.array(distances, dtype=np.float64)
    found = linalg.classical_scaling(copy, n_components, noise=_NO_EIGENVALUE, seed=seed)
    points, useful = found.embedding, found.n_positive
    spread = float(points[:, 0].std()) if useful else 1.0
    points[:, useful:] = NOISE * spread * normal_noise(len(points), n_components, seed)[:, useful:]
    return points.astype(np.float32)
