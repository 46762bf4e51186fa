"""t-SNE: Gaussian affinities with perplexity, Cauchy kernel, KL divergence, descent with strong momentum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._estimator import check_is_fitted
from gnomon._validation import Either, Elsewhere, Integer, Nothing, Options, Real, Rule, warn
from gnomon.affinities import GaussianAffinity, UniformAffinity
from gnomon.exceptions import ConvergenceWarning
from gnomon.initialization import rescale
from gnomon.kernels import Cauchy, OutputKernel, StudentT
from gnomon.methods.forecast import (
    GAUSSIAN_STAGES,
    Forecast,
    manner_of_repulsion,
    mesh_memory,
    ordered_edges_memory,
    passes_unless_summed,
)
from gnomon.methods.neighbor.base import Recipe
from gnomon.methods.neighbor.first_phase import check_first_phase
from gnomon.methods.neighbor.perplexity import PerplexityEmbedder
from gnomon.methods.other_names import (
    EARLY_EXAGGERATIONS,
    EXAGGERATIONS,
    OPENTSNE,
    REPULSIONS,
    SCIKIT_LEARN,
    other_names,
)
from gnomon.methods.parameters import PERPLEXITY
from gnomon.objectives import KLDivergence
from gnomon.objectives.terms.all_pairs import INTERPOLATION_FROM
from gnomon.optimizers import GradientDescent

__all__ = ["TSNE"]

_OF_THE_DESCENT = (
    "max_iter",
    "learning_rate",
    "early_exaggeration_iter",
    "annealing_iter",
    "early_momentum",
    "momentum",
    "max_step_norm",
    "min_grad_norm",
    "n_iter_without_progress",
)
_PRESETS: dict[str, dict[str, Any]] = {
    "fast": {"n_neighbors": 15, "max_iter": 100, "early_exaggeration_iter": 40, "annealing_iter": 30}
}
_SHORT, _LONG = 0.1, 1.5  # of the steps of "auto", shorter leave maps unfinished and longer ones swing
_ITERATIONS, _AFTER = 250, 200  # in all, and at least after the first phase
_START_SPREAD = 1e-4  # standard deviation of the start along its first axis


@other_names({**SCIKIT_LEARN, **OPENTSNE})
@dataclass(eq=False, repr=False)
class TSNE(PerplexityEmbedder):
    """t-distributed stochastic neighbour embedding.

    Input affinity: Gaussian with a given perplexity over the 3 * perplexity nearest neighbours. Output kernel: Cauchy,
    1 / (1 + d^2). Loss: Kullback-Leibler divergence. Optimizer: gradient descent with momentum, preconditioned
    (`gnomon.optimizers.GradientDescent.annealed`).

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map. Above 3 all pairs are evaluated, which costs n_samples^2 in each iteration.
    preset : "fast" or None, default=None
        Values of parameters that together serve an end; one that is given another value than its default keeps it.
        "fast" takes max_iter=100, early_exaggeration_iter=40, annealing_iter=30 and, instead of a perplexity, the 15
        nearest neighbours, which all count alike: maps in a fraction of the time, whose neighbourhoods are as true as
        those of the default, but whose divergence is that of other affinities.
    perplexity : float > 1 or None, default=None
        Effective number of neighbours, exp(entropy in nats); less than the number of distinct rows. None takes 30, and
        a third of the other rows where that is fewer.
    early_exaggeration : float >= 1, default=12.0
        Factor on the attractions in the first phase.
    early_exaggeration_iter : int >= 0, default=50
        Iterations of the first phase; if you give them, fewer than max_iter. Where max_iter ends in them, or while the
        factor falls, a warning says so: the map is not one of the loss.
    annealing_iter : int >= 0, default=100
        Iterations after it in which the factor falls to 1. 0 takes it away at once, as other implementations do, and
        leaves a higher divergence and fewer neighbours kept.
    max_iter : int >= 0 or None, default=None
        Iterations in all, the first phase counted. None takes 250, and 200 more than early_exaggeration_iter where that
        is more: a third of what other implementations take, to a lower divergence; more lower it further, slowly.
    exaggeration : float > 0, default=1.0
        Factor on the attractions after the first phase, part of the loss. More than 1 makes clusters compact and shows
        how they hang together, as UMAP does at about 4; less than 1 spreads them, without end: the loss has no minimum
        then (see `gnomon.objectives.KLDivergence`), and the extent of the map is that of max_iter, as a warning says.
    learning_rate : float > 0 or "auto", default="auto"
        Step size for the true gradient (with its factor 4), of a point whose affinities have the mean sum; "auto" takes
        n_samples / (e * min(e, 2)), with the exaggeration e of the moment. openTSNE's is four times it. A number is the
        step after the first phase, and as much shorter in it as that of "auto" is; a tenth of "auto", or one and a half
        times it, is warned of.
    early_momentum : float in [0, 1), default=0.95
        Share of the last step that goes on in the first phase.
    momentum : float in [0, 1) or "auto", default="auto"
        The same after it; "auto" is 0.99, less for fewer than 1000 rows (`gnomon.optimizers.GradientDescent`).
    max_step_norm : float > 0 or None, default=5.0
        No point moves farther in one iteration, in units of the map.
    min_grad_norm : float >= 0, default=1e-7
        End when the norm of the gradient is below it; looked at every 50 iterations after the annealing. Each
        point's gradient counts relative to the sum of its affinities.
    n_iter_without_progress : int >= 1, default=300
        End when the loss has not fallen for so many iterations.
    blocks, join : as in `UMAP`
        Instead of one metric of all columns.
    metric : str or callable, default="euclidean"
        The names in the table of `gnomon.neighbors.compute_neighbors` run natively; other names, and callables,
        are those of scikit-learn's ``NearestNeighbors``; "precomputed" takes distances.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"period": 360}`` of "periodic".
    precomputed_knn : as in `UMAP`
        With fewer than 3 * perplexity a warning says so; fewer than the perplexity are refused.
    init : {"pca", "spectral", "random"} or ndarray of shape (n_samples, n_components), default="pca"
        Start positions; named ones are scaled to a standard deviation of 1e-4 along the first axis, an array is taken
        as it is. The start used is ``init_``. Principal components are of the rows, columns that have a period under
        the metric as circles.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="auto"
        How repulsions are summed: over all pairs, interpolated on a grid by fast Fourier transform (1-D and 2-D), or
        with far groups of points taken as one (up to 3-D). "auto" decides by size; the choice made is ``evaluation_``.
    dof : float > 0, default=1.0
        Degrees of freedom of the kernel in the map, (1 + d^2 / dof)^(-(dof + 1) / 2). 1 is t-SNE; less spreads
        clusters into finer ones, more nears symmetric SNE.
    target_weight : float in [0, 1], default=0.0
        Weight of a target y given to `fit`, classes or numbers, against the data, as in `UMAP`. 0 does not use it, as
        scikit-learn and openTSNE do not.
    target_metric : as in `UMAP`
        What y is taken for.
    random_state : int, Generator, RandomState or None, default=None
        The seed used is ``seed_``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True ends the layout early.
    verbose : bool or int >= 0, default=False
        Whether to write what is being done to standard error, or to the logger "gnomon" where it takes INFO.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    perplexity_ : float or None
        The perplexity used; None where the preset takes none.
    kl_divergence_ : float
        Kullback-Leibler divergence of the map, in nats, whatever the exaggeration.
    learning_rate_ : float
        Step size after the first phase.
    graph_ : NeighborGraph
        Nearest neighbours of the distinct rows, with the measured recall.
    affinities_ : Affinities
        Joint probabilities between the distinct rows; with a target those of data and target, rows with the same sums.
    supervision_ : Supervision or None
        As in `UMAP`.
    solution_ : Solution
        Loss history, reason for stopping, times.
    n_iter_, seed_, init_, evaluation_, timings_
        What was used, and seconds by stage.

    Notes
    -----
    `place` puts a new row where its own part of the loss is least among the fitted points, which stay: its
    conditional affinities p_j|i attract, and all points repel with the normaliser of the map held fixed.
    ``placement_.search`` says how neighbours were searched and with what recall, ``placement_.field`` how the
    repulsion was summed.

    References
    ----------
    .. [1] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008.
    .. [2] Linderman et al., "Fast interpolation-based t-SNE for improved visualization of single-cell RNA-seq data",
       Nature Methods 16, 2019.
    .. [3] Belkina et al., "Automated optimized parameters for t-SNE improve visualization", Nature Communications 10,
       2019 (learning rate).
    .. [4] Kobak, Linderman, Steinerberger, Kluger & Berens, "Heavy-tailed kernels reveal a finer cluster structure in
       t-SNE visualisations", ECML PKDD 2019 (dof).
    .. [5] Böhm, Berens & Kobak, "Attraction-repulsion spectrum in neighbor embeddings", JMLR 23, 2022 (exaggeration;
       neighbours that count alike serve t-SNE as well as a perplexity).

    Examples
    --------
    >>> import gnomon
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> gnomon.TSNE(perplexity=30, random_state=0).fit_transform(X).shape
    (1797, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    preset: str | None = None
    perplexity: float | None = None
    early_exaggeration: float = 12.0
    early_exaggeration_iter: int = 50
    annealing_iter: int = 100
    max_iter: int | None = None
    exaggeration: float = 1.0
    learning_rate: float | str = "auto"
    early_momentum: float = 0.95
    momentum: float | str = "auto"
    max_step_norm: float | None = 5.0
    min_grad_norm: float = 1e-7
    n_iter_without_progress: int = 300
    init: Any = "pca"
    target_weight: float = 0.0
    evaluation: str = "auto"
    dof: float = 1.0

    _rules: ClassVar[dict[str, Rule]] = {
        "preset": Either(Options(*_PRESETS), Nothing()),
        "perplexity": PERPLEXITY,
        "early_exaggeration": Elsewhere(Real(1.0), EARLY_EXAGGERATIONS),
        "early_exaggeration_iter": Integer(0),
        "annealing_iter": Integer(0),
        "max_iter": Either(Integer(0), Nothing()),
        "exaggeration": Elsewhere(Real(0.0, low_open=True), EXAGGERATIONS),
        "learning_rate": Either(Real(0.0, low_open=True), Options("auto")),
        "early_momentum": Real(0.0, 1.0, high_open=True),
        "momentum": Either(Real(0.0, 1.0, high_open=True), Options("auto")),
        "max_step_norm": Either(Real(0.0, low_open=True), Nothing()),
        "min_grad_norm": Real(0.0),
        "n_iter_without_progress": Integer(1),
        "evaluation": Elsewhere(Options("auto", "exact", "interpolated", "tree"), REPULSIONS),
        "dof": Real(0.0, low_open=True),
    }

    _leaves: ClassVar[float] = 22.0
    _stages: ClassVar[Mapping[str, Cost]] = GAUSSIAN_STAGES

    def _check_parameters(self) -> dict[str, Any]:
        parameters = super()._check_parameters()
        usual = {one.name: one.default for one in fields(self)}
        if parameters["preset"] is None:
            return _with_iterations(parameters, usual)
        preset = dict(_PRESETS[parameters["preset"]])
        if parameters["perplexity"] is None:
            del parameters["perplexity"]
        else:
            del preset["n_neighbors"]
        chosen = {name: value for name, value in preset.items() if parameters.get(name) == usual.get(name)}
        return _with_iterations({**parameters, **chosen}, usual)

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return manner_of_repulsion(n_samples, parameters, parameters["evaluation"])

    def _sums_memory(self, parameters: dict[str, Any], n_samples: int) -> float:
        in_plane = parameters["n_components"] == 2
        edges = ordered_edges_memory(n_samples, self._n_compared(parameters, n_samples)) if in_plane else 0.0
        least = INTERPOLATION_FROM.get(parameters["n_components"], n_samples + 1)
        interpolated = parameters["evaluation"] == "auto" and n_samples >= least
        if not (interpolated or parameters["evaluation"] == "interpolated"):
            return edges
        return edges + mesh_memory(n_samples)

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        passes = passes_unless_summed(n_samples, parameters, parameters["evaluation"], 1.2)
        found = super()._forecast(n_samples, n_features, parameters)
        return None if found is None else found.taking(passes)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        affinity: GaussianAffinity | UniformAffinity
        if "perplexity" in parameters:
            perplexity, n_neighbors = self._take_perplexity(parameters, n_samples)
            affinity = GaussianAffinity(perplexity)
        else:
            n_neighbors, affinity = min(parameters["n_neighbors"], n_samples - 1), UniformAffinity()
            self.perplexity_ = None
        exaggeration = parameters["exaggeration"]
        optimizer = GradientDescent.annealed(
            early_exaggeration=parameters["early_exaggeration"] / exaggeration,  # on top of that in the loss
            **{name: parameters[name] for name in _OF_THE_DESCENT},
        )
        self.learning_rate_ = optimizer.resolve_learning_rate(n_samples, exaggeration)
        if parameters["learning_rate"] != "auto":
            _warn_of_rate(optimizer, n_samples, exaggeration)
        return Recipe(
            n_neighbors=n_neighbors,
            affinity=self._supervised(affinity, parameters),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda affinities, inputs: KLDivergence(
                affinities,
                _kernel(parameters["dof"]),
                evaluation=parameters["evaluation"],
                attraction_weight=exaggeration,
            ),
            optimizer=optimizer,
        )

    @property
    def kl_divergence_(self) -> float:
        """Kullback-Leibler divergence of the map, in nats."""
        check_is_fitted(self)
        if self._one_place:
            return 0.0
        if self.exaggeration == 1.0 and not getattr(self, "_learned", ()):  # no springs in the loss
            return float(self.solution_.loss[-1][1])
        plain = KLDivergence(self.affinities_, _kernel(self.dof), evaluation=self.evaluation_)
        return plain.loss(self.solution_.embedding)


def _with_iterations(parameters: dict[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with their iterations; ValueError if a first phase that is given takes all of them."""
    n_early, n_all = parameters["early_exaggeration_iter"], parameters["max_iter"]
    if n_all is None:
        after = max(_AFTER, parameters["annealing_iter"] + _AFTER - usual["annealing_iter"])
        return {**parameters, "max_iter": max(_ITERATIONS, n_early + after)}
    if n_early != _PRESETS.get(parameters["preset"], {}).get("early_exaggeration_iter"):
        check_first_phase(parameters, usual, _AFTER)
    return parameters


def _warn_of_rate(optimizer: GradientDescent, n_samples: int, exaggeration: float) -> None:
    """Warn of steps far from those that suit the table."""
    usual = GradientDescent.annealed().resolve_learning_rate(n_samples, exaggeration)
    ratio = float(optimizer.learning_rate) / usual
    text = f'learning_rate={optimizer.learning_rate:g} is {ratio:.2g} times what "auto" takes here, {usual:g}'
    if ratio > _LONG:
        warn(f"{text}: points may swing past their places. Leave learning_rate out.", ConvergenceWarning)
    elif ratio * max(1.0, optimizer.max_iter / GradientDescent.annealed().max_iter) < _SHORT:
        fact = f"the map may be unfinished after {optimizer.max_iter} iterations"
        warn(f"{text}: {fact}. Leave learning_rate out, or raise max_iter.", ConvergenceWarning)


def _kernel(dof: float) -> OutputKernel:
    return Cauchy() if dof == 1.0 else StudentT(dof)
