"""How many dimensions does a linear map need to keep the neighbours of a picture? (Tucker, table of section 1)

Two thousand handwritten digits are mapped to 2, 3, ... dimensions by PCA, by a descent among orthonormal directions
(gradient PCA), with many iterations and with few, and by random projections, which do not look at the data. The score
is the t-similarity: the share of the t nearest pictures of each picture, itself not counted, that are among its t
nearest points in the map. Which t did the paper take? Its four figures of PCA are set beside those of several t and of
several samples of pictures.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import PCA, running
from gnomon._threads import resolve_n_threads
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from gnomon.exceptions import ConvergenceWarning
from gnomon.methods.linear.random_projection import RandomProjection
from gnomon.methods.linear.stiefel_pca import StiefelPCA
from gnomon.neighbors import compute_neighbors
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main", "t_similarity"]

_PRINTED = {2: 0.0825, 12: 0.5522, 43: 0.8116, 276: 0.9813}  # PCA in Tucker's table
_DIMENSIONS = (2, 3, 5, 8, 12, 20, 30, 43, 70, 110, 170, 276, 430, 784)
_CANDIDATES = (3, 5, 8, 9, 10, 11, 12, 15, 20, 30, 50)  # for t
_ITERATIONS = {"gradient PCA, 100 iterations": 100, "gradient PCA, 3 iterations": 3}
_STYLES: dict[str, dict[str, Any]] = {
    "PCA": {"color": "#2f2f2f", "lw": 2.6},
    "gradient PCA, 100 iterations": {"color": "#6273d5", "lw": 2.6, "ls": (0, (2, 2))},
    "gradient PCA, 3 iterations": {"color": "#a9b2e0", "lw": 2.0},
    "random projection, orthonormal": {"color": "#d47719", "lw": 2.2},
    "random projection": {"color": "#e8b586", "lw": 2.2},
}
_N_SEEDS = 3

Array = npt.NDArray[Any]


def _neighbors(X: Array, t: int, jobs: int | None) -> npt.NDArray[np.int32]:
    with running(n_threads=resolve_n_threads(jobs)):
        return compute_neighbors(np.ascontiguousarray(X, dtype=np.float32), t).indices


def t_similarity(one: Array, other: Array) -> float:
    """Return the mean share of common entries in the rows of two tables of neighbours, (n_samples, t) both."""
    common = [len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(one, other, strict=True)]
    return float(np.mean(common)) / one.shape[1]


def _gradient_pca(X: Array, k: int, iterations: int, seed: int, jobs: int | None) -> StiefelPCA:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to be cut off is what is studied
        return StiefelPCA(k, max_iter=iterations, random_state=seed, n_jobs=jobs).fit(X)


def _curves(X: Array, t: int, seed: int, jobs: int | None) -> dict[str, Any]:
    """Return the score of each method at each dimension."""
    dimensions = sorted({min(k, *X.shape) for k in _DIMENSIONS})
    true = _neighbors(X, t, jobs)
    full = PCA(dimensions[-1], n_jobs=jobs).fit(X)
    scores: dict[str, list[float]] = {name: [] for name in _STYLES}
    errors: dict[str, list[float]] = {name: [] for name in _ITERATIONS}
    for k in dimensions:
        scores["PCA"].append(t_similarity(true, _neighbors(full.embedding_[:, :k], t, jobs)))
        for name, iterations in _ITERATIONS.items():
            model = _gradient_pca(X, k, iterations, seed, jobs)
            scores[name].append(t_similarity(true, _neighbors(model.embedding_, t, jobs)))
            errors[name].append(model.projector_error_)
        for name, variant in (("random projection", "gaussian"), ("random projection, orthonormal", "orthonormal")):
            maps = (
                RandomProjection(k, variant=variant, random_state=seed + i, n_jobs=jobs).fit_transform(X)
                for i in range(_N_SEEDS)
            )
            scores[name].append(float(np.mean([t_similarity(true, _neighbors(Y, t, jobs)) for Y in maps])))
        print(f"{k:>4}  " + "  ".join(f"{name} {values[-1]:.4f}" for name, values in scores.items()), flush=True)
    variance = np.cumsum(full.explained_variance_ratio_)
    return {
        "dimensions": dimensions,
        "scores": scores,
        "projector_error": errors,
        "explained_variance": [variance[k - 1] for k in dimensions],
    }


def _figures_for_t(X: Array, jobs: int | None) -> dict[int, list[float]]:
    """Return for each t the scores of PCA at the dimensions in print."""
    most = max(t for t in _CANDIDATES if t < len(X) // 2)
    true = _neighbors(X, most, jobs)
    dimensions = [min(k, *X.shape) for k in _PRINTED]
    scores = PCA(max(dimensions), n_jobs=jobs).fit_transform(X)
    found = [_neighbors(scores[:, :k], most, jobs) for k in dimensions]
    return {t: [t_similarity(true[:, :t], map_[:, :t]) for map_ in found] for t in _CANDIDATES if t <= most}


def _samples(name: str, rows: int, n_samples: int) -> list[Array]:
    """Return samples of rows that differ from the fixed one of `load_rows`."""
    data = load_dataset(name)
    values, n = data.X, data.X.shape[0]
    check_labels(data.labels, n)
    draw = np.random.default_rng(1)
    chosen = [np.sort(draw.choice(n, min(rows, n), replace=False)) for _ in range(n_samples)]
    return [np.asarray(values[one], dtype=np.float64) for one in chosen]


def _which_t(X: Array, others: Sequence[Array], jobs: int | None) -> dict[str, Any]:
    """Return figures, their spread over samples and their distance from print, for each t."""
    runs = [_figures_for_t(one / one.max(), jobs) for one in (X, *others)]
    printed = np.array(list(_PRINTED.values()))
    report: dict[str, Any] = {}
    for t in runs[0]:
        scores = np.array([run[t] for run in runs])
        mean, spread = scores.mean(axis=0), scores.std(axis=0, ddof=1) if len(runs) > 1 else np.zeros(4)
        away = float(np.sqrt(np.mean((mean - printed) ** 2)))
        report[str(t)] = {"mean": mean, "standard_deviation": spread, "away_from_print": away}
        shown = "  ".join(f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, spread, strict=True))
        print(f"t = {t:<3} {shown}   {away:.4f} from print", flush=True)
    return report


def _picture(curves: dict[str, Any], which: dict[str, Any], t: int) -> Any:
    figure = make_figure(13.5, 5.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
    for name, style in _STYLES.items():
        left.semilogx(curves["dimensions"], curves["scores"][name], label=name, **style)
    label = "share of the variance"
    left.semilogx(curves["dimensions"], curves["explained_variance"], ":", color="0.6", lw=1.5, label=label)
    left.plot(list(_PRINTED), list(_PRINTED.values()), "o", ms=8, mfc="none", mec="#c0392b", mew=1.8, label="in print")
    left.set_xticks(_DIMENSIONS[::2], [str(k) for k in _DIMENSIONS[::2]])
    left.minorticks_off()
    left.set_xlabel("dimensions")
    left.set_ylabel(f"share of the {t} nearest pictures kept")
    left.set_title("1  Neighbours kept by linear maps", loc="left", fontsize=11, fontweight="bold")
    left.legend(frameon=False, fontsize=8.5, loc="lower right")
    candidates = [int(one) for one in which]
    right.plot(candidates, [which[str(one)]["away_from_print"] for one in candidates], "o-", color="#2f2f2f", lw=2)
    right.set_xlabel("t, neighbours counted")
    right.set_ylabel("distance of PCA's four scores from print")
    right.set_ylim(bottom=0)
    right.set_title("2  Which t the paper took", loc="left", fontsize=11, fontweight="bold")
    for ax in (left, right):
        dress(ax)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("pca_dimensions", __doc__ or "")
    made.add_argument("--set", default="mnist", help="name of the data set")
    made.add_argument("--rows", type=int, default=2000, help="rows of it")
    made.add_argument("--t", type=int, default=10, help="neighbours that the score counts")
    made.add_argument("--samples", type=int, default=4, help="further samples of rows, for the spread of the figures")
    options = parse(made, arguments)
    X, _ = load_rows(options.set, options.rows, columns=10_000)
    X = X.astype(np.float64) / X.max()
    curves = _curves(X, options.t, options.seed, options.jobs)
    which = _which_t(X, _samples(options.set, options.rows, options.samples), options.jobs)
    best = min(which, key=lambda t: which[t]["away_from_print"])
    print(f"nearest to print: t = {best}")
    report = {"rows": len(X), "t": options.t, **curves, "in_print": _PRINTED, "which_t": which, "best_t": int(best)}
    write_json(options.out, "pca_dimensions", report)
    write_png(options.out, "pca_dimensions", _picture(curves, which, options.t))
    return 0


if __name__ == "__main__":
    sys.exit(main())
