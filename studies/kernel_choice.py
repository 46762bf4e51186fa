"""Does `gnomon.select_kernel`, which sees no truth, choose the kernel that someone who knows it would?

Each set has a truth: the coordinates that its rows were made from, or their labels. Some rows are handed to
`select_kernel` without it. An informed person gets the same rows with the truth and takes, of the kernels that
`select_kernel` compared and of a grid of others, the one whose map predicts the truth of rows held out in turn best: by
the ten nearest rows in the map, as the share of labels that is right or of the variance of the coordinates. Both
choices, PCA and all other kernels are then judged in this way on further rows, which neither has seen. The sets are of
two groups: the rules of `select_kernel` were made with the first in view; the second was kept for this comparison.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon.kernels.inputs import (
    CauchyInput,
    CosineInput,
    GaussianInput,
    LaplacianInput,
    LinearInput,
    PolynomialInput,
    UMAPInput,
)
from studies.known_truths import SETS, Truth
from studies.output import dress, make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Floats = npt.NDArray[np.float64]
NEIGHBORS = 10
TIE = 0.02
"""Choices whose scores differ by no more are as good as each other."""


def grid_of_kernels(X: Floats) -> dict[str, Any]:
    """Return kernels as they are commonly tried, by label."""
    mean, unit = X.mean(axis=0), gnomon.kernels.choice.median_distance(X)
    size = float(np.square(X - mean).sum(axis=1).mean())
    found: dict[str, Any] = {"linear": LinearInput(), "cosine": CosineInput(), "cosine from mean": CosineInput(mean)}
    binomials = {2: (1.0, 2.0, 1.0), 3: (1.0, 3.0, 3.0, 1.0), 4: (1.0, 4.0, 6.0, 4.0, 1.0)}
    for degree, coefficients in binomials.items():
        for factor in (0.3, 1.0, 3.0):
            found[f"polynomial {degree}, {factor:g} x"] = PolynomialInput(coefficients, factor * size, mean)
    for factor in (0.1, 0.25, 0.5, 1.0, 2.0):
        found[f"gaussian {factor:g} x"] = GaussianInput(factor * unit)
        found[f"laplacian {factor:g} x"] = LaplacianInput(factor * unit)
        found[f"cauchy {factor:g} x"] = CauchyInput(factor * unit)
        found[f"umap {factor:g} x"] = UMAPInput(factor * unit)
    return found


def _places(kernel: Any, n_components: int, fitted: Floats, others: Floats, jobs: int | None) -> tuple[Floats, Floats]:
    model = gnomon.KernelPCA(n_components, kernel=kernel, random_state=0, n_jobs=jobs).fit(fitted)
    return model.embedding_, model.transform(others)


def predicted(Y: Floats, truth: npt.NDArray[Any], others: Floats) -> npt.NDArray[Any]:
    """Return the truth of other places in a map by their ten nearest rows: the commonest label, or the mean."""
    from scipy.spatial import cKDTree

    nearest = cKDTree(Y).query(others, k=NEIGHBORS)[1]
    if truth.ndim == 2:
        return np.asarray(truth[nearest].mean(axis=1))
    votes = np.stack([(truth[nearest] == label).sum(axis=1) for label in range(int(truth.max()) + 1)], axis=1)
    return np.asarray(votes.argmax(axis=1))


def score(found: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """Return the share of labels that is right, or of the variance of the coordinates that is explained."""
    if truth.ndim == 1:
        return float(np.mean(found == truth))
    return float(1.0 - np.mean(np.square(truth - found).mean(axis=0) / truth.var(axis=0)))


def _difference_error(one: npt.NDArray[Any], other: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """Return the standard error of the difference of two scores, from 200 bootstrap samples of the rows."""
    draw, differences = np.random.default_rng(0), []
    for _ in range(200):
        rows = draw.integers(0, len(truth), len(truth))
        differences.append(score(one[rows], truth[rows]) - score(other[rows], truth[rows]))
    return float(np.std(differences))


def _informed(kernels: dict[str, Any], data: Truth, jobs: int | None) -> str:
    """Return the label of the kernel whose map predicts the truth best, a third of the rows held out in turn."""
    folds = np.arange(len(data.X)) % 3
    scores = {}
    for label, kernel in kernels.items():
        found = np.empty_like(data.truth)
        for fold in range(3):
            kept, held = folds != fold, folds == fold
            Y, others = _places(kernel, data.n_components, data.X[kept], data.X[held], jobs)
            found[held] = predicted(Y, data.truth[kept], others)
        scores[label] = score(found, data.truth)
    return max(scores, key=lambda label: scores[label])


def compare(name: str, seed: int, rows: int, jobs: int | None) -> dict[str, Any]:
    """Let both choose for one set, and judge them on further rows."""
    group, make = SETS[name]
    data = make(2 * rows, np.random.default_rng([seed, *name.encode()]))
    half = len(data.X) // 2
    seen = Truth(data.X[:half], data.truth[:half], data.n_components)
    began = time.perf_counter()
    selection = gnomon.select_kernel(seen.X, n_components=seen.n_components, random_state=seed, n_jobs=jobs)
    seconds = time.perf_counter() - began
    kernels = grid_of_kernels(seen.X) | {f"searched: {one.label}": one.kernel for one in selection.table}
    chosen, informed = f"searched: {selection.best.label}", _informed(kernels, seen, jobs)
    truth, found = data.truth[half:], {}
    for label, kernel in kernels.items():
        Y, others = _places(kernel, seen.n_components, seen.X, data.X[half:], jobs)
        found[label] = predicted(Y, seen.truth, others)
    scores = {label: score(one, truth) for label, one in found.items()}
    return {
        "set": name,
        "group": group,
        "seed": seed,
        "rows": half,
        "chosen": selection.best.label,
        "informed": informed,
        "pca": scores["linear"],
        "score": scores[chosen],
        "informed_score": scores[informed],
        "highest_score": max(scores.values()),
        "lack": scores[informed] - scores[chosen],
        "lack_error": _difference_error(found[informed], found[chosen], truth),
        "seconds": seconds,
        "candidates": [
            {
                "label": one.label,
                "n_parameters": one.n_parameters,
                "ratio": one.ratio,
                "fidelity": one.fidelity,
                "fidelity_error": one.fidelity_error,
                "score": scores[f"searched: {one.label}"],
            }
            for one in selection.table
        ],
    }


def _summary(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return for each group how often the choice was as good as the informed one, beside what PCA reaches."""
    found = {}
    for group in dict.fromkeys(run["group"] for run in runs):
        some = [run for run in runs if run["group"] == group]
        lacks = np.array([run["lack"] for run in some])
        of_pca = np.array([run["informed_score"] - run["pca"] for run in some])
        found[group] = {
            "runs": len(some),
            "within": int(np.sum(lacks <= TIE)),
            "mean_lack": float(lacks.mean()),
            "largest_lack": float(lacks.max()),
            "pca_within": int(np.sum(of_pca <= TIE)),
            "pca_mean_lack": float(of_pca.mean()),
        }
    return found


