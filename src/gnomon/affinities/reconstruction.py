"""Weights that reconstruct each row from its neighbours, in the space of the features or of a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._arithmetic import sparse_product
from gnomon._cached import cached_property
from gnomon._entrance import entrance, part
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Options, Real, Rule, check_parameters, message
from gnomon.affinities.affinity import Inputs, NewRows
from gnomon.affinities.base import usable_distances
from gnomon.affinities.fuzzy import MembershipRows, fuzzy_simplicial_set, usual_distance
from gnomon.affinities.gram import Gram
from gnomon.kernels import InputKernel, input_kernel
from gnomon.linalg.table import RowTable
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.images import images_around, metric_wraps

__all__ = [
    "ReconstructionAffinity",
    "ReconstructionWeights",
    "pairs_chosen",
    "reconstruction_weights",
    "weights_of_new_rows",
]

_RULES: dict[str, Rule] = {"weights": Options("signed", "non_negative", "membership"), "regularization": Real(0.0)}
_LEAST_REGULARIZATION = 1e-12  # keeps the local systems solvable where neighbours outnumber dimensions
Float64Array = npt.NDArray[np.float64]

_BLOCK = 1 << 20  # numbers in the local matrices of the rows worked on at once
_TOGETHER = {"signed": 0.5, "non_negative": 0.82, "membership": 1.0}  # share of such pairs that differ
_SURROUNDED = 5.6  # such pairs for each neighbour of a row, where few features leave it amid its neighbours
_ROUNDING = 1e-9  # a negative eigenvalue that is a smaller share of the largest is rounding


@dataclass(frozen=True)
class ReconstructionWeights:
    """How each row is put together from its neighbours: x_i is near sum_j w_ij x_j.

    Attributes
    ----------
    W : csr_array of shape (n_samples, n_samples), float64
        Rows sum to 1, the diagonal is empty, columns are sorted in each row.
    weights : {"signed", "non_negative", "membership"}
        Which rule they follow; only "signed" has entries below zero.
    """

    W: scipy.sparse.csr_array
    weights: Literal["signed", "non_negative", "membership"]

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.W.shape[0])

    @cached_property
    def V(self) -> scipy.sparse.csr_array:  # noqa: N802  the letter of the literature
        """W'W: how often two points are chosen together to reconstruct a third, weight times weight."""
        chosen: scipy.sparse.csr_array = sparse_product(self.W.T, self.W)
        return chosen

    @cached_property
    def M(self) -> scipy.sparse.csr_array:  # noqa: N802
        """(I - W)'(I - W), symmetric and positive semidefinite; its rows sum to 0."""
        matrix = scipy.sparse.csr_array(
            scipy.sparse.eye_array(self.n_samples, format="csr") - (self.W + self.W.T) + self.V
        )
        matrix.sort_indices()
        return matrix


