"""What do maps show that the data do not, and what do verdicts say of it?

Tables of known truth are mapped by t-SNE and UMAP: two groups of which one is four times as wide, three groups of which
one is four times as far, and two columns of noise without groups, mapped with few neighbours. The picture shows each
with what the verdict says; the table counts over draws how far the map is from the truth, what it alone would have one
answer, and what the verdict answers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from benchmarks.summary import table_of
from benchmarks.verdicts import widest_gap

import gnomon
from gnomon.evaluation import is_denser, is_nearer, is_real
from gnomon.evaluation.verdict import Verdict
from studies.output import make_figure, parse, parser, write_json, write_png

__all__ = ["ILLUSIONS", "METHODS", "Illusion", "main"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]

_ROWS, _COLUMNS, _RATIO = 600, 10, 4.0
_FEW = {"t-SNE": 8, "UMAP": 5}  # of perplexity and of neighbours
_INKS = np.array(["#3f5bd0", "#d47719", "#2aa56d"])
METHODS: dict[str, tuple[Callable[..., Any], str]] = {
    "t-SNE": (gnomon.TSNE, "perplexity"),
    "UMAP": (gnomon.UMAP, "n_neighbors"),
}
"""Estimator, and the parameter that says how many neighbours it looks at."""


class Illusion(NamedTuple):
    """A table of known truth, and the question that its maps answer wrongly."""

    draw: Callable[[np.random.Generator], tuple[Floats, Groups]]
    few: bool  # whether it is mapped with few neighbours, else with the defaults
    ask: Callable[[Floats, Floats, Groups], Verdict]
    true: str  # the right answer
    drawn: Callable[[Floats, Groups], float]  # what the eye sees
    told: str  # what that number is
    title: str


def _wide(draw: np.random.Generator) -> tuple[Floats, Groups]:
    groups = np.arange(_ROWS) % 2
    spread = np.where(groups == 1, _RATIO, 1.0)
    return 60.0 * np.eye(_COLUMNS)[0] * groups[:, None] + spread[:, None] * draw.normal(size=(_ROWS, _COLUMNS)), groups


def _far(draw: np.random.Generator) -> tuple[Floats, Groups]:
    groups = np.arange(_ROWS) % 3
    centers = np.zeros((3, _COLUMNS))
    centers[1, 0], centers[2, 1] = 15.0, 15.0 * _RATIO
    return centers[groups] + draw.normal(size=(_ROWS, _COLUMNS)), groups


def _gaussian(draw: np.random.Generator) -> tuple[Floats, Groups]:
    return draw.normal(size=(_ROWS, 2)), np.zeros(_ROWS, dtype=np.int64)


def _uniform(draw: np.random.Generator) -> tuple[Floats, Groups]:
    return draw.uniform(size=(_ROWS, 2)), np.zeros(_ROWS, dtype=np.int64)


def _radii(Y: Floats, groups: Groups) -> float:
    """Return how much wider the second group is: median distances to the group's median place."""
    wide, narrow = (
        np.median(np.linalg.norm(Y[groups == g] - np.median(Y[groups == g], axis=0), axis=1)) for g in (1, 0)
    )
    return float(wide / narrow)


def _distances(Y: Floats, groups: Groups) -> float:
    """Return how much farther the third group is from the first than the second is."""
    centers = [Y[groups == g].mean(axis=0) for g in range(3)]
    return float(np.linalg.norm(centers[2] - centers[0]) / np.linalg.norm(centers[1] - centers[0]))


def _found(Y: Floats) -> Groups:
    from sklearn.cluster import HDBSCAN

    found: Groups = HDBSCAN(min_cluster_size=30, copy=True).fit_predict(Y)
    return found


def _clusters(Y: Floats, groups: Groups) -> float:
    """Return how many clusters HDBSCAN finds."""
    return float(_found(Y).max() + 1)


def _island(Y: Floats) -> npt.NDArray[np.bool_]:
    """Return the largest cluster of at most half of the rows; of a map in one piece one side of its widest gap."""
    found = _found(Y)
    sizes = np.bincount(found[found >= 0], minlength=1)
    sizes[sizes > len(Y) / 2] = 0
    return found == np.argmax(sizes) if sizes.any() else widest_gap(Y)


def _ask_denser(X: Floats, Y: Floats, groups: Groups) -> Verdict:
    return is_denser(X, Y, groups == 0, groups == 1, names=("blue", "orange"))


def _ask_nearer(X: Floats, Y: Floats, groups: Groups) -> Verdict:
    return is_nearer(X, Y, *(groups == g for g in range(3)), names=("blue", "orange", "green"))


def _ask_real(X: Floats, Y: Floats, groups: Groups) -> Verdict:
    return is_real(X, Y, _island(Y), name="the orange island")


ILLUSIONS = {
    "sizes": Illusion(_wide, False, _ask_denser, "yes", _radii, "times as wide", "orange is four times as wide"),
    "distances": Illusion(
        _far, False, _ask_nearer, "yes", _distances, "times as far", "green is four times as far from blue"
    ),
    "Gaussian noise": Illusion(_gaussian, True, _ask_real, "no", _clusters, "clusters", "one Gaussian"),
    "even noise": Illusion(_uniform, True, _ask_real, "no", _clusters, "clusters", "even noise"),
}
"""What maps show and data do not have, by name."""


