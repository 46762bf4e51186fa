"""Equation (8): is there a measure of similarity by which classical and modern embeddings form two families?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._random import RandomState, resolve_seed
from gnomon._threads import resolve_n_threads, single_threaded_blas
from gnomon._validation import Boolean, Either, Integer, Nothing, Real, Rule, check_parameters, message
from gnomon.evaluation import SIMILARITY_METRICS
from gnomon.evaluation.pairs import check_common_rows, check_metrics, measure_pair
from gnomon.evaluation.positions import Positions, check_embedding, placed_rows
from gnomon.evaluation.similarities import Settings, correct_for_chance
from gnomon.theory.separation import MetricSeparation

__all__ = ["metric_separation"]

Floats = npt.NDArray[np.float64]
Runs = Mapping[str, Sequence[Positions]]

_WHO = "metric_separation"
_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "chance_corrected": Boolean(),
    "whiten": Boolean(),
    "n_permutations": Integer(1),
    "max_rows": Either(Integer(20), Nothing()),
    "n_bootstrap": Integer(1),
    "confidence": Real(0.0, 1.0, low_open=True, high_open=True),
}


def metric_separation(
    embeddings: Mapping[str, Mapping[str, Any]],
    classes: Mapping[str, str],
    metrics: Sequence[str] = SIMILARITY_METRICS,
    *,
    n_neighbors: int = 10,
    chance_corrected: bool = True,
    whiten: bool = False,
    n_permutations: int = 20,
    max_rows: int | None = 2000,
    n_bootstrap: int = 2000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> MetricSeparation:
    """Estimate which measure of similarity best separates two classes of methods.

    For each measure f and data set, Phi(f) is the mean of f over pairs of different methods of the first class, plus
    that of the second class, minus twice the mean over pairs of one method of each. A method is never compared with
    itself: a deterministic one would score 1 and so favour its class. Phi is linear in f, so that no mixture of
    the measures does better than the best of them.

    Parameters
    ----------
    embeddings : mapping of data set to mapping of method to embedding
        An embedding is an array-like of shape (n_samples, n_components), or a list of such from several seeds, over
        whose pairs similarities are averaged. All embeddings of a data set have the same rows in the same order;
        rows without a place (NaN) in one are left out for all. A method may be missing from some data sets.
    classes : mapping of method to class
        Two classes, such as "classical" and "modern".
    metrics : sequence of str, default=all
        Measures, as in `gnomon.embedding_similarity`.
    n_neighbors : int >= 1, default=10
        For "knn" and "jaccard".
    chance_corrected : bool, default=True
        Subtract the level of unrelated embeddings; without it measures of different level cannot be compared.
    whiten : bool, default=False
        Bring the principal axes of every embedding to the same length first.
    n_permutations : int >= 1, default=20
        For the chance level of "procrustes".
    max_rows : int >= 20 or None, default=2000
        Rows that measures of all pairs of rows rest on; None for all.
    n_bootstrap : int >= 1, default=2000
        Resamples of the data sets, for the intervals.
    confidence : float in (0, 1), default=0.95
        Of the intervals.
    random_state : int, Generator, RandomState or None, default=0
        Chooses samples, permutations and resamples.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    MetricSeparation

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023, eq. 8.
    """
    given = {
        "n_neighbors": n_neighbors,
        "chance_corrected": chance_corrected,
        "whiten": whiten,
        "n_permutations": n_permutations,
        "max_rows": max_rows,
        "n_bootstrap": n_bootstrap,
        "confidence": confidence,
    }
    checked = check_parameters(_WHO, _RULES, given)
    check_metrics(_WHO, metrics)
    seed, n_threads = resolve_seed(random_state, who=_WHO), resolve_n_threads(n_jobs, who=_WHO)
    class_names = _check_classes(embeddings, classes)
    used = {method for maps in embeddings.values() for method in maps}
    methods = [m for name in class_names for m in classes if classes[m] == name and m in used]
    settings = Settings(
        checked["n_neighbors"], checked["n_permutations"] if checked["chance_corrected"] else 0, seed, n_threads
    )
    with single_threaded_blas():
        similarities = np.stack(
            [
                _similarities(
                    _prepare(data_set, maps, metrics, checked, n_threads), methods, metrics, settings, checked
                )
                for data_set, maps in embeddings.items()
            ],
            axis=1,
        )
    second = np.array([classes[method] == class_names[1] for method in methods])
    return _summarize(
        similarities,
        second,
        metrics=tuple(metrics),
        methods=tuple(methods),
        data_sets=tuple(embeddings),
        class_names=class_names,
        classes={method: classes[method] for method in methods},
        checked=checked,
        seed=seed,
    )


def _check_classes(embeddings: Mapping[str, Mapping[str, Any]], classes: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of the two classes; each data set needs two methods of either."""
    names = list(dict.fromkeys(classes.values()))
    if len(names) != 2:
        raise ValueError(message(_WHO, f"classes with {len(names)} names", "of two names", fact=", ".join(names)))
    if not embeddings:
        raise ValueError(message(_WHO, "embeddings of 0 data sets", "of at least one data set"))
    for data_set, maps in embeddings.items():
        unknown = [method for method in maps if method not in classes]
        if unknown:
            raise ValueError(message(_WHO, f"method {unknown[0]!r} of {data_set}", "in classes"))
        for name in names:
            members = [method for method in maps if classes[method] == name]
            if len(members) < 2:
                fact = f"{', '.join(members) or 'none'} of class {name}"
                raise ValueError(message(_WHO, f"methods of {data_set}", "at least two of each class", fact=fact))
    return names[0], names[1]


