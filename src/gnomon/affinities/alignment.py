"""Alignment matrices: how badly positions fit what each row's neighbours look like, summed over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, Options, Rule, check_parameters, message
from gnomon.affinities.base import usable_distances
from gnomon.linalg.stacks import stacked_products
from gnomon.linalg.table import RowTable
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.images import images_around, metric_wraps

__all__ = ["AlignmentMatrix", "alignment_matrix", "least_neighbors"]

Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_RULES: dict[str, Rule] = {"n_components": Integer(1), "variant": Options("ltsa", "hessian", "modified")}
_BLOCK = 1 << 21  # numbers in the local matrices of the rows worked on at once
_RANK_SHARE = 1e-12  # eigenvalues below this share of the largest are rounding
_REGULARIZATION = 1e-3  # of the weights in modified LLE, as in scikit-learn
_DEPENDENT = 1e-8  # a column of which less than this share is new depends on those before


@dataclass(frozen=True)
class AlignmentMatrix:
    """The quadratic form of a map: tr(Y' matrix Y) is how badly Y fits the neighbourhoods.

    Attributes
    ----------
    matrix : csr_array of shape (n_samples, n_samples), float64
        Symmetric and positive semidefinite; its rows sum to 0.
    variant : {"ltsa", "hessian", "modified"}
        What fits is measured by.
    n_flat : int
        Rows whose neighbours span fewer than n_components dimensions. Only those they span count there.
    """

    matrix: scipy.sparse.csr_array
    variant: Literal["ltsa", "hessian", "modified"]
    n_flat: int


def least_neighbors(variant: str, n_components: int) -> int:
    """Return the fewest neighbours with which a variant says anything about a map.

    Parameters
    ----------
    variant : {"standard", "modified", "hessian", "ltsa"}
    n_components : int >= 1
        Dimension of the map.

    Returns
    -------
    int
    """
    if variant == "hessian":
        return n_components * (n_components + 3) // 2 + 1
    return n_components + 2 if variant == "ltsa" else 1


@part("alignment_matrix")
def alignment_matrix(X: Any, graph: NeighborGraph, n_components: int, *, variant: str = "ltsa") -> AlignmentMatrix:
    """Measure how maps fit the neighbours of each row.

    Parameters
    ----------
    X : ndarray (float32 or float64) or CSR of shape (n_samples, n_features)
        Finite. Differences of rows are taken in double.
    graph : NeighborGraph of n_samples rows
        Every row needs one neighbour at least. Where columns have a period under its metric, neighbours count at their
        nearest images; under every other metric differences of rows are those of their numbers.
    n_components : int >= 1
        Dimension of the map, and of the tangent spaces.
    variant : {"ltsa", "hessian", "modified"}, default="ltsa"
        "ltsa": what of the positions of the neighbours is no affine function of their tangent coordinates. "hessian":
        the part that is quadratic in these. "modified": what several sets of reconstruction weights leave over, the
        number of sets chosen for each row by how fast its spectrum falls.

    Returns
    -------
    AlignmentMatrix

    Raises
    ------
    ValueError
        If shapes differ, or there are too few neighbours: n_components (n_components + 3) / 2 + 1 are needed for
        "hessian", n_components + 2 for "ltsa".

    Notes
    -----
    Tangent directions whose share of the local spectrum is below 1e-12 are left out, as are quadratic columns that
    depend on the others: they would be rounding.

    References
    ----------
    .. [1] Zhang & Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space alignment",
       SIAM J. Sci. Comput. 26, 2004.
    .. [2] Donoho & Grimes, "Hessian eigenmaps", PNAS 100, 2003.
    .. [3] Zhang & Wang, "MLLE: modified locally linear embedding using multiple weights", NIPS 19, 2006.
    """
    values = check_parameters(_RULES, {"n_components": n_components, "variant": variant})
    n_components = values["n_components"]
    present = np.isfinite(usable_distances(graph))
    if X.shape[0] != graph.n_samples:
        raise ValueError(message(f"X of {X.shape[0]:,} rows", f"of the graph's n_samples={graph.n_samples} rows"))
    needed = least_neighbors(variant, n_components)
    if graph.n_neighbors < needed:
        fact = f"variant={variant!r} with n_components={n_components}"
        raise ValueError(message(f"n_neighbors={graph.n_neighbors}", f"at least {needed}", fact=fact))
    hoods = _Hoods(X, graph, present, centred=variant != "modified")
    with single_threaded_blas():
        if variant == "modified":
            matrix, n_flat = _modified(hoods, n_components)
        else:
            matrix, n_flat = _tangent(hoods, n_components, variant)
    return AlignmentMatrix(matrix, values["variant"], n_flat)


@dataclass(frozen=True)
class _Spectra:
    """Some rows' neighbourhoods."""

    rows: slice
    neighbors: npt.NDArray[np.int32]  # (m, k)
    present: BoolArray  # (m, k)
    values: Float64Array  # (m, k), falling
    vectors: Float64Array  # (m, k, k), one vector a column


class _Hoods:
    """The neighbourhoods of all rows, some at a time."""

    def __init__(self, X: Any, graph: NeighborGraph, present: BoolArray, *, centred: bool) -> None:
        self._X, self._metric = X, graph.metric
        self._neighbors = np.ascontiguousarray(graph.indices, dtype=np.int32)
        self._present = present
        self._centred = centred
        self.n_samples, self.n_features = graph.n_samples, int(X.shape[1])

    def __iter__(self) -> Iterator[_Spectra]:
        if metric_wraps(self._metric, self.n_features):
            yield from self._around()
            return
        table = RowTable.of(self._X)
        step = max(1, _BLOCK // self._neighbors.shape[1] ** 2)
        for begin in range(0, self.n_samples, step):
            rows = slice(begin, min(begin + step, self.n_samples))
            neighbors, present = self._neighbors[rows], self._present[rows]
            values, vectors = self._spectra(table, begin, neighbors, present)
            yield _Spectra(rows, neighbors, present, values, vectors)

    def _around(self) -> Iterator[_Spectra]:
        """Yield neighbourhoods of which the neighbours are at their nearest images."""
        step = max(1, _BLOCK // self._neighbors.shape[1] ** 2)
        for begin in range(0, self.n_samples, step):
            these = slice(begin, min(begin + step, self.n_samples))
            for piece in images_around(self._X[these], self._X, self._neighbors[these], self._metric):
                rows = slice(begin + piece.rows.start, begin + piece.rows.stop)
                present = self._present[rows]
                values, vectors = self._spectra(RowTable.of(piece.table), 0, piece.indices, present)
                yield _Spectra(rows, self._neighbors[rows], present, values, vectors)

    def _spectra(
        self, table: RowTable, begin: int, neighbors: npt.NDArray[np.int32], present: BoolArray
    ) -> tuple[Float64Array, Float64Array]:
        """Return the eigenvalues and vectors of the neighbourhoods of rows of a table, from one of them on."""
        values, vectors = _core.local_spectra(
            table.core, begin, neighbors, present.astype(np.float32), self._centred, current_run().n_threads
        )
        return values, vectors


def _tangents(hood: _Spectra, n_components: int) -> tuple[list[Float64Array], int]:
    """Return unit vectors of a constant and of each tangent coordinate, and how many rows lack some of these.

    Where a row has no such coordinate the vector is zero. The others are made orthogonal once more: those of small
    eigenvalues are not to working precision.
    """
    values = hood.values[:, :n_components]
    spanned = (values > _RANK_SHARE * hood.values[:, :1]) & (values > 0.0)
    columns = [hood.present / np.sqrt(hood.present.sum(axis=1, keepdims=True))]
    for axis, exists in zip(np.moveaxis(hood.vectors, 2, 0), spanned.T, strict=False):
        columns.append(_new_part(axis * exists[:, None], columns))
    return columns, int((~spanned.all(axis=1)).sum())


def _tangent(hoods: _Hoods, n_components: int, variant: str) -> tuple[scipy.sparse.csr_array, int]:
    total, n_flat = _Sum(hoods.n_samples), 0
    for hood in hoods:
        columns, flat = _tangents(hood, n_components)
        n_flat += flat
        if variant == "ltsa":
            affine = np.stack(columns, axis=2)
            local = -stacked_products(affine, affine.transpose(0, 2, 1))
            diagonal = np.arange(local.shape[1])
            local[:, diagonal, diagonal] += 1.0
        else:
            quadratic = _quadratic(columns)
            local = stacked_products(quadratic, quadratic.transpose(0, 2, 1))
        total.add(hood.neighbors, hood.present, local)
    return total.matrix(), n_flat


def _quadratic(affine: list[Float64Array]) -> Float64Array:
    """Return orthonormal columns of what is quadratic in the tangent coordinates and neither constant nor linear.

    Being orthogonal to the constant they have no sum, so that the division by it of the paper's program never occurs.
    """
    columns = list(affine)
    for a in range(1, len(affine)):
        for b in range(a, len(affine)):
            columns.append(_new_part(affine[a] * affine[b], columns))
    return np.stack(columns[len(affine) :], axis=2)


def _new_part(column: Float64Array, columns: list[Float64Array]) -> Float64Array:
    """Return what a column adds to orthonormal ones at unit length, or zero."""
    before = np.linalg.norm(column, axis=1, keepdims=True)
    for _ in range(2):  # twice is enough to be orthogonal to working precision
        for other in columns:
            column = column - other * (other * column).sum(axis=1)[:, None]
    left = np.linalg.norm(column, axis=1, keepdims=True)
    unit: Float64Array = np.divide(column, left, out=np.zeros_like(column), where=left > _DEPENDENT * before)
    return unit


def _modified(hoods: _Hoods, n_components: int) -> tuple[scipy.sparse.csr_array, int]:
    spectra = [(hood.values, hood.present.sum(axis=1)) for hood in hoods]
    values = np.concatenate([part for part, _ in spectra])
    n_sets = _weight_sets(values, np.concatenate([count for _, count in spectra]), hoods.n_features, n_components)
    leading = values[:, min(n_components, values.shape[1]) - 1]
    n_flat = int((leading <= _RANK_SHARE * values[:, 0]).sum())
    total = _Sum(hoods.n_samples)
    for hood in hoods:
        n_rows, k = hood.neighbors.shape
        counts = n_sets[hood.rows]
        weights_product, weights_sum = _multiple_weights(hood, counts)
        local = np.empty((n_rows, k + 1, k + 1))
        local[:, 0, 0] = counts
        local[:, 0, 1:] = local[:, 1:, 0] = -weights_sum
        local[:, 1:, 1:] = weights_product
        own = np.arange(hood.rows.start, hood.rows.stop, dtype=np.int32)[:, None]
        total.add(np.hstack([own, hood.neighbors]), np.hstack([np.ones((n_rows, 1), dtype=bool), hood.present]), local)
    return total.matrix(), n_flat


def _weight_sets(
    values: Float64Array, n_present: npt.NDArray[np.intp], n_features: int, n_components: int
) -> npt.NDArray[np.intp]:
    """Return how many sets of weights each row gets: the most whose share of the spectrum is below the usual one."""
    n_values = min(values.shape[1], n_features)
    values = values[:, :n_values]
    sums = np.cumsum(values, axis=1)
    total = np.where(sums[:, -1:] > 0.0, sums[:, -1:], 1.0)
    tails = np.maximum(total - sums, 0.0) / np.where(sums > 0.0, sums, 1.0)  # of the values after the first, second ...
    usual = float(np.median(tails[:, min(n_components, n_values) - 1]))
    short = np.maximum(n_present - n_values, 0)  # eigenvalues that are zero because features are few
    missing = np.minimum(values.shape[1], n_present)  # eigenvalues of missing neighbours do not count
    inside = np.arange(1, n_values)[None, :] < missing[:, None]
    sets = short + ((tails[:, :-1] < usual) & inside).sum(axis=1)
    at_least_one: npt.NDArray[np.intp] = np.maximum(sets, 1)
    return at_least_one


def _multiple_weights(hood: _Spectra, counts: npt.NDArray[np.intp]) -> tuple[Float64Array, Float64Array]:
    """Return W W' and W 1 of the sets of weights of each row, one set a column of W (k, s).

    With V the vectors of the s smallest eigenvalues, H the reflection that takes V'1 to a multiple of 1, a = |V'1| /
    sqrt(s) and w the regularised weights, W = V H + (1 - a) w 1'. As H V'1 = a 1, both follow from P = VV' alone.
    """
    k = hood.present.shape[1]
    n_present = hood.present.sum(axis=1)
    from_end = n_present[:, None] - np.arange(k)[None, :]  # the vectors of missing neighbours come last
    chosen = hood.vectors * ((from_end > 0) & (from_end <= counts[:, None]))[:, None, :]
    projector = stacked_products(chosen, chosen.transpose(0, 2, 1))
    sums = projector.sum(axis=2)  # P1
    size = np.sqrt(np.maximum(sums.sum(axis=1), 0.0) / counts)  # a
    reflected = np.divide(sums, size[:, None], out=np.zeros_like(sums), where=size[:, None] > 1e-12)  # V H 1

    totals = hood.values.sum(axis=1, keepdims=True)
    ridge = _REGULARIZATION * np.where(totals > 0.0, totals, 1.0)
    ones = (hood.vectors * hood.present[:, :, None]).sum(axis=1)
    weights = (hood.vectors * (ones / (hood.values + ridge))[:, None]).sum(axis=2) * hood.present
    weights *= ((1.0 - size) / weights.sum(axis=1))[:, None]  # (1 - a) w

    cross = reflected[:, :, None] * weights[:, None, :]
    product = projector + cross + cross.transpose(0, 2, 1)
    product += counts[:, None, None] * (weights[:, :, None] * weights[:, None, :])
    return product, reflected + counts[:, None] * weights


class _Sum:
    """The sum of small matrices, each for the rows of its own neighbourhood."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._parts: list[scipy.sparse.csr_array] = []

    def add(self, neighbors: npt.NDArray[np.int32], present: BoolArray, local: Float64Array) -> None:
        """Add local (m, k, k) at the rows and columns `neighbors` (m, k) that are present."""
        shape = local.shape
        used = (present[:, :, None] & present[:, None, :]).ravel()
        rows = np.broadcast_to(neighbors[:, :, None], shape).ravel()
        columns = np.broadcast_to(neighbors[:, None, :], shape).ravel()
        entries = (local.ravel(), (rows, columns)) if used.all() else (local.ravel()[used], (rows[used], columns[used]))
        self._parts.append(scipy.sparse.coo_array(entries, shape=(self._n, self._n)).tocsr())

    def matrix(self) -> scipy.sparse.csr_array:
        """Return the sum, symmetric to the last bit."""
        total = self._parts[0]
        for one in self._parts[1:]:
            total = total + one
        total = scipy.sparse.csr_array((total + total.T) * 0.5)
        total.sort_indices()
        return total
