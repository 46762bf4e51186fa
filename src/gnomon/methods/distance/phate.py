"""PHATE: multidimensional scaling of the potential distances of a diffusion."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import sparse_product
from gnomon._memory import require_memory
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule, warn
from gnomon.affinities.diffusion import (
    WIDER,
    Diffusion,
    decaying_affinities,
    decaying_weights,
    diffusion_potential,
    knee,
    members,
)
from gnomon.exceptions import NeighborsWarning
from gnomon.linalg import connected_components
from gnomon.methods.base import PlacesRows
from gnomon.methods.distance.mds import MDS
from gnomon.methods.forecast import Forecast
from gnomon.methods.given_neighbors import GraphEmbedder
from gnomon.neighbors import (
    choose_landmarks,
    describe_pieces,
    distances_to_fitted,
    memory_after_search,
    nearest_given,
    query_neighbors,
    search_memory,
    sparse_search_seconds,
    walked_seconds,
    without_own,
)

__all__ = ["PHATE"]

_LANDMARKS = 2000
_LONGEST = 100  # steps among which t="auto" chooses
_REACH_WIDER = (1.0, 0.8, 0.1)  # shares of sparse rows, all about as far apart, that search again, ever wider
_SEARCHED = 4  # times n_neighbors that are searched at once: most weights reach no further


@dataclass(eq=False, repr=False)
class PHATE(PlacesRows, GraphEmbedder):
    """Potential distances of a diffusion, kept in the map: branches and trajectories without the noise around them.

    Input affinity: distances between the potentials that a random walk among the rows leaves. Output kernel: the
    distance d. Loss: the stress. Optimizer: majorization, from a classical start. With eps(x) the distance from x to
    its n_neighbors-th neighbour, rows weigh each other by

        K(x, y) = exp(-(d / eps(x))^decay) / 2 + exp(-(d / eps(y))^decay) / 2

    divided by its row sums this is the walk P. After t steps each row has the potential U = -log P^t, and `MDS` places
    the points so that their distances are near |U(x) - U(y)|.

    Parameters
    ----------
    n_neighbors : int >= 1, default=5
        The neighbour whose distance is the width of a row's kernel, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the map.
    decay : float > 0, default=40.0
        How sharply the kernel ends at that width; 2 is Gaussian. Weights below 1e-4 count as 0.
    t : int >= 1 or "auto", default="auto"
        Steps of the walk: more take away more noise, and in the end the shape as well. "auto" takes the knee of the von
        Neumann entropy of P^t among the first 100. The number used is ``t_``.
    gamma : float in [-1, 1], default=1.0
        1 takes the logarithm, others the potential 2 / (1 - gamma) (P^t)^((1 - gamma) / 2): 0 twice the square root,
        -1 the probabilities themselves.
    n_landmarks : int >= 2, "auto" or None, default="auto"
        Rows, drawn at random, that stand for those nearest to them: the walk goes from landmark to landmark by way of
        the rows, landmarks alone are scaled, and each row lies at the mean of the landmarks by the probabilities of
        stepping there. "auto" takes all rows up to 2000, else 2000. None takes all rows, for which the n_samples^2
        probabilities are kept several times.
    max_iter : int >= 0, default=300
        Iterations of the scaling.
    metric, metric_params, precomputed_knn : as in `UMAP`
        Distances alone ("precomputed") do.
    random_state, n_jobs : as in `TSNE`
        The seed, of landmarks and of the neighbour search, is ``seed_``.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the scaling early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float64
        The map, in the units of the potential: nats with gamma=1.
    t_ : int
        Steps of the walk.
    von_neumann_entropy_ : ndarray of shape (100,), float64, or None
        Entropy in nats of the spectrum of P^t for t = 1, 2, ..., 100; None if t was given.
    affinities_ : Affinities
        K between the distinct rows, without the diagonal, which is 1.
    stress_, normalized_stress_, n_iter_
        As in `MDS`, of the rows or landmarks that were scaled.
    landmarks_ : ndarray of shape (n_landmarks,), int, or None
        Numbers of the landmarks among the distinct rows, None if all rows are scaled.
    graph_ : NeighborGraph
        Neighbours of the distinct rows.
    seed_, timings_
        As in `UMAP`.

    Notes
    -----
    With given t the map is that of the authors' program with ``mds_solver="smacof"``, up to rounding and a rotation.
    Left to itself t differs: the program takes singular values of P for its eigenvalues and counts steps from 0. It
    finds landmarks by spectral clustering, or, asked for random ones, as here.

    P^t is 0 between the pieces of a graph that is not connected. As in the program 1e-7 is added to probabilities
    before their logarithm, so that pieces have finite distances, which mean nothing; a warning says so.

    `place` places a new row at the mean of the fitted ones, or of the landmarks, by the weights that its own kernel
    gives to its nearest rows; a row at distance 0 from a fitted one gets its position.

    References
    ----------
    .. [1] Moon, van Dijk, Wang et al., "Visualizing structure and transitions in high-dimensional biological data",
       Nature Biotechnology 37, 2019.
    """

    n_neighbors: int = 5
    n_components: int = 2
    _: KW_ONLY
    decay: float = 40.0
    t: Any = "auto"
    gamma: float = 1.0
    n_landmarks: Any = "auto"
    max_iter: int = 300

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(1),
        "decay": Real(0.0, low_open=True),
        "t": Either(Integer(1), Options("auto")),
        "gamma": Real(-1.0, 1.0),
        "n_landmarks": Either(Integer(2), Options("auto"), Nothing()),
        "max_iter": Integer(0),
    }

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return ", by landmarks" if _count_landmarks(parameters["n_landmarks"], n_samples) < n_samples else ""

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        n_places = float(_count_landmarks(parameters["n_landmarks"], n_samples))
        wide = 70.0 * _SEARCHED * parameters["n_neighbors"]  # bytes of a row's neighbours, weights and ways
        k = min(_SEARCHED * parameters["n_neighbors"], n_samples - 1)
        sparse = {name: parameters[name] for name in ("n_columns", "n_shared")}
        search = search_memory(n_samples, n_features, k, **sparse)
        left = memory_after_search(n_samples, n_features, k)
        return Forecast(
            max(search, left + 57.0 * n_places**2 + n_samples * wide + 7e6),
            f"probabilities between {n_places:.0f} x {n_places:.0f} rows and what is made of them",
            f"Use n_landmarks={_LANDMARKS}, or fewer rows.",
            2e-10 * n_places**3 + 1.1e-9 * parameters["max_iter"] * n_places**2,
            f"products and eigenvalues of {n_places:.0f} x {n_places:.0f} probabilities",
        )

    def _n_compared(self, parameters: dict[str, Any], n_samples: int) -> int:
        return min(_SEARCHED * int(parameters["n_neighbors"]), n_samples - 1)

    def _durations(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> dict[str, float]:
        found, shared = super()._durations(n_samples, n_features, parameters), parameters["n_shared"]
        if shared is None or parameters["metric"] == "precomputed":
            return found
        k, wider = self._n_compared(parameters, n_samples), 0.0
        for share in _REACH_WIDER:
            if k < n_samples - 1 and parameters["precomputed_knn"] is None:
                k, asked = min(WIDER * k, n_samples - 1), share * n_samples
                wider += sparse_search_seconds(n_samples, n_features, shared, k, n_asked=asked)
        n_landmarks = _count_landmarks(parameters["n_landmarks"], n_samples)
        if n_landmarks < n_samples:
            found["landmarks"] = walked_seconds(float(n_landmarks) * n_samples, n_features)
        return {**found, "affinities": found["affinities"] + wider}

    def _embed(self, X: Any, parameters: dict[str, Any]) -> npt.NDArray[np.float64]:
        reporter = current_run().reporter
        n, wanted = int(X.shape[0]), parameters["n_neighbors"]
        searched, given = max(wanted, min(_SEARCHED * wanted, n - 1)), parameters["precomputed_knn"]
        if given is not None:
            searched = max(wanted, min(searched, given.n_neighbors))
        self.graph_ = self._find_neighbors(X, searched, parameters)
        self._width = min(wanted, self.graph_.n_neighbors)
        self._rows = X

        def search(rows: npt.NDArray[np.intp], k: int) -> Any:
            if given is not None and given.metric == "precomputed" != parameters["metric"]:
                return self._given_alone(rows, k)
            fact, remedy = f"{k} neighbours of {len(rows):,} rows", "Raise decay, or use fewer rows."
            require_memory(f"X of {n:,} rows", 30.0 * k * len(rows), fact=fact, remedy=remedy)
            return without_own(*self._nearest(X[rows], k + 1), rows)

        reporter.begin("affinities")
        self.affinities_ = decaying_affinities(self.graph_, self._width, float(parameters["decay"]), search)
        pieces = connected_components(self.affinities_.matrix)
        if pieces.max() > 0:
            text = f"the neighbour graph has {describe_pieces(pieces)}; distances between them mean nothing."
            warn(text, NeighborsWarning)
        clusters = self._cluster(X, _count_landmarks(parameters["n_landmarks"], n), parameters)
        reporter.begin("diffusion")
        diffusion = Diffusion.of(self.affinities_, clusters)
        self.von_neumann_entropy_, self.t_ = None, parameters["t"]
        if parameters["t"] == "auto":
            self.von_neumann_entropy_ = diffusion.entropies(_LONGEST)
            self.t_ = 1 + knee(self.von_neumann_entropy_)
        potential = diffusion_potential(diffusion.after(self.t_), parameters["gamma"])
        reporter.begin("layout")
        scaling = MDS(
            parameters["n_components"],
            n_init=1,
            max_iter=parameters["max_iter"],
            random_state=self.seed_,
            n_jobs=current_run().n_threads,
            callback=self.callback,
            verbose=self.verbose,
        ).fit(potential)
        self.stress_, self.normalized_stress_ = scaling.stress_, scaling.normalized_stress_
        self.n_iter_ = scaling.n_iter_
        self._places = scaling.embedding_
        self._positions = self._places if diffusion.entries is None else sparse_product(diffusion.entries, self._places)
        return self._positions

    def _given_alone(self, rows: npt.NDArray[np.intp], k: int) -> Any:
        """Return the neighbours that rows were given, filled up to k by none: others would be at other distances."""
        warn(
            f"weights of {len(rows):,} rows reach beyond precomputed_knn, whose neighbours alone count.",
            NeighborsWarning,
        )
        more = ((0, 0), (0, k - self.graph_.n_neighbors))
        distances = np.pad(self.graph_.distances[rows], more, constant_values=np.inf)
        return np.pad(self.graph_.indices[rows], more, mode="edge"), distances

    def _cluster(self, X: Any, n_landmarks: int, parameters: dict[str, Any]) -> npt.NDArray[np.int64] | None:
        """Draw the landmarks and return for each row the number of the one nearest to it; None without landmarks."""
        reporter = current_run().reporter
        self.landmarks_, self._clusters = None, None
        if n_landmarks < X.shape[0]:
            reporter.begin("landmarks", n_landmarks)
            given = isinstance(parameters["metric"], str) and parameters["metric"] == "precomputed"
            landmarks = choose_landmarks(
                distances_to_fitted(X) if given and not isinstance(X, np.ndarray) else X,
                n_landmarks,
                method="random",
                metric=parameters["metric"],
                metric_params=self.metric_params,
                seed=self.seed_,
                reporter=reporter,
            )
            self.landmarks_, self._clusters = landmarks.indices, landmarks.nearest
        return self._clusters

    def _nearest(self, X: Any, k: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return nearest_given(X, k)
        return query_neighbors(self._rows, X, k, metric=self.metric, metric_params=self.metric_params)

    def _place(self, X: Any) -> npt.NDArray[np.float64]:
        k = self.graph_.n_neighbors
        indices, distances = self._nearest(X, k)
        self._tell_far(indices, distances)
        weights = decaying_weights(distances, self._width, float(self.decay)).ravel()
        ends = np.repeat(np.arange(len(indices)), k), indices.ravel()
        steps = scipy.sparse.csr_array((weights, ends), shape=(len(indices), len(self._positions)))
        if self._clusters is not None:
            steps = steps @ members(self._clusters)
        placed = sparse_product(steps, self._places) / steps.sum(axis=1)[:, None]
        known = distances[:, 0] == 0.0
        placed[known] = self._positions[indices[known, 0]]
        return np.asarray(placed)


def _count_landmarks(wanted: int | str | None, n_samples: int) -> int:
    if wanted == "auto":
        wanted = _LANDMARKS
    return n_samples if wanted is None else min(int(wanted), n_samples)
