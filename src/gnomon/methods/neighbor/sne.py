"""SNE and symmetric SNE: t-SNE's forerunners, with a Gaussian kernel in the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Either, Integer, Nothing, Options, Real, Rule
from gnomon.affinities import ConditionalAffinity, GaussianAffinity
from gnomon.initialization import rescale
from gnomon.kernels import Gaussian
from gnomon.methods.forecast import (
    GAUSSIAN_STAGES,
    Forecast,
    manner_of_repulsion,
    passes_over_pairs,
    passes_unless_summed,
)
from gnomon.methods.neighbor.base import Recipe
from gnomon.methods.neighbor.first_phase import check_first_phase
from gnomon.methods.neighbor.perplexity import PerplexityEmbedder
from gnomon.methods.parameters import PERPLEXITY
from gnomon.objectives import ConditionalDivergence, KLDivergence
from gnomon.optimizers import GradientDescent

__all__ = ["SNE", "SymmetricSNE"]

_START_SPREAD = 1e-2  # standard deviation of the start along its first axis; the kernel is 1 over such distances
_AFTER = 200  # iterations after the first phase, where more of it is asked for

_RULES: dict[str, Rule] = {
    "perplexity": PERPLEXITY,
    "n_neighbors": Either(Integer(1), Nothing()),
    "early_exaggeration": Real(1.0),
    "early_exaggeration_iter": Integer(0),
    "max_iter": Integer(0),
    "learning_rate": Either(Real(0.0, low_open=True), Options("auto")),
}


@dataclass(eq=False, repr=False)
class SNE(PerplexityEmbedder):
    """Stochastic neighbour embedding.

    Input affinity: each row's own Gaussian with a given perplexity. Output kernel: Gaussian, exp(-d^2). Loss: the sum
    of the Kullback-Leibler divergences of the rows. Optimizer: gradient descent with momentum and gains.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    perplexity : float > 1 or None, default=None
        Effective number of neighbours, exp(entropy in nats); less than the number of distinct rows. None takes 30, and
        a third of the other rows where that is fewer.
    n_neighbors : int or None, default=None
        Neighbours that get an affinity; None takes 3 * perplexity. The paper takes all other rows.
    early_exaggeration : float >= 1, default=4.0
        Factor on the attractions in the first phase.
    early_exaggeration_iter : int >= 0, default=100
        Iterations of the first phase, fewer than max_iter, as in `TSNE`.
    max_iter : int >= 0, default=300
        Iterations in all. All pairs are summed in each.
    learning_rate : float > 0 or "auto", default="auto"
        Step size for the true gradient; "auto" takes 0.25 / exaggeration.
    target_weight, target_metric : as in `TSNE`
        A target y given to `fit`; by default it is not used.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `TSNE`
        Named starts are scaled to a standard deviation of 0.01 along the first axis.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    perplexity_ : float
        The perplexity used.
    graph_, affinities_, supervision_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `TSNE`; affinities are conditional, rows sum to 1.

    Notes
    -----
    `place` puts a new row where the divergence of its own distribution over the fitted points is least.

    References
    ----------
    .. [1] Hinton & Roweis, "Stochastic neighbor embedding", NeurIPS 2002.
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float | None = None
    n_neighbors: int | None = None
    early_exaggeration: float = 4.0
    early_exaggeration_iter: int = 100
    max_iter: int = 300
    learning_rate: float | str = "auto"
    target_weight: float = 0.0

    _rules: ClassVar[dict[str, Rule]] = _RULES

    _leaves: ClassVar[float] = 22.0
    _stages: ClassVar[Mapping[str, Cost]] = {
        **GAUSSIAN_STAGES,
        "affinities": Cost(fixed=2e5, row=0.0, neighbor=28.0),
        "initialization": Cost(fixed=2e5, row=0.0, neighbor=28.0),
        "layout": Cost(fixed=1e6, row=100.0, neighbor=50.0),
    }

    def _check_parameters(self) -> dict[str, Any]:
        parameters = super()._check_parameters()
        check_first_phase(parameters, {one.name: one.default for one in fields(self)}, _AFTER)
        return parameters

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        passes = passes_over_pairs(n_samples, parameters["max_iter"], 5.6, "Use SymmetricSNE, or fewer rows.")
        found = super()._forecast(n_samples, n_features, parameters)
        return None if found is None else found.taking(passes)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        perplexity, n_neighbors = self._take_perplexity(parameters, n_samples)
        rate = parameters["learning_rate"]
        return Recipe(
            n_neighbors=n_neighbors,
            affinity=self._supervised(ConditionalAffinity(perplexity), parameters),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda affinities, inputs: ConditionalDivergence(affinities, Gaussian()),
            optimizer=GradientDescent(
                max_iter=parameters["max_iter"],
                learning_rate=0.25 / parameters["early_exaggeration"] if rate == "auto" else rate,
                early_exaggeration=parameters["early_exaggeration"],
                early_exaggeration_iter=parameters["early_exaggeration_iter"],
            ),
        )


