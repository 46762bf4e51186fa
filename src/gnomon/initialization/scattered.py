"""Random starts and the noise that other starts need; streams keep their random numbers apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.affinities.gram import Gram
from gnomon.linalg.draws import normal_matrix, uniform_matrix

__all__ = ["HALF_WIDTH", "NOISE", "normal_noise", "random_start", "strain_start", "uniform_in_ball"]

HALF_WIDTH = 10.0
"""Largest coordinate of a random or spectral start, as in umap-learn."""
NOISE = 1e-4
"""Standard deviation of the noise that parts points with equal coordinates, as in umap-learn."""
_STREAM_UNIFORM, _STREAM_NOISE, _STREAM_BALL, _STREAM_STRAIN = 201, 202, 203, 204


def random_start(n_samples: int, n_components: int, seed: int, n_threads: int = 1) -> npt.NDArray[np.float32]:
    """Return points uniform in [-10, 10) along each axis; each is a function of (seed, row)."""
    uniform = uniform_matrix(seed, _STREAM_UNIFORM, (n_samples, n_components), n_threads=n_threads)
    return ((2.0 * uniform - 1.0) * HALF_WIDTH).astype(np.float32)


def normal_noise(n_samples: int, n_components: int, seed: int, n_threads: int = 1) -> npt.NDArray[np.float64]:
    """Return standard normal noise (n_samples, n_components); each row is a function of (seed, row)."""
    return normal_matrix(seed, _STREAM_NOISE, (n_samples, n_components), n_threads=n_threads)


def uniform_in_ball(n_samples: int, n_components: int, seed: int, n_threads: int = 1) -> npt.NDArray[np.float64]:
    """Return points in the unit ball (n_samples, n_components), uniform in the cube inside it, by (seed, row)."""
    uniform = uniform_matrix(seed, _STREAM_BALL, (n_samples, n_components), n_threads=n_threads)
    points: npt.NDArray[np.float64] = (2.0 * uniform - 1.0) / np.sqrt(n_components)
    return points


def strain_start(gram: Gram, n_components: int, seed: int, n_threads: int = 1) -> npt.NDArray[np.float64]:
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
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    deviation = np.sqrt(gram.centred_bounds[1] / (100.0 * gram.n_samples))
    normal = normal_matrix(seed, _STREAM_STRAIN, (gram.n_samples, n_components), n_threads=n_threads)
    start: npt.NDArray[np.float64] = normal * deviation
    return start
