"""Does FeatMAP show groups within one digit, and what does its weight lambda buy?

The featMAP paper (Yang et al., 2022) shows groups of different handwriting within one digit of MNIST, names the pixels
that set them apart, and chooses a weight of .5 for the term that keeps local spreads. The study asks first whether such
groups are in the data at all: `gnomon.find_clusters` looks for them in half of the rows of each digit and checks every
split in the other half. The digit with most of them is mapped by UMAP, DensMAP and FeatMAP, and the silhouette of those
groups says how well each map shows them. Then all digits are mapped with growing weights: what do kept spreads cost?
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from gnomon._palette import class_colors
from gnomon.data import check_labels
from gnomon.datasets import load_dataset
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

Float32 = npt.NDArray[np.float32]

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
_USUAL = 0.5
_METHODS = {
    "UMAP": lambda seed, jobs: gnomon.UMAP(n_neighbors=30, random_state=seed, n_jobs=jobs),
    "DensMAP": lambda seed, jobs: gnomon.DensMAP(random_state=seed, n_jobs=jobs),
    "FeatMAP": lambda seed, jobs: gnomon.FeatMAP(random_state=seed, n_jobs=jobs),
}


def _digits(rows: int, seed: int) -> dict[str, npt.NDArray[np.float64]]:
    """Return at most so many pictures of each digit, values 0 to 255."""
    data = load_dataset("mnist")
    labels = check_labels(data.labels, len(data.X)).astype(str)
    rng = np.random.default_rng(seed)
    chosen = {digit: rng.permutation(np.flatnonzero(labels == digit))[:rows] for digit in np.unique(labels)}
    return {digit: np.asarray(data.X[np.sort(mine)], dtype=np.float64) for digit, mine in chosen.items()}


def _groups(pictures: npt.NDArray[np.float64], seed: int, jobs: int | None) -> tuple[npt.NDArray[np.int64], float]:
    """Return the group of each picture at the default level, -1 for none, and the largest p-value of a split."""
    found = gnomon.find_clusters(pictures, image_shape=(28, 28), random_state=seed, n_jobs=jobs)
    if not found.levels:
        return np.full(len(pictures), -1), float("nan")
    level = found.level()
    return level.labels, max(cluster.p_value for cluster in level.clusters)


def _silhouette(Y: Float32, groups: npt.NDArray[np.int64]) -> float:
    from sklearn.metrics import silhouette_score

    member = groups >= 0
    return float(silhouette_score(Y[member], groups[member]))


def _weigh(X: Float32, labels: npt.NDArray[np.str_], weight: float, seed: int, jobs: int | None) -> dict[str, float]:
    """Return what a map with this weight keeps of spreads and neighbours."""
    begun = time.process_time()
    model = gnomon.FeatMAP(frames=weight, random_state=seed, n_jobs=jobs).fit(X)
    seconds = time.process_time() - begun
    kept = getattr(model, "frame_correlation_", None)
    if kept is None:  # without the term
        still = gnomon.FeatMAP(frames=1e-9, init=model.embedding_, max_iter=1, random_state=seed, n_jobs=jobs)
        kept = still.fit(X).frame_correlation_
    scores = gnomon.evaluate(X, model.embedding_, labels=labels, random_state=seed, n_jobs=jobs)
    return {
        "weight": weight,
        "first_direction": float(kept[0]),
        "second_direction": float(kept[1]),
        "trustworthiness": scores.trustworthiness,
        "knn_accuracy": scores.scores()["knn_accuracy"],
        "cpu_seconds": seconds,
    }


def _draw_groups(
    figure: Any,
    digit: str,
    pictures: npt.NDArray[np.float64],
    groups: npt.NDArray[np.int64],
    maps: dict[str, tuple[Float32, float]],
) -> None:
    """Draw the maps of one digit with its groups, and of each group the mean picture and how its pixels differ."""
    numbers = np.unique(groups[groups >= 0])
    palette = np.array([*class_colors(len(numbers)), "#c8c8c8"])
    shown = min(len(numbers), 4)
    grid = figure.add_gridspec(2, len(maps) + shown)
    for column, (name, (Y, silhouette)) in enumerate(maps.items()):
        ax = figure.add_subplot(grid[:, column])
        ax.scatter(*Y.T, c=palette[groups], s=4, lw=0)
        ax.set(xticks=[], yticks=[])
        ax.set_aspect("equal", adjustable="datalim")
        ax.spines[:].set_color("0.85")
        ax.set_title(f"{name}: groups of the digit {digit}\nsilhouette {silhouette:.2f}", fontsize=10, loc="left")
    for column, number in enumerate(numbers[:shown], start=len(maps)):
        inside = groups == number
        contrast = gnomon.contrast(pictures, inside, (groups >= 0) & ~inside)
        mean, differs = figure.add_subplot(grid[0, column]), figure.add_subplot(grid[1, column])
        mean.imshow(pictures[inside].mean(axis=0).reshape(28, 28), cmap="gray_r")
        told = np.zeros(pictures.shape[1])
        told[contrast.indices] = 2 * contrast.auc - 1
        differs.imshow(told.reshape(28, 28), cmap="RdBu_r", vmin=-1, vmax=1)
        for ax in (mean, differs):
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set(color=palette[number], linewidth=2)
        mean.set_title(f"{int(inside.sum())} rows", fontsize=9, loc="left")


def _draw_weights(figure: Any, table: Sequence[dict[str, float]]) -> None:
    ax = figure.subplots()
    for key, text, color in (
        ("first_direction", "spread along the first direction (correlation)", "#6273d5"),
        ("second_direction", "along the second", "#a9b2e0"),
        ("trustworthiness", "trustworthiness", "#9aa3ad"),
        ("knn_accuracy", "neighbours vote for the right digit", "#2aa56d"),
    ):
        ax.plot(range(len(table)), [one[key] for one in table], "o-", color=color, label=text)
    ax.set_xticks(range(len(table)), [f"{one['weight']:g}" for one in table])
    ax.set_xlabel("weight lambda")
    ax.legend(frameon=False, fontsize=9, ncols=2)
    ax.set_ylim(0, 1.02)
    dress(ax)


def _agreement(
    n_groups: dict[str, int], digit: str, maps: dict[str, tuple[Float32, float]], table: Sequence[dict[str, float]]
) -> str:
    """Say in one sentence what of the paper's account holds here."""
    told = ", ".join(f"{name} {silhouette:.2f}" for name, (_, silhouette) in maps.items())
    none, usual = table[0], next(one for one in table if one["weight"] == _USUAL)
    groups = (
        f"{sum(n > 0 for n in n_groups.values())} of {len(n_groups)} digits have groups that held-out rows confirm; "
        f"those of {digit} have a silhouette of {told}"
        if maps
        else "no digit has groups that held-out rows confirm"
    )
    return (
        f"{groups}. From weight 0 to {_USUAL} the correlation of spreads rises from {none['first_direction']:.2f} to "
        f"{usual['first_direction']:.2f}, trustworthiness goes from {none['trustworthiness']:.3f} to "
        f"{usual['trustworthiness']:.3f} and accuracy from {none['knn_accuracy']:.3f} to {usual['knn_accuracy']:.3f}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Look for groups within digits, map them, and weigh the term of FeatMAP; return the exit status."""
    made = parser("subclusters", __doc__ or "")
    made.add_argument("--rows", type=int, default=2000, help="of each digit")
    made.add_argument("--digits", nargs="+", help="only these digits")
    made.add_argument("--weigh-rows", type=int, default=4000, help="of all digits, for the weights")
    options = parse(made, arguments)
    tables = {d: X for d, X in _digits(options.rows, options.seed).items() if not options.digits or d in options.digits}
    found = {}
    for digit, X in tables.items():
        groups, p_value = _groups(X, options.seed, options.jobs)
        found[digit] = groups
        sizes = np.bincount(groups[groups >= 0]).tolist()
        print(f"digit {digit}: groups {sizes or 'none'}, largest p-value {p_value:.2g}", flush=True)
    n_groups = {digit: int(groups.max()) + 1 for digit, groups in found.items()}
    digit = max(n_groups, key=lambda one: (n_groups[one], np.sum(found[one] >= 0)))
    maps: dict[str, tuple[Float32, float]] = {}
    if n_groups[digit]:
        for name, method in _METHODS.items():
            Y = method(options.seed, options.jobs).fit_transform(tables[digit].astype(np.float32))
            maps[name] = Y, _silhouette(Y, found[digit])
            print(f"{name}: silhouette of the groups of {digit} {maps[name][1]:.3f}", flush=True)
    X, labels = load_rows("mnist", options.weigh_rows, seed=options.seed)
    table = []
    for weight in WEIGHTS:
        table.append(_weigh(X, labels, weight, options.seed, options.jobs))
        print("  ".join(f"{key} {value:.3f}" for key, value in table[-1].items()), flush=True)
    agreement = _agreement(n_groups, digit, maps, table)
    print(agreement)
    figures = {
        "agreement": agreement,
        "groups": {one: np.bincount(groups[groups >= 0]).tolist() for one, groups in found.items()},
        "digit": digit,
        "silhouettes": {name: silhouette for name, (_, silhouette) in maps.items()},
        "weights": table,
    }
    write_json(options.out, "subclusters", figures)
    figure = make_figure(16, 7.6)
    above, below = figure.subfigures(2, 1, height_ratios=[1.3, 1])
    if maps:
        _draw_groups(above, digit, tables[digit], found[digit], maps)
    _draw_weights(below, table)
    write_png(options.out, "subclusters", figure, 100, small=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
