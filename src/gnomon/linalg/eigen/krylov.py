"""Eigenpairs from Krylov spaces: Lanczos' method with blocks, ARPACK, and spaces of the inverse by a sparse factor."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.eigen.base import (
    LARGEST_DENSE,
    Eigenpairs,
    OutOfTimeError,
    Search,
    Semidefinite,
    dense_largest,
    with_signs,
)
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.products import SparseTimes, inner, inner_products
from gnomon.linalg.products import product as multiply

__all__ = ["inverse_krylov", "largest_eigenpairs", "new_directions", "smallest_by_lanczos", "spectral_bounds"]

Float64Array = npt.NDArray[np.float64]
Product = Callable[[Float64Array], Float64Array]
"""Takes (n, n_columns) to the product of the operator with it."""

_STREAM_LANCZOS, _STREAM_ARNOLDI, _STREAM_INVERSE, _STREAM_BLOCK = 121, 122, 123, 251
_SAFETY = 1.01
_MAX_PRODUCTS = 250
_EXTRA = 6  # further vectors in the block, which speed up convergence of those wanted
_MOST_BLOCKS = 12  # in the basis before it is compressed
_DEPENDENT = 1e-12  # share of a direction that is rounding
_MAX_STEPS = 60  # with the inverse
_EXACT = 1e-12  # of the residuals, as a share of the largest eigenvalue


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
        basis[0] = start / math.sqrt(inner(start, start))
        step = 0
        for step in range(n_steps):
            image = product(basis[step][:, None])[:, 0]
            diagonal[step] = inner(basis[step], image)
            for _ in range(2):  # twice is enough to keep the basis orthogonal to working precision
                image = image - multiply(basis[: step + 1].T, multiply(basis[: step + 1], image))
            off_diagonal[step] = math.sqrt(inner(image, image))
            size = float(np.abs(diagonal[: step + 1]).max())
            if off_diagonal[step] <= 1e-14 * max(size, float(off_diagonal[: step + 1].max())):
                break  # the basis spans an invariant subspace
            basis[step + 1] = image / off_diagonal[step]
    beside = np.diag(off_diagonal[:step], -1)
    values, vectors = symmetric_eigen(np.diag(diagonal[: step + 1]) + beside + beside.T)
    residuals = off_diagonal[step] * np.abs(vectors[-1])
    lowest = min(values[-1] - residuals[-1], values[-1] * (_SAFETY if values[-1] < 0.0 else 1.0 / _SAFETY))
    highest = max(values[0] + residuals[0], values[0] * (_SAFETY if values[0] > 0.0 else 1.0 / _SAFETY))
    return float(lowest), float(highest)


def largest_eigenpairs(
    product: Product, n_samples: int, search: Search, *, solver: str = "auto", other_end: float | None = None
) -> Eigenpairs:
    """Find the algebraically largest eigenvalues of an operator and their vectors.

    Parameters
    ----------
    product : callable
        The operator.
    n_samples : int
        Its order.
    search : Search
        The tolerance is relative to the largest magnitude of an eigenvalue.
    solver : {"auto", "dense", "lanczos"}, default="auto"
        "auto" writes out operators of up to 600 rows.
    other_end : float or None, default=None
        Tolerance of the eigenvalue at the other end of the spectrum, if it is wanted: its error is no more.

    Returns
    -------
    Eigenpairs
        Where blocks do not fit in the space, or do not converge in 250 products unless `search` says how many, ARPACK
        is asked; it is not if the other end is wanted.
    """
    n_vectors = search.n_vectors
    found = None
    with single_threaded_blas():
        if solver == "dense" or (solver == "auto" and n_samples <= LARGEST_DENSE):
            return dense_largest(product, n_samples, n_vectors, other_end=other_end is not None)
        if _MOST_BLOCKS * (n_vectors + _EXTRA) <= n_samples:  # fewer than the directions that there are
            found = _block_lanczos(product, n_samples, search, math.inf if other_end is None else other_end)
            if found.converged or found.out_of_time or other_end is not None or search.max_products is not None:
                return found
        if other_end is None and n_vectors <= n_samples // 4:
            from scipy.sparse.linalg import ArpackNoConvergence  # loaded with LAPACK, when first asked for

            try:
                return _arpack(product, n_samples, search)
            except (ArpackNoConvergence, OutOfTimeError):
                pass
        return found or dense_largest(product, n_samples, n_vectors, other_end=other_end is not None)


def _block_lanczos(product: Product, n_samples: int, search: Search, lowest_tolerance: float) -> Eigenpairs:
    """Iterate with full orthogonalization on a block of n_vectors + 6 columns, for which the operator is read once.

    That is what counts where a product is bound by memory. The operator is projected on all directions after each
    product; when there are 12 blocks of them, those of both ends of the spectrum are kept (Golub & Underwood, "The
    block Lanczos method for computing eigenvalues", 1977; Wu & Simon, "Thick-restart Lanczos method for large symmetric
    eigenvalue problems", 2000).
    """
    n_vectors, width = search.n_vectors, search.n_vectors + _EXTRA
    most = search.max_products or _MAX_PRODUCTS
    block = orthonormalised(normal_matrix(search.seed, _STREAM_BLOCK, (n_samples, width)))
    basis = images = np.empty((n_samples, 0))
    projected = np.empty((0, 0))
    out_of_time = False
    for done in range(1, most + 1):
        image = product(block)
        basis, images = np.hstack((basis, block)), np.hstack((images, image))
        projected = _extended(projected, multiply(basis.T, image))
        values, rotation = (part[..., ::-1] for part in symmetric_eigen(projected))
        ends = np.append(np.arange(len(values) - 1, len(values) - 1 - n_vectors, -1), 0)
        differences = multiply(images, rotation[:, ends]) - multiply(basis, rotation[:, ends]) * values[ends]
        residuals = np.linalg.norm(differences, axis=0)
        errors = residuals / max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
        converged = bool((errors[:-1] <= search.tolerance).all() and errors[-1] <= lowest_tolerance)
        if converged or done == most:
            break
        out_of_time = search.stopped(done, most)
        if out_of_time:
            break
        block = new_directions(image, basis)
        if not block.size:  # the basis spans an invariant space
            break
        if basis.shape[1] >= _MOST_BLOCKS * width:
            kept = np.append(np.arange(width // 2), np.arange(len(values) - _MOST_BLOCKS // 3 * width, len(values)))
            basis, images = multiply(basis, rotation[:, kept]), multiply(images, rotation[:, kept])
            projected = np.diag(values[kept])
    vectors = with_signs(multiply(basis, rotation[:, ends[:-1]]))
    lowest = float(values[0]) if math.isfinite(lowest_tolerance) else None
    return Eigenpairs(values[ends[:-1]], vectors, residuals[:-1], converged, "lanczos", out_of_time, lowest)


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
        block = block - multiply(basis, multiply(basis.T, block))
        sizes = np.linalg.norm(block, axis=0)
        block = block[:, sizes > _DEPENDENT] / sizes[sizes > _DEPENDENT]
        values, vectors = symmetric_eigen(inner_products(block), least=_DEPENDENT)
        block = multiply(block, vectors / np.sqrt(values[: vectors.shape[1]]))
    return block


def _arpack(product: Product, n_samples: int, search: Search) -> Eigenpairs:
    """Return the pairs that the restarted method of single vectors finds, to working precision."""
    from scipy.sparse.linalg import LinearOperator, eigsh  # loaded with LAPACK, when first asked for

    n_vectors = search.n_vectors
    start = normal_matrix(search.seed, _STREAM_ARNOLDI, (n_samples, 1)).ravel()
    size, most = min(n_samples - 1, max(4 * n_vectors, 40)), 100
    products = 0

    def times(v: Float64Array) -> Float64Array:
        nonlocal products
        products += 1
        search.look_up(products, most * size)
        return product(v.reshape(-1, 1)).ravel()

    operator = LinearOperator((n_samples, n_samples), matvec=times, dtype=np.float64)
    options: dict[str, Any] = {"which": "LA", "v0": start, "ncv": size, "maxiter": most}
    if "rng" in inspect.signature(eigsh).parameters:  # SciPy 1.17: of the vectors that go on from an invariant space
        options["rng"] = np.random.default_rng(search.seed)
    values, vectors = eigsh(operator, n_vectors, **options)
    order = np.argsort(values, kind="stable")[::-1]
    values, vectors = values[order], with_signs(vectors[:, order])
    residuals = np.linalg.norm(product(vectors) - vectors * values, axis=0)
    return Eigenpairs(values, vectors, residuals, True, "arpack")


def smallest_by_lanczos(matrix: Any, known: Float64Array | None, upper: float, search: Search) -> Eigenpairs:
    """Find the smallest pairs of a matrix with eigenvalues in [0, upper] as the largest of upper * I - matrix.

    They are exact to 1e-12 of ``upper``, whatever the tolerance. The known unit vector is left out.
    """
    times = SparseTimes(matrix)

    def product(X: Float64Array) -> Float64Array:
        if known is None:
            return np.asarray(upper * X - times(X))
        return np.asarray(upper * X - times(X) - (1.5 * upper) * np.outer(known, multiply(X.T, known)))

    found = largest_eigenpairs(product, matrix.shape[0], replace(search, tolerance=_EXACT))
    return replace(found, values=upper - found.values)


def inverse_krylov(operator: Semidefinite, solve: Product, search: Search) -> tuple[Float64Array, bool]:
    """Search the Krylov spaces of the inverse, block by block, until the residuals are small.

    Returns
    -------
    vectors : ndarray of shape (n_samples, n_vectors)
    out_of_time : bool
    """
    n, n_vectors = operator.n, search.n_vectors
    width = min(n_vectors + 3, n - 1)
    block = operator.without_known(normal_matrix(search.seed, _STREAM_INVERSE, (n, width)))
    basis = images = np.empty((n, 0))
    best = block[:, :n_vectors]
    for step in range(_MAX_STEPS):
        block = new_directions(block, basis)
        if block.shape[1] == 0:  # the basis spans an invariant space
            return best, False
        if search.stopped(step, _MAX_STEPS):
            return best, True
        image = operator.without_known(solve(block))
        basis, images = np.hstack([basis, block]), np.hstack([images, image])
        small = multiply(basis.T, images)
        _, rotation = symmetric_eigen((small + small.T) / 2.0)
        # The images are the Ritz vectors after one more inverse step, which smooths what the matrix would magnify.
        best = multiply(images, rotation[:, :n_vectors])
        values, _, residuals = operator.rayleigh_ritz(best)
        if residuals.max() <= operator.limit(values, search.tolerance):
            return best, False
        if basis.shape[1] >= _MOST_BLOCKS * width:
            kept = rotation[:, : 2 * width]
            basis, images = multiply(basis, kept), multiply(images, kept)
        block = image
    return best, False
