"""Does UMAP push points the way two-kernel locally linear embedding would? (Conjecture 1)

Draganov & Dohn (2023) conjecture that the gradients of UMAP and of two-kernel LLE agree along a run of UMAP, and that
both end at like maps. For several data sets, at states of UMAP runs from three starts and at those starts in several
sizes, the study compares UMAP's mean force with the gradient of two-kernel LLE for three kinds of weights. The null
model permutes rows and columns of the weights together; the control is two-kernel PCA, whose loss knows no
neighbours. In the end the maps themselves are compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import UMAP, TwoKernelLLE, TwoKernelPCA, running
from gnomon._threads import resolve_n_threads
from gnomon.affinities import Gram, fuzzy_simplicial_set, reconstruction_weights
from gnomon.evaluation import embedding_similarity
from gnomon.initialization import initialize, rescale, rescale_to_box
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import CrossEntropy
from gnomon.optimizers import SampledDescent
from gnomon.theory import Alignment, gradient_alignment
from studies.conjecture_picture import picture
from studies.output import parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

WEIGHTS = ("signed", "non_negative", "membership")
STARTS = ("random", "pca", "spectral")
SIZES = (0.1, 1.0, 3.0, 10.0)  # standard deviations of the starts
EPOCHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 350, 500)
STAGES = {"start": (0, 0), "epochs 1 to 50": (1, 50), "epochs 100 to 350": (100, 350), "end": (500, 500)}
MEASURES = ("procrustes", "knn")
DATA_SETS = ("digits", "mnist", "paul15", "pbmc4k", "pbmc68k_reduced", "cifar10_sample")
_NEIGHBORS = 15

Places = npt.NDArray[np.float32]


def _states(memberships: Any, X: Any, kernel: Any, *, seed: int) -> dict[str, Places]:
    """Return maps by name: "size/start/s" for starts of a standard deviation, "run/start/epoch" along UMAP runs."""
    states: dict[str, Places] = {}
    for start in STARTS:
        first = initialize(start, X=X, affinities=memberships, n_components=2, seed=seed).embedding
        states |= {f"size/{start}/{size:g}": rescale(first, size) for size in SIZES}
        objective = CrossEntropy(memberships, kernel, evaluation="sampled", seed=seed)
        descent = SampledDescent(max_iter=EPOCHS[-1], track_loss=False)
        Y, state = rescale_to_box(first), None
        for epoch in EPOCHS:
            if epoch:
                solution = descent.minimize(objective, Y, state=state, stop_after=epoch)
                Y, state = solution.embedding, solution.state
            states[f"run/{start}/{epoch}"] = np.array(Y)
    return states


def _likeness(X: Any, *, seed: int, jobs: int | None) -> dict[str, dict[str, float]]:
    """Return how alike a UMAP map is to maps of other kinds, chance taken off; another seed of UMAP is the ceiling."""
    reference = UMAP(random_state=seed, n_jobs=jobs).fit_transform(X)
    others = {
        "UMAP, another seed and start": UMAP(random_state=seed + 1, init="random", n_jobs=jobs),
        "two-kernel LLE": TwoKernelLLE(random_state=seed, n_jobs=jobs),
        "two-kernel LLE, random start": TwoKernelLLE(random_state=seed, init="random", n_jobs=jobs),
        "two-kernel PCA": TwoKernelPCA(random_state=seed, max_iter=100, n_jobs=jobs),
    }
    maps = {name: model.fit_transform(X) for name, model in others.items()}
    maps["PCA alone"] = initialize("pca", X=X, affinities=None, n_components=2, seed=seed).embedding
    return {
        measure: {
            name: embedding_similarity(
                reference, Y, measure, chance_corrected=True, n_neighbors=_NEIGHBORS, random_state=seed, n_jobs=jobs
            )
            for name, Y in maps.items()
        }
        for measure in MEASURES
    }


def _study_one(name: str, options: Any) -> dict[str, Any]:
    """Return alignments by kind of weights and state, and the likeness of final maps, for one data set."""
    began = time.perf_counter()
    X, _ = load_rows(name, options.rows)
    X = np.unique(X, axis=0)
    graph = compute_neighbors(X, _NEIGHBORS, seed=options.seed)
    memberships = fuzzy_simplicial_set(graph)
    kernel = UMAPKernel.from_min_dist(0.1)
    states = _states(memberships, X, kernel, seed=options.seed)
    target = Gram.from_kernel("gaussian", X).dense()
    alignments = {
        kind: gradient_alignment(
            memberships,
            reconstruction_weights(X, graph, weights=kind),
            states,
            kernel,
            target=target if kind == WEIGHTS[0] else None,
            n_permutations=options.permutations,
            random_state=options.seed,
        )
        for kind in WEIGHTS
    }
    likeness = _likeness(X, seed=options.seed, jobs=options.jobs)
    print(f"{name}: {len(X)} rows, {time.perf_counter() - began:.1f} s", flush=True)
    return {"rows": len(X), "alignments": alignments, "likeness": likeness}


def _mean_of(found: dict[str, Alignment], first: int, last: int, value: str) -> float:
    """Return the mean of a figure over the states of all runs between two epochs."""
    chosen = [
        getattr(one, value)
        for state, one in found.items()
        if state.startswith("run/") and first <= int(state.rsplit("/", 1)[1]) <= last
    ]
    return float(np.mean(chosen))


def _interval(values: Sequence[float], seed: int) -> tuple[float, float, float]:
    """Return mean and 95% bootstrap interval over data sets."""
    given = np.asarray(values)
    draws = np.random.default_rng(seed).integers(0, len(given), (2000, len(given)))
    low, high = np.quantile(given[draws].mean(axis=1), [0.025, 0.975])
    return float(given.mean()), float(low), float(high)


def summarize(studied: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Return a row for each stage and kind of weights, and for the control: means over data sets with intervals."""
    rows = []
    for stage, (first, last) in STAGES.items():
        for kind in (*WEIGHTS, "control"):
            given = [one["alignments"][WEIGHTS[0] if kind == "control" else kind] for one in studied.values()]
            value = "control" if kind == "control" else "cosine"
            mean, low, high = _interval([_mean_of(found, first, last, value) for found in given], seed)
            row: dict[str, Any] = {"stage": stage, "weights": kind, "cosine": mean, "low": low, "high": high}
            if kind != "control":
                for other in ("null_mean", "null_std", "share_positive"):
                    row[other] = float(np.mean([_mean_of(found, first, last, other) for found in given]))
            row["umap_norm"] = float(
                np.mean([_mean_of(f, first, last, "umap_norm") / _mean_of(f, 0, 0, "umap_norm") for f in given])
            )
            rows.append(row)
    return rows


