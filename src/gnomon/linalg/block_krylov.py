"""Both ends of the spectrum of a large symmetric operator, from products with blocks of vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon._threads import single_threaded_blas
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.krylov import with_signs

__all__ = ["SpectrumEnds", "block_eigenpairs"]

Float64Array = npt.NDArray[np.float64]

_LARGEST_DENSE = 600  # rows; the dense eigenproblem then takes some tenths of a second with all eigenvalues
_STREAM = 251
_EXTRA = 6  # further vectors in the block, which speed up convergence of those wanted
_MOST_BLOCKS = 12  # in the basis before it is compressed
_LOWEST_TOLERANCE = 1e-2


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
        The algebraically smallest eigenvalue; up to a hundredth of the largest magnitude where the operator is not
        written out.
    converged : bool
        Whether all residuals are below the tolerance.
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
    max_products: int = 60,
) -> SpectrumEnds:
    """Find the largest eigenvalues and their vectors by a block Krylov method with full orthogonalization.

    It reads the operator once for a whole block of vectors, which is what counts where a product is bound by memory.

    Parameters
    ----------
    product : callable
        Takes (n_samples, n_columns) to the product of the operator with it.
    n_samples : int
        Order of the operator. Up to 600 it is written out as a dense matrix.
    n_vectors : int in [1, n_samples]
    seed : int in [0, 2**63), default=0
        Of the random start.
    tolerance : float, default=1e-9
        On |A v - lambda v|, relative to the largest magnitude of an eigenvalue.
    max_products : int, default=60
        Products with a block after which the iteration ends.

    Returns
    -------
    SpectrumEnds

    References
    ----------
    .. [1] Saad, "Numerical methods for large eigenvalue problems", SIAM, 2011, chapter 6.
    """
    width = n_vectors + _EXTRA
    with single_threaded_blas():
        if n_samples <= _LARGEST_DENSE or _MOST_BLOCKS * width > n_samples:
            matrix = product(np.eye(n_samples))
            values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2.0, check_finite=False)
            leading = np.arange(n_samples - 1, n_samples - 1 - n_vectors, -1)
            return SpectrumEnds(values[leading], with_signs(vectors[:, leading]), float(values[0]), True)
        block, _ = np.linalg.qr(normal_matrix(seed, _STREAM, (n_samples, width)))
        basis, images = block, product(block)
        for done in range(1, max_products + 1):
            small = basis.T @ images
            values, rotation = scipy.linalg.eigh((small + small.T) / 2.0)
            leading = np.arange(len(values) - 1, len(values) - 1 - width, -1)
            ends = np.append(leading, 0)
            residuals = images @ rotation[:, ends] - (basis @ rotation[:, ends]) * values[ends]
            size = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
            errors = np.linalg.norm(residuals, axis=0) / size
            converged = bool((errors[:n_vectors] <= tolerance).all()) and errors[-1] <= _LOWEST_TOLERANCE
            if converged or done == max_products:
                break
            if basis.shape[1] >= _MOST_BLOCKS * width:
                kept = rotation[:, np.append(np.arange(len(values) - 2 * width, len(values)), np.arange(width // 2))]
                basis, images = basis @ kept, images @ kept
            block = residuals[:, :-1] / np.maximum(np.linalg.norm(residuals[:, :-1], axis=0), np.finfo(float).tiny)
            for _ in range(2):  # twice is enough to keep the basis orthogonal to working precision
                block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
            basis, images = np.hstack((basis, block)), np.hstack((images, product(block)))
        vectors = basis @ rotation[:, leading[:n_vectors]]
    return SpectrumEnds(values[leading[:n_vectors]], with_signs(vectors), float(values[0]), converged)
