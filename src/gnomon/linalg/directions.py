"""Random directions that keep squared lengths on average."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon._threads import single_threaded_blas
from gnomon.linalg.draws import normal_matrix, uniform_matrix

__all__ = ["random_directions"]

_STREAM_NORMAL, _STREAM_SPARSE = 105, 106


def random_directions(kind: str, n_directions: int, n_features: int, *, seed: int) -> Any:
    """Draw a matrix C with E |C x|^2 = |x|^2 for every x.

    Parameters
    ----------
    kind : {"gaussian", "orthonormal", "sparse"}
        "gaussian": normal entries of variance 1 / n_directions. "orthonormal": orthonormal rows, uniformly
        distributed, times sqrt(n_features / n_directions). "sparse": entries are 0 but for a share
        1 / sqrt(n_features) of them, on average.
    n_directions : int >= 1
        At most n_features for "orthonormal".
    n_features : int >= 1
    seed : int in [0, 2**63)

    Returns
    -------
    ndarray, or csr_array if sparse, of shape (n_directions, n_features), float64
    """
    if kind == "sparse":
        return _sparse_directions(n_directions, n_features, seed)
    normal = normal_matrix(seed, _STREAM_NORMAL, (n_features, n_directions))
    if kind == "gaussian":
        return np.ascontiguousarray(normal.T) / np.sqrt(n_directions)
    with single_threaded_blas():
        basis, triangle = np.linalg.qr(normal)
    signs = np.where(np.diag(triangle) < 0.0, -1.0, 1.0)  # without them the directions would not be uniform
    return np.ascontiguousarray((basis * signs).T) * np.sqrt(n_features / n_directions)


def _sparse_directions(n_directions: int, n_features: int, seed: int) -> sp.csr_array:
    density = 1.0 / np.sqrt(n_features)
    size = 1.0 / np.sqrt(density * n_directions)
    uniform = uniform_matrix(seed, _STREAM_SPARSE, (n_features, n_directions))
    feature, direction = np.nonzero(uniform < density)
    entries = np.where(uniform[feature, direction] < density / 2.0, -size, size)
    return sp.csr_array((entries, (direction, feature)), shape=(n_directions, n_features))
