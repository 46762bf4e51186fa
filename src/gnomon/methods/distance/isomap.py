"""Isomap: classical scaling of the lengths of shortest paths in the neighbour graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Options, Rule, message, warn
from gnomon.affinities import PathGraph
from gnomon.exceptions import ConvergenceWarning, DataWarning
from gnomon.linalg import classical_scaling, uniform_matrix
from gnomon.linalg.table import evenly_spaced
from gnomon.methods.base import PlacesRows
from gnomon.methods.forecast import Forecast
from gnomon.methods.given_neighbors import GraphEmbedder
from gnomon.methods.other_names import ISOMAP, other_names
from gnomon.neighbors import (
    JOINING,
    NeighborGraph,
    join_components,
    memory_after_search,
    query_neighbors,
    search_memory,
)

__all__ = ["Isomap"]

_LARGEST_EXACT = 5000  # rows up to which "auto" takes all of them as landmarks: 100 MB of distances
_LANDMARKS = 1000
_LARGEST_DOUBLE = 2048  # rows up to which distances are kept in double
_SAMPLED_ROWS, _SAMPLED_OTHERS = 500, 4000  # between which residual variances are measured
_NOISE = 1e-7  # share of an eigenvalue that is rounding: lengths of edges come in float32
_STREAM = 252
_BLOCK = 256  # new rows placed at a time


@other_names(ISOMAP)
@dataclass(eq=False, repr=False)
class Isomap(PlacesRows, GraphEmbedder):
    """Classical scaling of geodesic distances, the lengths of shortest paths in the neighbour graph.

    Input affinity: squared geodesic distances, double-centred. Output kernel: linear. Loss: strain, the squared error
    of the inner products. Optimizer: an eigenproblem. Two rows share an edge if one is a neighbour of the other. A
    surface that can be unrolled without stretching is unrolled; distances within it are kept at all scales.

    Parameters
    ----------
    n_neighbors : int >= 1, default=10
        Neighbours of each row, the row itself not counted. Too many make shortcuts through the space between.
    n_components : int >= 1, default=2
        Dimension of the map.
    n_landmarks : int >= 1, "auto" or None, default="auto"
        Rows from which paths are measured, drawn at random: they are as dense as the data, which brings the map nearer
        to that of all rows than rows far apart do. They are scaled and the others placed among them. None takes all
        rows, which needs 4 n_samples^2 bytes. "auto" takes all up to 5000 rows, else 1000: coordinates then differ by
        about a tenth of their spread where geodesic distances are far from flat, by less where they are nearly so.
    disconnected : {"connect", "error"}, default="connect"
        What to do with a graph in pieces: join them by the shortest edges between them, with a warning, or refuse it.
    metric, metric_params, precomputed_knn : as in `UMAP`
        Distances alone ("precomputed") do.
    random_state, n_jobs : as in `TSNE`
        The seed used is ``seed_``.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, in the units of the metric; the mean of the landmarks is the origin.
    eigenvalues_ : ndarray of shape (n_components,)
        Of the double-centred squared geodesic distances between landmarks, falling.
    negative_inertia_ : float >= 0
        Size of the lowest, negative eigenvalue as a share of the largest: 0 if geodesic distances are those of points
        of a flat space.
    residual_variance_ : ndarray of shape (n_components,)
        1 - r^2 for the first 1, 2, ... columns of the map, r the correlation of geodesic distances with those in the
        map, from at most 500 landmarks to 4000 rows. Where it stops falling, further dimensions keep nothing.
    n_landmarks_ : int
        Number of landmarks, at most the number of distinct rows.
    landmarks_ : ndarray of row numbers, int32, or None
        Their numbers among the distinct rows, None if all rows are landmarks.
    n_graph_components_ : int
        Connected components of the neighbour graph.
    bridges_ : Bridges
        Edges that join them.
    graph_ : NeighborGraph
        Neighbours of the distinct rows.
    seed_, timings_
        As in `UMAP`.

    References
    ----------
    .. [1] Tenenbaum, de Silva & Langford, "A global geometric framework for nonlinear dimensionality reduction",
       Science 290, 2000.
    .. [2] de Silva & Tenenbaum, "Global versus local methods in nonlinear dimensionality reduction", NIPS, 2003
       (landmarks).
    """

    n_neighbors: int = 10
    n_components: int = 2
    _: KW_ONLY
    n_landmarks: Any = "auto"
    disconnected: str = "connect"

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(1),
        "n_landmarks": Either(Integer(1), Options("auto"), Nothing()),
        "disconnected": JOINING,
    }

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return ", by landmarks" if _count_landmarks(parameters["n_landmarks"], n_samples) < n_samples else ""

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        n, n_landmarks = float(n_samples), float(_count_landmarks(parameters["n_landmarks"], n_samples))
        some = n_landmarks < n
        lengths = n_landmarks * n * (8.0 if some or n <= _LARGEST_DOUBLE else 4.0)  # of landmarks both ways round
        between = 4.0 * n_landmarks**2 if some else 0.0
        sampled = 57.0 * min(n_landmarks, _SAMPLED_ROWS) * min(n, _SAMPLED_OTHERS)
        k = min(parameters["n_neighbors"], n_samples - 1)
        sparse = {name: parameters[name] for name in ("n_columns", "n_shared")}
        search = search_memory(n_samples, n_features, k, **sparse)
        left = memory_after_search(n_samples, n_features, k)
        return Forecast(
            max(
                search,
                left + max(lengths + between + 1050.0 * n, lengths / (2.0 if some else 1.0) + sampled + 1600.0 * n),
            ),
            f"lengths of paths between {n_landmarks:,.0f} x {n_samples:,} rows",
            f"Use n_landmarks={_LANDMARKS}, or fewer rows.",
            4e-7 * n_landmarks * n,
            f"paths between {n_landmarks:,.0f} x {n_samples:,} rows",
        )

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[np.float64]:
        reporter = current_run().reporter
        n = int(X.shape[0])
        self.n_landmarks_ = _count_landmarks(parameters["n_landmarks"], n)
        self.graph_ = self._find_neighbors(X, parameters["n_neighbors"], parameters)
        paths = self._path_graph(X, self.graph_, parameters)
        reporter.begin("geodesics", self.n_landmarks_)
        self.landmarks_ = None if self.n_landmarks_ == n else self._draw_landmarks(n)
        sources = np.arange(n, dtype=np.int32) if self.landmarks_ is None else self.landmarks_
        dtype = np.float64 if n <= _LARGEST_DOUBLE else np.float32
        lengths = paths.lengths_from(sources, dtype=dtype)
        ends = evenly_spaced(len(sources), _SAMPLED_ROWS), evenly_spaced(n, _SAMPLED_OTHERS)
        sample = lengths[np.ix_(*ends)]
        reporter.begin("eigenvectors")
        between = lengths if self.landmarks_ is None else np.ascontiguousarray(lengths[:, self.landmarks_])
        self._scaling = classical_scaling(between, parameters["n_components"], noise=_NOISE, seed=self.seed_)
        self._warn_of_scaling()
        if self.landmarks_ is None:
            positions, self._lengths = self._scaling.embedding, None
        else:
            reporter.begin("placement", n)
            self._lengths = np.ascontiguousarray(lengths.T)
            del lengths, between
            positions = self._scaling.place(self._lengths)
        self.eigenvalues_ = self._scaling.eigenvalues
        largest = max(float(self.eigenvalues_[0]), np.finfo(np.float64).tiny)
        self.negative_inertia_ = max(0.0, -self._scaling.lowest_eigenvalue / largest)
        self.residual_variance_ = _residual_variances(sample, sources[ends[0]], ends[1], positions)
        self._rows, self._paths = X if parameters["metric"] != "precomputed" else None, paths
        return positions

    def _draw_landmarks(self, n_samples: int) -> npt.NDArray[np.int32]:
        order = np.argsort(uniform_matrix(self.seed_, _STREAM, (n_samples, 1))[:, 0], kind="stable")
        return np.sort(order[: self.n_landmarks_]).astype(np.int32)

    def _path_graph(self, X: Any, graph: NeighborGraph, parameters: dict[str, Any]) -> PathGraph:
        self.bridges_, labels = join_components(
            X, graph, parameters["disconnected"], metric=parameters["metric"], metric_params=self.metric_params
        )
        self.n_graph_components_ = int(labels.max()) + 1
        return PathGraph.of(graph, self.bridges_)

    def _warn_of_scaling(self) -> None:
        n_positive, n_components = self._scaling.n_positive, len(self._scaling.eigenvalues)
        if n_positive < n_components:
            text = (
                f"geodesic distances have only {n_positive} positive eigenvalues above rounding; the other "
                f"{n_components - n_positive} of n_components={n_components} columns are zero."
            )
            warn(text, DataWarning)
        if not self._scaling.converged:
            text = "the eigenvectors have not met their tolerance; eigenvalues lie too close together."
            warn(text, ConvergenceWarning)

    def _place(self, X: Any) -> npt.NDArray[np.float64]:
        places = []
        for begin in range(0, X.shape[0], _BLOCK):
            indices, distances = self._nearest(X[begin : begin + _BLOCK])
            self._tell_far(indices, distances)
            if self._lengths is None:
                lengths = self._paths.lengths_from(indices, distances)
            else:
                lengths = np.stack(
                    [
                        (self._lengths[near].astype(np.float64) + gone[:, None]).min(axis=0)
                        for near, gone in zip(indices, distances, strict=True)
                    ]
                )
            places.append(self._scaling.place(lengths))
        return np.concatenate(places)

    def _nearest(self, X: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return the fitted rows where the paths of new rows begin and how far these are."""
        n = self._paths.n_samples
        k = self.graph_.n_neighbors  # a fitted row finds itself, from where paths are shortest
        if self._rows is not None:
            indices, distances = query_neighbors(self._rows, X, k, metric=self.metric, metric_params=self.metric_params)
            return indices, distances.astype(np.float64)
        given = _dense_distances(X)
        if given.shape[1] != n:
            raise ValueError(message(f"X of {given.shape[1]} columns", f"of n_samples={n} columns"))
        if (given < 0.0).any() or not np.isfinite(given).any(axis=1).all():
            raise ValueError(message("distances", ">= 0, and finite to some fitted row for each new one"))
        indices = np.argsort(given, axis=1, kind="stable")[:, :k].astype(np.int32)
        return indices, np.take_along_axis(given, indices, axis=1)


