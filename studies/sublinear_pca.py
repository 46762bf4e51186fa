"""How many entries of the similarity matrix does a map by PCA need?

Draganov & Dohn (2023, section 3.2) expect that PCA by attractions and repulsions can be had in less time than the n x n
similarities take to read, if these are replaced by an approximation of low rank that looks at few of them (Musco &
Woodruff, 2017). The study counts the entries that three such approximations read (uniform columns, columns drawn by
distance, pivots drawn by what is left of the diagonal) and measures what the map by two components of the approximation
loses: the excess of the squared error |K - YY'|^2 over that of the best map, and the Procrustes disparity from it. The
number of entries for an excess of a hundredth is then followed over the number of rows n: an exponent of 1 is a
constant number of columns, 2 all entries.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities import Gram
from gnomon.evaluation import embedding_similarity
from gnomon.linalg.low_rank import LowRank, nystrom, pivoted_cholesky
from studies.output import dress, make_figure, parse, parser, write_json, write_png
from studies.tables import load_rows

__all__ = ["main"]

Float64 = npt.NDArray[np.float64]

_WAYS = {
    "uniform columns": ("#9aa3ad", lambda gram, rank, seed: nystrom(gram, rank, seed=seed)),
    "columns by distance": ("#d47719", lambda gram, rank, seed: nystrom(gram, rank, landmarks="k-means++", seed=seed)),
    "pivots by what is left": ("#6273d5", lambda gram, rank, seed: pivoted_cholesky(gram, rank, seed=seed)),
}
_CASES = (("mnist", "linear"), ("mnist", "gaussian"), ("pbmc4k", "linear"))
_ENOUGH = 0.01  # excess of the squared error
_ALL_COLUMNS = 10_000  # no principal components before: they would make the rank small


def _gram(X: npt.NDArray[np.float32], kernel: str) -> Gram:
    """Return the similarities, centred: inner products, or those of a Gaussian of the median distance."""
    values = np.asarray(X, dtype=np.float64)
    if kernel == "linear":
        return Gram.from_features(values - values.mean(axis=0))
    squares = np.sum(values**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * values @ values.T, 0.0)
    return Gram.from_matrix(np.exp(-distances / (2 * np.median(distances))))


def _map(low: LowRank) -> Float64:
    """Return the scores along two components of the approximation, centred."""
    left, singular, _ = np.linalg.svd(low.B - low.B.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, :2] * singular[:2])


def _case(name: str, kernel: str, rows: int, ranks: Sequence[int], seeds: int) -> list[dict[str, Any]]:
    """Return what each way loses for each number of columns, over seeds, which take other rows and other columns."""
    found = []
    for seed in range(seeds):
        X, _ = load_rows(name, rows, columns=_ALL_COLUMNS, seed=seed)
        n = len(X)
        gram = _gram(X, kernel)
        direct = gram.leading_eigenpairs(2, seed=seed)
        best_map = direct.vectors * np.sqrt(direct.values)
        total = gram.centred_squared_norm
        best = total - float(np.sum(direct.values**2))
        for way, (_, approximate) in _WAYS.items():
            for rank in ranks:
                begun = time.process_time()
                Y = _map(approximate(gram, rank, seed))
                seconds = time.process_time() - begun
                lost = total - 2 * float(np.sum(Y * gram.centred_matvec(Y))) + float(np.sum((Y.T @ Y) ** 2))
                found.append(
                    {
                        "set": name,
                        "kernel": kernel,
                        "rows": n,
                        "seed": seed,
                        "way": way,
                        "columns": rank,
                        "entries_share": (rank + 1) / n,
                        "excess": lost / best - 1,
                        "disparity": 1 - embedding_similarity(Y, best_map, "procrustes"),
                        "cpu_seconds": seconds,
                    }
                )
    return found


def _columns_needed(table: Sequence[dict[str, Any]], **chosen: Any) -> float:
    """Return the number of columns from which on the median excess stays below a hundredth; NaN if it never does."""
    rows = [one for one in table if all(one[key] == value for key, value in chosen.items())]
    ranks = sorted({one["columns"] for one in rows})
    medians = [float(np.median([one["excess"] for one in rows if one["columns"] == rank])) for rank in ranks]
    above = [k for k, value in enumerate(medians) if value > _ENOUGH]
    first = above[-1] + 1 if above else 0
    return float(ranks[first]) if first < len(ranks) else float("nan")


def _exponent(sizes: Sequence[int], columns: Sequence[float]) -> float:
    """Return the slope of the logarithm of the entries read, n times the columns, over that of n."""
    known = np.isfinite(columns)
    if known.sum() < 2:
        return float("nan")
    entries = np.log(np.asarray(sizes, dtype=float)[known] * np.asarray(columns)[known])
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)[known]), entries, 1)[0])


def _key(one: dict[str, Any]) -> tuple[str, str, str]:
    return one["set"], one["kernel"], one["way"]


def _picture(table: Sequence[dict[str, Any]], needed: Sequence[dict[str, Any]], largest: dict[str, int]) -> Any:
    figure = make_figure(4.2 * len(_CASES), 7.4)
    axes = figure.subplots(2, len(_CASES))
    for column, (name, kernel) in enumerate(_CASES):
        error, growth = axes[:, column]
        for way, (color, _) in _WAYS.items():
            case = (name, kernel, way)
            mine = [one for one in table if (*_key(one), one["rows"]) == (*case, largest[name])]
            shares = sorted({one["entries_share"] for one in mine})
            spread = [[one["excess"] for one in mine if one["entries_share"] == share] for share in shares]
            error.plot(shares, [np.median(part) for part in spread], "o-", color=color, label=way, ms=4)
            low, high = [min(part) for part in spread], [max(part) for part in spread]
            error.fill_between(shares, low, high, color=color, alpha=0.15, lw=0)
            grown = [one for one in needed if _key(one) == case]
            entries = [one["rows"] * one["columns"] for one in grown]
            growth.plot([one["rows"] for one in grown], entries, "o-", color=color, ms=4)
        sizes = np.array(sorted({one["rows"] for one in needed if one["set"] == name}), dtype=float)
        growth.plot(sizes, sizes**2, ":", color="0.5")
        growth.annotate("all entries", (sizes[-1], sizes[-1] ** 2), ha="right", va="bottom", fontsize=9, color="0.4")
        error.axhline(_ENOUGH, color="0.7", lw=1)
        error.set(xscale="log", yscale="log", xlabel=f"share of the entries read ({largest[name]} rows)")
        error.set_title(f"{name}, {kernel}", loc="left", fontsize=11, fontweight="bold")
        growth.set(xscale="log", yscale="log", xlabel="rows")
        for ax in (error, growth):
            dress(ax)
    axes[0, 0].set_ylabel("excess of the squared error")
    axes[1, 0].set_ylabel("entries for an excess of 0.01")
    axes[0, 0].legend(frameon=False, fontsize=9)
    return figure


def _agreement(exponents: Sequence[dict[str, Any]]) -> str:
    """Say in one sentence whether fewer entries than all suffice, and how many more a longer table needs."""
    known = [one["exponent"] for one in exponents if np.isfinite(one["exponent"])]
    shares = [one["share_at_most_rows"] for one in exponents if np.isfinite(one["share_at_most_rows"])]
    return (
        f"An excess of 0.01 takes {min(shares):.1%} to {max(shares):.0%} of the entries of the longest tables, and "
        f"n to the power {min(known):.1f} to {max(known):.1f} of them ({len(known)} of {len(exponents)} cases reach it "
        f"at two lengths): {'less' if max(known) < 1.9 else 'not always less'} than all of them, as conjectured."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Approximate similarities from growing shares of their entries; return the exit status."""
    made = parser("sublinear_pca", __doc__ or "")
    made.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 2000, 4000])
    made.add_argument("--columns", type=int, nargs="+", default=[4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384])
    made.add_argument("--seeds", type=int, default=3)
    options = parse(made, arguments)
    table: list[dict[str, Any]] = []
    needed, exponents = [], []
    largest: dict[str, int] = {}
    for name, kernel in _CASES:
        for rows in options.rows:
            ranks = [rank for rank in options.columns if rank < rows]
            table += _case(name, kernel, rows, ranks, options.seeds)
        sizes = sorted({one["rows"] for one in table if one["set"] == name})
        largest[name] = sizes[-1]
        for way in _WAYS:
            columns = [_columns_needed(table, set=name, kernel=kernel, way=way, rows=n) for n in sizes]
            needed += [
                {"set": name, "kernel": kernel, "way": way, "rows": n, "columns": one}
                for n, one in zip(sizes, columns, strict=True)
            ]
            power = _exponent(sizes, columns)
            case = {"set": name, "kernel": kernel, "way": way}
            exponents.append({**case, "exponent": power, "share_at_most_rows": columns[-1] / sizes[-1]})
            told = ", ".join("more" if np.isnan(one) else f"{one:.0f}" for one in columns)
            print(f"{name:14} {kernel:9} {way:23} columns {told} of {sizes}; exponent {power:.2f}", flush=True)
    agreement = _agreement(exponents)
    print(agreement)
    figures = {"agreement": agreement, "exponents": exponents, "needed": needed, "table": table}
    write_json(options.out, "sublinear_pca", figures)
    write_png(options.out, "sublinear_pca", _picture(table, needed, largest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
