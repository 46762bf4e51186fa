"""Is there a measure of similarity by which classical and modern maps form two families? (equation 8, f*)

Every method maps every data set. For each measure, Phi is how alike the maps of two classical methods are, plus how
alike those of two modern ones, less twice how alike one of each are, all corrected for chance. The measure of largest
Phi is f*. The table is made twice: with the maps as they are, and with both principal axes of every map brought to
the same length, because eigenvectors come with a scale of their own and a difference of scale alone says nothing.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.theory import MetricSeparation, metric_separation
from studies.embedders import CLASSICAL, available, embed
from studies.output import make_figure, parse, parser, write_json, write_png
from studies.tables import DATA_SETS, load_rows

__all__ = ["main"]

Maps = dict[str, dict[str, list[np.ndarray]]]


def _make_maps(data_sets: Sequence[str], methods: Sequence[str], seeds: Sequence[int], rows: int, jobs: Any) -> Maps:
    """Map every data set by every method; classical methods once, modern ones with every seed."""
    maps: Maps = {}
    for data_set in data_sets:
        X, _ = load_rows(data_set, rows)
        maps[data_set] = {}
        for method in methods:
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of pieces that a neighbour graph falls into; some data have them
                runs = seeds[:1] if method in CLASSICAL else seeds
                maps[data_set][method] = [embed(method, X, seed=seed, n_jobs=jobs) for seed in runs]
            print(f"{data_set}: {method}, {len(X)} rows, {time.perf_counter() - began:.1f} s", flush=True)
    return maps


_WORDS = {"knn": "shared neighbours", "procrustes": "Procrustes", "cka": "CKA", "spearman": "order of distances"}


def _short(name: str) -> str:
    return _WORDS.get(name, name).replace("_", " ").removesuffix(" sample").removesuffix(" reduced")


def _heat(ax: Any, values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, limit: float) -> None:
    """Draw a table of numbers as coloured cells with the numbers in them."""
    diverging = values.size and np.nanmin(values) < -0.005
    ax.imshow(
        values, cmap="RdBu_r" if diverging else "YlGnBu", vmin=-limit if diverging else 0, vmax=limit, aspect="auto"
    )
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = abs(value) > 0.62 * limit
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7.5, color="white" if dark else "0.15")
    ax.set_xticks(range(len(columns)), columns, rotation=40, ha="right", fontsize=8)
    ax.set_yticks(range(len(rows)), rows, fontsize=8)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _draw_phi(ax: Any, tables: dict[str, MetricSeparation]) -> None:
    """Draw Phi of every measure with its interval, one row a measure, the tables beside each other."""
    first = next(iter(tables.values()))
    colors = ("#2f2f2f", "#d47719")
    for t, (name, table) in enumerate(tables.items()):
        for i, metric in enumerate(first.metrics):
            m = table.metrics.index(metric)
            y = i + 0.16 * (2 * t - 1)
            ax.plot([table.low[m], table.high[m]], [y, y], color=colors[t], lw=2.5, alpha=0.4, solid_capstyle="butt")
            ax.plot(table.phi[m], y, "o", color=colors[t], ms=6, label=name if i == 0 else None)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    ax.set_xlabel("Phi: 0, no families; 2, the most there can be", fontsize=9)
    ax.set_title(f"1  Which measure sees two families?\n    Phi with {first.confidence:.0%} intervals", **_TITLE)
    _dress(ax, first.metrics)


def _draw_cohesion(ax: Any, table: MetricSeparation) -> None:
    """Draw what each class contributes to Phi."""
    for k, (name, color) in enumerate(zip(table.class_names, _CLASS_COLORS, strict=True)):
        y = np.arange(len(table.metrics)) + 0.17 * (2 * k - 1)
        ax.barh(y, table.cohesion[:, k], height=0.3, color=color, label=f"{name} maps")
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    ax.set_xlabel("likeness within the family less likeness with the other", fontsize=9)
    ax.set_title("2  Which family is one?\n    The two bars of a measure sum to its Phi", **_TITLE)
    _dress(ax, [""] * len(table.metrics))


def _dress(ax: Any, metrics: Sequence[str]) -> None:
    ax.axvline(0, color="0.6", lw=1)
    ax.set_yticks(range(len(metrics)), [_short(metric) for metric in metrics], fontsize=10)
    ax.set_ylim(len(metrics) - 0.5, -0.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 11, "fontweight": "bold"}
_CLASS_COLORS = ("#6273d5", "#2aa56d")


def _draw_similarities(ax: Any, table: MetricSeparation, m: int) -> None:
    """Draw how alike any two methods are by one measure, on average over the data sets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the diagonal of methods with one run
        similarity = np.nanmean(table.similarities[m], axis=0)
    labels = [method.split(" (")[0] for method in table.methods]
    _heat(ax, similarity, labels if m % 3 == 0 else [""] * len(labels), labels if m >= 3 else [], limit=1.0)
    n_first = sum(table.classes[method] == table.class_names[0] for method in table.methods)
    for line in (ax.axhline, ax.axvline):
        line(n_first - 0.5, color="#c0392b", lw=2)
    ax.set_title(f"{_short(table.metrics[m])}, Phi {table.phi[m]:.2f}", **_TITLE)


