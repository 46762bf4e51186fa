"""Bottom eigenvectors of the normalised Laplacian of a graph, by solvers that cannot hang."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.sparse import csgraph

from gnomon import _core
from gnomon._threads import single_threaded_blas
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.linalg.signs import with_signs
from gnomon.linalg.sparse import kernel_graph

__all__ = ["MAX_SPECTRAL_VECTORS", "SpectralVectors", "block_width", "connected_components", "spectral_vectors"]

_LARGEST_DENSE = 600  # nodes; the dense eigenproblem then takes some hundredths of a second
_WIDTHS = {8: 5, 16: 12, 32: 27, 64: 56}  # width of the block of the iteration: vectors it can be asked for
MAX_SPECTRAL_VECTORS = max(_WIDTHS.values())

_RULES: dict[str, Rule] = {
    "n_vectors": Integer(1),
    "seed": Integer(0),
    "n_threads": Integer(1),
    "tolerance": Real(0.0, low_open=True),
    "max_products": Either(Nothing(), Integer(1)),
    "time_budget": Either(Nothing(), Real(0.0)),
    "solver": Options("auto", "dense", "multilevel"),
}


@dataclass(frozen=True)
class SpectralVectors:
    """Bottom eigenvectors of I - D^-1/2 A D^-1/2, the trivial one left out.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, n_vectors), float64
        Orthonormal columns by rising eigenvalue, orthogonal to sqrt(degree); the entry of largest magnitude of each is
        positive.
    eigenvalues : ndarray of shape (n_vectors,), float64
        Of the normalised Laplacian, in [0, 2].
    residuals : ndarray of shape (n_vectors,), float64
        |L v - lambda v| of each vector.
    converged : bool
        Whether the residuals, divided by the largest eigenvalue asked for, are below the tolerance. Residuals below
        5e-6, the rounding of float32, always are.
    out_of_time : bool
        Whether the time budget ended the iteration; the result then depends on the machine's speed.
    solver : {"dense", "multilevel"}
        How they were found.
    n_graph_components : int
        Number of connected components; beyond 1, vectors of eigenvalue 0 tell components apart and nothing else.
    """

    vectors: npt.NDArray[np.float64]
    eigenvalues: npt.NDArray[np.float64]
    residuals: npt.NDArray[np.float64]
    converged: bool
    out_of_time: bool
    solver: str
    n_graph_components: int


def connected_components(matrix: Any) -> npt.NDArray[np.int32]:
    """Label the connected components of a symmetric CSR affinity matrix.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)

    Returns
    -------
    ndarray of shape (n_samples,), int32
        Component of each row, numbered from 0 in the order of their first rows.
    """
    _, labels = csgraph.connected_components(matrix, directed=False)
    return np.asarray(labels, dtype=np.int32)


def block_width(n_vectors: int) -> int | None:
    """Return the width of the block that the multilevel iteration takes for so many vectors; None for too many."""
    return next((width for width, most in _WIDTHS.items() if n_vectors <= most), None)


def spectral_vectors(
    matrix: Any,
    n_vectors: int,
    *,
    seed: int = 0,
    n_threads: int = 1,
    tolerance: float = 1e-2,
    max_products: int | None = None,
    time_budget: float | None = None,
    solver: str = "auto",
    labels: npt.NDArray[np.int32] | None = None,
    who: str = "spectral_vectors",
) -> SpectralVectors:
    """Find the bottom eigenvectors of the normalised Laplacian of a graph.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
        Symmetric, non-negative.
    n_vectors : int in [1, n_samples - 1]
        At most 56 with the solver "multilevel".
    seed : int in [0, 2**63), default=0
        Of the random start on the coarsest graph.
    n_threads : int >= 1, default=1
        Does not change the result.
    tolerance : float > 0, default=1e-2
        On the residuals, relative to the largest eigenvalue asked for; 1e-2 leaves angles of about 1e-3 between the
        spaces found and exact, which is plenty for a start of a layout.
    max_products : int >= 1 or None, default=None
        Products of the graph with a block of vectors after which the iteration ends; those of smaller graphs are
        bounded likewise. None: 500, fewer for graphs of more than eight million entries, but at least 120.
    time_budget : float or None, default=None
        Seconds after which the iteration ends early. It is bounded anyhow, so this is a last resort.
    solver : {"auto", "dense", "multilevel"}, default="auto"
        "dense": LAPACK in double. "multilevel": Chebyshev-filtered subspace iteration in float32, started from coarser
        graphs. "auto" takes "dense" up to 600 nodes.
    labels : ndarray of shape (n_samples,), int32, or None, default=None
        What `connected_components` returns, where it is known already.
    who : str, default="spectral_vectors"
        Opens the error text.

    Returns
    -------
    SpectralVectors

    References
    ----------
    .. [1] Zhou, Saad, Tiago & Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace
       iteration", J. Comput. Phys. 219, 2006.
    """
    given = {
        "n_vectors": n_vectors,
        "seed": seed,
        "n_threads": n_threads,
        "tolerance": tolerance,
        "max_products": max_products,
        "time_budget": time_budget,
        "solver": solver,
    }
    values = check_parameters(who, _RULES, given)
    n = matrix.shape[0]
    n_vectors = values["n_vectors"]
    if n_vectors > n - 1:
        raise ValueError(message(who, f"n_vectors={n_vectors}", f"at most {n - 1}", fact=f"n_samples={n}"))
    width = block_width(n_vectors) or n
    if solver == "auto":
        solver = "dense" if n <= _LARGEST_DENSE else "multilevel"
    if solver == "multilevel" and n < 4 * width:
        rule = f"at most {MAX_SPECTRAL_VECTORS} and far below n_samples={n}"
        raise ValueError(message(who, f"n_vectors={n_vectors}", rule, remedy="Use solver='dense'."))
    n_graph_components = int((connected_components(matrix) if labels is None else labels).max()) + 1
    if solver == "dense":
        vectors, eigenvalues, residuals = _dense_vectors(matrix, n_vectors)
        return SpectralVectors(vectors, eigenvalues, residuals, True, False, solver, n_graph_components)
    if max_products is None:
        values["max_products"] = min(500, max(120, int(4e9) // max(matrix.nnz, 1)))
    seconds = math.inf if time_budget is None else values["time_budget"]
    block, leading, residuals, converged, out_of_time, _, _ = _core.spectral_vectors(
        kernel_graph(matrix), n_vectors, width, values["tolerance"], values["max_products"], seconds, seed, n_threads
    )
    return SpectralVectors(
        vectors=with_signs(block[:, :n_vectors].astype(np.float64)),
        eigenvalues=np.maximum(1.0 - leading[:n_vectors], 0.0),
        residuals=residuals[:n_vectors],
        converged=converged,
        out_of_time=out_of_time,
        solver=solver,
        n_graph_components=n_graph_components,
    )


def _dense_vectors(
    matrix: Any, n_vectors: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    weights = matrix.toarray().astype(np.float64)
    roots = np.sqrt(weights.sum(axis=1))
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
    laplacian = np.eye(matrix.shape[0]) - inverse[:, None] * weights * inverse
    # The trivial vector is moved to the far end of the spectrum, so that no other can mix with it.
    trivial = roots / max(float(np.linalg.norm(roots)), 1e-300)
    with single_threaded_blas():
        eigenvalues, vectors = scipy.linalg.eigh(
            laplacian + 3.0 * np.outer(trivial, trivial), subset_by_index=[0, n_vectors - 1], check_finite=False
        )
        residuals = np.linalg.norm(laplacian @ vectors - vectors * eigenvalues, axis=0)
    return with_signs(vectors), np.maximum(eigenvalues, 0.0), residuals
