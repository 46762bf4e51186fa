"""Equation (8): is there a measure of similarity by which classical and modern embeddings form two families?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Boolean, Either, Integer, Nothing, Real, Rule, check_parameters, message
from gnomon.evaluation import SIMILARITY_METRICS
from gnomon.evaluation.agreement import check_common_rows, check_metrics, measure_pair
from gnomon.evaluation.similarities import Positions, Settings, check_embedding, correct_for_chance, placed_rows

__all__ = ["MetricSeparation", "metric_separation"]

Floats = npt.NDArray[np.float64]

_NOTABLE = 0.1  # of Phi: a class that contributes less is not what is told apart
Runs = Mapping[str, Sequence[Positions]]

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "chance_corrected": Boolean(),
    "whiten": Boolean(),
    "n_permutations": Integer(1),
    "max_rows": Either(Integer(20), Nothing()),
    "n_bootstrap": Integer(1),
    "confidence": Real(0.0, 1.0, low_open=True, high_open=True),
}


@dataclass(frozen=True)
class MetricSeparation(Printed):
    """How well each measure of similarity separates two classes of methods, Phi of equation (8).

    Phi is the mean similarity of two methods of one class, plus that of the other class, minus twice the mean
    similarity of two methods of different classes; in [-2, 2]. 0: the measure sees no classes. 2: embeddings of one
    class are the same, those of different classes unrelated.

    Attributes
    ----------
    metrics : tuple of str
        The measures, of largest `phi` first.
    phi : ndarray of shape (n_metrics,)
        Mean over the data sets.
    low, high : ndarray of shape (n_metrics,)
        Ends of the percentile confidence interval, from resampled data sets.
    within : ndarray of shape (n_metrics, 2)
        Mean similarity within each class; their sum less twice `between` is `phi`.
    between : ndarray of shape (n_metrics,)
    per_data_set : ndarray of shape (n_metrics, n_data_sets)
        Phi of each data set alone.
    without_method : dict of str to ndarray of shape (n_metrics,)
        Phi when one method is left out; NaN where too few of its class are left to form a pair.
    similarities : ndarray of shape (n_metrics, n_data_sets, n_methods, n_methods)
        Mean over pairs of runs; NaN where a method has no embedding of the data set. On the diagonal that of
        different runs of the method, NaN if there is one run; it has no part in `phi`.
    class_names : tuple of two str
    classes : dict of str to str
        The class of every method.
    methods, data_sets : tuple of str
        In the order of the arrays; the methods class by class.
    best_share : dict of str to float
        Share of resamples in which each measure has the largest Phi.
    chance_corrected, whitened : bool
        How similarities were formed.
    n_neighbors, n_bootstrap, random_state : int
    confidence : float
        Of the intervals.
    """

    metrics: tuple[str, ...]
    phi: Floats
    low: Floats
    high: Floats
    within: Floats
    between: Floats
    per_data_set: Floats = field(repr=False)
    without_method: dict[str, Floats] = field(repr=False)
    similarities: Floats = field(repr=False)
    class_names: tuple[str, str]
    classes: dict[str, str]
    methods: tuple[str, ...]
    data_sets: tuple[str, ...]
    best_share: dict[str, float]
    chance_corrected: bool
    whitened: bool
    n_neighbors: int
    n_bootstrap: int
    confidence: float
    random_state: int

    @property
    def best(self) -> str:
        """The measure of largest Phi, f* of the paper; no mixture of the measures has a larger one."""
        return self.metrics[0]

    @property
    def cohesion(self) -> Floats:
        """How much more alike each class is within than with the other, (n_metrics, 2); the sum of a row is `phi`."""
        return self.within - self.between[:, None]

    @property
    def changed_by(self) -> dict[str, str]:
        """Methods without which another measure would be the best, and that measure."""
        found = {}
        for method, phi in self.without_method.items():
            if np.isfinite(phi).all() and self.metrics[int(np.argmax(phi))] != self.best:
                found[method] = self.metrics[int(np.argmax(phi))]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {
            "best": self.best,
            **{name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in vars(self).items()},
            "without_method": {name: phi.tolist() for name, phi in self.without_method.items()},
            "changed_by": self.changed_by,
        }

    def summary(self) -> str:
        """Return the table of the measures and what it rests on."""
        one, two = self.class_names
        width = max(len(name) for name in self.metrics) + 2
        columns = [f"within {one}", f"within {two}", "between"]
        interval = f"{self.confidence:.0%} interval"
        lines = [
            f"{'measure':{width}}{'Phi':>7}{interval:>18}{'best':>7}"
            + "".join(f"{name:>{len(name) + 2}}" for name in columns)
        ]
        for i, name in enumerate(self.metrics):
            parts = (*self.within[i], self.between[i])
            between = f"[{self.low[i]:.2f}, {self.high[i]:.2f}]"
            lines.append(
                f"{name.replace('_', ' '):{width}}{self.phi[i]:7.3f}{between:>18}{self.best_share[name]:7.0%}"
                + "".join(f"{part:{len(column) + 2}.3f}" for part, column in zip(parts, columns, strict=True))
            )
        lines += ["", *self._conclusion()]
        return "\n".join(lines)

    def _conclusion(self) -> list[str]:
        members = [", ".join(m for m in self.methods if self.classes[m] == name) for name in self.class_names]
        best = self.best.replace("_", " ")
        lines = [f"{name}: {who}" for name, who in zip(self.class_names, members, strict=True)]
        lines.append(f"{len(self.data_sets)} data sets: {', '.join(self.data_sets)}")
        if self.low[0] > 0:
            lines.append(f"{best} separates the classes best, in {self.best_share[self.best]:.0%} of resamples.")
        else:
            lines.append(f"No measure separates the classes beyond the spread of the data sets ({best} comes closest).")
            return lines
        lines += [self._share_of(k) for k in (0, 1)]
        known = [method for method, phi in self.without_method.items() if np.isfinite(phi).all()]
        changed = self.changed_by
        if changed:
            lines += [f"Without {method} it would be {name.replace('_', ' ')}." for method, name in changed.items()]
        elif known:
            lines.append("No method that can be left out decides this.")
        if len(known) < len(self.methods):
            rest = ", ".join(method for method in self.methods if method not in known)
            lines.append(f"Cannot be left out, for lack of a pair in its class: {rest}.")
        return lines

    def _share_of(self, k: int) -> str:
        """Return what one class contributes to the largest Phi."""
        name, other = self.class_names[k], self.class_names[1 - k]
        numbers = f"{self.within[0, k]:.2f} among themselves, {self.between[0]:.2f} with the others"
        if self.cohesion[0, k] < _NOTABLE * self.phi[0]:
            return f"{name} maps form no family by it: no more alike each other than {other} ones ({numbers})."
        return f"{name} maps form a family by it ({numbers})."

    def __str__(self) -> str:
        return self.summary()


@entrance("metric_separation", seeded=True)
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
    checked = check_parameters(_RULES, given)
    check_metrics(metrics)
    seed = current_run().seed
    class_names = _check_classes(embeddings, classes)
    used = {method for maps in embeddings.values() for method in maps}
    methods = [m for name in class_names for m in classes if classes[m] == name and m in used]
    settings = Settings(checked["n_neighbors"], checked["n_permutations"] if checked["chance_corrected"] else 0, seed)
    with single_threaded_blas():
        similarities = np.stack(
            [
                _similarities(_prepare(data_set, maps, metrics, checked), methods, metrics, settings, checked)
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
        raise ValueError(message(f"classes with {len(names)} names", "of two names", fact=", ".join(names)))
    if not embeddings:
        raise ValueError(message("embeddings of 0 data sets", "of at least one data set"))
    for data_set, maps in embeddings.items():
        unknown = [method for method in maps if method not in classes]
        if unknown:
            raise ValueError(message(f"method {unknown[0]!r} of {data_set}", "in classes"))
        for name in names:
            members = [method for method in maps if classes[method] == name]
            if len(members) < 2:
                fact = f"{', '.join(members) or 'none'} of class {name}"
                raise ValueError(message(f"methods of {data_set}", "at least two of each class", fact=fact))
    return names[0], names[1]


def _runs(given: Any) -> list[Any]:
    """Return the embeddings of one method: those of several seeds, or a single one."""
    if len(given) and np.ndim(given[0]) == 2:
        return list(given)
    return [given]


def _prepare(data_set: str, maps: Mapping[str, Any], metrics: Sequence[str], checked: Mapping[str, Any]) -> Runs:
    """Return the embeddings of a data set on the rows that have a place in all of them."""
    names = {method: f"embedding of {data_set} by {method}" for method in maps}
    runs = {method: [check_embedding(Y, names[method]) for Y in _runs(maps[method])] for method in maps}
    flat = [Y for some in runs.values() for Y in some]
    lengths = {len(Y) for Y in flat}
    if len(lengths) > 1:
        fact = f"found {', '.join(str(length) for length in sorted(lengths))} rows"
        raise ValueError(message(f"embeddings of {data_set}", "of the same length", fact=fact))
    kept = placed_rows(*flat)
    check_common_rows(metrics, checked["n_neighbors"], len(kept))
    return {
        method: [Positions(Y[kept], name=names[method], whiten=checked["whiten"]) for Y in some]
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