def _runs(given: Any) -> list[Any]:
    """Return the embeddings of one method: those of several seeds, or a single one."""
    if len(given) and np.ndim(given[0]) == 2:
        return list(given)
    return [given]


def _prepare(
    data_set: str, maps: Mapping[str, Any], metrics: Sequence[str], checked: Mapping[str, Any], n_threads: int
) -> Runs:
    """Return the embeddings of a data set on the rows that have a place in all of them."""
    names = {method: f"embedding of {data_set} by {method}" for method in maps}
    runs = {method: [check_embedding(Y, names[method], who=_WHO) for Y in _runs(maps[method])] for method in maps}
    flat = [Y for some in runs.values() for Y in some]
    lengths = {len(Y) for Y in flat}
    if len(lengths) > 1:
        fact = f"found {', '.join(str(length) for length in sorted(lengths))} rows"
        raise ValueError(message(_WHO, f"embeddings of {data_set}", "of the same length", fact=fact))
    kept = placed_rows(*flat)
    check_common_rows(_WHO, metrics, checked["n_neighbors"], len(kept))
    return {
        method: [
            Positions(Y[kept], name=names[method], who=_WHO, whiten=checked["whiten"], n_threads=n_threads)
            for Y in some
        ]
        for method, some in runs.items()
    }


def _similarities(
    runs: Runs, methods: Sequence[str], metrics: Sequence[str], settings: Settings, checked: Mapping[str, Any]
) -> Floats:
    """Return the mean similarity of each pair of methods on one data set, (n_metrics, n_methods, n_methods)."""
    table = np.full((len(metrics), len(methods), len(methods)), np.nan)
    for (i, one), (j, two) in combinations_with_replacement(enumerate(methods), 2):
        if one not in runs or two not in runs:
            continue
        # Two seeds of one method say how alike maps can be at all; they have no part in Phi.
        pairs = list(product(runs[one], runs[two]) if i != j else combinations(runs[one], 2))
        for m, metric in enumerate(metrics if pairs else ()):
            values = []
            for a, b in pairs:
                found = measure_pair(a, b, metric, settings, checked["max_rows"], errors=False)
                corrected = checked["chance_corrected"]
                values.append(correct_for_chance(found.value, found.chance) if corrected else found.value)
            table[m, i, j] = table[m, j, i] = np.mean(values)
    return table


def _mean_of_known(values: Floats) -> Floats:
    """Return means over the last axis without NaN; NaN where nothing is known."""
    known = np.isfinite(values)
    counts = known.sum(axis=-1)
    means: Floats = np.where(known, values, 0.0).sum(axis=-1) / np.where(counts > 0, counts, np.nan)
    return means


def _class_means(similarities: Floats, second: npt.NDArray[np.bool_]) -> Floats:
    """Return mean similarities within the first class, within the second and between, in the last axis."""
    i, j = np.triu_indices(len(second), 1)
    pairs = similarities[..., i, j]
    kinds = (~second[i] & ~second[j], second[i] & second[j], second[i] != second[j])
    return np.stack([_mean_of_known(pairs[..., kind]) for kind in kinds], axis=-1)


def _phi(similarities: Floats, second: npt.NDArray[np.bool_]) -> Floats:
    within_first, within_second, between = np.moveaxis(_class_means(similarities, second), -1, 0)
    phi: Floats = within_first + within_second - 2.0 * between
    return phi


def _summarize(
    similarities: Floats,
    second: npt.NDArray[np.bool_],
    *,
    metrics: tuple[str, ...],
    methods: tuple[str, ...],
    data_sets: tuple[str, ...],
    class_names: tuple[str, str],
    classes: dict[str, str],
    checked: Mapping[str, Any],
    seed: int,
) -> MetricSeparation:
    """Average over data sets, resample them, leave out each method, and sort the measures by Phi."""
    order = np.argsort(-_phi(similarities, second).mean(axis=1), kind="stable")
    similarities, metrics = similarities[order], tuple(metrics[m] for m in order)
    per_data_set = _phi(similarities, second)
    means = _class_means(similarities, second).mean(axis=1)
    draws = np.random.default_rng(seed).integers(0, len(data_sets), (checked["n_bootstrap"], len(data_sets)))
    resampled = per_data_set[:, draws].mean(axis=2)
    tail = (1.0 - checked["confidence"]) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail], axis=1)
    winners = np.bincount(np.argmax(resampled, axis=0), minlength=len(metrics)) / checked["n_bootstrap"]
    without = {}
    for k, method in enumerate(methods):
        rest = np.delete(np.arange(len(methods)), k)
        phi = _phi(similarities[:, :, rest[:, None], rest], second[rest])
        without[method] = _mean_of_known(phi)
    return MetricSeparation(
        metrics=metrics,
        phi=per_data_set.mean(axis=1),
        low=low,
        high=high,
        within=means[:, :2],
        between=means[:, 2],
        per_data_set=per_data_set,
        without_method=without,
        similarities=similarities,
        class_names=class_names,
        classes=classes,
        methods=methods,
        data_sets=data_sets,
        best_share={metric: float(share) for metric, share in zip(metrics, winners, strict=True)},
        chance_corrected=checked["chance_corrected"],
        whitened=checked["whiten"],
        n_neighbors=checked["n_neighbors"],
        n_bootstrap=checked["n_bootstrap"],
        confidence=checked["confidence"],
        random_state=seed,
    )
