"""recommend: method and parameters chosen without labels, by what maps of the table keep of its neighbourhoods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run, running
from gnomon._validation import Either, Integer, Nothing, Options, Rule, check_parameters
from gnomon.comparison.candidates import lines_of
from gnomon.comparison.choice import Choice
from gnomon.comparison.make import MEASURES, compared
from gnomon.comparison.recommendation import Curve, Recommendation
from gnomon.comparison.trials import Request, Trial, Trials, requests_of
from gnomon.geometry import intrinsic_dimension
from gnomon.neighbors.column_halves import find_hidden_directions, standardised_agrees_more

__all__ = ["recommend"]

_CRITERIA = ("neighborhood_preservation", "auc_rnx", "trustworthiness", "continuity", "random_triplets", "local_r2")
_NEIGHBORS = 10  # of the measures
_MANY_COLUMNS = 16  # of zeros and ones, of which some may be sets
_PAIRS = 50_000  # of the measures that rest on pairs
_FEWEST_ROWS = 50  # of a sample
_ENOUGH = 0.95  # share of the criterion with most components that fewer must reach
_MOST_COMPONENTS = 3


@entrance("recommend", seeded=True)
def recommend(
    X: Any,
    methods: Sequence[str] = ("pca", "tsne", "umap"),
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    criterion: str = "neighborhood_preservation",
    labels: npt.ArrayLike | None = None,
    metric: str = "euclidean",
    scale: Literal["auto", "standard", "robust"] | None = "auto",
    n_components: int | None = 2,
    n_neighbors: int | None = None,
    n_seeds: int = 2,
    max_rows: int | None = 5000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Recommendation:
    """Choose method and parameters for a table, without labels, and say why.

    Each method is mapped with its defaults, and then along its parameters, one after the other: every value with one
    seed, the better half with all. All maps come from one search for neighbours. The rule:

    1. A map whose trustworthiness is more than 0.005 below the best of the methods' defaults is refused.
    2. A map is as good as the best if it is worse by less than the tolerance: twice the standard error of the
       difference of the two, from their differences row by row and from the variance over seeds, which is pooled over
       all maps; at least 0.01.
    3. Of the maps as good as the best, the one with fewest parameters that are no defaults is taken, of equally many
       the method that `methods` names first.
    4. It is mapped with two seeds that had no part in this, beside the default of most trustworthiness. If its
       trustworthiness then, at as many neighbours as `gnomon.evaluation.scorecard` takes by itself, is more than 0.005
       below, it is refused too, and the next is taken.

    Maps of other distances cannot be judged so. Standardised columns, where `scale` left them in their own units, and
    directions of rows, the cosine, are tried by whether two halves of the columns agree more about who is near: the
    reasons say where they do.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers.
    methods : sequence of str, default=("pca", "tsne", "umap")
        Names as in `gnomon.methods.METHODS`, the simplest first: t-SNE, with one parameter and no sampled forces, is
        before UMAP.
    parameters : mapping or None, default=None
        For each method the parameters to choose, in this order, and the values to try, such as
        ``{"umap": {"n_neighbors": [5, 15, 50]}}``; the method's default is always tried too. Methods that it does not
        name are mapped with their defaults. None tries these, without neighbourhoods of more than a third of the rows,
        of which a perplexity has three for each unit:

        - "umap": n_neighbors 5, 10, 15, 30, 60; min_dist 0.0, 0.1, 0.3, 0.6
        - "tsne": perplexity 5.0, 10.0, 20.0, 30.0, 50.0, 80.0
        - "dreams": perplexity 10.0, 30.0, 80.0; reference_weight 0.0003, 0.001, 0.003, 0.01
        - "largevis": perplexity 10.0, 30.0, 50.0, 80.0
        - "trimap": n_neighbors 6, 12, 24, 48
        - "densmap": n_neighbors 10, 30, 60; min_dist 0.0, 0.1, 0.3
        - "isomap": n_neighbors 5, 10, 20, 40
        - "star_map": n_neighbors 5, 15, 60; star_weight 0.03, 0.1, 0.3
        - "scale_map": n_neighbors 5, 15, 60; radius_power 0.5, 1.0, 2.0, 4.0
    criterion : str, default="neighborhood_preservation"
        What a map is to be good at, a measure of `gnomon.evaluation.MEASURES`: "neighborhood_preservation", the share
        of each row's nearest that stay its nearest; "auc_rnx", the same over neighbourhoods of every size, where small
        ones count most; "trustworthiness", "continuity"; "random_triplets" for the large scale; "local_r2" for places
        that the features tell.
    labels : array-like of shape (n_samples,), default=None
        Told in the scores and shown in figures; the choice does not see them.
    metric : str, default="euclidean"
        As for `compare`: methods that take one map by it, and all maps are judged by it.
    scale : {"auto", "standard", "robust"} or None, default="auto"
        How columns are standardised before, as for `gnomon.map`.
    n_components : int >= 1 or None, default=2
        Dimension of the maps. None chooses method and parameters in 2 and then takes the least of 1, 2, 3 with which
        the criterion reaches 95 % of its value with most; most are the intrinsic dimension rounded up, and 3.
    n_neighbors : int >= 1, below n_samples / 2, or None, default=None
        Neighbours that measures look at; None takes 10, and of fewer than 21 rows the most that is allowed. Measures
        that rest on pairs of rows take 50,000 of these.
    n_seeds : int >= 1, default=2
        Fits of the defaults and of the better half along each parameter; the others have one.
    max_rows : int >= 50 or None, default=5000
        Of a longer table so many random rows are mapped, and stand for all. None maps all rows.
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
        If a method or parameter does not exist, or a method refuses the table.
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
    .. [4] Jamieson & Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016
       (the better half again).

    Examples
    --------
    >>> import numpy as np
    >>> import gnomon
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) @ np.eye(2, 5)
    >>> gnomon.recommend(X, scale=None).method
    'pca'
    """
    rules: dict[str, Rule] = {
        "n_components": Either(Integer(1), Nothing()),
        "criterion": Options(*_CRITERIA),
        "max_rows": Either(Integer(_FEWEST_ROWS), Nothing()),
    }
    checked = check_parameters(rules, {"n_components": n_components, "criterion": criterion, "max_rows": max_rows})
    asked = checked["n_components"]
    requests_of(methods, parameters, 2)  # refuses what does not exist
    defaults = requests_of(methods, None, 2 if asked is None else asked)
    trials = Trials(
        X,
        labels=labels,
        metric=metric,
        scale=scale,
        n_neighbors=n_neighbors,
        measures=list(MEASURES),
        n_seeds=n_seeds,
        n_pairs=_PAIRS,
        max_rows=checked["max_rows"],
    )
    if n_neighbors is None:
        trials.n_neighbors = max(1, min(_NEIGHBORS, (trials.n_samples - 1) // 2))
    choice = Choice(trials, defaults, lines_of(defaults, parameters, trials.n_samples), criterion)
    curves = choice.curves()
    chosen, trial = choice.take()
    reasons, runner_ups, tolerance = choice.reasons(trial), choice.runner_ups(trial), choice.tolerance(trial)
    with running(warned=[]):  # what is said of noise belongs to the answer about the dimension itself
        dimension = intrinsic_dimension(trials.values, metric=trials.metric, random_state=current_run().seed).value
    if asked is None:
        chosen, trial, curve = _fewest_components(criterion, trials, chosen, dimension)
        curves.append(curve)
        few = "1 component reaches" if chosen.n_components == 1 else f"{chosen.n_components} components reach"
        reasons.append(f"{few} {_ENOUGH:.0%} of what {curve.values[-1]} do.")
    reasons += _other_tables(trials)
    if len(trials.rows) < trials.n_given:
        reasons.append(f"{len(trials.rows)} random rows of {trials.n_given} were mapped.")
    if trials.metric == "euclidean" and _are_bits(trials.values):
        reasons.append(
            "All values are 0 and 1: where it counts what rows have in common, as of fingerprints of molecules, "
            "compare them as sets by metric='jaccard'."
        )
    if math.isfinite(dimension):
        need = f"The data need about {dimension:.1f} coordinates (gnomon.intrinsic_dimension)"
        reasons.append(f"{need}; no map of fewer keeps everything.")
    return Recommendation(
        method=chosen.method,
        parameters=chosen.in_metric(trials.metric).parameters,
        n_components=chosen.n_components,
        reasons=tuple(reasons),
        curves=tuple(curves),
        comparison=compared(trials, choice.trials, "knn"),
        chosen=trial,
        runner_ups=runner_ups,
        refused=choice.refused,
        criterion=criterion,
        tolerance=tolerance,
        intrinsic_dimension=dimension,
        rows=trials.rows,
    )


def _fewest_components(
    criterion: str, trials: Trials, chosen: Request, dimension: float
) -> tuple[Request, Trial, Curve]:
    """Return the chosen map with the fewest components that keep enough, and the criterion over their number."""
    most = min(_MOST_COMPONENTS, max(2, math.ceil(dimension))) if math.isfinite(dimension) else 2
    requests = [replace(chosen, n_components=d) for d in range(1, most + 1)]
    made = trials.make(requests)
    found = [one.scores[criterion] for one in made]
    k = next(k for k, value in enumerate(found) if value >= _ENOUGH * found[-1] or k == len(found) - 1)
    curve = Curve.of(criterion, "n_components", range(1, most + 1), made, k)
    return requests[k], made[k], curve


def _other_tables(trials: Trials) -> list[str]:
    """Say whether halves of the columns agree more about neighbours once columns are standardised, or by direction."""
    if trials.metric != "euclidean":
        return []
    told = []
    more = standardised_agrees_more(trials.values) if trials.as_given else None
    if more is not None:
        told.append(
            f"Standardised columns were tried too: two halves of the columns, chosen by chance, then agree on "
            f"{more[1]:.0%} of the nearest rows, and on {more[0]:.0%} as they are (chance taken away). Unless the wide "
            "columns are what matters, map and ask again with scale='standard'."
        )
    directions = find_hidden_directions(trials.values)
    if directions is not None:
        told.append(f"{directions.told} Unless lengths are what matters, map and ask again with metric='cosine'.")
    return told


def _are_bits(X: Any) -> bool:
    """Return whether a table of many columns holds zeros and ones alone."""
    values = X if isinstance(X, np.ndarray) else X.data
    return int(X.shape[1]) >= _MANY_COLUMNS and bool(((values == 0) | (values == 1)).all())
