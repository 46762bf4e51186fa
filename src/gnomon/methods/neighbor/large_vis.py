"""LargeVis: Gaussian affinities, Cauchy kernel, cross-entropy against noise that favours hubs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule
from gnomon.affinities import Affinities, GaussianAffinity
from gnomon.initialization import rescale_to_box
from gnomon.kernels import Cauchy
from gnomon.methods.forecast import GAUSSIAN_STAGES, SPECTRAL_START
from gnomon.methods.neighbor.base import Inputs, Recipe
from gnomon.methods.neighbor.kept_structure import DENSITY, FRAMES, density_terms, frame_terms
from gnomon.methods.neighbor.perplexity import PerplexityEmbedder
from gnomon.methods.parameters import PERPLEXITY
from gnomon.objectives import AddedTerm, CrossEntropy
from gnomon.optimizers import SampledDescent

__all__ = ["LargeVis"]

_BOX = 40.0  # the start fills a box of this side, about that of the map
_STEP = 3.0
_STEP_ON_A_LINE = 0.5  # points of one component cannot give way to each other
_EARLY = 100.0  # exaggeration at first of one component: repulsions are many times those of other methods
_DRAWS = 128  # points drawn in an epoch: few beside the neighbours, enough to tame so strong a repulsion


@dataclass(eq=False, repr=False)
class LargeVis(PerplexityEmbedder):
    """LargeVis: edges of a weighted graph against random points.

    Input affinity: Gaussian with a given perplexity. Output kernel: Cauchy, 1 / (1 + d^2). Loss: cross-entropy with
    sampled repulsion, points drawn in proportion to degree^0.75, both ends of a pair moving. Optimizer: Adam on all
    edges and sampled repulsions of every point at once.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    perplexity : float > 1 or None, default=None
        Effective number of neighbours, exp(entropy in nats); less than the number of distinct rows. None takes 50, and
        a third of the other rows where that is fewer.
    n_neighbors : int or None, default=None
        Neighbours that get an affinity; None takes 3 * perplexity, as the paper does.
    negative_sample_rate : int >= 1, default=5
        Repulsions expected for each attraction.
    repulsion_strength : float >= 0, default=7.0
        Weight of the repulsions.
    learning_rate : "auto" or float > 0, default="auto"
        Step size at the start; it falls linearly to 0. "auto" takes 3, of one component 0.5: points on a line are in
        each other's way. The one used is ``learning_rate_``.
    max_iter : int >= 0, default=500
        Passes over the edges.
    density, frames : float >= 0, dict or None, default=None
        As in `UMAP`.
    target_weight, target_metric : as in `UMAP`
        A target y given to `fit`.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `UMAP`
        Distances, start, seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    perplexity_ : float
        The perplexity used.
    learning_rate_ : float
        The step at the start.
    graph_, affinities_, supervision_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`; affinities sum to 1.

    Notes
    -----
    Of one component the repulsion grows from a hundredth to all of it over the first three tenths of the passes, so
    that points pass each other in time (`gnomon.optimizers.SampledDescent`, `early_exaggeration`).

    `place` puts a new row where its own part of the loss is least, as in `UMAP`; points repel as often as they
    are drawn.

    References
    ----------
    .. [1] Tang, Liu, Zhang & Mei, "Visualizing large-scale and high-dimensional data", WWW 2016.
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float | None = None
    n_neighbors: int | None = None
    negative_sample_rate: int = 5
    repulsion_strength: float = 7.0
    learning_rate: float | str = "auto"
    max_iter: int = 500
    density: float | dict[str, Any] | None = None
    frames: float | dict[str, Any] | None = None
    init: Any = "spectral"

    _rules: ClassVar[dict[str, Rule]] = {
        "perplexity": PERPLEXITY,
        "n_neighbors": Either(Integer(1), Nothing()),
        "negative_sample_rate": Integer(1),
        "repulsion_strength": Real(0.0),
        "learning_rate": Either(Options("auto"), Real(0.0, low_open=True)),
        "max_iter": Integer(0),
        "density": DENSITY,
        "frames": FRAMES,
    }

    _most_perplexity: ClassVar[float] = 50.0
    _stages: ClassVar[Mapping[str, Cost]] = {
        **GAUSSIAN_STAGES,
        "initialization": SPECTRAL_START,
        "layout": Cost(fixed=2e5, row=0.0, neighbor=45.0),
    }

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        perplexity, n_neighbors = self._take_perplexity(parameters, n_samples)
        gaussian, on_a_line = GaussianAffinity(perplexity), parameters["n_components"] == 1
        step = parameters["learning_rate"]
        if step == "auto":
            step = _STEP_ON_A_LINE if on_a_line else _STEP
        self.learning_rate_ = float(step)

        def terms(affinities: Affinities, inputs: Inputs) -> tuple[AddedTerm, ...]:
            of_data = self._of_data(affinities, gaussian, inputs, parameters)
            return (
                *density_terms(parameters["density"], of_data, Cauchy(), inputs),
                *frame_terms(parameters["frames"], of_data, Cauchy(), inputs, parameters),
            )

        return Recipe(
            n_neighbors=n_neighbors,
            affinity=self._supervised(gaussian, parameters),
            rescale=partial(rescale_to_box, size=_BOX),
            objective=lambda affinities, inputs: CrossEntropy(
                affinities,
                Cauchy(),
                negative_sample_rate=parameters["negative_sample_rate"],
                repulsion_strength=2.0 * parameters["repulsion_strength"],  # the drawn points move as well
                noise_exponent=0.75,
                n_draws=_DRAWS,
                added=terms(affinities, inputs),
                seed=inputs.seed,
            ),
            optimizer=SampledDescent(
                max_iter=parameters["max_iter"],
                learning_rate=self.learning_rate_,
                early_exaggeration=_EARLY if on_a_line else 1.0,
            ),
        )
