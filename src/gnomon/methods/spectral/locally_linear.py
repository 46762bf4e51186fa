"""Locally linear embedding and its variants: standard, modified, Hessian, local tangent space alignment."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import weighted_sums
from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Integer, Options, Real, Rule, message, warn
from gnomon.affinities import alignment_matrix, least_neighbors, reconstruction_weights, weights_of_new_rows
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.linalg import MAX_FACTOR_ENTRIES, eigenpairs
from gnomon.methods.forecast import Forecast, dense_eigenvectors_memory, written_out_memory
from gnomon.methods.other_names import LOCALLY_LINEAR, other_names
from gnomon.methods.spectral.base import ComponentSolver, GraphEigenmaps, check_distinct_rows
from gnomon.neighbors import (
    NeighborGraph,
    bridged_graph,
    describe_pieces,
    graph_components,
    join_components,
    query_neighbors,
)

__all__ = ["LocallyLinearEmbedding"]

Float64Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]


_ROWS = Cost(entry=4.0, sample=8.0)  # bytes: as they are searched
_FRONTS = 4.4  # bytes of a factor for a pair of rows, times the root of the neighbours, of normal rows in 14 columns
_FRONTS_OF_MANY, _MOST_OF_FRONTS = 1e-4, 26.0  # what each row adds to that, and the most that is


@other_names(LOCALLY_LINEAR)
@dataclass(eq=False, repr=False)
class LocallyLinearEmbedding(GraphEigenmaps):
    """Locally linear embedding: a map in which each row is put together from its neighbours as in the data.

    Input affinity: a matrix B that says how badly a map fits the neighbourhoods of the data; (I - W)'(I - W) with the
    weights W that reconstruct each row from its neighbours, or an alignment matrix of the variants. Output kernel: the
    inner product. Loss: tr(Y'BY) under the constraints Y'Y = I and Y'1 = 0. Optimizer: an eigenproblem; the constant
    vector is left out, and no other: on flat data the coordinates too have eigenvalue 0, and they are wanted.

    Parameters
    ----------
    n_neighbors : int >= 1, default=12
        Neighbours of each row, the row itself not counted. More than n_components (n_components + 3) / 2 for
        variant="hessian", at least n_components + 2 for "ltsa".
    n_components : int >= 1, default=2
        Dimension of the map; less than the number of distinct rows.
    variant : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        "standard": one set of weights for each row. "modified": several sets, which are stable where the one is not.
        "hessian": what is quadratic in the tangent coordinates, as published: scikit-learn keeps every other direction
        as well. "ltsa": what is no affine function of the tangent coordinates. The last two unroll a surface that can
        be laid flat without distortion up to a linear map, and need neighbours enough: of a ring of 300 rows, five
        draws of each variant, 6 neighbours gave a ring in 0 of 10, 8 in 4 and the 12 of the default in 10.
    weights : {"signed", "non_negative"}, default="signed"
        Of variant="standard" and of `place`, see `gnomon.affinities.reconstruction_weights`.
    regularization : float >= 0, default=1e-3
        Of the same weights: a penalty on their squares in units of the sum of squared distances to the neighbours. The
        weights of variant="modified" have 1e-3, as in scikit-learn; its "hessian" and "ltsa" have none and leave out
        tangent directions that the neighbours do not span.
    solver : {"auto", "dense", "factor", "descent"}, default="auto"
        Of the eigenproblem, see `gnomon.linalg.eigenpairs`.
    tol : float > 0, default=1e-6
        On the residuals of the eigenvectors, relative to the largest eigenvalue asked for.
    disconnected : {"connect", "separate", "error"}, default="connect"
        What to do with a graph in several components, whose smallest vectors would tell the components apart and
        nothing else. "connect": the ends of the shortest edges between them become neighbours. "separate": map each
        component by itself and place them side by side, see `gnomon.initialization.lay_out_components`; components of
        at most 2 n_components + 1 rows lie at random. "error": raise ValueError.
    metric, metric_params, precomputed_knn : as in `UMAP`
        They choose the neighbours; the rows themselves are needed, so "precomputed" is refused. Under "periodic" and
        "haversine", whose columns have a period, weights and tangents are those of the neighbours at their nearest
        images. Under every other metric they are those of the numbers in the rows, in straight differences.
    random_state, n_jobs : as in `TSNE`
        The seed used is ``seed_``.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map Y by rising eigenvalue, with Y'Y = I and columns of mean 0 over the distinct rows. The entry of largest
        magnitude of each column is positive. Components mapped apart fill discs instead.
    eigenvalues_ : ndarray of shape (n_components,), float64
        Of B, rising. For components mapped apart, one row for each component, NaN where a component
        lies at random.
    reconstruction_error_ : float
        Their sum, tr(Y'BY); for variant="standard" the squared norm of Y - WY.
    residuals_ : ndarray of the same shape
        |B y - lambda y| of each column.
    converged_ : bool
        Whether they are below the tolerance, or at the limit of double precision.
    solver_ : str
        The solver used; "random" if every component lies at random.
    graph_ : NeighborGraph
        Neighbours of the distinct rows, before bridges.
    n_graph_components_ : int
        Its connected components.
    seed_, timings_
        As in `UMAP`.

    Notes
    -----
    `place` puts a new row together from its nearest fitted rows and takes the same combination of their positions.
    A row equal to a fitted one gets its position.

    References
    ----------
    .. [1] Roweis & Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290, 2000.
    .. [2] Zhang & Wang, "MLLE: modified locally linear embedding using multiple weights", NIPS 19, 2006.
    .. [3] Donoho & Grimes, "Hessian eigenmaps", PNAS 100, 2003.
    .. [4] Zhang & Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space alignment",
       SIAM J. Sci. Comput. 26, 2004.
    """

    n_neighbors: int = 12
    n_components: int = 2
    _: KW_ONLY
    variant: str = "standard"
    weights: str = "signed"
    regularization: float = 1e-3
    solver: str = "auto"
    tol: float = 1e-6
    disconnected: str = "connect"

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(1),
        "variant": Options("standard", "modified", "hessian", "ltsa"),
        "weights": Options("signed", "non_negative"),
        "regularization": Real(0.0),
        "solver": Options("auto", "dense", "factor", "descent"),
        "tol": Real(0.0, low_open=True),
        "disconnected": Options("connect", "separate", "error"),
    }

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        n, solver = float(n_samples), parameters["solver"]
        entries = min(n, (parameters["n_neighbors"] + 1.0) ** 2)  # of a row of B: neighbours, and theirs
        linear = n * (800.0 + 30.0 * entries) + _ROWS.of(n_samples, n_features)
        if solver == "descent":
            return Forecast(
                linear + 3000.0 * n + 5e6, f"neighbours of {n_samples:,} rows and a basis", "Use fewer rows."
            )
        if solver == "dense":
            fact = f"a matrix of {n_samples} x {n_samples} entries and the rotations that lead to its eigenvectors"
            return Forecast(written_out_memory(n) + linear, fact, "Use solver='descent', or fewer rows.")
        # What a factor needs is known when the graph is; beyond this it is not tried.
        filled = min(_FRONTS * math.sqrt(parameters["n_neighbors"]) + _FRONTS_OF_MANY * n, _MOST_OF_FRONTS)
        factor = min(filled * n**2, 8.0 * MAX_FACTOR_ENTRIES)
        fact, remedy = f"a factor for {n_samples:,} rows and their neighbours", "Use solver='descent', or fewer rows."
        return Forecast(max(factor, dense_eigenvectors_memory(n_samples)) + linear, fact, remedy)

    def _embed(self, X: Any, parameters: dict[str, Any]) -> Float64Array:
        reporter = current_run().reporter
        _check_together(parameters, int(X.shape[0]))
        self.graph_ = self._find_neighbors(X, parameters["n_neighbors"], parameters)
        reporter.begin("affinities")
        graph, labels = self._join(X, parameters)
        matrix = _form(X, graph, parameters)
        reporter.begin("eigenvectors")
        solver = _Solver(parameters, self.seed_)
        positions, _ = self._solve(X, matrix, labels, solver)
        self.reconstruction_error_ = float(np.nansum(self.eigenvalues_))
        self._rows, self._positions = X, positions
        return positions

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        return least_neighbors(parameters["variant"], parameters["n_components"])

    def _join(self, X: Any, parameters: dict[str, Any]) -> tuple[NeighborGraph, Labels]:
        """Return the graph that is mapped and the labels of the components that are mapped apart."""
        if parameters["disconnected"] != "separate":
            bridges, labels = join_components(
                X,
                self.graph_,
                parameters["disconnected"],
                metric=parameters["metric"],
                metric_params=self.metric_params,
            )
            self.n_graph_components_ = int(labels.max()) + 1
            return bridged_graph(self.graph_, bridges), np.zeros_like(labels)
        labels = graph_components(self.graph_)
        self.n_graph_components_ = int(labels.max()) + 1
        if self.n_graph_components_ > 1:
            text = f"the neighbour graph has {describe_pieces(labels)}; they are mapped one by one."
            warn(text, NeighborsWarning)
        return self.graph_, labels

    def _place(self, X: Any) -> Float64Array:
        indices, distances = query_neighbors(
            self._rows, X, self.graph_.n_neighbors, metric=self.metric, metric_params=self.metric_params
        )
        self._tell_far(indices, distances)
        weights = weights_of_new_rows(
            self._rows,
            X,
            indices,
            weights=self.weights,
            regularization=self.regularization,
            metric=self.graph_.metric,
        )
        places: Float64Array = weighted_sums(weights, self._positions[indices])
        for column in range(indices.shape[1]):  # several fitted rows may lie at distance 0 in single precision
            near = np.flatnonzero(distances[:, column] == 0.0)
            same = near[_equal_rows(X[near], self._rows[indices[near, column]])]
            places[same] = self._positions[indices[same, column]]
        return places


def _check_together(parameters: dict[str, Any], n_rows: int) -> None:
    """Raise ValueError about parameters that do not go with each other or with the number of distinct rows."""
    n_components, n_neighbors, variant = (parameters[name] for name in ("n_components", "n_neighbors", "variant"))
    if isinstance(parameters["metric"], str) and parameters["metric"] == "precomputed":
        rule = "one that is computed from rows, which the weights need"
        raise ValueError(message("metric='precomputed'", rule, remedy="Use Isomap or LaplacianEigenmaps."))
    check_distinct_rows(n_components, n_rows)
    needed = least_neighbors(variant, n_components)
    if n_neighbors < needed:
        fact = f"variant={variant!r} with n_components={n_components}"
        raise ValueError(message(f"n_neighbors={n_neighbors}", f"at least {needed}", fact=fact))
    if n_rows - 1 < needed:
        rule = f"used with at least {needed + 1} distinct rows for n_components={n_components}"
        remedy = "Use variant='standard' or pass more rows."
        raise ValueError(message(f"variant={variant!r}", rule, fact=f"found {n_rows}", remedy=remedy))


def _equal_rows(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """Return which rows of two tables are equal."""
    if scipy.sparse.issparse(one) or scipy.sparse.issparse(other):
        different: Any = scipy.sparse.csr_array(one != other)
        equal: npt.NDArray[np.bool_] = np.diff(different.indptr) == 0
        return equal
    return np.asarray((one == other).all(axis=1))


def _form(X: Any, graph: NeighborGraph, parameters: dict[str, Any]) -> scipy.sparse.csr_array:
    """Return the matrix B of the variant."""
    if parameters["variant"] == "standard":
        return reconstruction_weights(
            X, graph, weights=parameters["weights"], regularization=parameters["regularization"]
        ).M
    n_components = parameters["n_components"]
    alignment = alignment_matrix(X, graph, n_components, variant=parameters["variant"])
    if alignment.n_flat:
        warn(
            f"the neighbours of {alignment.n_flat:,} of {graph.n_samples:,} rows span fewer than "
            f"n_components={n_components} dimensions; only those they span count there.",
            DataWarning,
        )
    return alignment.matrix


class _Solver(ComponentSolver):
    """The eigenvectors of smallest eigenvalue of the alignment matrix of one component."""

    def __init__(self, parameters: dict[str, Any], seed: int) -> None:
        super().__init__()
        self._parameters, self._seed = parameters, seed

    @entrance("LocallyLinearEmbedding")
    def __call__(self, matrix: scipy.sparse.csr_array) -> Float64Array:
        pairs = eigenpairs(
            scipy.sparse.csr_array(matrix),
            self._parameters["n_components"],
            known=np.ones(matrix.shape[0]),
            tol=self._parameters["tol"],
            seed=self._seed,
            solver=self._parameters["solver"],
            report=current_run().reporter.update,
        )
        self.found.append(pairs)
        return pairs.vectors