def _picture(tables: dict[str, MetricSeparation]) -> Any:
    table = next(iter(tables.values()))
    figure = make_figure(15, 14)
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.0, 2.1])
    first, second, third = upper.subplots(1, 3, width_ratios=[1.15, 1, 1])
    _draw_phi(first, tables)
    _draw_cohesion(second, table)
    sets = [_short(name) for name in table.data_sets]
    _heat(third, table.per_data_set, [""] * len(table.metrics), sets, limit=1.5)
    third.set_title("3  Does it hold for each data set?\n    Phi of each alone, rows as on the left", **_TITLE)
    for m, ax in enumerate(lower.subplots(2, 3).flat[: len(table.metrics)]):
        _draw_similarities(ax, table, m)
    figure.suptitle(_headline(table), x=0.01, ha="left", fontsize=13, fontweight="bold")
    lower.suptitle(
        f"4  How alike are the maps of two methods? Mean over {len(sets)} data sets: 0, as unrelated maps; 1, the same "
        "map. On the diagonal two seeds of one method.\n    Red lines part the families: two dark blocks on the "
        "diagonal beside pale ones would be two families.",
        x=0.01,
        ha="left",
        fontsize=11,
        fontweight="bold",
    )
    return figure


def _headline(table: MetricSeparation) -> str:
    best = _short(table.best)
    if table.low[0] <= 0:
        return "No measure of similarity tells classical from modern maps beyond the spread of the data sets"
    families = [
        name for name, part in zip(table.class_names, table.cohesion[0], strict=True) if part > 0.1 * table.phi[0]
    ]
    what = "both are families" if len(families) == 2 else f"but only the {families[0]} maps are a family"
    return f"Classical and modern maps differ most by {best}; {what}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    made = parser("metric_table", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=list(DATA_SETS), help="names of data sets")
    made.add_argument("--classical", nargs="+", default=list(CLASSICAL), help="methods of the first family")
    made.add_argument("--modern", nargs="+", default=available(), help="methods of the second, by their name in gnomon")
    made.add_argument("--rows", type=int, default=2000, help="rows of each data set")
    made.add_argument("--seeds", type=int, default=2, help="runs of each modern method")
    options = parse(made, arguments)
    methods = [*options.classical, *options.modern]
    seeds = range(options.seed, options.seed + options.seeds)
    maps = _make_maps(options.sets, methods, seeds, options.rows, options.jobs)
    classes = dict.fromkeys(options.classical, "classical") | dict.fromkeys(options.modern, "modern")
    tables = {
        name: metric_separation(maps, classes, whiten=whiten, random_state=options.seed, n_jobs=options.jobs)
        for name, whiten in (("maps as they are", False), ("axes brought to one length", True))
    }
    for name, table in tables.items():
        print(f"\n{name}\n{table}")
    figures = {"rows": options.rows, "seeds": list(seeds), "tables": {n: t.to_dict() for n, t in tables.items()}}
    write_json(options.out, "metric_table", figures)
    write_png(options.out, "metric_table", _picture(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
