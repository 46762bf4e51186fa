"""Do Laplacian eigenmaps that adapt to density unroll a roll that is sampled unevenly?

Laplacian eigenmaps take one scale, or one number of neighbours, for all rows. Variable Laplacian eigenmaps (VLE) let
rows in sparse regions keep fewer neighbours; adapted Laplacian eigenmaps (ALE) and self-tuning weights give each row a
scale of its own; diffusion maps with alpha = 1 divide the density out. The study unrolls Swiss rolls whose true
coordinates are known, sampled evenly, with half of the points in a tenth of the roll, and with a density that falls
along it, and asks how well each map keeps these coordinates.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.methods.spectral.laplacian_eigenmaps import LaplacianEigenmaps
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

Floats = npt.NDArray[np.float64]

METHODS: dict[str, dict[str, Any]] = {
    "LE, binary": {"weights": "binary"},
    "LE, heat": {"weights": "heat"},
    "VLE": {"variant": "vle"},
    "ALE": {"variant": "ale"},
    "self-tuning": {"weights": "self_tuning"},
    "heat, alpha = 1": {"weights": "heat", "alpha": 1.0},
    "VLE, alpha = 1": {"variant": "vle", "alpha": 1.0},
    "ALE, alpha = 1": {"variant": "ale", "alpha": 1.0},
}
SAMPLINGS = ("even", "a tenth holds half", "falling 20 : 1")
SCORES = {
    "auc": "AUC of R_NX: neighbourhoods of all sizes, 1 is perfect, 0 is chance",
    "rank": "mean |Spearman| of the coordinates with those of the roll, 1 is perfect",
    "disparity": "Procrustes disparity after a monotone fit of each coordinate, 0 is perfect",
    "short_cuts": "share of edges between turns of the roll, more than twice as long along it as straight",
}
_TURNS = (1.5 * np.pi, 4.5 * np.pi)
_ASPECT = 0.7  # width over length: the second eigenvector of an even roll then runs across it, not along it once more


@dataclass(frozen=True)
class _Roll:
    """Rows of a Swiss roll and their true coordinates, (length along it, position across it)."""

    X: Floats
    truth: Floats


def _length(t: Floats) -> Floats:
    """Return the length of the spiral r = t from its centre to the angle t."""
    return np.asarray(0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t)))


def _positions(sampling: str, n: int, rng: np.random.Generator) -> Floats:
    """Return positions in the unit square, along and across the roll."""
    U = rng.uniform(size=(n, 2))
    if sampling == "a tenth holds half":
        patch = rng.uniform(size=n) < 0.5
        U[patch, 0] = 0.4 + 0.25 * U[patch, 0]
        U[patch, 1] = 0.3 + 0.4 * U[patch, 1]
    elif sampling == "falling 20 : 1":
        U[:, 0] = -np.log(1 - U[:, 0] * (1 - 1 / 20)) / np.log(20)
    return U


def _roll(sampling: str, n: int, noise: float, seed: int) -> _Roll:
    rng = np.random.default_rng(seed)
    U = _positions(sampling, n, rng)
    grid = np.linspace(*_TURNS, 20_000)
    lengths = _length(grid)
    along = lengths[0] + U[:, 0] * (lengths[-1] - lengths[0])
    across = U[:, 1] * _ASPECT * (lengths[-1] - lengths[0])
    t = np.interp(along, lengths, grid)
    X = np.stack([t * np.cos(t), across, t * np.sin(t)], axis=1)
    return _Roll(X + noise * rng.normal(size=X.shape), np.stack([along, across], axis=1))


def _ranks(Y: Floats) -> npt.NDArray[np.int32]:
    """Return the rank of every point from every point, the point itself first."""
    squares = np.square(Y[:, None] - Y).sum(axis=2)
    np.fill_diagonal(squares, -1.0)
    return np.argsort(np.argsort(squares, axis=1, kind="stable"), axis=1).astype(np.int32)


def _auc(truth: npt.NDArray[np.int32], Y: Floats) -> float:
    """Return the area under R_NX over the logarithm of the number of neighbours, against ranks of the truth."""
    n = len(Y)
    worse = np.maximum(truth, _ranks(Y))
    counts = np.bincount(worse[worse > 0].ravel(), minlength=n)
    k = np.arange(1, n - 1)
    shared = np.cumsum(counts)[1 : n - 1] / (k * n)
    curve = ((n - 1) * shared - k) / (n - 1 - k)
    return float(np.sum(curve / k) / np.sum(1 / k))


def _matched(Y: Floats, truth: Floats) -> tuple[Floats, float]:
    """Return the coordinates of the map in the order that fits the true ones, and their mean |Spearman|."""
    from scipy.stats import spearmanr

    table = np.abs(np.asarray(spearmanr(Y, truth).statistic)[:2, 2:])
    swapped = table[0, 1] + table[1, 0] > table[0, 0] + table[1, 1]
    order = [1, 0] if swapped else [0, 1]
    return Y[:, order], float((table[order[0], 0] + table[order[1], 1]) / 2)


def _disparity(Y: Floats, truth: Floats) -> float:
    """Return the Procrustes disparity of the truth and of the monotone fit of each coordinate to it."""
    from scipy.spatial import procrustes
    from sklearn.isotonic import IsotonicRegression

    fitted = []
    for y, x in zip(Y.T, truth.T, strict=True):
        order = np.argsort(np.argsort(y, kind="stable"), kind="stable").astype(np.float64)
        rising = bool(np.corrcoef(order, x)[0, 1] >= 0)
        fitted.append(IsotonicRegression(increasing=rising).fit_transform(order, x))
    return float(procrustes(truth, np.stack(fitted, axis=1))[2])


def _short_cuts(model: LaplacianEigenmaps, roll: _Roll) -> float:
    """Return the share of edges of the graph that leave the surface of the roll."""
    i, j = model.affinities_.matrix.nonzero()
    straight = np.linalg.norm(roll.X[i] - roll.X[j], axis=1)
    return float(np.mean(np.linalg.norm(roll.truth[i] - roll.truth[j], axis=1) > 2 * straight))


def _measure(roll: _Roll, neighbors: int, jobs: int | None) -> dict[str, tuple[Floats, dict[str, float]]]:
    truth = _ranks(roll.truth)
    found = {}
    for name, parameters in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pieces that the neighbour graph falls into
            model = LaplacianEigenmaps(neighbors, random_state=0, n_jobs=jobs, **parameters).fit(roll.X)
        matched, rank = _matched(model.embedding_, roll.truth)
        found[name] = (
            matched,
            {
                "auc": _auc(truth, matched),
                "rank": rank,
                "disparity": _disparity(matched, roll.truth),
                "short_cuts": _short_cuts(model, roll),
            },
        )
    return found


def _interval(values: list[float]) -> dict[str, float]:
    """Return the mean and the half width of its 95% interval (Student's t)."""
    from scipy.stats import t

    x = np.asarray(values)
    half = float(t.ppf(0.975, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)) if x.size > 1 else float("nan")
    return {"mean": float(x.mean()), "half_width": half}


def _table(runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return one row for each sampling, method and score: mean, interval, and the difference from LE, heat."""
    rows = []
    for sampling, seeds in runs.items():
        for name in METHODS:
            for score in SCORES:
                values = [seed[name][1][score] for seed in seeds]
                gains = [seed[name][1][score] - seed["LE, heat"][1][score] for seed in seeds]
                gain = _interval(gains)
                row = {"sampling": sampling, "method": name, "score": score, **_interval(values), "values": values}
                rows.append({**row, "difference": gain["mean"], "difference_half_width": gain["half_width"]})
    return rows


def _print(table: list[dict[str, Any]]) -> None:
    for score, text in SCORES.items():
        print(f"\n{text}; beside it the difference from LE with heat weights, both with 95% intervals")
        for row in table:
            if row["score"] == score:
                print(
                    f"  {row['sampling']:<20} {row['method']:<16} {row['mean']:.3f} ± {row['half_width']:.3f}   "
                    f"{row['difference']:+.3f} ± {row['difference_half_width']:.3f}"
                )


def _panel(ax: Any, Y: Floats, truth: Floats, color: Floats) -> None:
    signs = [1 if np.corrcoef(Y[:, k], truth[:, k])[0, 1] >= 0 else -1 for k in range(2)]
    ax.scatter(*(Y * signs).T, c=color, s=2.5, lw=0, cmap="viridis", rasterized=True)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color("0.85")


def _picture(rolls: dict[str, _Roll], runs: dict[str, list[dict[str, Any]]], table: list[dict[str, Any]]) -> Any:
    figure = make_figure(2.35 * (len(METHODS) + 1), 7.6)
    axes = figure.subplots(len(SAMPLINGS), len(METHODS) + 1)
    means = {(row["sampling"], row["method"], row["score"]): row for row in table}
    for line, (sampling, roll) in enumerate(rolls.items()):
        color = roll.truth[:, 0]
        best = max(means[sampling, name, "auc"]["mean"] for name in METHODS)
        _panel(axes[line, 0], roll.truth, roll.truth, color)
        axes[line, 0].set_ylabel(sampling, fontsize=11, fontweight="bold")
        if line == 0:
            axes[line, 0].set_title("true coordinates", fontsize=11, fontweight="bold")
        for column, name in enumerate(METHODS, start=1):
            ax = axes[line, column]
            _panel(ax, runs[sampling][0][name][0], roll.truth, color)
            one = means[sampling, name, "auc"]
            near = one["mean"] >= best - 0.01
            ax.set_xlabel(
                f"AUC {one['mean']:.2f} ± {one['half_width']:.2f}", fontsize=10, color="#1a7a4c" if near else "0.3"
            )
            if line == 0:
                ax.set_title(name, fontsize=11, fontweight="bold")
    n, seeds = len(color), len(next(iter(runs.values())))
    figure.suptitle(
        f"Swiss rolls of {n:,} points, unrolled; color: position along the roll. AUC of R_NX against the true "
        f"coordinates, mean of {seeds} rolls with 95% interval; green: within 0.01 of the best",
        fontsize=12,
    )
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("density_adapted", __doc__ or "")
    made.add_argument("--rows", type=int, default=2000, help="points of each roll")
    made.add_argument("--seeds", type=int, default=10, help="rolls of each kind, two at least")
    made.add_argument("--neighbors", type=int, default=12, help="neighbours of each point, the most for VLE")
    made.add_argument("--noise", type=float, default=0.0, help="standard deviation in the units of the roll")
    options = parse(made, arguments)
    first: dict[str, _Roll] = {}
    runs: dict[str, list[dict[str, Any]]] = {}
    for sampling in SAMPLINGS:
        rolls = [_roll(sampling, options.rows, options.noise, options.seed + k) for k in range(options.seeds)]
        first[sampling] = rolls[0]
        runs[sampling] = [_measure(roll, options.neighbors, options.jobs) for roll in rolls]
    table = _table(runs)
    _print(table)
    settings = {"rows": options.rows, "neighbors": options.neighbors, "noise": options.noise, "seed": options.seed}
    write_json(options.out, "density_adapted", {**settings, "table": table})
    write_png(options.out, "density_adapted", _picture(first, runs, table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
