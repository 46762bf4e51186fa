"""recommend: method and parameters chosen without labels, by what maps of the table keep of its neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._validation import Either, Integer, Nothing, Options, Rule, check_parameters
from gnomon.comparison.make import MEASURES, compared
from gnomon.comparison.recommendation import Curve, Recommendation
from gnomon.comparison.trials import Request, Trial, Trials, requests_of
from gnomon.evaluation import MEASURES as MEASURES_OF_MAPS

__all__ = ["recommend"]

_CRITERIA = ("neighborhood_preservation", "auc_rnx", "trustworthiness", "continuity", "random_triplets", "local_r2")
_LEAST_DIFFERENCE = 0.01  # of the criterion; less is seen in no picture
_TRUST = 0.005  # that the chosen map may lie below the best of the methods' own defaults
_ENOUGH = 0.95  # share of the criterion with most components that fewer must reach
_MOST_COMPONENTS = 3
_SEARCHED: dict[str, dict[str, tuple[Any, ...]]] = {
    "umap": {"n_neighbors": (5, 10, 15, 30, 60), "min_dist": (0.0, 0.1, 0.3, 0.6)},
    "tsne": {"perplexity": (5.0, 10.0, 20.0, 30.0, 50.0, 80.0)},
    "largevis": {"perplexity": (10.0, 30.0, 50.0, 80.0)},
    "trimap": {"n_neighbors": (6, 12, 24, 48)},
    "densmap": {"n_neighbors": (10, 30, 60), "min_dist": (0.0, 0.1, 0.3)},
    "isomap": {"n_neighbors": (5, 10, 20, 40)},
}


@entrance("recommend", seeded=True)
def recommend(
    X: Any,
    methods: Sequence[str] = ("pca", "tsne", "umap"),
    *,
    criterion: str = "neighborhood_preservation",
    labels: npt.ArrayLike | None = None,
    scale: Literal["auto", "standard", "robust"] | None = "auto",
    n_components: int | None = 2,
    n_neighbors: int | None = None,
    n_seeds: int = 2,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Recommendation:
    """Choose method and parameters for a table, without labels, and say why.

    Each method is mapped with its defaults and then over its parameters, one after the other, every map with several
    seeds and all from one search for neighbours. The rule:

    1. A map whose trustworthiness is more than 0.005 below the best of the methods' defaults is refused.
    2. The tolerance is twice the standard deviation over seeds, pooled over all maps, at least 0.01.
    3. Of the maps within the tolerance of the best, the one with fewest parameters that are no defaults is taken, of
       equally many the method that `methods` names first.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers.
    methods : sequence of str, default=("pca", "tsne", "umap")
        Names as in `gnomon.methods.METHODS`, the simplest first: t-SNE, with one parameter and no sampled forces, is
        before UMAP. Searched are n_neighbors and min_dist of "umap" and "densmap", perplexity of
        "tsne" and "largevis", n_neighbors of "trimap" and "isomap"; others are mapped with their defaults.
    criterion : str, default="neighborhood_preservation"
        What a map is to be good at, a measure of `gnomon.evaluation.MEASURES`: "neighborhood_preservation", the share
        of each row's nearest that stay its nearest; "auc_rnx", the same over neighbourhoods of every size, where small
        ones count most; "trustworthiness", "continuity"; "random_triplets" for the large scale; "local_r2" for places
        that the features tell.
    labels : array-like of shape (n_samples,), default=None
        Told in the scores and shown in figures; the choice does not see them.
    scale : {"auto", "standard", "robust"} or None, default="auto"
        How columns are standardised before, as for `gnomon.map`.
    n_components : int >= 1 or None, default=2
        Dimension of the maps. None chooses method and parameters in 2 and then takes the least of 1, 2, 3 with which
        the criterion reaches 95 % of its value with most; most are the intrinsic dimension rounded up, and 3.
    n_neighbors : int >= 1, below n_samples / 2, or None, default=None
        Neighbours that measures look at; None as for `gnomon.evaluation.scorecard`.
    n_seeds : int >= 1, default=2
        Fits of each map.
    random_state : int, Generator, RandomState or None, default=0
        The first seed.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` before the maps of each curve, with their number, and after each map.

    Returns
    -------
    Recommendation

    Raises
    ------
    ValueError
        If a method does not exist or refuses the table.
    TypeError
        If something is of the wrong type.

    See Also
    --------
    compare : The same maps of methods and parameters of your choice.

    References
    ----------
    .. [1] Lee & Verleysen, "Quality assessment of dimensionality reduction: rank-based criteria", Neurocomputing 72,
       2009 (neighbourhood preservation, Q_NX).
    .. [2] Lee, Peluffo-Ordonez & Verleysen, "Multi-scale similarities in stochastic neighbour embedding: reducing
       dimensionality while preserving both local and global structure", Neurocomputing 169, 2015 (area under R_NX).
    .. [3] Breiman, Friedman, Olshen & Stone, "Classification and regression trees", 1984, section 3.4.3 (the simplest
       within the noise of the best).

    Examples
    --------
    >>> import numpy as np
    >>> import gnomon
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) @ np.eye(2, 5)
    >>> gnomon.recommend(X, scale=None).method
    'pca'
    """
    rules: dict[str, Rule] = {"n_components": Either(Integer(1), Nothing()), "criterion": Options(*_CRITERIA)}
    asked = check_parameters(rules, {"n_components": n_components, "criterion": criterion})["n_components"]
    defaults = requests_of(methods, None, 2 if asked is None else asked)
    measures = list(dict.fromkeys([*MEASURES, "intrinsic_dimension"]))
    trials = Trials(X, labels=labels, scale=scale, n_neighbors=n_neighbors, measures=measures, n_seeds=n_seeds)
    trials.share([one for first in defaults for one in (first, *_most_neighbors(first, trials.n_samples))])
    made = list(zip(defaults, trials.make(defaults), strict=True))
    least_trust = max(trial.scores["trustworthiness"] for _, trial in made) - _TRUST
    rule = _Rule(criterion, least_trust, [one.method for one in defaults])
    curves = []
    for request in defaults:
        for parameter, values in _SEARCHED.get(request.method, {}).items():
            line = [_with(request, parameter, value) for value in values]
            possible = [one for one in line if _is_possible(one, trials.n_samples)]
            found = list(zip(possible, trials.make(possible), strict=True))
            made += [one for one in found if one[0] not in [known for known, _ in made]]
            request = rule.simplest(found)[0]
            curves.append(_curve(criterion, parameter, found, request))
    chosen, trial = rule.simplest(made)
    dimension = float(trial.scores["intrinsic_dimension"])
    every = [one for _, one in made]
    reasons = rule.reasons(every, trial)
    if asked is None:
        chosen, trial, curve = _fewest_components(criterion, trials, chosen, dimension)
        curves.append(curve)
        reasons.append(f"{chosen.n_components} components reach {_ENOUGH:.0%} of what {curve.values[-1]} do.")
    reasons.append(f"The data need about {dimension:.1f} coordinates; no map of fewer keeps everything.")
    others = [one for one in rule.allowed(every) if one is not trial]
    return Recommendation(
        method=chosen.method,
        parameters=chosen.parameters,
        n_components=chosen.n_components,
        reasons=tuple(reasons),
        curves=tuple(curves),
        comparison=compared(trials, every, "knn"),
        chosen=trial,
        runner_ups=tuple(sorted(others, key=lambda one: -one.scores[criterion])),
        refused=tuple(one.name for one in every if one.scores["trustworthiness"] < least_trust),
        criterion=criterion,
        tolerance=rule.tolerance(every),
        intrinsic_dimension=dimension,
    )


Made = tuple[Request, Trial]


def _with(request: Request, parameter: str, value: Any) -> Request:
    """Return a request with one parameter at a value; the method's default is not written down."""
    others = {name: given for name, given in request.parameters.items() if name != parameter}
    is_default = Request(request.method).estimator().get_params()[parameter] == value
    return replace(request, parameters=others if is_default else {**others, parameter: value})


def _most_neighbors(first: Request, n_samples: int) -> list[Request]:
    """Return the requests of a method's curves that ask for more neighbours than others."""
    searched = _SEARCHED.get(first.method, {})
    return [
        _with(first, parameter, max(possible))
        for parameter in ("n_neighbors", "perplexity")
        if (possible := [v for v in searched.get(parameter, ()) if _fits(parameter, v, n_samples)])
    ]


def _fits(parameter: str, value: Any, n_samples: int) -> bool:
    """Say whether neighbourhoods of this size hold at most a third of the rows."""
    neighbors = {"n_neighbors": value, "perplexity": 3.0 * value}.get(parameter, 0)
    return bool(neighbors <= n_samples / 3)


def _is_possible(request: Request, n_samples: int) -> bool:
    return all(_fits(name, value, n_samples) for name, value in request.parameters.items())


@dataclass(frozen=True)
class _Rule:
    """Which of several maps is taken."""

    criterion: str
    least_trust: float
    methods: list[str]

    def allowed(self, made: Sequence[Trial]) -> list[Trial]:
        """Return the maps that are trustworthy enough."""
        return [one for one in made if one.scores["trustworthiness"] >= self.least_trust]

    def tolerance(self, made: Sequence[Trial]) -> float:
        """Return twice the pooled standard deviation of the criterion over seeds, at least what a picture shows."""
        squares = [one.noise[self.criterion] ** 2 for one in made if math.isfinite(one.noise[self.criterion])]
        return max(2.0 * math.sqrt(float(np.mean(squares))) if squares else 0.0, _LEAST_DIFFERENCE)

    def simplest(self, made: list[Made]) -> Made:
        """Return the simplest map within the tolerance of the best; of those trustworthy enough, if there are any."""
        trials = [trial for _, trial in made]
        allowed = self.allowed(trials) or trials
        enough = max(one.scores[self.criterion] for one in allowed) - self.tolerance(trials)
        near = [one for one in made if one[1] in allowed and one[1].scores[self.criterion] >= enough]
        return min(near, key=self._cost)

    def _cost(self, one: Made) -> tuple[int, int, float]:
        request, trial = one
        return len(request.parameters), self.methods.index(request.method), -trial.scores[self.criterion]

    def reasons(self, made: Sequence[Trial], chosen: Trial) -> list[str]:
        """Return in sentences what was measured, and why this map was taken."""
        measure, found = MEASURES_OF_MAPS[self.criterion], chosen.scores[self.criterion]
        name = measure.name.replace("_", " ")
        told = [f"{len(made)} maps were compared by {name} ({measure.definition}); {chosen.name} has {found:.3f}."]
        allowed = self.allowed(made)
        best = max(allowed, key=lambda one: one.scores[self.criterion])
        if best.scores[self.criterion] > found:
            told.append(
                f"{best.name} has {best.scores[self.criterion]:.3f}, above it by less than the tolerance of "
                f"{self.tolerance(made):.3f}: the simpler of the two is taken."
            )
        if len(allowed) < len(made):
            told.append(
                f"{len(made) - len(allowed)} maps are refused: their trustworthiness is below {self.least_trust:.3f}, "
                f"which is {_TRUST} below the best of the methods' defaults."
            )
        return told


def _curve(criterion: str, parameter: str, found: list[Made], chosen: Request) -> Curve:
    default = Request(chosen.method).estimator().get_params()[parameter]
    trials = [trial for _, trial in found]
    return Curve(
        method=chosen.method,
        parameter=parameter,
        values=tuple(one.parameters.get(parameter, default) for one, _ in found),
        criterion=tuple(one.scores[criterion] for one in trials),
        trustworthiness=tuple(one.scores["trustworthiness"] for one in trials),
        default=default,
        chosen=chosen.parameters.get(parameter, default),
    )


def _fewest_components(
    criterion: str, trials: Trials, chosen: Request, dimension: float
) -> tuple[Request, Trial, Curve]:
    """Return the chosen map with the fewest components that keep enough, and the criterion over their number."""
    most = min(_MOST_COMPONENTS, max(2, math.ceil(dimension)))
    requests = [replace(chosen, n_components=d) for d in range(1, most + 1)]
    made = trials.make(requests)
    found = [one.scores[criterion] for one in made]
    k = next(k for k, value in enumerate(found) if value >= _ENOUGH * found[-1] or k == len(found) - 1)
    curve = Curve(
        method=chosen.method,
        parameter="n_components",
        values=tuple(range(1, most + 1)),
        criterion=tuple(found),
        trustworthiness=tuple(one.scores["trustworthiness"] for one in made),
        default=2,
        chosen=k + 1,
    )
    return requests[k], made[k], curve
