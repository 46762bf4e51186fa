"""compare: one table, one search for neighbours, many maps, and four qualities of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Options, check_parameters, message
from gnomon.comparison.given import requests_of_all
from gnomon.comparison.result import HEADLINES, Comparison
from gnomon.comparison.trials import Trial, Trials
from gnomon.evaluation import SIMILARITY_METRICS, embedding_similarity
from gnomon.evaluation.measures import check_measures

__all__ = ["MEASURES", "compare", "compared"]

MEASURES = (*HEADLINES.values(), "trustworthiness", "continuity", "shepard", "knn_accuracy")
"""What a comparison takes of each map, if nothing else is asked for."""


@entrance("compare", seeded=True)
def compare(
    X: Any,
    methods: Sequence[Any] | Mapping[str, Any] = ("umap", "tsne", "pca"),
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    labels: npt.ArrayLike | None = None,
    metric: str = "euclidean",
    scale: Literal["auto", "standard", "robust"] | None = "auto",
    n_components: int = 2,
    n_neighbors: int | None = None,
    measures: str | Sequence[str] = MEASURES,
    agreement: str = "knn",
    n_seeds: int = 1,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Comparison:
    """Map a table by several methods and parameters, and say what each map is good at.

    The neighbours of the rows are searched once, as many as the map that asks for most needs, and handed to every
    method that takes them; where rows are equal each method searches for itself. Every map is judged by the same
    measures, by `gnomon.evaluation.scorecard`.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers.
    methods : sequence of str or estimator, or mapping of names to these, default=("umap", "tsne", "pca")
        Names as in `gnomon.methods.METHODS`, and objects with ``fit_transform``, ours or any other, such as those of
        umap-learn, as in ``{"mine": gn.UMAP(min_dist=0.5), "theirs": umap.UMAP()}``; without a name they are called
        after their class and what is not its default. Copies are fitted to the table as it is standardised for all,
        with the metric and the seed that they have; without a seed they get that of the comparison.
    parameters : mapping or None, default=None
        For each method given by its name its parameters that are not the defaults: a value, or a list or tuple of
        values, of which all combinations are mapped, such as ``{"umap": {"n_neighbors": [5, 15, 50]}}``.
    labels : array-like of shape (n_samples,), default=None
        Classes, for the measures that are about these and the colours of figures. No map sees them.
    metric : str, default="euclidean"
        A metric of `gnomon.neighbors.compute_neighbors`, by name and with its arguments in brackets, such as
        "periodic(360)". Methods given by name that take one map by it, unless their parameters name another, and all
        maps are judged by it.
    scale : {"auto", "standard", "robust"} or None, default="auto"
        How columns are standardised before, as for `gnomon.map`.
    n_components : int >= 1, default=2
        Dimension of the maps.
    n_neighbors : int >= 1, below n_samples / 2, or None, default=None
        Neighbours that measures look at; None as for `gnomon.evaluation.scorecard`.
    measures : "all", a name or a sequence of names, default=MEASURES
        Names as in `gnomon.evaluation.MEASURES`. The four of `HEADLINES` are always taken.
    agreement : str, default="knn"
        The measure of `gnomon.evaluation.embedding_similarity` by which maps are compared with each other.
    n_seeds : int >= 1, default=1
        Fits of each map, with seeds one after the other; their spread is the noise of its scores.
    random_state : int, Generator, RandomState or None, default=0
        The first seed.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` before the first map, with the number of all, and after each.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If a method, parameter or measure does not exist, or a method refuses the table.
    TypeError
        If something is of the wrong type, or an estimator cannot be copied.

    See Also
    --------
    recommend : Chooses method and parameters.
    gnomon.evaluation.scorecard : All measures of one map.

    References
    ----------
    .. [1] Lee, Peluffo-Ordonez & Verleysen, "Multi-scale similarities in stochastic neighbour embedding: reducing
       dimensionality while preserving both local and global structure", Neurocomputing 169, 2015 (area under R_NX).

    Examples
    --------
    >>> import numpy as np
    >>> import gnomon
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> found = gnomon.compare(X, methods=("pca", "random_projection"))
    >>> found.best("auc_rnx").name
    'pca'
    """
    for given, name in ((X, "X"), (methods, "methods")):
        _refuse_maps(given, name)
    requests = requests_of_all(methods, parameters, _count("n_components", n_components))
    names = check_measures(measures)
    check_parameters({"agreement": Options(*SIMILARITY_METRICS)}, {"agreement": agreement})
    wanted = [*names, *(name for name in HEADLINES.values() if name not in names)]
    how: dict[str, Any] = {"metric": metric, "scale": scale, "n_neighbors": n_neighbors}
    trials = Trials(X, labels=labels, measures=wanted, n_seeds=n_seeds, **how)
    return compared(trials, trials.make(requests), agreement)


def _refuse_maps(given: Any, name: str) -> None:
    """Raise an error where maps were given that are made already."""
    some = given if isinstance(given, list | tuple) else [given]
    if any(hasattr(one, "embedding") and hasattr(one, "evaluate") for one in some):
        rule = "a table" if name == "X" else "names or estimators"
        remedy = (
            "Compare two maps of the same rows by gnomon.evaluation.compare_embeddings(a.embedding, b.embedding), "
            "and on one page by gnomon.viewer.write_side_by_side."
        )
        raise TypeError(message(name, rule, fact="found a map", remedy=remedy))


def compared(trials: Trials, made: Sequence[Trial], agreement: str) -> Comparison:
    """Return maps that were made of one table as a comparison."""
    alike = np.eye(len(made))
    for i, one in enumerate(made):
        for j in range(i):
            alike[i, j] = alike[j, i] = embedding_similarity(
                one.embedding,
                made[j].embedding,
                agreement,
                n_neighbors=min(10, trials.n_samples - 2),
                random_state=current_run().seed,
                n_jobs=current_run().n_threads,
            )
    return Comparison(
        trials=tuple(made),
        agreement=alike,
        agreement_metric=agreement,
        labels=trials.labels,
        n_neighbors=made[0].scorecard.n_neighbors,
        graph_neighbors=trials.graph_neighbors,
        n_seeds=trials.n_seeds,
        random_state=current_run().seed,
        metric=trials.metric,
    )


def _count(name: str, value: Any) -> int:
    checked: int = check_parameters({name: Integer(1)}, {name: value})[name]
    return checked