def _map(X: Floats, method: str, few: bool, seed: int) -> Floats:
    estimator, parameter = METHODS[method]
    given = {parameter: _FEW[method]} if few else {}
    return np.asarray(estimator(random_state=seed, n_jobs=1, **given).fit_transform(X), dtype=np.float64)


def _of_one(name: str, method: str, seed: int) -> dict[str, Any]:
    """Draw, map and judge once."""
    one = ILLUSIONS[name]
    X, groups = one.draw(np.random.default_rng((seed, list(ILLUSIONS).index(name))))
    Y = _map(X, method, one.few, seed)
    found = one.ask(X, Y, groups)
    colors = _island(Y).astype(np.int64) if one.few else groups
    return {
        **{"X": X, "Y": Y, "colors": colors, "verdict": found},
        "drawn": one.drawn(Y, groups),
        "truth": one.drawn(X, groups),
    }


def _rates(runs: dict[tuple[str, str], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Count answers over the draws of each table and method."""
    rates = []
    for (name, method), found in runs.items():
        true, verdicts = ILLUSIONS[name].true, [one["verdict"] for one in found]
        rates.append(
            {
                **{"illusion": name, "method": method, "draws": len(found), "seen": ILLUSIONS[name].told},
                **{
                    key: [float(end) for end in np.quantile([o[key] for o in found], [0.5, 0, 1])]
                    for key in ("truth", "drawn")
                },
                "map_wrong": float(np.mean([one.in_map != true for one in verdicts])),
                "verdict_right": float(np.mean([one.answer == true for one in verdicts])),
                "verdict_unsure": float(np.mean([one.answer == "cannot be told" for one in verdicts])),
            }
        )
    return rates


def _table(rates: list[dict[str, Any]]) -> str:
    header = [
        "data, map",
        "the eye sees",
        "data",
        "map (lowest to highest)",
        "map wrong",
        "verdict right",
        "cannot be told",
    ]
    rows = []
    for one in rates:
        truth, (middle, low, high) = one["truth"][0], one["drawn"]
        shares = [f"{100 * one[key]:.0f} %" for key in ("map_wrong", "verdict_right", "verdict_unsure")]
        rows.append(
            [
                f"{one['illusion']}, {one['method']}",
                one["seen"],
                f"{truth:.1f}",
                f"{middle:.1f} ({low:.1f} to {high:.1f})",
                *shares,
            ]
        )
    return table_of(header, rows)


def _scatter(ax: Any, places: Floats, colors: Groups, title: str, words: str) -> None:
    ax.scatter(*places.T, c=_INKS[colors], s=5, lw=0)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[:].set_color("0.8")
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_xlabel(words, fontsize=8.5, loc="left")


def _words(found: Verdict) -> str:
    low, high = found.interval
    chance = "p < 0.001" if found.p_value < 0.001 else f"p = {found.p_value:.2g}"
    figures = f"{found.statistic:.2f} [{low:.2f}, {high:.2f}], {chance}"
    return f"{found.question} {found.answer.capitalize()}.\n{found.unit}:\n{figures}"


def _picture(first: dict[tuple[str, str], dict[str, Any]]) -> Any:
    """Draw the first draw of each table and its maps; beneath each map the verdict on it."""
    figure = make_figure(11.0, 3.5 * len({name for name, _ in first}))
    names = list(dict.fromkeys(name for name, _ in first))
    axes = figure.subplots(len(names), 1 + len(METHODS), squeeze=False)
    for row, name in zip(axes, names, strict=True):
        one = ILLUSIONS[name]
        shown = first[name, next(iter(METHODS))]
        X = shown["X"]
        plane = X if X.shape[1] == 2 else gnomon.PCA(n_components=2).fit_transform(X)
        plain = np.zeros(len(X), dtype=np.int64) if one.few else shown["colors"]
        _scatter(
            row[0],
            plane,
            plain,
            one.title,
            "the data" if plane is X else f"the data: two principal components of {X.shape[1]}",
        )
        for ax, method in zip(row[1:], METHODS, strict=True):
            made = first[name, method]
            parameter = f", {METHODS[method][1]} {_FEW[method]}" if one.few else ""
            drawn = f"{made['drawn']:.{0 if one.few else 1}f} {one.told}"
            _scatter(ax, made["Y"], made["colors"], f"{method}{parameter}: {drawn}", _words(made["verdict"]))
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("illusions", __doc__ or "")
    made.add_argument("--illusions", nargs="+", default=list(ILLUSIONS), choices=list(ILLUSIONS), metavar="NAME")
    made.add_argument("--draws", type=int, default=20, help="tables of each kind")
    options = parse(made, arguments)
    runs = {
        (name, method): [_of_one(name, method, seed) for seed in range(options.seed, options.seed + options.draws)]
        for name in options.illusions
        for method in METHODS
    }
    rates = _rates(runs)
    print(_table(rates))
    first = {key: found[0] for key, found in runs.items()}
    verdicts = {f"{name}, {method}": one["verdict"].to_dict() for (name, method), one in first.items()}
    write_json(options.out, "illusions", {"draws": options.draws, "rates": rates, "verdicts": verdicts})
    write_png(options.out, "illusions", _picture(first), dpi=100, small=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
