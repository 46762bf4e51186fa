"""Which methods keep what, over real tables?

Methods of gnomon and, where their packages can be imported, h-NNE, umap-learn, openTSNE, pacmap and trimap map random
samples of real tables with their defaults, and every measure of `gnomon.evaluation.scorecard` is taken of each map. The
tables, as Markdown, give every measure with its interval for each data set and in the mean over the sets; the picture
the ranks of the methods by the measures that published comparisons rest on, and their quality against their time.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from benchmarks.summary import table_of
from benchmarks.tools import TOOLS, probe
from scipy.stats import rankdata

from gnomon.evaluation import MEASURES, scorecard
from gnomon.methods import METHODS
from studies.embedders import embed_here
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import REAL, load_rows

__all__ = ["CLAIMS", "JUDGED", "OURS", "PEERS", "Run", "main"]

Floats = npt.NDArray[np.float64]

OURS = (
    *("pca", "kernel_pca", "mds", "isomap", "lle", "laplacian_eigenmaps", "phate", "sketch_map"),
    *("tsne", "umap", "densmap", "featmap", "largevis", "pacmap", "trimap"),
)
"""Methods of gnomon, by their names in its catalogue."""
PEERS = {
    "h-NNE": ("hnne", "hnne"),
    "umap-learn": ("umap-learn", "umap"),
    "openTSNE": ("openTSNE", "tsne"),
    "pacmap (package)": ("pacmap", "pacmap"),
    "trimap (package)": ("trimap", "trimap"),
}
"""Other packages, as `benchmarks.tools` calls them and their methods."""
JUDGED = {
    "trustworthiness": "trust",
    "continuity": "continuity",
    "auc_rnx": "R_NX",
    "neighborhood_hit": "hit",
    "stress": "stress",
    "shepard": "Shepard",
    "random_triplets": "triplets",
    "centroid_triplets": "of centroids",
}
"""Measures of the published comparisons, four of neighbourhoods and four of the large scale; short names."""
_SNE = ("tsne", "umap", "largevis")
CLAIMS = (
    ("curved data: PCA keeps less of them than the SNE family", "auc_rnx", ("pca",), _SNE),
    ("curved data: PCA keeps less than Isomap", "auc_rnx", ("pca",), ("isomap",)),
    ("curved data: PCA keeps less than kernel PCA", "auc_rnx", ("pca",), ("kernel_pca",)),
    ("coordinates: Isomap's are less readable than PCA's", "local_r2", ("isomap",), ("pca",)),
    ("coordinates: kernel PCA's are less readable than PCA's", "local_r2", ("kernel_pca",), ("pca",)),
    ("coordinates: the SNE family's are less readable than PCA's", "local_r2", _SNE, ("pca",)),
    ("consistent neighbourhoods: the SNE family invents more neighbours than PCA", "trustworthiness", _SNE, ("pca",)),
    ("consistent neighbourhoods: the SNE family tears more than PCA", "continuity", _SNE, ("pca",)),
    ("consistent neighbourhoods: it keeps the large scale less than PCA", "random_triplets", _SNE, ("pca",)),
)
"""What the literature says in words: the first methods have less of the measure, by their median, than the others."""


class Run(NamedTuple):
    """One map: its data set, method and seed, the CPU seconds of its fit, and its scores as (value, low, high)."""

    data_set: str
    method: str
    seed: int
    seconds: float
    scores: dict[str, tuple[float, float, float]]
    quality: dict[str, float]  # of the judged measures, 0 as by chance and 1 as in a perfect map


def _peer(name: str, jobs: int | None) -> Callable[[npt.NDArray[np.float32], int], Floats]:
    tool, method = PEERS[name]
    seeded = tool != "trimap"  # which draws from NumPy's global generator
    threads = {"n_jobs": 1} if tool in ("openTSNE", "umap-learn") else {}  # else idle threads would count

    def embed(X: npt.NDArray[np.float32], seed: int) -> Floats:
        np.random.seed(seed)  # noqa: NPY002
        parameters = {**threads, **({"random_state": seed} if seeded else {})}
        return np.asarray(TOOLS[tool].fit(method, X, parameters, seed), dtype=np.float64)

    return embed


def _ours(name: str, jobs: int | None) -> Callable[[npt.NDArray[np.float32], int], Floats]:
    return lambda X, seed: embed_here(name, X, seed=seed, n_jobs=jobs)


def _methods(options: Any) -> dict[str, Callable[[npt.NDArray[np.float32], int], Floats]]:
    """Return the methods asked for; say of a peer that is not installed that it is left out."""
    made = {name: _ours(name, options.jobs) for name in options.methods}
    for name in options.peers:
        missing = probe(*PEERS[name]).get("missing")
        if missing:
            print(f"without {name}: {missing}", flush=True)
        else:
            made[name] = _peer(name, options.jobs)
    X, _ = load_rows("digits", 200)
    for embed in made.values():  # what is imported or compiled is not counted
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            embed(X, 0)
    return made


def _judge(X: Any, Y: Floats, labels: Any, options: Any) -> tuple[dict[str, Any], dict[str, float]]:
    card = scorecard(X, Y, labels, n_jobs=options.jobs)
    scores = {name: (one.value, *(one.interval or (one.value, one.value))) for name, one in card.items()}
    quality = {}
    for name in set(JUDGED) & set(card):
        one = card[name]
        assert one.chance is not None
        assert one.measure.best is not None
        quality[name] = (one.value - one.chance) / (one.measure.best - one.chance)
    return scores, quality


def _run(options: Any) -> tuple[list[Run], dict[str, str]]:
    """Make and judge all maps; return them, and why a method made none of a set."""
    runs, failures = [], {}
    seeds = range(options.seed, options.seed + options.seeds)
    tables = {(name, seed): load_rows(name, options.rows, seed=seed) for name in options.sets for seed in seeds}
    methods = _methods(options)
    for (name, seed), (X, labels) in tables.items():
        for method, embed in methods.items():
            began = time.process_time()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of pieces that a neighbour graph falls into
                    Y = embed(X, seed)
            except Exception as error:  # of whatever kind a package raises
                failures[f"{method}, {name}"] = f"{type(error).__name__}: {error}"[:160]
                continue
            seconds = time.process_time() - began
            runs.append(Run(name, method, seed, seconds, *_judge(X, Y, labels, options)))
        print(f"{name}, seed {seed}: {len(X)} rows, {time.process_time():.0f} CPU s in all", flush=True)
    return runs, failures


def _of(runs: list[Run], data_set: str, method: str) -> list[Run]:
    return [run for run in runs if run.data_set == data_set and run.method == method]


def _mean(runs: list[Run], measure: str) -> tuple[float, float, float]:
    """Return the mean value over seeds, and the ends of the lowest and highest of their intervals."""
    known = np.array([run.scores[measure] for run in runs if measure in run.scores]).reshape(-1, 3)
    if not len(known):
        return (np.nan, np.nan, np.nan)
    return float(known[:, 0].mean()), float(known[:, 1].min()), float(known[:, 2].max())


def _over_sets(values: Floats, seed: int) -> Floats:
    """Return mean, low and high over data sets (the first axis) for each method: 95 % by resampling the sets.

    Sets differ more than methods do, and all methods have the same: each set's mean over the methods is taken out of
    the intervals, so that they compare methods.
    """
    draws = np.random.default_rng(seed).integers(0, len(values), (1000, len(values)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a method without a map in any of the sets drawn is nan
        mean = np.nanmean(values, axis=0)
        beside = values - np.nanmean(values, axis=1, keepdims=True)
        low, high = np.nanquantile(np.nanmean(beside[draws], axis=1), [0.025, 0.975], axis=0)
        return np.column_stack(
            [mean, mean + low - np.nanmean(beside, axis=0), mean + high - np.nanmean(beside, axis=0)]
        )


def _goodness(measure: str, values: Floats) -> Floats:
    """Return numbers of which larger ones are better."""
    best = MEASURES[measure].best
    return values if best == 1.0 else -np.abs(values - (best or 0.0))


def _summary(runs: list[Run], methods: list[str], sets: list[str], seed: int) -> dict[str, Any]:
    """Return means with intervals over sets of every measure, ranks of those that judge, quality and seconds."""
    means, ranks = {}, {}
    for measure in MEASURES:
        table = np.array([[_mean(_of(runs, one, method), measure)[0] for method in methods] for one in sets])
        if np.isnan(table).all():
            continue
        means[measure] = _over_sets(table, seed)
        if MEASURES[measure].best is not None:
            ranked = rankdata(-_goodness(measure, table), axis=1, nan_policy="omit")
            ranks[measure] = _over_sets(ranked, seed)

    def average(get: Callable[[Run], float]) -> Floats:
        return np.array([[np.mean([get(run) for run in _of(runs, o, m)] or [np.nan]) for m in methods] for o in sets])

    quality = average(lambda run: float(np.mean(list(run.quality.values()))))
    seconds = average(lambda run: run.seconds)
    return {
        "means": means,
        "ranks": ranks,
        "quality": _over_sets(quality, seed),
        "seconds": np.nanmean(seconds, axis=0),
    }


def _claims(runs: list[Run], sets: list[str]) -> list[dict[str, Any]]:
    """Count the data sets in which each claim of the literature holds, of those that have both sides."""
    found = []
    for words, measure, less, more in CLAIMS:
        sides = [
            [np.median([_mean(_of(runs, one, method), measure)[0] for method in side]) for one in sets]
            for side in (less, more)
        ]
        known = np.isfinite(sides).all(axis=0)
        holds = int(np.count_nonzero(np.less(*sides) & known))
        found.append({"claim": words, "measure": measure, "holds": holds, "of": int(np.count_nonzero(known))})
    return found


def _cell(value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:.3f}" if low == high else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _tables(runs: list[Run], summary: dict[str, Any], claims: list[dict[str, Any]], options: Any) -> str:
    """Return all tables as Markdown."""
    methods, sets = summary["methods"], options.sets
    lines = ["# Methods compared", "", f"At most {options.rows} rows of each set, {options.seeds} samples and seeds."]
    lines += ["", "## Mean ranks over the data sets, 1 is best", ""]
    order = np.argsort(
        np.nanmean([summary["ranks"][name][:, 0] for name in JUDGED if name in summary["ranks"]], axis=0)
    )
    judged = [name for name in JUDGED if name in summary["ranks"]]
    rows = []
    for i in order:
        ranks = [f"{summary['ranks'][name][i, 0]:.1f}" for name in judged]
        rows.append([methods[i], *ranks, _cell(*summary["quality"][i]), f"{summary['seconds'][i]:.2f}"])
    lines.append(table_of(["method", *(JUDGED[name] for name in judged), "quality", "CPU s"], rows))
    lines += [
        "",
        "Quality: the mean of these measures, each 0 as by chance and 1 in a perfect map; its interval of 95 %",
    ]
    lines += [
        "compares methods over the same sets, which are resampled.",
        "",
        "## What the literature says in words",
        "",
    ]
    rows = [[one["claim"], one["measure"], f"{one['holds']} of {one['of']}"] for one in claims]
    lines.append(table_of(["claim", "measure", "holds in sets"], rows))
    lines += [
        "",
        "## Every measure, mean over the data sets",
        "",
        "In brackets 95 % of comparisons over the same sets, which are resampled.",
        "",
    ]
    rows = [[name, *(_cell(*one) for one in values)] for name, values in summary["means"].items()]
    lines.append(table_of(["measure", *methods], rows))
    for data_set in sets:
        lines += ["", f"## {data_set}", "", "Mean over seeds; in brackets from the lowest to the highest end of the"]
        lines += ["intervals of 95 % that the seeds have.", ""]
        rows = []
        for measure in summary["means"]:
            cells = [_cell(*_mean(_of(runs, data_set, method), measure)) for method in methods]
            if set(cells) != {"-"}:
                rows.append([measure, *cells])
        lines.append(table_of(["measure", *methods], rows))
    return "\n".join(lines) + "\n"


def _picture(summary: dict[str, Any]) -> Any:
    """Draw the mean ranks of the measures that judge, and quality against CPU seconds."""
    methods, judged = summary["methods"], [name for name in JUDGED if name in summary["ranks"]]
    ranks = np.array([summary["ranks"][name][:, 0] for name in judged]).T
    order = np.argsort(np.nanmean(ranks, axis=1))
    figure = make_figure(13.0, 0.28 * len(methods) + 1.6)
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1.0])
    left.imshow(ranks[order], cmap="YlGnBu_r", vmin=1, vmax=len(methods), aspect="auto")
    for y, i in enumerate(order):
        for x in range(len(judged)):
            strong = ranks[i, x] < 0.45 * len(methods)
            left.text(x, y, f"{ranks[i, x]:.1f}", ha="center", va="center", fontsize=8, color="w" if strong else "k")
    left.set_xticks(range(len(judged)), [JUDGED[name] for name in judged], fontsize=8)
    left.xaxis.tick_top()
    left.set_yticks(range(len(methods)), [methods[i] for i in order], fontsize=9)
    left.tick_params(length=0)
    left.spines[:].set_visible(False)
    left.set_title("mean rank over the data sets (1 is best)", loc="left", fontsize=11, fontweight="bold", pad=22)
    value, low, high = summary["quality"].T
    peers = np.array([name in PEERS for name in methods])
    for of, color, label in ((~peers, "#3f5bd0", "gnomon"), (peers, "#d47719", "other packages")):
        if of.any():
            errors = np.abs(np.array([low, high])[:, of] - value[of])
            right.errorbar(
                summary["seconds"][of], value[of], errors, fmt="o", color=color, alpha=0.85, lw=0.6, label=label
            )
    for name, x, y in zip(methods, summary["seconds"], value, strict=True):
        right.annotate(name, (x, y), (4, 3), textcoords="offset points", fontsize=8)
    right.set_xscale("log")
    right.set_xlabel("CPU seconds of a fit, mean over the data sets")
    right.set_ylabel("quality: 0 by chance, 1 perfect")
    right.set_title("quality and time", loc="left", fontsize=11, fontweight="bold")
    right.legend(frameon=False, fontsize=9, loc="lower center")
    dress(right)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit status."""
    names = [card.name for card in METHODS]
    made = parser("method_comparison", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=list(REAL), help="data sets")
    made.add_argument("--rows", type=int, default=500, help="rows of each random sample")
    made.add_argument("--seeds", type=int, default=2, help="samples of rows, each mapped with a seed of its own")
    made.add_argument("--methods", nargs="+", default=list(OURS), choices=names, metavar="NAME", help="of gnomon")
    made.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS), metavar="NAME", help="all")
    options = parse(made, arguments)
    runs, failures = _run(options)
    methods = list(dict.fromkeys(run.method for run in runs))
    summary = {"methods": methods, **_summary(runs, methods, options.sets, options.seed)}
    claims = _claims(runs, options.sets)
    text = _tables(runs, summary, claims, options)
    (options.out / "method_comparison.md").write_text(text)
    print(text[: text.index("## Every measure")])
    for what, why in failures.items():
        print(f"no map: {what} ({why})")
    figures = {
        **{key: getattr(options, key) for key in ("rows", "seeds", "seed", "sets")},
        **{"failures": failures, "claims": claims, **summary},
        "maps": [run._asdict() for run in runs],
    }
    write_json(options.out, "method_comparison", figures)
    write_png(options.out, "method_comparison", _picture(summary), small=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