@part("reconstruction_weights")
def reconstruction_weights(
    X: Any, graph: NeighborGraph, *, weights: str = "signed", regularization: float = 1e-3, gram: Gram | None = None
) -> ReconstructionWeights:
    """Find the combination of its neighbours that lies nearest to each row.

    Parameters
    ----------
    X : ndarray (float32 or float64) or CSR of shape (n_samples, n_features)
        Finite. Differences of rows are taken in double. Not read for "membership".
    graph : NeighborGraph of n_samples rows
        Every row needs one neighbour at least. Where columns have a period under its metric, neighbours count at their
        nearest images; under every other metric differences of rows are those of their numbers.
    weights : {"signed", "non_negative", "membership"}, default="signed"
        "signed": the weights sum to 1, as in locally linear embedding; some may be negative. "non_negative": the
        nearest point of the neighbours' convex hull, found exactly by an active set. "membership": fuzzy memberships
        of the graph (see `fuzzy_simplicial_set`), both directions joined, divided by their sum in each row.
    regularization : float >= 0, default=1e-3
        Penalty on the squared weights in units of the sum of squared distances to the neighbours, as in scikit-learn;
        at least 1e-12. Neighbours that all lie on the row itself get equal weights.
    gram : Gram or None, default=None
        Similarities K of the rows, positive semidefinite: reconstruct each row in the feature space of K, where inner
        products around row i are K_jk - K_ij - K_ik + K_ii. X is not read then. None takes the rows as they are, the
        same as the linear kernel. Not for "membership".

    Returns
    -------
    ReconstructionWeights
        W, and V = W'W and M = (I - W)'(I - W) when asked for.

    Raises
    ------
    ValueError
        If shapes differ, a row number lies outside [0, n_samples), a row has no neighbour, or K is not positive
        semidefinite around a row.

    References
    ----------
    .. [1] Roweis & Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290, 2000.
    .. [2] DeCoste, "Visualizing Mercer kernel feature spaces via kernelized locally-linear embeddings", ICONIP 2001.
    """
    given = {"weights": weights, "regularization": regularization}
    values = check_parameters(_RULES, given)
    present = np.isfinite(usable_distances(graph))
    if X.shape[0] != graph.n_samples:
        raise ValueError(message(f"X of {X.shape[0]:,} rows", f"of the graph's n_samples={graph.n_samples} rows"))
    alone = np.flatnonzero(~present.any(axis=1))
    if alone.size:
        fact = f"{alone.size:,} rows have none, the first is row {alone[0]}"
        raise ValueError(message("graph", "one with a neighbour for each row", fact=fact))
    if gram is not None and (values["weights"] == "membership" or gram.n_samples != graph.n_samples):
        found = f"gram of {gram.n_samples:,} rows with weights={values['weights']!r}"
        rule = f"of n_samples={graph.n_samples} rows, with weights='signed' or 'non_negative'"
        raise ValueError(message(found, rule))
    if values["weights"] == "membership":
        memberships = fuzzy_simplicial_set(graph).matrix
        return ReconstructionWeights(_with_rows_of_sum_one(memberships), "membership")
    least = max(values["regularization"], _LEAST_REGULARIZATION)
    if gram is not None:
        together = np.hstack([np.arange(graph.n_samples)[:, None], graph.indices])
        entries = _weights_in_feature_space(
            lambda i: gram.block(together[i], together[i]),
            present,
            regularization=least,
            non_negative=values["weights"] == "non_negative",
        )
        return ReconstructionWeights(_csr(graph.indices, entries, graph.n_samples), values["weights"])
    non_negative = values["weights"] == "non_negative"
    if metric_wraps(graph.metric, int(X.shape[1])):
        entries = _weights_around(X, X, graph.indices, present, graph.metric, least, non_negative)
    else:
        entries = _weights_of_table(X, graph.indices, present, least, non_negative)
    return ReconstructionWeights(_csr(graph.indices, entries, graph.n_samples), values["weights"])


def pairs_chosen(n_samples: int, n_features: float, n_neighbors: int, weights: str) -> float:
    """Estimate how many entries a row of W'W has: the points chosen together with it.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table. Few features leave few weights above zero, unless neighbours surround a row: then all of
        them reconstruct it, and the rows around it choose the same.
    n_neighbors : int
        Of each row.
    weights : {"signed", "non_negative", "membership"}
        As for `reconstruction_weights`.

    Returns
    -------
    float
        At most n_neighbors^2. Fitted to drawn rows near a subspace, 5,000 and 20,000 by 10 to 784 with 15 and 30
        neighbours, and within a fifth of what was counted there and of pictures; other tables may have half or twice
        as many, and those of fewer features or neighbours rather fewer than told.
    """
    n_chosen = float(n_neighbors)
    if weights == "non_negative":
        digits = math.log(n_samples)
        share = 0.14 + 0.05 * digits - (0.12 * digits - 0.6) / math.sqrt(max(n_features, 1.0))
        share += (1.0 - share) * math.sqrt(max(0.0, 1.0 - (n_neighbors - 3.0) / 12.0))  # of few nearly all
        n_chosen *= min(max(share, 1.0 / n_neighbors), 1.0)
        n_chosen = min(n_chosen, n_features + 1.0)
        surrounded = _SURROUNDED * n_neighbors * min(1.0, 5.0 / max(n_features, 1.0)) ** 1.3
        n_chosen = max(n_chosen, min(float(n_neighbors), math.sqrt(surrounded / _TOGETHER[weights])))
    return _TOGETHER[weights] * n_chosen**2


