"""Does the Frobenius loss make maps like UMAP's once it is sampled, and other maps when all pairs are summed?

Sampling may mean two things. Drawn so that the mean force is the gradient, a few pairs stand for all. Drawn as UMAP
draws them, they also make repulsion weaker: m points for each unit of a point's attraction, instead of all others with
weight 1. The study maps the same rows by the squared difference between input and output similarities, (k_x - k_y)^2
with UMAP's kernel in the map, for two kinds of k_x, a Gaussian kernel of all pairs and UMAP's memberships of
neighbours, all pairs summed and sampled in both ways; and by the loss that UMAP's draws lower on average, all pairs
summed, which separates the drawing from the weights. It compares each map with those of UMAP and t-SNE.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import TSNE, UMAP, NeighborEmbedding, embedding_similarity, evaluate
from gnomon._palette import class_colors
from gnomon.affinities import Affinities, FuzzyAffinity, Gram, Inputs
from gnomon.kernels import OutputKernel
from gnomon.objectives import PairObjective
from gnomon.objectives.terms import AllPairs, EdgePairs
from studies.output import make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["METHODS", "main"]

_SAMPLE_RATE = 5.0  # m, UMAP's default
_OTHER_SEED = 1000  # added to the seed of the second UMAP
SCORES = ("UMAP, layout", "UMAP, neighbours", "t-SNE, layout", "t-SNE, neighbours", "accuracy", "trustworthiness")


def _gaussian(inputs: Inputs) -> Gram:
    return Gram.from_kernel("gaussian", inputs.X)


def _memberships(inputs: Inputs) -> npt.NDArray[np.float32]:
    return FuzzyAffinity()(inputs).matrix.toarray()


def as_umap_draws(affinities: Affinities, kernel: OutputKernel) -> PairObjective:
    """Return sum_ij [ -2 mu_ij k_ij + m (d_i + d_j) / (4 n) k_ij^2 ]: the Frobenius loss with UMAP's repulsion."""
    n, degrees = affinities.n_samples, np.asarray(affinities.matrix.sum(axis=1)).ravel()
    weights = (_SAMPLE_RATE / 4.0 * degrees, np.full(n, 1.0 / n))
    return PairObjective(
        [EdgePairs(affinities.matrix, kernel, "value", scale=-2.0)],
        [AllPairs(n, kernel, "square", weights=weights)],
    )


_Frobenius = partial(NeighborEmbedding, kernel="umap", loss="frobenius")
_Weighted = partial(NeighborEmbedding, kernel="umap", loss=as_umap_draws)

METHODS: dict[str, Callable[..., Any]] = {
    "Gaussian, all pairs": partial(_Frobenius, affinity=_gaussian),
    "Gaussian, sampled": partial(_Frobenius, affinity=_gaussian, optimizer="sampled_descent"),
    "memberships, all pairs": partial(_Frobenius, affinity=_memberships),
    "memberships, sampled": partial(_Frobenius, affinity=_memberships, optimizer="sampled_descent"),
    "UMAP's weights, all pairs": _Weighted,
    "UMAP's weights, sampled": partial(_Weighted, optimizer="sampled_descent"),
    "UMAP again": UMAP,
    "t-SNE": TSNE,
}
"""All start from PCA, but for the second UMAP, which starts at random, with another seed."""


def _fit(name: str, X: npt.NDArray[np.float32], *, seed: int, jobs: int | None) -> npt.NDArray[np.float32]:
    again = name == "UMAP again"
    model = METHODS[name](
        init="random" if again else "pca", random_state=seed + _OTHER_SEED if again else seed, n_jobs=jobs
    )
    return np.asarray(model.fit_transform(X))


def _measure(Y: Any, X: Any, labels: Any, others: dict[str, Any], seed: int, jobs: int | None) -> dict[str, float]:
    """Return agreement with each of the other maps, both by layout and by neighbours, and how good the map is."""
    given: dict[str, Any] = {"random_state": seed, "n_jobs": jobs}
    found = {
        f"{name}, {what}": float(embedding_similarity(Y, other, metric, chance_corrected=True, **given))
        for name, other in others.items()
        for what, metric in (("layout", "procrustes"), ("neighbours", "knn"))
    }
    scores = evaluate(X, Y, labels=labels, **given)
    return {**found, "accuracy": float(scores.knn_accuracy), "trustworthiness": float(scores.trustworthiness)}


