"""Laplacian eigenmaps, their variants that adapt to density, and diffusion maps; new rows by Nyström's formula."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import power, weighted_sums
from gnomon._costs import Cost
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Boolean, Either, Elsewhere, Integer, Nothing, Options, Real, Rule, message, warn
from gnomon.affinities import EdgeWeights, divide_by_density, edge_weights, neighbor_edges
from gnomon.affinities.heat import weigh_edges, with_bridges
from gnomon.affinities.masses import by_mass
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.linalg import GraphLaplacian, connected_components, eigenpairs, with_signs
from gnomon.methods.forecast import Forecast, dense_eigenvectors_memory
from gnomon.methods.other_names import SPECTRAL, SPECTRAL_WEIGHTS, other_names
from gnomon.methods.spectral.base import ComponentSolver, GraphEigenmaps, check_distinct_rows
from gnomon.methods.weighted import WeightedRowEmbedder
from gnomon.neighbors import (
    describe_pieces,
    find_bridges,
    memory_after_search,
    nearest_given,
    query_neighbors,
    search_memory,
)

__all__ = ["EigenmapExtension", "LaplacianEigenmaps"]

Float64Array = npt.NDArray[np.float64]
_MOST = 2.0  # how far the extension may carry a row beyond the mean of its neighbours


_CARRIED = 0.5  # share of a coordinate's squares about its median that one row may hold
_LIGHT = 0.01  # of the weight of a mean row
_MATRIX = Cost(fixed=1.4e6, row=550.0, neighbor=75.0)  # bytes: weights, and what their eigenvectors take


@other_names(SPECTRAL)
@dataclass(eq=False, repr=False)
class LaplacianEigenmaps(WeightedRowEmbedder, GraphEigenmaps):
    """Laplacian eigenmaps: smooth functions on the neighbour graph as coordinates; also diffusion maps.

    Input affinity: weights of the edges between neighbours. Output kernel: the inner product. Loss: the sum over edges
    of weight times squared distance in the map, under a constraint on the scale of the map. Optimizer: an eigenproblem,
    L y = lambda D y with L = D - A, D the degrees. The constant vector of eigenvalue 0 is left out.

    Parameters
    ----------
    n_neighbors : int >= 1, default=10
        Neighbours of each row, the row itself not counted. Two rows share an edge if either is a neighbour of the
        other.
    n_components : int >= 1, default=2
        Dimension of the map; less than the number of distinct rows.
    weights : {"auto", "binary", "heat", "self_tuning", "adapted"}, default="auto"
        Of the edges, see `gnomon.affinities.heat_affinities`: 1, exp(-d^2 / sigma^2), or exp(-d_ij^2 / (s_i s_j)) with
        the distance s to the seventh neighbour, for "adapted" the root mean square distance r to the neighbours.
        "auto": "binary" for variant="standard", but "heat" where `sigma` is given, "heat" for "vle", "adapted" for
        "ale".
    sigma : float > 0 or None, default=None
        Scale of weights="heat" in the units of the metric; None takes the mean distance to the last neighbour.
    variant : {"standard", "ale", "vle"}, default="standard"
        "ale", adapted Laplacian eigenmaps: weights exp(-d_ij^2 / (r_i r_j)), r the root mean square distance to the
        neighbours. "vle", variable Laplacian eigenmaps: rows in sparse regions keep fewer neighbours, in inverse
        proportion to r, between `min_neighbors` and `n_neighbors`; with weights="adapted" the radius varies and the
        weights adapt.
    min_neighbors : int in [1, n_neighbors], default=2
        For variant="vle". Without a lower bound outliers would lose all edges.
    normalized : bool, default=True
        Solve L y = lambda D y; with False L y = lambda y, in which rows of many edges count no more than others.
    alpha : float >= 0, default=0.0
        Divide the weights by (degree_i degree_j)^alpha first. 1 takes out the density of the rows.
    diffusion_time : float >= 0 or None, default=None
        Multiply each column by |1 - lambda|^diffusion_time, the diffusion map after so many steps of the random walk on
        the graph. None and 0 leave the columns as they are. Needs normalized=True.
    disconnected : {"connect", "separate", "error"}, default="connect"
        What to do with a graph in several components. "connect": join them by their shortest edges, weighed by their
        own length like all others. "separate": map each component by itself and place them side by side, see
        `gnomon.initialization.lay_out_components`; components of at most 2 n_components + 1 rows lie at random.
        "error": raise ValueError.
    metric, metric_params, precomputed_knn : as in `UMAP`
        Distances; "precomputed" takes a matrix of them.
    random_state, n_jobs : as in `TSNE`
        The seed used is ``seed_``.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map Y by rising eigenvalue, with Y'DY = I (Y'Y = I for normalized=False) over distinct rows, before the
        factor of `diffusion_time`. The entry of largest magnitude of each column is positive. Components mapped apart
        fill discs instead.
    eigenvalues_ : ndarray of shape (n_components,), float64
        Smallest ones beyond 0, rising; in [0, 2] for normalized=True. For components mapped apart, of shape
        (n_graph_components, n_components), NaN where a component lies at random.
    residuals_ : ndarray of the same shape
        |L z - lambda z| of the unit vectors, z = D^1/2 y and L = I - D^-1/2 A D^-1/2 for normalized=True.
    converged_ : bool
        Whether all are below 1e-7 of the largest eigenvalue, or at the limit of double precision.
    solver_ : str
        "dense", "multilevel" or "lanczos", see `gnomon.linalg.eigenpairs`; "random" if every component lies
        at random.
    weights_ : str
        The weights that "auto" took.
    sigma_ : float or None
        The scale used, None but for weights_="heat".
    affinities_ : Affinities
        Weights between the distinct rows, bridges included, divided by the degrees if alpha > 0.
    n_graph_components_ : int
        Connected components of the neighbour graph, before bridges.
    bridges_ : Bridges or None
        Edges that were added.
    graph_, seed_, timings_
        As in `UMAP`.

    Notes
    -----
    `place` extends the eigenvectors by Nyström's formula: the mean of the neighbours' positions by their weights,
    divided by 1 - lambda, or by 1 - lambda / degree for normalized=False, but by no less than 1/2. A fitted row has
    edges to those who count it among their neighbours, a new one has none of these: the formula need not give back the
    position of a fitted row, so a row at distance 0 from a fitted one gets its position.

    Under weights of rows that differ by many orders of magnitude, such as exp(-V / kT) over 20 kT, few rows decide the
    eigenvectors, and a row of next to no weight may come to lie so far out that a coordinate shows it alone, as a
    warning then says. Roots of the weights, a higher temperature, hold it back.

    References
    ----------
    .. [1] Belkin & Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural
       Computation 15, 2003.
    .. [2] Coifman & Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 21, 2006.
    .. [3] Tucker, "Dimensionality reduction and the Fenchel game", on adapted and variable Laplacian eigenmaps.
    .. [4] Bengio et al., "Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering", NeurIPS
       2003.
    """

    n_neighbors: int = 10
    n_components: int = 2
    _: KW_ONLY
    weights: str = "auto"
    sigma: float | None = None
    variant: str = "standard"
    min_neighbors: int = 2
    normalized: bool = True
    alpha: float = 0.0
    diffusion_time: float | None = None
    disconnected: str = "connect"

    _sparse_time_spread: ClassVar[float | None] = 4.0  # a row of few numbers may be near all others: a hub of the graph
    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(1),
        "weights": Elsewhere(Options("auto", "binary", "heat", "self_tuning", "adapted"), SPECTRAL_WEIGHTS),
        "sigma": Either(Real(0.0, low_open=True), Nothing()),
        "variant": Options("standard", "ale", "vle"),
        "min_neighbors": Integer(1),
        "normalized": Boolean(),
        "alpha": Real(0.0),
        "diffusion_time": Either(Real(0.0), Nothing()),
        "disconnected": Options("connect", "separate", "error"),
    }

    def _counts_rows(self, parameters: dict[str, Any], weights: npt.NDArray[np.float64] | None) -> bool:
        if weights is not None and not parameters["normalized"]:
            fact = "the Laplacian that is not normalised counts distinct rows"
            raise ValueError(message("sample_weight", "left out with normalized=False", fact=fact))
        return bool(parameters["normalized"])

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        k = min(parameters["n_neighbors"], n_samples - 1)
        left = memory_after_search(n_samples, n_features, k)
        matrix = left + _MATRIX.of(n_samples, n_features, k) + dense_eigenvectors_memory(n_samples)
        sparse = {name: parameters[name] for name in ("n_columns", "n_shared")}
        stages = {"neighbors": search_memory(n_samples, n_features, k, **sparse), "eigenvectors": matrix}
        return Forecast.of_stages(stages, f"{k} neighbours of {n_samples:,} rows and a matrix of them")

    def _embed(self, X: Any, parameters: dict[str, Any]) -> Float64Array:
        reporter = current_run().reporter
        self.weights_ = _choose_weights(parameters)
        _check_together(parameters, self.weights_, int(X.shape[0]))
        self.graph_ = self._find_neighbors(X, parameters["n_neighbors"], parameters)
        reporter.begin("affinities")
        rule = edge_weights(
            self.graph_,
            weights=self.weights_,
            sigma=parameters["sigma"],
            min_neighbors=parameters["min_neighbors"] if parameters["variant"] == "vle" else None,
        )
        self.sigma_ = rule.sigma
        edges = neighbor_edges(self.graph_, rule.kept(self.graph_.distances))
        edges, labels = self._join(X, edges, parameters)
        masses = parameters["masses"]
        found, factors = divide_by_density(weigh_edges(edges, rule), parameters["alpha"], masses)
        if masses is not None:  # the edges of all rows that two points stand for
            found = replace(found, matrix=by_mass(found.matrix, masses), masses=masses)
        self.affinities_ = found
        reporter.begin("eigenvectors")
        solver = _Solver(parameters, self.seed_)
        table = None if parameters["metric"] == "precomputed" else X
        positions, centres = self._solve(table, self.affinities_.matrix, labels, solver)
        if masses is not None and labels.max() == 0:
            _tell_of_light_rows(positions, masses)
        self._extension = EigenmapExtension(
            X,
            positions,
            rule,
            factors,
            parameters["alpha"],
            labels,
            np.nan_to_num(np.atleast_2d(self.eigenvalues_)),
            centres,
            parameters["normalized"],
            masses,
        )
        return positions

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        return int(parameters["min_neighbors"]) if parameters["variant"] == "vle" else 1

    def _join(
        self, X: Any, edges: scipy.sparse.csr_array, parameters: dict[str, Any]
    ) -> tuple[scipy.sparse.csr_array, npt.NDArray[np.int32]]:
        """Return the edges and the labels of the components that will be mapped apart."""
        labels = connected_components(edges)
        self.n_graph_components_, self.bridges_ = int(labels.max()) + 1, None
        if self.n_graph_components_ == 1:
            return edges, labels
        fact = f"the neighbour graph has {describe_pieces(labels)}"
        if parameters["disconnected"] == "error":
            remedy = "Raise n_neighbors, or set disconnected to 'connect' or 'separate'."
            raise ValueError(message("the neighbour graph", "connected", fact=fact, remedy=remedy))
        if parameters["disconnected"] == "separate":
            warn(f"{fact}; they are mapped one by one.", NeighborsWarning)
            return edges, labels
        warn(f"{fact}; their shortest edges join them.", NeighborsWarning)
        self.bridges_ = find_bridges(
            X, self.graph_, labels=labels, metric=parameters["metric"], metric_params=self.metric_params
        )
        return with_bridges(edges, self.bridges_), np.zeros_like(labels)

    def _place(self, X: Any) -> Float64Array:
        fitted = self._extension
        n_neighbors = self.graph_.n_neighbors
        if isinstance(self.metric, str) and self.metric == "precomputed":
            indices, distances = nearest_given(X, n_neighbors)
        else:
            indices, distances = query_neighbors(
                fitted.rows, X, n_neighbors, metric=self.metric, metric_params=self.metric_params
            )
        self._tell_far(indices, distances)
        places = fitted.place(indices, distances)
        known = distances[:, 0] == 0.0
        places[known] = fitted.positions[indices[known, 0]]
        return places


class _Solver(ComponentSolver):
    """The eigenvectors of smallest eigenvalue of the Laplacian of one component, scaled as the map is."""

    def __init__(self, parameters: dict[str, Any], seed: int) -> None:
        super().__init__()
        self._parameters, self._seed = parameters, seed

    @entrance("LaplacianEigenmaps")
    def __call__(self, matrix: scipy.sparse.csr_array) -> Float64Array:
        normalized, time = self._parameters["normalized"], self._parameters["diffusion_time"]
        pairs = eigenpairs(
            GraphLaplacian(matrix, normalized),
            self._parameters["n_components"],
            seed=self._seed,
            report=current_run().reporter.update,
        )
        self.found.append(pairs)
        vectors = pairs.vectors
        if normalized:
            vectors = with_signs(vectors / np.sqrt(matrix.astype(np.float64).sum(axis=1))[:, None])
        if time:
            vectors = vectors * np.abs(1.0 - pairs.values) ** time
        return vectors


def _tell_of_light_rows(positions: Float64Array, masses: Float64Array) -> None:
    """Warn if a coordinate is little more than the place of one light row."""
    shares = np.square(positions - np.median(positions, axis=0))
    shares /= np.maximum(shares.sum(axis=0), np.finfo(np.float64).tiny)
    rows = shares.argmax(axis=0)
    carried = (shares.max(axis=0) > _CARRIED) & (masses[rows] < _LIGHT)
    if not carried.any():
        return
    column = int(np.flatnonzero(carried)[0])
    weight, share = float(masses[rows[column]]), float(shares[rows[column], column])
    text = (
        f"coordinate {column} is the place of one row rather than of all: a row of {weight:.1g} times the mean weight "
        f"holds {share:.0%} of the coordinate's squares about its median"
    )
    remedy = "Pass less unequal weights, such as sample_weight ** 0.25."
    warn(f"{text}, as where weights are very unequal. {remedy}", DataWarning)


def _choose_weights(parameters: dict[str, Any]) -> str:
    wanted, variant = parameters["weights"], parameters["variant"]
    if variant == "ale":
        if wanted not in ("auto", "adapted"):
            raise ValueError(message(f"weights={wanted!r}", "'auto' or 'adapted' with variant='ale'"))
        return "adapted"
    if wanted != "auto":
        return str(wanted)
    return "heat" if variant == "vle" or parameters["sigma"] is not None else "binary"


def _check_together(parameters: dict[str, Any], weights: str, n_rows: int) -> None:
    """Raise ValueError about parameters that do not go with each other or with the number of distinct rows."""
    n_components, n_neighbors = parameters["n_components"], parameters["n_neighbors"]
    check_distinct_rows(n_components, n_rows)
    if parameters["variant"] == "vle" and parameters["min_neighbors"] > n_neighbors:
        what, rule = f"min_neighbors={parameters['min_neighbors']}", f"at most n_neighbors={n_neighbors}"
        raise ValueError(message(what, rule))
    if parameters["sigma"] is not None and weights != "heat":
        what, rule = f"sigma={parameters['sigma']}", f"None with weights={weights!r}"
        if parameters["variant"] == "ale":
            fact, remedy = "which variant='ale' has", "Leave sigma out, or use variant='vle' or 'standard'."
        else:
            fact, remedy = "", "Use weights='heat', or leave weights out."
        raise ValueError(message(what, rule, fact=fact, remedy=remedy))
    if parameters["diffusion_time"] and not parameters["normalized"]:
        what = f"diffusion_time={parameters['diffusion_time']}"
        raise ValueError(message(what, "None or 0 with normalized=False"))


@dataclass(frozen=True)
class EigenmapExtension:
    """What places new rows.

    Attributes
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features)
        The distinct rows fitted, or their distances.
    positions : ndarray of shape (n_samples, n_components), float64
    rule : EdgeWeights
        How a distance becomes a weight.
    factors : ndarray of shape (n_samples,), float64
        degree^-alpha of each row.
    alpha : float
    labels : ndarray of shape (n_samples,), int32
        The component with which a row was mapped.
    eigenvalues : ndarray of shape (n_graph_components, n_components), float64
        0 for components that lie at random.
    centres : ndarray of shape (n_graph_components, n_components), float64
        Where the origin of each component's own map lies.
    normalized : bool
        Whether the eigenvalues are of the normalised Laplacian.
    masses : ndarray of shape (n_samples,), float64, or None, default=None
        How many rows each row stands for; None for 1.
    """

    rows: Any
    positions: Float64Array
    rule: EdgeWeights
    factors: Float64Array
    alpha: float
    labels: npt.NDArray[np.int32]
    eigenvalues: Float64Array
    centres: Float64Array
    normalized: bool
    masses: Float64Array | None = None

    def place(self, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.float32]) -> Float64Array:
        """Return the positions of rows with these nearest fitted rows, both of shape (n_rows, n_neighbors)."""
        weights = self.rule.of_new_rows(indices, distances)
        if self.masses is not None:
            weights = weights * self.masses[indices]
        degrees = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        weights = weights * self.factors[indices] * power(degrees, -self.alpha)
        degrees = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        labels = self.labels[indices]
        centres = self.centres[labels]
        shares = self.eigenvalues[labels] / (1.0 if self.normalized else degrees[:, :, None])
        stretch = 1.0 / np.maximum(1.0 - shares, 1.0 / _MOST)
        targets = centres + stretch * (self.positions[indices] - centres)
        return np.asarray(weighted_sums(weights / degrees, targets))
