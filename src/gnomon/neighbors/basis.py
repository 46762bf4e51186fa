"""A few directions that keep most of the distances, found on a sample of rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas

__all__ = ["principal_basis"]

_EXTRA = 16  # further directions iterated along, which speeds up convergence of those wanted
_ROUNDS = 3


def principal_basis(sample: npt.NDArray[np.float32], n_components: int, *, seed: int) -> npt.NDArray[np.float32]:
    """Approximate the leading principal directions by subspace iteration.

    The basis only proposes candidates for neighbours, so that nearly best directions serve as well as the best, and no
    matrix of shape (n_features, n_features) is needed.

    Parameters
    ----------
    sample : ndarray of shape (n_rows, n_features), float32
        Centred rows.
    n_components : int in [1, n_features]
    seed : int

    Returns
    -------
    ndarray of shape (n_components, n_features), float32
        Orthonormal rows. Equal bits for any number of threads.
    """
    n_features = sample.shape[1]
    width = min(n_components + _EXTRA, n_features)
    start = np.random.default_rng(seed).standard_normal((n_features, width), dtype=np.float32)
    with single_threaded_blas():
        directions = np.linalg.qr(start)[0]
        for _ in range(_ROUNDS):
            directions = np.linalg.qr(sample.T @ (sample @ directions))[0]
        coordinates = sample @ directions
        rotation = np.linalg.eigh(coordinates.T @ coordinates)[1][:, ::-1]
        basis = directions @ rotation[:, :n_components]
    return np.ascontiguousarray(basis.T, dtype=np.float32)