@dataclass(eq=False, repr=False)
class SymmetricSNE(PerplexityEmbedder):
    """Symmetric stochastic neighbour embedding: t-SNE with a Gaussian kernel in the map.

    Input affinity: Gaussian with a given perplexity, both directions joined. Output kernel: Gaussian, exp(-d^2). Loss:
    Kullback-Leibler divergence. Optimizer: gradient descent with momentum and gains.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    perplexity : float > 1 or None, default=None
        Effective number of neighbours, exp(entropy in nats); less than the number of distinct rows. None takes 30, and
        a third of the other rows where that is fewer.
    n_neighbors : int or None, default=None
        Neighbours that get an affinity; None takes 3 * perplexity.
    early_exaggeration : float >= 1, default=4.0
        Factor on the attractions in the first phase.
    early_exaggeration_iter : int >= 0, default=100
        Iterations of the first phase, fewer than max_iter, as in `TSNE`.
    max_iter : int >= 0, default=500
        Iterations in all.
    learning_rate : float > 0 or "auto", default="auto"
        Step size for the true gradient; "auto" takes a quarter of n_samples / exaggeration, with the exaggeration of
        the moment.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="auto"
        How repulsions are summed, as in `TSNE`.
    target_weight, target_metric : as in `TSNE`
        A target y given to `fit`; by default it is not used.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `TSNE`
        Named starts are scaled to a standard deviation of 0.01 along the first axis.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    perplexity_ : float
        The perplexity used.
    graph_, affinities_, supervision_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `TSNE`.

    Notes
    -----
    `place` puts a new row where its own part of the loss is least, as in `TSNE`.

    References
    ----------
    .. [1] Cook, Sutskever, Mnih & Hinton, "Visualizing similarity data with a mixture of maps", AISTATS 2007.
    .. [2] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008, section 3.1.
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float | None = None
    n_neighbors: int | None = None
    early_exaggeration: float = 4.0
    early_exaggeration_iter: int = 100
    max_iter: int = 500
    learning_rate: float | str = "auto"
    target_weight: float = 0.0
    evaluation: str = "auto"

    _rules: ClassVar[dict[str, Rule]] = {**_RULES, "evaluation": Options("auto", "exact", "interpolated", "tree")}

    _leaves: ClassVar[float] = 22.0
    _stages: ClassVar[Mapping[str, Cost]] = GAUSSIAN_STAGES

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return manner_of_repulsion(n_samples, parameters, parameters["evaluation"])

    def _check_parameters(self) -> dict[str, Any]:
        parameters = super()._check_parameters()
        check_first_phase(parameters, {one.name: one.default for one in fields(self)}, _AFTER)
        return parameters

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        passes = passes_unless_summed(n_samples, parameters, parameters["evaluation"], 3.5)
        found = super()._forecast(n_samples, n_features, parameters)
        return None if found is None else found.taking(passes)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        perplexity, n_neighbors = self._take_perplexity(parameters, n_samples)
        return Recipe(
            n_neighbors=n_neighbors,
            affinity=self._supervised(GaussianAffinity(perplexity), parameters),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda affinities, inputs: KLDivergence(
                affinities, Gaussian(), evaluation=parameters["evaluation"]
            ),
            optimizer=GradientDescent(
                max_iter=parameters["max_iter"],
                learning_rate=parameters["learning_rate"],
                early_exaggeration=parameters["early_exaggeration"],
                early_exaggeration_iter=parameters["early_exaggeration_iter"],
            ),
        )
