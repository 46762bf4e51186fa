"""The ends of the spectrum of a symmetric operator, from a few products with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse.linalg

from gnomon._threads import single_threaded_blas
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.eigen.block_krylov import block_eigenpairs, block_fits
from gnomon.linalg.signs import with_signs

__all__ = ["Eigenpairs", "leading_eigenpairs", "spectral_bounds"]

Float64Array = npt.NDArray[np.float64]
Product = Callable[[Float64Array], Float64Array]
"""Takes (n, n_columns) to the product of the operator with it."""

_LARGEST_DENSE = 600  # rows; the dense eigenproblem then takes some hundredths of a second
_STREAM_LANCZOS, _STREAM_ARNOLDI = 121, 122
_SAFETY = 1.01
_TOLERANCE = 1e-12  # of residuals, as a share of the largest eigenvalue
_MAX_PRODUCTS = 250


@dataclass(frozen=True)
class Eigenpairs:
    """The algebraically largest eigenvalues of a symmetric operator.

    Attributes
    ----------
    values : ndarray of shape (n_vectors,), float64
        Falling; may be negative.
    vectors : ndarray of shape (n_samples, n_vectors), float64
        Orthonormal columns; the entry of largest magnitude of each is positive.
    converged : bool
        Whether they are exact to working precision.
    """

    values: Float64Array
    vectors: Float64Array
    converged: bool


def spectral_bounds(product: Product, n_samples: int, *, seed: int = 0, n_steps: int = 40) -> tuple[float, float]:
    """Enclose the spectrum of a symmetric operator by Lanczos steps.

    Parameters
    ----------
    product : callable
        The operator.
    n_samples : int
        Its order.
    seed : int in [0, 2**63), default=0
        Of the random start.
    n_steps : int, default=40
        Most products taken.

    Returns
    -------
    lowest, highest : float
        Ritz values moved outwards by their residuals or by a hundredth, whichever is more. No proof for operators of
        order above `n_steps`: a start orthogonal to an eigenvector would miss it, which a random one does not.
    """
    n_steps = min(n_steps, n_samples)
    basis = np.zeros((n_steps + 1, n_samples))
    start = normal_matrix(seed, _STREAM_LANCZOS, (n_samples, 1)).ravel()
    diagonal, off_diagonal = np.zeros(n_steps), np.zeros(n_steps)
    with single_threaded_blas():
        basis[0] = start / np.linalg.norm(start)
        step = 0
        for step in range(n_steps):
            image = product(basis[step][:, None])[:, 0]
            diagonal[step] = basis[step] @ image
            for _ in range(2):  # twice is enough to keep the basis orthogonal to working precision
                image = image - basis[: step + 1].T @ (basis[: step + 1] @ image)
            off_diagonal[step] = np.linalg.norm(image)
            size = float(np.abs(diagonal[: step + 1]).max())
            if off_diagonal[step] <= 1e-14 * max(size, float(off_diagonal[: step + 1].max())):
                break  # the basis spans an invariant subspace
            basis[step + 1] = image / off_diagonal[step]
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal[: step + 1], off_diagonal[:step])
    residuals = off_diagonal[step] * np.abs(vectors[-1])
    lowest = min(values[0] - residuals[0], values[0] * (_SAFETY if values[0] < 0.0 else 1.0 / _SAFETY))
    highest = max(values[-1] + residuals[-1], values[-1] * (_SAFETY if values[-1] > 0.0 else 1.0 / _SAFETY))
    return float(lowest), float(highest)


def leading_eigenpairs(product: Product, n_samples: int, n_vectors: int, *, seed: int = 0) -> Eigenpairs:
    """Find the algebraically largest eigenvalues and their vectors.

    Parameters
    ----------
    product : callable
        A symmetric operator.
    n_samples : int
        Its order. Up to 600 it is written out as a dense matrix.
    n_vectors : int in [1, n_samples]
        Number of pairs.
    seed : int in [0, 2**63), default=0
        Of the random start of the iteration, used above 600.

    Returns
    -------
    Eigenpairs
    """
    if n_samples > _LARGEST_DENSE and block_fits(n_samples, n_vectors):
        found = block_eigenpairs(
            product,
            n_samples,
            n_vectors,
            seed=seed,
            tolerance=_TOLERANCE,
            lowest_tolerance=math.inf,
            max_products=_MAX_PRODUCTS,
        )
        if found.converged:
            return Eigenpairs(found.values, found.vectors, True)
    converged = True
    with single_threaded_blas():
        if n_samples <= _LARGEST_DENSE or n_vectors > n_samples // 4:
            matrix = product(np.eye(n_samples))
            wanted = (n_samples - n_vectors, n_samples - 1)
            values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2.0, subset_by_index=wanted, check_finite=False)
        else:
            values, vectors, converged = _by_arnoldi(product, n_samples, n_vectors, seed)
    order = np.argsort(values, kind="stable")[::-1]
    return Eigenpairs(values[order], with_signs(vectors[:, order]), converged)


def _by_arnoldi(product: Product, n_samples: int, n_vectors: int, seed: int) -> tuple[Float64Array, Float64Array, bool]:
    """Return the pairs found by the restarted method of single vectors, and whether it converged."""
    start = normal_matrix(seed, _STREAM_ARNOLDI, (n_samples, 1)).ravel()
    operator = scipy.sparse.linalg.LinearOperator(
        (n_samples, n_samples), matvec=lambda v: product(v.reshape(-1, 1)).ravel(), dtype=np.float64
    )
    size = min(n_samples - 1, max(4 * n_vectors, 40))
    try:
        return (*scipy.sparse.linalg.eigsh(operator, n_vectors, which="LA", v0=start, ncv=size, maxiter=100), True)
    except scipy.sparse.linalg.ArpackNoConvergence:
        return (*_by_subspace_iteration(product, n_samples, n_vectors, seed), False)


def _by_subspace_iteration(
    product: Product, n_samples: int, n_vectors: int, seed: int
) -> tuple[Float64Array, Float64Array]:
    """Return approximate pairs where Lanczos' method has given up: eigenvalues that lie too close together."""
    width = min(n_samples, 2 * n_vectors + 10)
    basis, _ = np.linalg.qr(normal_matrix(seed, _STREAM_ARNOLDI, (n_samples, width)))
    for _ in range(30):
        basis, _ = np.linalg.qr(product(basis))
    small = basis.T @ product(basis)
    values, rotation = scipy.linalg.eigh((small + small.T) / 2.0)
    return values[-n_vectors:], basis @ rotation[:, -n_vectors:]