def _picture(runs: list[dict[str, Any]]) -> Any:
    names = list(dict.fromkeys(run["set"] for run in runs))
    figure = make_figure(7.0, 1.2 + 0.27 * len(names))
    ax = figure.add_subplot()
    marks = {
        "pca": ("o", "0.75", "PCA"),
        "informed_score": ("s", "#1b7837", "informed"),
        "score": ("x", "#c51b7d", "chosen"),
    }
    for place, name in enumerate(reversed(names)):
        for key, (mark, color, _) in marks.items():
            value = np.mean([run[key] for run in runs if run["set"] == name])
            ax.scatter(value, place, marker=mark, color=color, s=34, zorder=3)
    ax.set_yticks(range(len(names)), list(reversed(names)), fontsize=9)
    ax.grid(axis="y", color="0.92")
    ax.set_xlabel("truth of held-out rows predicted in the map")
    handles = [ax.scatter([], [], marker=mark, color=color, label=text) for mark, color, text in marks.values()]
    ax.legend(handles=handles, frameon=False, fontsize=9)
    dress(ax)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("kernel_choice", __doc__ or "")
    made.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    made.add_argument("--rows", type=int, default=600, help="rows to choose by, and as many to judge by")
    made.add_argument("--seeds", type=int, default=2, help="draws of each set")
    options = parse(made, arguments)
    runs = []
    for name in options.sets:
        for seed in range(options.seed, options.seed + options.seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of eigenvalues that are not positive
                run = compare(name, seed, options.rows, options.jobs)
            runs.append(run)
            shown = f"PCA {run['pca']:.3f}  chosen {run['score']:.3f}  informed {run['informed_score']:.3f}"
            lack = f"lack {run['lack']:+.3f} ± {run['lack_error']:.3f}"
            print(f"{name:<22} {seed}  {shown}  {lack}  {run['chosen']} / {run['informed']}", flush=True)
    summary = _summary(runs)
    for group, one in summary.items():
        chosen = f"{one['within']} of {one['runs']} within {TIE} of the informed choice"
        lacks = f"mean lack {one['mean_lack']:.3f}, largest {one['largest_lack']:.3f}"
        print(f"{group}: {chosen}, {lacks}; PCA {one['pca_within']}, mean lack {one['pca_mean_lack']:.3f}")
    write_json(options.out, "kernel_choice", {"rows": options.rows, "summary": summary, "runs": runs})
    write_png(options.out, "kernel_choice", _picture(runs), small=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