def _count_landmarks(wanted: int | str | None, n_samples: int) -> int:
    if wanted == "auto":
        wanted = None if n_samples <= _LARGEST_EXACT else _LANDMARKS
    return n_samples if wanted is None else min(int(wanted), n_samples)


def _dense_distances(X: Any) -> npt.NDArray[np.float64]:
    """Return given distances as a dense block; what a sparse one does not store is infinitely far."""
    if isinstance(X, np.ndarray):
        return np.asarray(X, dtype=np.float64)
    given = np.full(X.shape, np.inf)
    given[np.repeat(np.arange(len(given)), np.diff(X.indptr)), X.indices] = X.data
    return given


def _residual_variances(
    lengths: npt.NDArray[Any],
    rows: npt.NDArray[np.integer],
    others: npt.NDArray[np.integer],
    positions: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return 1 - r^2 between geodesic distances from some rows to others and those in the first columns."""
    apart = rows[:, None] != others
    geodesic = lengths[apart].astype(np.float64)
    geodesic -= geodesic.mean()
    geodesic /= max(float(np.sqrt(np.mean(np.square(geodesic)))), np.finfo(np.float64).tiny)
    squared = np.zeros(lengths.shape)
    size = max(float(np.abs(positions).max()), np.finfo(np.float64).tiny)
    variances = []
    for column in (positions / size).T:
        squared += np.square(column[rows, None] - column[others])
        mapped = np.sqrt(squared[apart])
        spread = float(mapped.std())
        correlation = float(np.mean(geodesic * (mapped - mapped.mean()))) / spread if spread > 0.0 else 0.0
        variances.append(max(0.0, 1.0 - correlation**2))
    return np.array(variances)
