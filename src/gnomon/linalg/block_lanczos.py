"""The largest eigenvalues of a symmetric operator whose products cost a pass over much memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon.linalg.draws import normal_matrix

__all__ = ["block_lanczos"]

Float64Array = npt.NDArray[np.float64]

_STREAM_BLOCK = 123
_TOLERANCE = 1e-12  # of residuals, as a share of the largest eigenvalue
_DEPENDENT = 1e-13  # share of a new direction that is rounding
_MORE = 6  # further vectors in a block, which shorten the way to the wanted ones
_MOST_RESTARTS = 3


def block_lanczos(
    product: Callable[[Float64Array], Float64Array], n_samples: int, n_vectors: int, *, seed: int = 0
) -> tuple[Float64Array, Float64Array] | None:
    """Find the algebraically largest eigenvalues and their vectors by Lanczos' method with blocks.

    Each product takes a block of n_vectors + 6 columns, so that an operator is gone through a few times only. All
    directions are kept orthogonal, and the operator is projected on all of them after each product.

    Parameters
    ----------
    product : callable
        The symmetric operator, taking (n_samples, n_columns) to the same shape.
    n_samples : int
        Its order.
    n_vectors : int
        Number of pairs, at most an eighth of n_samples.
    seed : int in [0, 2**63), default=0
        Of the random start.

    Returns
    -------
    values, vectors : ndarray of shape (n_vectors,) and (n_samples, n_vectors), or None
        Rising values whose residuals are below 1e-12 of the largest; None if they are not reached.

    References
    ----------
    .. [1] Golub & Underwood, "The block Lanczos method for computing eigenvalues", Mathematical Software III, 1977.
    """
    width = n_vectors + _MORE
    most = min(n_samples // 2, max(240, 8 * width))
    start = normal_matrix(seed, _STREAM_BLOCK, (n_samples, width))
    for _ in range(_MOST_RESTARTS):
        values, vectors, residual = _one_run(product, np.linalg.qr(start)[0], n_vectors, most)
        if residual <= _TOLERANCE * float(np.abs(values).max()):
            return values[-n_vectors:], vectors[:, -n_vectors:]
        start = vectors
    return None


def _one_run(
    product: Callable[[Float64Array], Float64Array], block: Float64Array, n_vectors: int, most: int
) -> tuple[Float64Array, Float64Array, float]:
    """Return Ritz values, the last Ritz vectors, as many as the block has, and the largest residual of the wanted."""
    width = block.shape[1]
    basis, images = block, np.empty((block.shape[0], 0))
    projected = np.empty((0, 0))
    while True:
        image = product(block)
        images = np.concatenate([images, image], axis=1)
        side = basis.T @ image
        old = projected.shape[0]
        projected = np.block([[projected, side[:old]], [side[:old].T, (side[old:] + side[old:].T) / 2.0]])
        values, rotation = scipy.linalg.eigh(projected, check_finite=False)
        wanted = rotation[:, -n_vectors:]
        differences = images @ wanted - (basis @ wanted) * values[-n_vectors:]
        residual = float(np.sqrt(np.einsum("ij,ij->j", differences, differences).max()))
        size = float(np.abs(values).max())
        done = residual <= _TOLERANCE * size or basis.shape[1] + width > most
        block = np.empty((0, 0)) if done else _new_directions(basis, image, size)
        if not block.size:
            return values, basis @ rotation[:, -width:], residual
        basis = np.concatenate([basis, block], axis=1)


def _new_directions(basis: Float64Array, image: Float64Array, size: float) -> Float64Array:
    """Return an orthonormal basis of what is new in the image; without columns if nothing is."""
    for _ in range(2):  # twice is enough to keep the basis orthogonal to working precision
        image = image - basis @ (basis.T @ image)
    directions, triangle, _ = scipy.linalg.qr(image, mode="economic", pivoting=True, check_finite=False)
    new = directions[:, np.abs(np.diag(triangle)) > _DEPENDENT * size]
    new = new - basis @ (basis.T @ new)
    return np.asarray(np.linalg.qr(new)[0], dtype=np.float64)
