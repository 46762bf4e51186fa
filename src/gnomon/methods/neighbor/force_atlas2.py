"""ForceAtlas2: springs along a neighbour graph, repulsion that falls with distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Either, Integer, Options, Real, Rule
from gnomon.affinities import Affinities, UniformAffinity
from gnomon.initialization import rescale
from gnomon.linalg import connected_components
from gnomon.methods.forecast import SPECTRAL_START
from gnomon.methods.neighbor.base import Recipe
from gnomon.methods.neighbor.blocks import BlockEmbedder
from gnomon.methods.weighted import WeightedRowEmbedder
from gnomon.objectives import LinearAttraction
from gnomon.optimizers import GradientDescent

__all__ = ["ForceAtlas2"]

_GRAVITY = 0.02  # of a graph in pieces: they rest five edges apart
_WIDTH = 5.0  # standard deviation of the start along its first axis, in lengths of an edge


@dataclass(eq=False, repr=False)
class ForceAtlas2(WeightedRowEmbedder, BlockEmbedder):
    """ForceAtlas2: the layout that graph programs draw, of the neighbour graph.

    Input affinity: neighbours, all alike, 1 for each edge. Attraction: linear, a_ij d. Repulsion:
    (degree_i + 1) (degree_j + 1) / d. Optimizer: gradient descent with momentum and gains.

    Parameters
    ----------
    n_neighbors : int >= 2, default=15
        Neighbours of each row, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the map.
    repulsion_strength : float > 0, default=1.0
        Factor on the repulsion; it sets the scale of the map, not its shape.
    gravity : float >= 0 or "auto", default="auto"
        Pull of each point to the middle, gravity (degree + 1) d^2. Without it the pieces of a graph that is not
        connected repel each other without end; with it two pieces rest about 1 / sqrt(2 gravity) edges apart. "auto"
        takes 0 for a connected graph and else 0.02. The value used is ``gravity_``.
    learning_rate : float > 0, default=0.5
        Step in units of 1 / n_neighbors: at 1, a point with n_neighbors springs is at rest after one step.
    max_iter : int >= 0, default=500
        Iterations.
    evaluation : {"auto", "exact", "tree"}, default="auto"
        How repulsions are summed; "auto" takes the tree for large tables in up to 3 dimensions.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `UMAP`
        Named starts are scaled to about the width that the map will have.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    gravity_ : float
        The gravity used.
    graph_, affinities_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`; affinities are 1.

    Notes
    -----
    `place` puts a new row where its own energy is least: springs to its nearest fitted rows and the repulsion
    of all points.

    References
    ----------
    .. [1] Jacomy, Venturini, Heymann & Bastian, "ForceAtlas2, a continuous graph layout algorithm for handy network
       visualization designed for the Gephi software", PLoS ONE 9, 2014.
    """

    n_neighbors: int = 15
    n_components: int = 2
    _: KW_ONLY
    repulsion_strength: float = 1.0
    gravity: float | str = "auto"
    learning_rate: float = 0.5
    max_iter: int = 500
    evaluation: str = "auto"
    init: Any = "spectral"

    _stages: ClassVar[Mapping[str, Cost]] = {
        "affinities": Cost(fixed=1e5, row=150.0, neighbor=34.0),
        "initialization": SPECTRAL_START,
        "layout": Cost(fixed=1e5, row=250.0, neighbor=45.0),
    }
    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(2),
        "repulsion_strength": Real(0.0, low_open=True),
        "gravity": Either(Real(0.0), Options("auto")),
        "learning_rate": Real(0.0, low_open=True),
        "max_iter": Integer(0),
        "evaluation": Options("auto", "exact", "tree"),
    }

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        # Scaling a map by c multiplies its springs' energy by c^2 and adds -log c for each pair. At rest the sum of
        # a_ij d_ij^2 then equals that of g h_i h_j, so edges are about sqrt(g n h) long; maps are several edges wide.
        edge = (parameters["repulsion_strength"] * n_samples * (parameters["n_neighbors"] + 1.0)) ** 0.5
        return Recipe(
            n_neighbors=parameters["n_neighbors"],
            affinity=UniformAffinity("membership"),
            rescale=partial(rescale, standard_deviation=_WIDTH * edge),
            objective=lambda affinities, inputs: LinearAttraction(
                affinities,
                repulsion_strength=parameters["repulsion_strength"],
                gravity=self._gravity(affinities, parameters["gravity"]),
                evaluation=parameters["evaluation"],
            ),
            optimizer=GradientDescent(
                max_iter=parameters["max_iter"],
                learning_rate=parameters["learning_rate"] / parameters["n_neighbors"],
                early_exaggeration_iter=0,
                max_step_norm=edge,
            ),
        )

    def _gravity(self, affinities: Affinities, given: float | str) -> float:
        """Return the gravity asked for and remember it."""
        if isinstance(given, str):
            given = _GRAVITY if int(connected_components(affinities.matrix).max()) > 0 else 0.0
        self.gravity_ = float(given)
        return self.gravity_