@entrance("weights_of_new_rows")
def weights_of_new_rows(
    X: Any,
    X_new: Any,
    indices: npt.NDArray[np.int32],
    *,
    weights: str = "signed",
    regularization: float = 1e-3,
    kernel: InputKernel | None = None,
    metric: str = "euclidean",
) -> npt.NDArray[np.float64]:
    """Find the combination of given rows that lies nearest to each new row.

    Parameters
    ----------
    X : ndarray (float32 or float64) or CSR of shape (n_samples, n_features)
        The given rows.
    X_new : of the same kind, of shape (n_new, n_features)
        The new rows; each one's weights are a function of itself alone.
    indices : ndarray of shape (n_new, n_neighbors), int32
        Which of the given rows each new one is put together from, in [0, n_samples).
    weights : {"signed", "non_negative"}, default="signed"
        As for `reconstruction_weights`.
    regularization : float >= 0, default=1e-3
        Likewise.
    kernel : InputKernel or None, default=None
        Reconstruct each new row in the feature space of this kernel; None takes the rows as they are.
    metric : str, default="euclidean"
        In which the given rows are near. Where columns have a period under it, without a kernel, given rows count at
        their nearest images.

    Returns
    -------
    ndarray of shape (n_new, n_neighbors), float64
        Rows sum to 1.
    """
    if kernel is not None:
        table_of_new = X_new if isinstance(X_new, np.ndarray) else scipy.sparse.csr_array(X_new)
        return _weights_in_feature_space(
            lambda i: _similarities_of_new_row(kernel, table_of_new[[i]], X[indices[i]]),
            np.ones(indices.shape, dtype=bool),
            regularization=max(regularization, _LEAST_REGULARIZATION),
            non_negative=weights == "non_negative",
        )
    least = max(regularization, _LEAST_REGULARIZATION)
    if metric_wraps(metric, int(X.shape[1])):
        present = np.ones(indices.shape, dtype=bool)
        return _weights_around(X_new, X, indices, present, metric, least, weights == "non_negative")
    together = (
        scipy.sparse.vstack([X_new, X], format="csr")
        if scipy.sparse.issparse(X) or scipy.sparse.issparse(X_new)
        else np.vstack([X_new, X])
    )
    return _weights_of_table(
        together, indices + X_new.shape[0], np.ones(indices.shape, dtype=bool), least, weights == "non_negative"
    )


def _weights_of_table(
    table: Any,
    indices: npt.NDArray[np.integer[Any]],
    present: npt.NDArray[np.bool_],
    regularization: float,
    non_negative: bool,
) -> Float64Array:
    """Return the weights of the first rows of a table, whose neighbours are rows of it too."""
    found: Float64Array = _core.reconstruction_weights(
        RowTable.of(table).core,
        np.ascontiguousarray(indices, dtype=np.int32),
        present.astype(np.float32),
        regularization,
        non_negative,
        current_run().n_threads,
    )
    return found


def _weights_around(
    rows: Any,
    others: Any,
    indices: npt.NDArray[np.integer[Any]],
    present: npt.NDArray[np.bool_],
    metric: str,
    regularization: float,
    non_negative: bool,
) -> Float64Array:
    """Return the weights of rows of which the neighbours among others count at their nearest images."""
    found = np.empty(indices.shape)
    for piece in images_around(rows, others, indices, metric):
        found[piece.rows] = _weights_of_table(
            piece.table, piece.indices, present[piece.rows], regularization, non_negative
        )
    return found


def _csr(indices: npt.NDArray[np.int32], entries: npt.NDArray[np.float64], n: int) -> scipy.sparse.csr_array:
    """Return the weights as a matrix, those of exactly zero left out."""
    order = np.argsort(indices, axis=1, kind="stable")
    columns, values = np.take_along_axis(indices, order, axis=1), np.take_along_axis(entries, order, axis=1)
    stored = values != 0.0
    offsets = np.concatenate(([0], np.cumsum(stored.sum(axis=1))))
    matrix = scipy.sparse.csr_array((values[stored], columns[stored], offsets), shape=(n, n))
    matrix.has_canonical_format = True  # columns are sorted and unique
    return matrix


