"""Can a map like UMAP's be had directly, without descending its loss? (Conjecture 2)

Draganov & Dohn (2023) conjecture that a direct solution comes close to what UMAP finds. For each data set the least
loss is that of the best of several UMAP runs, each descended to rest by L-BFGS. Beside it stand maps made of
eigenvectors and linear systems alone, fitted to the loss by their scale and nothing else: epsilon is the excess of
their loss.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import PCA, UMAP, evaluate, running
from gnomon._threads import resolve_n_threads
from gnomon.optimizers import LBFGS, minimize
from gnomon.theory import direct
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["METHODS", "main"]

Points = npt.NDArray[Any]

TABLES: Mapping[str, int] = {
    "digits": 500,
    "pbmc68k_reduced": 700,
    "swiss_roll": 1000,
    "breast_cancer": 569,
    "paul15": 2730,
    "pbmc4k": 4300,
    "cifar10_sample": 5000,
    "mnist": 6000,
    "mnist 20000": 20_000,
    "mnist 70000": 70_000,
}
"""Data sets and how many rows of each."""

METHODS: Mapping[str, Callable[[Any, Any, Points], Points]] = {
    "PCA": lambda A, k, X: direct.scaled_map(A, k, PCA().fit_transform(X)),
    "eigenvectors": lambda A, k, X: direct.eigenmap(A, k),
    "their ranks": lambda A, k, X: direct.eigenmap(A, k, ranks=1.0),
    "half ranks": lambda A, k, X: direct.eigenmap(A, k, ranks=0.5),
    "bisection": lambda A, k, X: direct.bisection_map(A, k),
    "charts": lambda A, k, X: direct.chart_map(A, k, X),
    "landmarks": lambda A, k, X: direct.landmark_map(A, k),
    "LLE": lambda A, k, X: direct.reconstruction_map(A, k, n_solves=0),
    "two-kernel LLE, linear": lambda A, k, X: direct.reconstruction_map(A, k),
    "springs, 1 system": lambda A, k, X: direct.balanced_map(A, k),
    "springs, 2": lambda A, k, X: direct.balanced_map(A, k, n_solves=2),
    "springs, 4": lambda A, k, X: direct.balanced_map(A, k, n_solves=4),
    "springs, 8": lambda A, k, X: direct.balanced_map(A, k, n_solves=8),
    "charts, then springs": lambda A, k, X: direct.balanced_map(A, k, direct.chart_map(A, k, X)),
}
"""Maps of memberships, a kernel and a table."""

_SAMPLES = 3  # draws of the rows, for intervals, where a data set has more rows than are taken


def _least(umap: UMAP, X: Points, *, seeds: int, jobs: int | None) -> tuple[float, list[float], list[float]]:
    """Return the least loss that runs of UMAP end at when they are descended to rest, and the excess of all runs."""
    loss = direct.umap_loss(umap.affinities_, umap.kernel_)
    runs = [UMAP(random_state=seed, n_jobs=jobs).fit_transform(X) for seed in range(seeds)]
    rested = [loss.loss(minimize(LBFGS(max_iter=1000, block=250), loss, Y).embedding) for Y in runs]
    least = min(rested)
    return least, [loss.loss(Y) / least - 1.0 for Y in runs], [value / least - 1.0 for value in rested]


def _one(name: str, rows: int, options: Any, sample: int) -> dict[str, Any]:
    """Return the excess of every map of one table."""
    X, labels = load_rows(name.split()[0], rows, seed=sample)
    umap = UMAP(random_state=options.seed, n_jobs=options.jobs).fit(X)
    affinities, kernel = umap.affinities_, umap.kernel_
    least, runs, rested = _least(umap, X, seeds=options.runs, jobs=options.jobs)
    loss = direct.umap_loss(affinities, kernel)
    found: dict[str, Any] = {"rows": len(X), "least": least, "UMAP": runs, "at rest": rested, "maps": {}}
    for method, make in METHODS.items():
        begin = time.process_time()
        Y = np.asarray(make(affinities, kernel, X), dtype=np.float32)
        seconds = time.process_time() - begin
        scores = evaluate(X, Y, labels=labels, n_jobs=options.jobs)
        found["maps"][method] = {
            "epsilon": loss.loss(Y) / least - 1.0,
            "preservation": scores.neighborhood_preservation,
            "accuracy": scores.knn_accuracy,
            "cpu_seconds": seconds,
        }
    scores = evaluate(X, umap.embedding_, labels=labels, n_jobs=options.jobs)
    found["scores"] = {"preservation": scores.neighborhood_preservation, "accuracy": scores.knn_accuracy}
    return found


def _table(results: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return epsilon in percent by method and data set, the mean over samples and their spread."""
    lines = [f"{'epsilon in percent':24}" + "".join(f"{name:>17}" for name in results)]
    for method in ("UMAP", *METHODS):
        cells = []
        for samples in results.values():
            if method == "UMAP":
                values = [100.0 * float(np.mean(one["UMAP"])) for one in samples]
            else:
                values = [100.0 * one["maps"][method]["epsilon"] for one in samples]
            spread = f" +- {np.ptp(values) / 2:.1f}" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.1f}{spread}")
        lines.append(f"{method:24}" + "".join(f"{cell:>17}" for cell in cells))
    return "\n".join(lines)


def _picture(results: Mapping[str, list[dict[str, Any]]]) -> Any:
    """Draw epsilon of every method, a dot for each data set."""
    figure = make_figure(9.0, 5.0)
    axes = figure.add_subplot()
    methods = ("UMAP", *METHODS)
    for place, method in enumerate(methods):
        values = [
            np.mean(samples[0]["UMAP"]) if method == "UMAP" else samples[0]["maps"][method]["epsilon"]
            for samples in results.values()
        ]
        axes.plot(100.0 * np.maximum(values, 1e-3), np.full(len(values), -place), "o", color="#6273d5", alpha=0.7)
    axes.axvline(10.0, color="#999999", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(-np.arange(len(methods)), methods)
    axes.set_xlabel("excess of the loss over the best map found, percent")
    dress(axes)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    made = parser("direct_maps", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=list(TABLES), choices=list(TABLES))
    made.add_argument("--runs", type=int, default=20, help="of UMAP, descended to rest, for the least loss")
    made.add_argument("--rows-to", type=int, default=70_000, help="leave longer tables out")
    options = parse(made, arguments)
    results: dict[str, list[dict[str, Any]]] = {}
    with running(n_threads=resolve_n_threads(options.jobs)):
        for name in options.sets:
            rows = TABLES[name]
            if rows > options.rows_to:
                continue
            several = _SAMPLES if rows <= 1000 and name != "breast_cancer" else 1
            results[name] = [_one(name, rows, options, sample) for sample in range(several)]
            print(_table({name: results[name]}), flush=True)
    print(_table(results))
    write_json(options.out, "direct_maps", results)
    write_png(options.out, "direct_maps", _picture(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
