"""Start at classical scaling of distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.initialization.scattered import NOISE, normal_noise
from gnomon.linalg.krylov import leading_eigenpairs

__all__ = ["classical_start"]

_NO_VARIANCE = 1e-7  # of the largest eigenvalue: rounding of float32


def classical_start(distances: npt.ArrayLike, n_components: int, *, seed: int = 0) -> npt.NDArray[np.float32]:
    """Return the points whose inner products are nearest to those that the distances stand for.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        Symmetric, finite, squares within range.
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
    gram = np.square(np.asarray(distances, dtype=np.float64))
    means = gram.mean(axis=0)
    gram -= means
    gram -= means[:, None]
    gram += means.mean()
    gram *= -0.5
    n_samples = len(gram)
    n_found = min(n_components, n_samples)
    found = leading_eigenpairs(lambda v: np.asarray(gram @ v), n_samples, n_found, seed=seed)
    useful = int(np.count_nonzero(found.values > max(_NO_VARIANCE * found.values[0], 0.0)))
    points = np.zeros((n_samples, n_components))
    points[:, :useful] = found.vectors[:, :useful] * np.sqrt(found.values[:useful])
    spread = float(points[:, 0].std()) if useful else 1.0
    points[:, useful:] = NOISE * spread * normal_noise(n_samples, n_components, seed)[:, useful:]
    return points.astype(np.float32)
