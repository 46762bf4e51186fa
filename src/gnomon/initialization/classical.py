"""Start at classical scaling of distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.initialization.scattered import NOISE, normal_noise
from gnomon.linalg import classical_scaling

__all__ = ["classical_start"]

_NO_VARIANCE = 1e-7  # share of the largest eigenvalue that is rounding of float32


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
    found = classical_scaling(copy, n_components, noise=_NO_VARIANCE, seed=seed)
    points, useful = found.embedding, found.n_positive
    spread = float(points[:, 0].std()) if useful else 1.0
    points[:, useful:] = NOISE * spread * normal_noise(len(points), n_components, seed)[:, useful:]
    return points.astype(np.float32)
