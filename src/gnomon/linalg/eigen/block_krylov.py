"""Ends of the spectrum of a large symmetric operator, from products with blocks of vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon._threads import single_threaded_blas
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.signs import with_signs

__all__ = ["SpectrumEnds", "block_eigenpairs", "block_fits", "new_directions"]

Float64Array = npt.NDArray[np.float64]

_LARGEST_DENSE = 600  # rows; the dense eigenproblem then takes some tenths of a second with all eigenvalues
_STREAM = 251
_EXTRA = 6  # further vectors in the block, which speed up convergence of those wanted
_MOST_BLOCKS = 12  # in the basis before it is compressed
_DEPENDENT = 1e-12  # share of a direction that is rounding


@dataclass(frozen=True)
class SpectrumEnds:
    """The largest eigenvalues of a symmetric operator, their vectors, and the lowest eigenvalue.

    Attributes
    ----------
    values : ndarray of shape (n_vectors,), float64
        Falling; may be negative.
    vectors : ndarray of shape (n_samples, n_vectors), float64
        Orthonormal columns; the entry of largest magnitude of each is positive.
    lowest : float
        The algebraically smallest eigenvalue, never below it up to rounding; exact where the operator is written out.
    converged : bool
        Whether all residuals are below their tolerances.
    """

    values: Float64Array
    vectors: Float64Array
    lowest: float
    converged: bool


def block_eigenpairs(
    product: Callable[[Float64Array], Float64Array],
    n_samples: int,
    n_vectors: int,
    *,
    seed: int = 0,
    tolerance: float = 1e-9,
    lowest_tolerance: float = 1e-2,
    max_products: int = 60,
) -> SpectrumEnds:
    """Find the largest eigenvalues and their vectors by Lanczos' method with blocks and full orthogonalization.

    It reads the operator once for a whole block of n_vectors + 6 columns, which is what counts where a product is bound
    by memory. The operator is projected on all directions after each product; when there are 12 blocks of them, those
    of both ends of the spectrum are kept.

    Parameters
    ----------
    product : callable
        Takes (n_samples, n_columns) to the product of the operator with it.
    n_samples : int
        Order of the operator. Up to 600, or 12 (n_vectors + 6), it is written out as a dense matrix.
    n_vectors : int in [1, n_samples]
    seed : int in [0, 2**63), default=0
        Of the random start.
    tolerance : float, default=1e-9
        On |A v - lambda v|, relative to the largest magnitude of an eigenvalue.
    lowest_tolerance : float, default=1e-2
        The same for the lowest eigenvalue, whose error is no more; infinity if it is not wanted.
    max_products : int, default=60
        Products with a block after which the iteration ends.

    Returns
    -------
    SpectrumEnds

    References
    ----------
    .. [1] Golub & Underwood, "The block Lanczos method for computing eigenvalues", Mathematical Software III, 1977.
    .. [2] Wu & Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM Journal on Matrix
       Analysis and Applications 22, 2000.
    """
    width = n_vectors + _EXTRA
    with single_threaded_blas():
        if n_samples <= _LARGEST_DENSE or not block_fits(n_samples, n_vectors):
            matrix = product(np.eye(n_samples))
            values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2.0, check_finite=False)
            leading = np.arange(n_samples - 1, n_samples - 1 - n_vectors, -1)
            return SpectrumEnds(values[leading], with_signs(vectors[:, leading]), float(values[0]), True)
        block = np.linalg.qr(normal_matrix(seed, _STREAM, (n_samples, width)))[0]
        basis = images = np.empty((n_samples, 0))
        projected = np.empty((0, 0))
        for done in range(1, max_products + 1):
            image = product(block)
            basis, images = np.hstack((basis, block)), np.hstack((images, image))
            projected = _extended(projected, basis.T @ image)
            values, rotation = scipy.linalg.eigh(projected, check_finite=False)
            ends = np.append(np.arange(len(values) - 1, len(values) - 1 - n_vectors, -1), 0)
            residuals = images @ rotation[:, ends] - (basis @ rotation[:, ends]) * values[ends]
            errors = np.linalg.norm(residuals, axis=0) / max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
            converged = bool((errors[:-1] <= tolerance).all() and errors[-1] <= lowest_tolerance)
            if converged or done == max_products:
                break
            block = new_directions(image, basis)
            if not block.size:  # the basis spans an invariant space
                break
            if basis.shape[1] >= _MOST_BLOCKS * width:
                kept = np.append(np.arange(width // 2), np.arange(len(values) - _MOST_BLOCKS // 3 * width, len(values)))
                basis, images = basis @ rotation[:, kept], images @ rotation[:, kept]
                projected = np.diag(values[kept])
        vectors = basis @ rotation[:, ends[:-1]]
    return SpectrumEnds(values[ends[:-1]], with_signs(vectors), float(values[0]), converged)


def block_fits(n_samples: int, n_vectors: int) -> bool:
    """Whether the blocks that the iteration keeps are fewer than the directions that there are."""
    return _MOST_BLOCKS * (n_vectors + _EXTRA) <= n_samples


def _extended(projected: Float64Array, side: Float64Array) -> Float64Array:
    """Return the projection of the operator on a basis with a further block, whose columns `side` holds."""
    old = len(projected)
    return np.block([[projected, side[:old]], [side[:old].T, (side[old:] + side[old:].T) / 2.0]])


def new_directions(block: Float64Array, basis: Float64Array) -> Float64Array:
    """Return an orthonormal basis of what a block adds to an orthonormal basis; without columns if nothing.

    Parameters
    ----------
    block : ndarray of shape (n_samples, n_columns), float64
    basis : ndarray of shape (n_samples, n_directions), float64

    Returns
    -------
    ndarray of shape (n_samples, at most n_columns), float64
    """
    sizes = np.linalg.norm(block, axis=0)
    block = block[:, sizes > 0.0] / sizes[sizes > 0.0]
    for _ in range(2):  # twice is enough to be orthogonal to working precision
        block = block - basis @ (basis.T @ block)
        columns, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
        block = np.asarray(columns[:, np.abs(np.diag(triangle)) > _DEPENDENT], dtype=np.float64)
    return block
