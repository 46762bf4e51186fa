"""Can a map like UMAP's be had directly, without descending its loss? (Conjecture 2)

Draganov & Dohn (2023) conjecture that a direct solution comes close to what UMAP finds. For each table the least loss
is that of the best of several UMAP runs, the best of them descended to rest. Beside it stand maps made of eigenvectors
and linear systems alone, fitted to the loss by a scale, or by a size of each component and a radial profile: epsilon
is the excess of their loss.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special

from gnomon import PCA, UMAP, evaluate, running
from gnomon._threads import resolve_n_threads
from gnomon.objectives import CrossEntropy
from gnomon.optimizers import LBFGS, minimize
from gnomon.theory import direct
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["METHODS", "TABLES", "main"]

Points = npt.NDArray[Any]


@dataclass(frozen=True)
class _Plan:
    """What is done with a data set: rows of a table, tables, and UMAP runs for each."""

    rows: int
    samples: int
    runs: int


TABLES: Mapping[str, _Plan] = {
    "digits": _Plan(1000, 4, 20),
    "pbmc68k_reduced": _Plan(600, 4, 20),
    "swiss_roll": _Plan(1000, 4, 20),
    "breast_cancer": _Plan(500, 4, 20),
    "paul15": _Plan(2000, 3, 20),
    "pbmc4k": _Plan(3000, 3, 20),
    "cifar10_sample": _Plan(4000, 3, 20),
    "nested_clusters": _Plan(6000, 3, 20),
    "photograph": _Plan(20_000, 1, 5),
    "mnist": _Plan(70_000, 1, 3),
}
"""Data sets; a table is a random sample of the rows, or a fresh one where the set is made."""

METHODS: Mapping[str, Callable[[Any, Any, Points], Points]] = {
    "PCA": lambda A, k, X: direct.scaled_map(A, k, PCA().fit_transform(X)),
    "eigenvectors": lambda A, k, X: direct.eigenmap(A, k),
    "calibrated": lambda A, k, X: direct.calibrated_map(A, k, direct.eigenmap(A, k)),
    "half ranks": lambda A, k, X: direct.eigenmap(A, k, ranks=0.5),
    "bisection": lambda A, k, X: direct.bisection_map(A, k),
    "charts": lambda A, k, X: direct.chart_map(A, k, X),
    "landmarks": lambda A, k, X: direct.landmark_map(A, k),
    "LLE": lambda A, k, X: direct.reconstruction_map(A, k, ranks=0.0, n_solves=0),
    "LLE, calibrated": lambda A, k, X: direct.calibrated_map(
        A, k, direct.reconstruction_map(A, k, ranks=0.0, n_solves=0)
    ),
    "two-kernel LLE, linear": lambda A, k, X: direct.reconstruction_map(A, k),
    "springs, 1 system": lambda A, k, X: direct.balanced_map(A, k),
    "springs, 4": lambda A, k, X: direct.balanced_map(A, k, n_solves=4),
    "springs, 8": lambda A, k, X: direct.balanced_map(A, k, n_solves=8),
    "charts, then springs": lambda A, k, X: direct.balanced_map(A, k, direct.chart_map(A, k, X)),
}
"""Maps of memberships, a kernel and a table."""

_EVERY_PAIR = 6000  # rows up to which the best runs are descended over all pairs; beyond, on a mesh
_FEW = 1000  # rows up to which three are; beyond, one


def _least(umap: UMAP, X: Points, exact: CrossEntropy, *, runs: int, jobs: int | None) -> dict[str, Any]:
    """Return the least loss that runs of UMAP end at, all descended on a mesh and the best over all pairs to rest."""
    mesh = CrossEntropy(umap.affinities_, umap.kernel_, evaluation="interpolated")
    made = [UMAP(random_state=seed, n_jobs=jobs).fit_transform(X) for seed in range(runs)]
    first = [exact.loss(Y) for Y in made]
    polished = [minimize(LBFGS(max_iter=300, block=100), mesh, Y).embedding for Y in made]
    settled = [exact.loss(Y) for Y in polished]
    rested: list[float] = []
    if len(X) <= _EVERY_PAIR:
        descent = LBFGS(max_iter=1000, block=250)
        rested += [
            exact.loss(minimize(descent, exact, polished[best]).embedding)
            for best in np.argsort(settled)[: 3 if len(X) <= _FEW else 1]
        ]
    least = min(first + settled + rested)
    return {"least": least, "UMAP": [value / least - 1.0 for value in first], "at rest": rested or settled}


def _one(name: str, plan: _Plan, options: Any, sample: int) -> dict[str, Any]:
    """Return the excess of every map of one table."""
    begin = time.process_time()
    X, labels = load_rows(name, plan.rows, seed=sample)
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])  # UMAP puts equal rows into one place
    X, labels = X[first], labels[first]
    umap = UMAP(random_state=options.seed, n_jobs=options.jobs).fit(X)
    affinities, kernel = umap.affinities_, umap.kernel_
    exact = CrossEntropy(affinities, kernel, evaluation="exact")
    found = {"rows": len(X), **_least(umap, X, exact, runs=options.runs or plan.runs, jobs=options.jobs), "maps": {}}

    def scores(Y: Points, seconds: float) -> dict[str, Any]:
        judged = evaluate(X, Y, labels=labels, n_jobs=options.jobs)
        return {
            "epsilon": exact.loss(Y) / found["least"] - 1.0,
            "preservation": judged.neighborhood_preservation,
            "accuracy": judged.knn_accuracy,
            "cpu_seconds": seconds,
        }

    for method, make in METHODS.items():
        start = time.process_time()
        Y = np.asarray(make(affinities, kernel, X), dtype=np.float32)
        found["maps"][method] = scores(Y, time.process_time() - start)
    start = time.process_time()
    UMAP(random_state=options.seed, n_jobs=options.jobs, precomputed_knn=umap.graph_).fit(X)
    found["maps"]["UMAP"] = scores(umap.embedding_, time.process_time() - start)
    found["cpu_seconds"] = time.process_time() - begin
    return found


def _cell(values: Sequence[float], digits: int, factor: float = 1.0) -> str:
    """Return the mean over tables and half of its 95 % interval, by Student's t."""
    several = factor * np.asarray(values, dtype=np.float64)
    told = f"{several.mean():.{digits}f}"
    if several.size < 2:
        return told
    half = float(scipy.special.stdtrit(several.size - 1, 0.975)) * several.std(ddof=1) / np.sqrt(several.size)
    return f"{told} ± {half:.{digits}f}"