def _print(table: list[dict[str, Any]], studied: dict[str, Any], seed: int) -> None:
    print(f"\n{'stage':<20}{'weights':<14}{'cosine':>8}{'95% interval':>17}{'null':>16}{'points > 0':>12}{'force':>8}")
    for row in table:
        null = f"{row['null_mean']:+.3f} ± {row['null_std']:.3f}" if "null_mean" in row else ""
        share = f"{row['share_positive']:.2f}" if "share_positive" in row else ""
        print(
            f"{row['stage']:<20}{row['weights']:<14}{row['cosine']:>+8.3f}"
            f"   [{row['low']:+.3f}, {row['high']:+.3f}]{null:>16}{share:>12}{row['umap_norm']:>8.2f}"
        )
    print("\nstarts, by standard deviation: cosine, mean over data sets")
    for start in STARTS:
        for kind in WEIGHTS:
            cosines = [
                np.mean([one["alignments"][kind][f"size/{start}/{size:g}"].cosine for one in studied.values()])
                for size in SIZES
            ]
            text = "  ".join(f"{size:g}: {cosine:+.2f}" for size, cosine in zip(SIZES, cosines, strict=True))
            print(f"{start:<10}{kind:<14}{text}")
    for measure in MEASURES:
        print(f"\nlikeness to UMAP's map ({measure}, chance taken off)")
        for name in next(iter(studied.values()))["likeness"][measure]:
            mean, low, high = _interval([one["likeness"][measure][name] for one in studied.values()], seed)
            print(f"{name:<32}{mean:.3f}  [{low:.3f}, {high:.3f}]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("conjecture_one", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=list(DATA_SETS), help="names of data sets")
    made.add_argument("--rows", type=int, default=1500, help="rows of each data set at most")
    made.add_argument("--permutations", type=int, default=10, help="draws of the null model")
    options = parse(made, arguments)
    with running(n_threads=resolve_n_threads(options.jobs)):
        studied = {name: _study_one(name, options) for name in options.sets}
    table = summarize(studied, options.seed)
    _print(table, studied, options.seed)
    plain = {
        name: {
            **one,
            "alignments": {
                kind: {state: vars(alignment) for state, alignment in found.items()}
                for kind, found in one["alignments"].items()
            },
        }
        for name, one in studied.items()
    }
    write_json(options.out, "conjecture_one", {"epochs": EPOCHS, "table": table, "data_sets": plain})
    drawn = picture(studied, table, epochs=EPOCHS, starts=STARTS, weights=WEIGHTS)
    write_png(options.out, "conjecture_one", drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
