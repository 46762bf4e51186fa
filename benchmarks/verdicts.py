"""Judge the islands of maps of data whose truth is known, beside the published procedures of EMBEDR and scDEED.

python -m benchmarks.verdicts --seeds 100

In each map the widest gap is looked for, wherever it is: the worst choice that an eye can make. The verdict is right
if it tells parts of different groups apart and calls parts of one group one. EMBEDR and scDEED judge single rows; what
they say of an island is what they say of most of its rows.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator

from benchmarks.summary import table_of
from benchmarks.verdict_tables import COMPARISONS, GAPS, GROUPS, WIDTHS

__all__ = ["main", "summarize", "true_answer", "widest_gap"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]
Answers = dict[str, dict[str, str]]
_FEWEST = 50  # rows on either side of a gap in the map
_WHOLE = 0.95  # share of a group that makes it lie on one side
_LEVEL = 0.05
METHODS = ("umap", "tsne")


def widest_gap(Y: Floats) -> npt.NDArray[np.bool_]:
    """Return one side of the deepest dip of density in a map, with at least 50 rows on either side."""
    from gnomon.evaluation.gaps.saddles import Landscape

    landscape = Landscape.of(Y)
    smaller, falls = landscape.dips()
    deepest = int(np.argmax(np.where(smaller >= _FEWEST, falls, -1.0)))
    side = np.zeros(len(Y), dtype=np.bool_)
    side[landscape.members(landscape.merges[deepest][0])] = True
    if np.count_nonzero(side) == 1 or smaller[deepest] < _FEWEST:  # no gap at all: halves along the longer axis
        along = Y[:, np.argmax(Y.var(axis=0))]
        side = along > np.median(along)
    return side


class _Mapped(BaseEstimator):
    """A method by name, which makes the map of a table once for all who ask."""

    def __init__(self, method: str = "umap", seed: int = 0) -> None:
        self.method, self.seed = method, seed

    def fit_transform(self, X: Floats) -> Floats:
        return _map_of(np.ascontiguousarray(X).tobytes(), X.shape, self.method, self.seed)


@lru_cache(maxsize=8)
def _map_of(table: bytes, shape: tuple[int, int], method: str, seed: int) -> Floats:
    import gnomon

    estimator = {"umap": gnomon.UMAP, "tsne": gnomon.TSNE}[method]
    X = np.frombuffer(table).reshape(shape)
    return np.asarray(estimator(random_state=seed, n_jobs=1).fit_transform(X), dtype=np.float64)


def true_answer(groups: Groups, side: npt.NDArray[np.bool_]) -> str:
    """Return whether both sides are apart: "yes" if each group lies on one of them, and each has one."""
    shares = np.bincount(groups, weights=side) / np.bincount(groups)
    whole = (shares >= _WHOLE) | (shares <= 1.0 - _WHOLE)
    return "yes" if whole.all() and shares.min() < 0.5 < shares.max() else "no"


def _most(rows: npt.NDArray[np.bool_]) -> bool:
    return bool(np.count_nonzero(rows) > len(rows) / 2)


def _judge_gaps(name: str, seed: int, methods: list[str], baselines: bool) -> Answers:
    """Return the answers about the widest gap of each map of one table, and the true ones."""
    from gnomon.evaluation import are_apart, embedr, scdeed

    X, groups = GAPS[name](np.random.default_rng((seed, list(GAPS).index(name))))
    found = {}
    for method in methods:
        estimator = _Mapped(method, seed)
        Y = estimator.fit_transform(X)
        side = widest_gap(Y)
        verdict = are_apart(X, Y, side, ~side, random_state=0)
        answers = {"true": true_answer(groups, side), "verdict": verdict.answer, "map alone": str(verdict.in_map)}
        if baselines:
            small = side if np.count_nonzero(side) <= len(side) / 2 else ~side
            p_values = embedr(estimator, X, Y, random_state=seed, n_jobs=1).p_values[small]
            answers["EMBEDR"] = "yes" if _most(p_values <= _LEVEL) else "no"
            said = scdeed(estimator, X, Y, random_state=seed, n_jobs=1).verdicts(_LEVEL)[small]
            trusted, dubious = _most(said == "trustworthy"), _most(said == "dubious")
            answers["scDEED"] = "yes" if trusted else "no" if dubious else "cannot be told"
        found[method] = {**answers, "finding": verdict.finding}
    return found


def _judge_comparison(name: str, seed: int, methods: list[str]) -> Answers:
    from gnomon.evaluation import is_denser, is_nearer

    asked, true, make = COMPARISONS[name]
    X, codes = make(np.random.default_rng((seed, 100 + list(COMPARISONS).index(name))))
    groups = [codes == one for one in range(3)]
    found = {}
    for method in methods:
        Y = _Mapped(method, seed).fit_transform(X)
        verdict = is_denser(X, Y, *groups[:2], n_jobs=1) if asked == "denser" else is_nearer(X, Y, *groups)
        answers = {"true": true, "verdict": verdict.answer, "map alone": str(verdict.in_map)}
        found[method] = {**answers, "finding": verdict.finding}
    return found


def _judge_width(name: str, seed: int, methods: list[str]) -> Answers:
    """Return whether the second of two groups is as wide as it looks, up to a factor of 1.5, and what is told of it."""
    from gnomon.evaluation import find_illusions

    times, make = WIDTHS[name]
    X, groups = make(np.random.default_rng((seed, 200 + list(WIDTHS).index(name))))
    found = {}
    for method in methods:
        Y = _Mapped(method, seed).fit_transform(X)
        first, second = (pdist(Y[groups == one]).mean() for one in (0, 1))
        off = abs(np.log(second / first / times))
        (told,) = [one for one in find_illusions(X, Y, groups) if one.question.startswith("Is 1 as wide")]
        answers = {"true": "no" if off > np.log(1.5) else "yes", "verdict": told.answer, "map alone": str(told.in_map)}
        found[method] = {**answers, "finding": told.finding}
    return found


def _run(task: tuple[str, int, list[str], bool]) -> tuple[str, Answers]:
    name, seed, methods, baselines = task
    if name in GAPS:
        return name, _judge_gaps(name, seed, methods, baselines)
    if name in WIDTHS:
        return name, _judge_width(name, seed, methods)
    return name, _judge_comparison(name, seed, methods)


def summarize(found: dict[str, list[dict[str, str]]]) -> str:
    """Return a table of how often each judge was right, by data and map."""
    rows = []
    for key, runs in found.items():
        line = [key, str(len(runs))]
        for judge in ("verdict", "map alone", "EMBEDR", "scDEED"):
            known = [one for one in runs if judge in one]
            right = sum(one[judge] == one["true"] for one in known)
            unsure = sum(one[judge] == "cannot be told" != one["true"] for one in known)
            line.append("-" if not known else f"{100 * right / len(known):.0f} % ({100 * unsure / len(known):.0f} %)")
        line.append(f"{sum(one['true'] == 'yes' for one in runs)}")
        line.append(", ".join(f"{count} {what}" for what, count in Counter(o["finding"] for o in runs).most_common(3)))
        rows.append(line)
    header = ["data, map", "seeds", "verdict", "map alone", "EMBEDR", "scDEED", "true yes", "found"]
    return "right (of the rest: cannot be told)\n" + table_of(header, rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="runs of each set")
    parser.add_argument("--first-seed", type=int, default=0, help="the others follow it")
    parser.add_argument("--group", nargs="+", default=list(GROUPS), choices=list(GROUPS), help="which sets")
    parser.add_argument("--sets", nargs="+", choices=[*GAPS, *COMPARISONS, *WIDTHS], help="some sets alone")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--no-baselines", action="store_true", help="leave EMBEDR and scDEED out")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", help="write the answers of every run")
    options = parser.parse_args()
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for group in options.group:
            names = [name for name in GROUPS[group] if options.sets is None or name in options.sets]
            tasks = [
                (name, seed, options.methods, not options.no_baselines)
                for name in names
                for seed in range(options.first_seed, options.first_seed + options.seeds)
            ]
            answers = found.setdefault(group, {f"{name}, {method}": [] for name in names for method in options.methods})
            for name, by_method in pool.map(_run, tasks):
                for method, one in by_method.items():
                    answers[f"{name}, {method}"].append(one)
            if names:
                print(f"{group}: {summarize(answers)}\n", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file)


if __name__ == "__main__":
    main()