def _table(results: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return tables of epsilon, neighbours kept, accuracy and CPU seconds, by method and data set, in Markdown."""
    lines = []
    whole = (("epsilon", "epsilon in percent", 1, 100.0), ("preservation", "neighbours kept, percent", 0, 100.0))
    for key, head, digits, factor in (
        *whole,
        ("accuracy", "label accuracy, percent", 0, 100.0),
        ("cpu_seconds", "CPU s", 2, 1.0),
    ):
        lines += [f"| {head} | " + " | ".join(results) + " |", "|---" * (len(results) + 1) + "|"]
        for method in ("UMAP", *METHODS):
            cells = []
            for samples in results.values():
                values = [one["maps"][method][key] for one in samples]
                cells.append(_cell(values if key == "epsilon" else [float(np.mean(values))], digits, factor))
            lines.append(f"| {method} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _picture(results: Mapping[str, list[dict[str, Any]]]) -> Any:
    """Draw epsilon of every method, a dot for each data set."""
    figure = make_figure(9.0, 5.0)
    axes = figure.add_subplot()
    methods = ("UMAP", *METHODS)
    for place, method in enumerate(methods):
        values = [np.mean([one["maps"][method]["epsilon"] for one in samples]) for samples in results.values()]
        axes.plot(100.0 * np.maximum(values, 1e-3), np.full(len(values), -place), "o", color="#6273d5", alpha=0.7)
    axes.axvline(10.0, color="#999999", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(-np.arange(len(methods)), methods)
    axes.set_xlabel("excess of the loss over the best map found, percent")
    dress(axes)
    return figure


def _earlier(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what an interrupted run has written."""
    return json.loads(path.read_text()) if path.exists() else {}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    made = parser("direct_maps", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=list(TABLES), choices=list(TABLES))
    made.add_argument("--runs", type=int, help="of UMAP for each table; 20 by default, fewer from 20,000 rows on")
    made.add_argument("--samples", type=int, help="tables of each set at most")
    made.add_argument("--rows-to", type=int, default=70_000, help="leave longer tables out")
    made.add_argument("--resume", action="store_true", help="keep the tables that the JSON in --out already has")
    options = parse(made, arguments)
    results = _earlier(options.out / "direct_maps.json") if options.resume else {}
    plans = {name: TABLES[name] for name in options.sets if TABLES[name].rows <= options.rows_to}
    for name in plans:
        results.setdefault(name, [])
    with running(n_threads=resolve_n_threads(options.jobs)):
        for sample in range(options.samples or max(plan.samples for plan in plans.values())):
            for name, plan in plans.items():
                if len(results[name]) == sample < plan.samples:
                    results[name].append(_one(name, plan, options, sample))
                    write_json(options.out, "direct_maps", results)
    print(_table(results))
    (options.out / "direct_maps.md").write_text(_table(results) + "\n")
    write_png(options.out, "direct_maps", _picture(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
