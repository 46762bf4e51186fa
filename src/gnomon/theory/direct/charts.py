"""A map put together from flat pictures of neighbourhoods: turns by eigenvectors, places by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, check_parameters, message
from gnomon.linalg import eigenpairs, solve_graph_system
from gnomon.theory.direct.scale import Float64Array, at_best_scale, umap_loss

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["chart_map"]

_RULES = {"n_components": Integer(low=1)}


@entrance("chart_map")
def chart_map(affinities: Affinities, kernel: OutputKernel, X: npt.ArrayLike, *, n_components: int = 2) -> Float64Array:
    """Map a table by its tangent spaces: charts of all neighbourhoods, turned to fit each other and joined.

    The chart of a row has its neighbours along the principal axes of their differences to it, divided by the mean
    length of these, so that all neighbourhoods are equally large, as UMAP's are. An orthogonal matrix for each chart,
    from the leading eigenvectors of the connection Laplacian, turns it to agree with its neighbours'; then

        sum_ij mu_ij |y_j - y_i - O_i t_ij|^2

    is least at the solution of one system in the graph's Laplacian. The cost is n small decompositions, eigenvectors
    of a matrix of n_components n_samples rows, and one such solution.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    X : array-like of shape (n_samples, n_features)
        The table whose neighbourhoods these are.
    n_components : int >= 1, default=2
        At most the number of features.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64

    Raises
    ------
    ValueError
        If the table has another number of rows than the affinities.

    References
    ----------
    .. [1] Singer & Wu, "Vector diffusion maps and the connection Laplacian", 2012.
    .. [2] Zhang & Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space alignment", 2004.
    """
    q = check_parameters(_RULES, {"n_components": n_components})["n_components"]
    table = np.asarray(X, dtype=np.float64)
    if table.shape[0] != affinities.n_samples:
        raise ValueError(message("X", f"a table of {affinities.n_samples:,} rows", fact=f"{table.shape[0]:,} rows"))
    matrix = sp.csr_array(affinities.matrix.astype(np.float64))
    with single_threaded_blas():
        frames, steps = _charts(matrix, table, q)
        turns = _turns(matrix, frames)
    heads = np.repeat(np.arange(len(table)), np.diff(matrix.indptr))
    turned = np.einsum("eab,eb->ea", turns[heads], steps) * matrix.data[:, None]
    arriving, leaving = (
        np.stack([np.bincount(ends, column, len(table)) for column in turned.T], axis=1)
        for ends in (matrix.indices, heads)
    )
    return at_best_scale(umap_loss(affinities, kernel, q), solve_graph_system(matrix, arriving - leaving).Z)


def _charts(matrix: sp.csr_array, X: Float64Array, q: int) -> tuple[Float64Array, Float64Array]:
    """Return axes of each row's neighbourhood, (n, n_features, q), and the step of each edge in its head's chart."""
    frames = np.zeros((len(X), X.shape[1], q))
    steps = np.zeros((matrix.data.size, q))
    for row, (begin, end) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        across = X[matrix.indices[begin:end]] - X[row]
        axes = np.linalg.svd(across, full_matrices=False)[2][:q]
        frames[row, :, : len(axes)] = axes.T
        length = float(np.sqrt(np.square(across).sum(axis=1)).mean()) if len(across) else 0.0
        steps[begin:end] = across @ frames[row] / (length or 1.0)
    return frames, steps


def _turns(matrix: sp.csr_array, frames: Float64Array) -> Float64Array:
    """Return the orthogonal matrix O_i of each chart with O_i F_i' about O_j F_j' for neighbours, (n, q, q)."""
    n, _, q = frames.shape
    heads = np.repeat(np.arange(n), np.diff(matrix.indptr))
    U, _, V = np.linalg.svd(np.einsum("efa,efb->eab", frames[heads], frames[matrix.indices]))
    degrees = np.maximum(np.asarray(matrix.sum(axis=1)), 1e-300)
    weights = matrix.data / np.sqrt(degrees[heads] * degrees[matrix.indices])
    blocks = sp.bsr_array((weights[:, None, None] * (U @ V), matrix.indices, matrix.indptr), shape=(n * q, n * q))
    joined = sp.csr_array(0.5 * (blocks + blocks.T))
    vectors = eigenpairs(sp.linalg.aslinearoperator(joined), q, which="largest", tol=1e-6).vectors
    U, _, V = np.linalg.svd(vectors.reshape(n, q, q))
    return np.asarray(np.swapaxes(U @ V, 1, 2))
