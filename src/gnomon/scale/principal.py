"""Principal components of a stored table, from matrices of its blocks that are merged along a fixed tree."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._memory import ALWAYS_THERE, require_memory
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.data.stored import RowBlock, StoredTable, TransformedTable, digest
from gnomon.linalg import (
    CentredFactor,
    CentredProduct,
    Moments,
    PrincipalComponents,
    normal_matrix,
    principal_components_in_basis,
    principal_components_of_factor,
    principal_components_of_moments,
    project_rows,
)
from gnomon.linalg.principal.subspace import STREAM_SKETCH
from gnomon.scale.executor import Executor, current_executor

__all__ = ["WIDEST_DENSE", "WIDEST_SPARSE", "ProjectedTable", "stored_principal_components"]

Float64Array = npt.NDArray[np.float64]
Blocks = list[RowBlock]
_Part = TypeVar("_Part", Moments, CentredFactor, CentredProduct)

WIDEST_DENSE, WIDEST_SPARSE = 4096, 2000  # columns of a table whose whole scatter matrix "auto" takes
_OVERSAMPLING = 20
_POWER_PASSES = 2
_TIMES = 8  # numbers of a group of blocks for each number of what is merged
_ROWS = 2048  # of a block that are worked on at a time
_MATRICES, _TRIANGLES = 4.0, 5.0  # of the size of what is merged, and of triangular factors


class ProjectedTable(TransformedTable):
    """A stored table as coordinates along directions, such as scores of principal components.

    Parameters
    ----------
    table : StoredTable
    center : ndarray of shape (n_features,), float64
        The row whose coordinates are 0.
    components : ndarray of shape (n_coordinates, n_features), float64
        A row x has the coordinates ``components @ (x - center)``, the same bytes as in memory.
    """

    def __init__(self, table: StoredTable, center: Float64Array, components: Float64Array) -> None:
        function = functools.partial(project_rows, mean=center, components=components)
        super().__init__(table, function, key=f"projected {digest(center, components)}")


def stored_principal_components(
    table: StoredTable,
    n_components: int | float,
    *,
    solver: str = "auto",
    seed: int = 0,
) -> PrincipalComponents:
    """Find the directions of largest variance of a stored table.

    All sums are in float64, each block about its own mean, and merged along a fixed tree, so that no bit depends on who
    works.

    Parameters
    ----------
    table : StoredTable
    n_components : int in [1, min(n_samples, n_features)] or float in (0, 1)
        Number of directions, or the share of the variance that so many of them reach.
    solver : {"auto", "covariance", "svd", "randomized"}, default="auto"
        "covariance": one pass for the scatter matrix (n_features x n_features), whose eigenvectors lose components with
        singular values below about 1e-8 of the largest. "svd": one pass for the triangular factor of the rows (TSQR),
        two to three times as dear, which keeps those above 1e-15; for dense tables. "randomized": four passes, of
        which two are power passes, for n_components + 20 directions, whose triangular factor is decomposed; singular
        values are good to 1e-3 where variances fall as 1 / j or faster. "auto" takes "covariance" up to 4096 columns,
        of a sparse table up to 2000, else "randomized".
    seed : int, default=0
        Used by "randomized" only.

    Returns
    -------
    PrincipalComponents

    Raises
    ------
    ValueError
        If `n_components` is too large, or a solver is not for such a table.
    MemoryError
        If the matrices do not fit in memory.

    References
    ----------
    .. [1] Halko, Martinsson & Tropp, "Finding structure with randomness", SIAM Review 53, 2011, algorithm 4.4.
    .. [2] Demmel, Grigori, Hoemmen & Langou, "Communication-optimal parallel and sequential QR and LU factorizations",
       SIAM Journal on Scientific Computing 34, 2012.
    """
    workers = current_executor()
    n, width = table.shape
    if n_components > min(n, width):
        fact = f"n_samples={n}, n_features={width}"
        rule = f"at most {min(n, width)}"
        raise ValueError(message(f"n_components={n_components}", rule, fact=fact, remedy="Lower n_components."))
    if solver == "auto":
        solver = "covariance" if width <= (WIDEST_SPARSE if table.is_sparse else WIDEST_DENSE) else "randomized"
    _refuse(table, n_components, solver)
    if solver == "randomized":
        return _randomized(table, int(n_components), seed, workers)
    groups = _groups(table, width)
    _require_memory(table, width, len(groups))
    shared = workers.broadcast(table)
    if solver == "covariance":
        found = workers.reduce(_moments, Moments.merge, groups, shared, needed=_needed(table, width, 2.0, _ROWS))
        return principal_components_of_moments(found, n_components)
    needed = _needed(table, width, 3.0, max(_ROWS, 4 * width), matrices=_TRIANGLES)
    factor = workers.reduce(_factor, CentredFactor.merge, groups, shared, needed=needed)
    return principal_components_of_factor(factor, n_components)


def _refuse(table: StoredTable, n_components: int | float, solver: str) -> None:
    """Raise ValueError if a solver is not for such a table."""
    if solver == "gram":
        fact = "it takes a matrix of n_samples x n_samples"
        rule = "'auto', 'covariance', 'svd' or 'randomized' for a table in blocks"
        raise ValueError(message("solver='gram'", rule, fact=fact))
    if solver == "svd" and table.is_sparse:
        raise ValueError(message("solver='svd'", "'auto', 'covariance' or 'randomized' for sparse X"))
    if solver == "randomized" and isinstance(n_components, float):
        rule, fact = "an integer", f"a share of the variance of {table.n_features} columns needs all components"
        raise ValueError(message(f"n_components={n_components}", rule, fact=fact))


def _groups(table: StoredTable, n_merged: int) -> list[Blocks]:
    """Return the blocks of a table, as many together as make what is merged small beside what is read.

    Parameters
    ----------
    table : StoredTable
    n_merged : int
        Rows of what is merged; it has as many columns as the table.
    """
    blocks = table.blocks()
    together = max(1, -(-_TIMES * n_merged // len(blocks[0])))
    return [blocks[first : first + together] for first in range(0, len(blocks), together)]


def _needed(
    table: StoredTable, order: int, copies: float, together: float = math.inf, *, matrices: float = _MATRICES
) -> float:
    """Return the bytes that a task takes: a block, rows of it in float64, and matrices that are found and merged."""
    rows = copies * min(together, max(len(block) for block in table.blocks()))
    return table.reading_bytes + 8.0 * table.n_features * (rows + matrices * order)


def _require_memory(table: StoredTable, order: int, n_groups: int) -> None:
    """Raise MemoryError if the matrices of a path of the tree do not fit in memory."""
    needed = 8.0 * order * table.n_features * (4.0 + math.log2(n_groups))
    if needed > ALWAYS_THERE:
        fact = f"matrices of {order} x {table.n_features} of some blocks"
        remedy = "Use solver='randomized', or project the rows onto fewer columns first."
        require_memory(f"X of {table.n_features} columns", needed, fact=fact, remedy=remedy)


def _randomized(table: StoredTable, n_components: int, seed: int, workers: Executor) -> PrincipalComponents:
    """Find the range of the directions by a random start and power passes, then the components within it."""
    n_vectors = min(n_components + _OVERSAMPLING, *table.shape)
    basis = normal_matrix(seed, STREAM_SKETCH, (table.n_features, n_vectors))
    groups, shared = _groups(table, n_vectors), workers.broadcast(table)
    _require_memory(table, n_vectors, len(groups))
    needed = _needed(table, n_vectors, 2.0, _ROWS)
    for _ in range(1 + _POWER_PASSES):
        found = workers.reduce(_product, CentredProduct.merge, groups, shared, workers.broadcast(basis), needed=needed)
        with single_threaded_blas():
            basis, _ = np.linalg.qr(found.product)
    known = workers.broadcast((basis, found.mean))
    needed = _needed(table, n_vectors, 1.0)
    factor = workers.reduce(_scores, CentredFactor.merge, groups, shared, known, needed=needed)
    return principal_components_in_basis(
        factor, n_components, basis=basis, mean=found.mean, squared_norm=found.squared_norm
    )


def _merged(parts: Iterator[_Part]) -> _Part:
    """Return what the blocks of a group are together; one of them is held at a time."""
    return functools.reduce(lambda whole, part: whole.merge(part), parts)


def _moments(group: Blocks, table: StoredTable) -> Moments:
    return _merged(Moments.of(table.read(block.start, block.stop)) for block in group)


def _factor(group: Blocks, table: StoredTable) -> CentredFactor:
    return _merged(CentredFactor.of(np.asarray(table.read(block.start, block.stop))) for block in group)


def _product(group: Blocks, table: StoredTable, basis: Float64Array) -> CentredProduct:
    return _merged(CentredProduct.of(table.read(block.start, block.stop), basis) for block in group)


def _scores(group: Blocks, table: StoredTable, known: tuple[Float64Array, Float64Array]) -> CentredFactor:
    basis, mean = known
    rows = (table.read(block.start, block.stop).astype(np.float64, copy=False) for block in group)
    return CentredFactor.of(np.concatenate([project_rows(some, mean, basis.T) for some in rows]))