def _with_rows_of_sum_one(memberships: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    matrix = memberships.astype(np.float64)
    sums = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    matrix.data /= np.repeat(sums, np.diff(matrix.indptr))
    return matrix


@dataclass(frozen=True)
class ReconstructionAffinity:
    """The weights that reconstruct each row, and each new row, from its neighbours, see `reconstruction_weights`.

    Parameters
    ----------
    weights : {"signed", "non_negative", "membership"}, default="signed"
        Which rule they follow.
    regularization : float >= 0, default=1e-3
        Penalty on the squared weights.
    input_kernel : str, callable or InputKernel, default="linear"
        In whose feature space rows are reconstructed, see `Gram.from_kernel`; "linear" takes the rows as they are.
    input_kernel_params : dict or None, default=None
        Of a kernel given by name; without a sigma the median distance of rows.
    """

    weights: str = "signed"
    regularization: float = 1e-3
    input_kernel: Any = "linear"
    input_kernel_params: dict[str, Any] | None = None

    def kernel_of(self, inputs: Inputs) -> InputKernel | None:
        """Return the kernel with its scale; None for the linear one, which rows do without."""
        if isinstance(self.input_kernel, str) and self.input_kernel == "linear" and not self.input_kernel_params:
            return None
        return input_kernel(self.input_kernel, inputs.X, parameters=self.input_kernel_params)

    def __call__(self, inputs: Inputs) -> ReconstructionWeights:
        """Return the weights of the rows of a table."""
        kernel = self.kernel_of(inputs)
        gram = None if kernel is None else Gram.from_kernel(kernel, inputs.X, stored=False)
        return reconstruction_weights(
            inputs.X, inputs.neighbors, weights=self.weights, regularization=self.regularization, gram=gram
        )

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return the rule for new rows."""
        if self.weights == "membership":
            return MembershipRows(1.0, usual_distance(inputs.neighbors))
        return ReconstructionRows(self, self.kernel_of(inputs), inputs.neighbors.metric)


@dataclass(frozen=True)
class ReconstructionRows:
    """Weights that reconstruct new rows from their nearest fitted rows, in the feature space of a kernel if given."""

    affinity: ReconstructionAffinity
    kernel: InputKernel | None = None
    metric: str = "euclidean"

    def __call__(
        self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return weights that sum to 1."""
        found = weights_of_new_rows(
            rows,
            X_new,
            indices,
            weights=self.affinity.weights,
            regularization=self.affinity.regularization,
            kernel=self.kernel,
            metric=self.metric,
        )
        return np.ascontiguousarray(found, dtype=np.float32)


def _weights_in_feature_space(
    similarities: Callable[[int], Float64Array],
    present: npt.NDArray[np.bool_],
    *,
    regularization: float,
    non_negative: bool,
) -> Float64Array:
    """Find the combination of its neighbours that lies nearest to each point, distances being those of a kernel.

    The neighbours lie around a point i as in the matrix G_jk = K_jk - K_ij - K_ik + K_ii, of which a factor gives
    positions in as many dimensions as there are neighbours; their weights are found as those of rows are.

    Parameters
    ----------
    similarities : callable
        i -> K of point i and of its neighbours, in this order, (n_neighbors + 1, n_neighbors + 1).
    present : ndarray of shape (n_points, n_neighbors), bool
        Which neighbours there are; others get the weight 0.
    regularization, non_negative : float > 0, bool
        As for the rows of a table.

    Returns
    -------
    ndarray of shape (n_points, n_neighbors), float64
        Rows sum to 1.

    Raises
    ------
    ValueError
        If K is not finite, or no inner product: no positions have such distances.
    """
    n, k = present.shape
    found = np.empty((n, k))
    height = max(_BLOCK // (k + 1) ** 2, 1)
    with single_threaded_blas():
        for first in range(0, n, height):
            rows = slice(first, min(first + height, n))
            K = np.stack([similarities(i) for i in range(rows.start, rows.stop)])
            _check_finite(K, first)
            gram = K[:, 1:, 1:] - K[:, 1:, :1] - K[:, :1, 1:] + K[:, :1, :1]
            positions = _positions(gram, np.abs(K).max(axis=(1, 2)), first)
            m = len(positions)
            table = RowTable.of(np.vstack([np.zeros((m, k)), positions.reshape(m * k, k)]))
            found[rows] = _core.reconstruction_weights(
                table.core,
                np.arange(m, m + m * k, dtype=np.int32).reshape(m, k),
                present[rows].astype(np.float32),
                regularization,
                non_negative,
                current_run().n_threads,
            )
    return found


def _check_finite(K: Float64Array, first: int) -> None:
    broken = np.flatnonzero(~np.isfinite(K).all(axis=(1, 2)))
    if broken.size:
        fact = f"row {first + broken[0]} and its neighbours have others"
        raise ValueError(message("the input kernel", "one of finite similarities", fact=fact))


def _positions(gram: Float64Array, sizes: Float64Array, first: int) -> Float64Array:
    """Return B with B B' = G for each of the matrices, made from similarities of some size each."""
    values, vectors = np.linalg.eigh(gram)
    rounding = _ROUNDING * np.abs(values).max(axis=1) + 1e-14 * gram.shape[1] * sizes
    wrong = np.flatnonzero(values[:, 0] < -rounding)
    if wrong.size:
        row = int(wrong[0])
        fact = f"around row {first + row} it has the eigenvalues {values[row, 0]:.3g} to {values[row, -1]:.3g}"
        rule, remedy = "positive semidefinite around each row", "Use a kernel such as 'gaussian'."
        raise ValueError(message("the input kernel", rule, fact=fact, remedy=remedy))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def _similarities_of_new_row(kernel: InputKernel, x: Any, neighbors: Any) -> Float64Array:
    """Return K of a new row, (1, n_features), and of its neighbours among the given rows, of the same kind."""
    dense = isinstance(neighbors, np.ndarray)
    one, others = (np.asarray(part, dtype=np.float64) if dense else part.astype(np.float64) for part in (x, neighbors))
    if dense and kernel.of_differences:  # distances of rows far from the origin keep their digits
        one, others = one - one, others - one
    between = kernel.block(one, others)
    return np.block([[kernel.diagonal(one)[:, None], between], [between.T, kernel.block(others, others)]])