def _run(data_set: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Map other rows of a data set for each seed; return maps, labels and measures by method."""
    X, labels = load_rows(data_set, 2 * options.rows)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(X))[: options.rows])
    X, labels = np.ascontiguousarray(X[chosen]), labels[chosen]
    others = {
        "UMAP": UMAP(init="pca", random_state=seed, n_jobs=options.jobs).fit_transform(X),
        "t-SNE": _fit("t-SNE", X, seed=seed, jobs=options.jobs),
    }
    maps, measures = {}, {}
    for name in METHODS:
        began = time.perf_counter()
        maps[name] = others[name] if name in others else _fit(name, X, seed=seed, jobs=options.jobs)
        seconds = time.perf_counter() - began
        measures[name] = _measure(maps[name], X, labels, others, seed, options.jobs)
        print(f"{data_set:<10} {seed}  {name:<26} " + _figures(measures[name]) + f"  {seconds:.1f} s", flush=True)
    return {"labels": labels, "maps": maps, "measures": measures}


def _figures(measures: dict[str, float]) -> str:
    return "  ".join(f"{measures[score]:.2f}" for score in SCORES)


def _mean(runs: list[dict[str, Any]], name: str) -> dict[str, float]:
    return {score: float(np.mean([run["measures"][name][score] for run in runs])) for score in SCORES}


def _spread(runs: list[dict[str, Any]], name: str) -> dict[str, float]:
    return {score: float(np.ptp([run["measures"][name][score] for run in runs])) for score in SCORES}


def _answer(table: dict[str, dict[str, dict[str, float]]]) -> tuple[str, str]:
    """Return what was found, and the figures: the neighbours that each map shares with UMAP's."""
    shared = {name: np.mean([rows[name]["UMAP, neighbours"] for rows in table.values()]) for name in METHODS}
    whole, sampled = shared["memberships, all pairs"], shared["memberships, sampled"]
    weights = min(shared["UMAP's weights, all pairs"], shared["UMAP's weights, sampled"])
    drawing = "brings" if sampled > whole + 0.05 else "does not bring"
    repelling = "does" if weights > max(whole, sampled) + 0.05 else "does not either"
    first = f"Drawing pairs {drawing} the Frobenius loss nearer to UMAP's map; UMAP's weaker repulsion {repelling}"
    figures = ", ".join(f"{name} {share:.2f}" for name, share in shared.items())
    return first, f"Neighbours shared with UMAP's map, corrected for chance, means of all runs:\n{figures}."


def _panel(ax: Any, Y: Any, labels: npt.NDArray[np.str_], measures: dict[str, float]) -> None:
    names, codes = np.unique(labels, return_inverse=True)
    colors = np.array(class_colors(len(names)))[codes]
    order = np.random.default_rng(0).permutation(len(Y))
    ax.scatter(*np.asarray(Y)[order].T, c=colors[order], s=2.2, lw=0, rasterized=True)
    low, high = np.quantile(Y, [0.0025, 0.9975], axis=0)
    middle, half = (low + high) / 2, 0.55 * float((high - low).max())
    ax.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        aspect="equal",
        xticks=[],
        yticks=[],
    )
    ax.spines[:].set_color("0.85")
    ax.set_title(f"shares {measures['UMAP, neighbours']:.2f} with UMAP", fontsize=10)


def _picture(first: dict[str, dict[str, Any]], answer: tuple[str, str]) -> Any:
    figure = make_figure(2.4 * len(METHODS), 1.1 + 2.7 * len(first))
    header, body = figure.subfigures(2, 1, height_ratios=[1.0, 2.7 * len(first)])
    header.text(0.01, 0.9, answer[0], va="top", fontsize=16, fontweight="bold")
    header.text(0.01, 0.5, answer[1], va="top", fontsize=10)
    axes = body.subplots(len(first), len(METHODS), squeeze=False)
    for row, (data_set, run) in enumerate(first.items()):
        axes[row, 0].set_ylabel(data_set, fontsize=13, fontweight="bold")
        for column, name in enumerate(METHODS):
            _panel(axes[row, column], run["maps"][name], run["labels"], run["measures"][name])
            if row == 0:
                heading = {"transform": axes[0, column].transAxes, "ha": "center", "va": "bottom"}
                axes[0, column].text(0.5, 1.14, name, fontsize=11, fontweight="bold", **heading)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("sampled_frobenius", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=["mnist", "paul15"], help="names of the data sets")
    made.add_argument("--rows", type=int, default=2000, help="rows of each data set, others for each seed")
    made.add_argument("--seeds", type=int, default=3, help="runs of each data set")
    options = parse(made, arguments)
    runs = {name: [_run(name, options.seed + k, options) for k in range(options.seeds)] for name in options.sets}
    table = {data_set: {name: _mean(found, name) for name in METHODS} for data_set, found in runs.items()}
    print(f"\n{'':36} " + "  ".join(SCORES))
    for data_set, rows in table.items():
        for name, mean in rows.items():
            print(f"{data_set:<10} {name:<26} " + _figures(mean))
    answer = _answer(table)
    print(". ".join(answer))
    ranges = {data_set: {name: _spread(found, name) for name in METHODS} for data_set, found in runs.items()}
    report = {"rows": options.rows, "seeds": options.seeds, "means": table, "ranges": ranges, "answer": answer}
    write_json(options.out, "sampled_frobenius", report)
    write_png(options.out, "sampled_frobenius", _picture({name: found[0] for name, found in runs.items()}, answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
