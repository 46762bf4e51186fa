"""Which parameters should UMAP have for a new data set?

Bresson's lecture on maps (2025) closes with this question. `gnomon.recommend` answers it without labels, by the scores
of maps with several values. The study lets it choose UMAP's `n_neighbors` for eight tables of `benchmarks.labelled`
that its rules were not made with, and asks afterwards, with labels and with seeds that the choice did not see, how
often a row's ten nearest rows in the map tell its label: beside the default, and beside each fixed value, the best of
which nobody knows beforehand.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.labelled import GROUPS
from benchmarks.recommend import compare_on, paired

from studies.output import dress, make_figure, parse, parser, write_json, write_png

__all__ = ["main"]

_VARIED = "n_neighbors"
_DEFAULT = "15"


def _table(name: str, rows: int, samples: int, fits: int) -> dict[str, Any]:
    """Choose for samples of a table; return what was chosen, accuracies, and the difference to the default."""
    runs = [compare_on(name, rows, seed, fits, _VARIED) for seed in range(samples)]
    fixed = {value: float(np.mean([one["fixed"][value].accuracy for one in runs])) for value in runs[0]["fixed"]}
    gained, half = paired([one["recommended"] for one in runs], [one["fixed"][_DEFAULT] for one in runs])
    return {
        "table": name,
        "chosen": [one["chosen"] for one in runs],
        "recommended": float(np.mean([one["recommended"].accuracy for one in runs])),
        "fixed": fixed,
        "gained_on_the_default": gained,
        "half_interval": half,
        "cpu_seconds_a_choice": float(np.mean([one["cpu_seconds"] for one in runs])),
    }


def _agreement(tables: Sequence[dict[str, Any]]) -> str:
    """Answer the lecture's question in one sentence, with figures."""
    chosen = float(np.mean([one["recommended"] for one in tables]))
    means = {value: float(np.mean([one["fixed"][value] for one in tables])) for value in tables[0]["fixed"]}
    best = max(means, key=lambda value: means[value])
    oracle = float(np.mean([max(one["fixed"].values()) for one in tables]))
    return (
        f"Over {len(tables)} tables the chosen {_VARIED} tells labels in {chosen:.4f}, the default in "
        f"{means[_DEFAULT]:.4f}, the one value that is best for all ({best}) in {means[best]:.4f}, and the best of "
        f"each table, known only by its labels, in {oracle:.4f}."
    )


def _picture(tables: Sequence[dict[str, Any]]) -> Any:
    figure = make_figure(3.4 * 4, 6.4)
    for ax, one in zip(figure.subplots(2, -(-len(tables) // 2), squeeze=False).ravel(), tables, strict=False):
        values = list(one["fixed"])
        ax.plot(values, [one["fixed"][value] for value in values], "o-", color="#9aa3ad", label="each fixed value")
        ax.axhline(one["recommended"], color="#6273d5", lw=2, label="chosen without labels")
        ax.set_title(one["table"], loc="left", fontsize=11, fontweight="bold")
        dress(ax)
    figure.supylabel("label accuracy")
    figure.supxlabel(_VARIED)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), frameon=False, loc="outside upper right", ncols=2)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Let parameters be chosen and judge them; return the exit status."""
    made = parser("recommended", __doc__ or "")
    made.add_argument("--sets", nargs="+", default=list(GROUPS["judged"]), help="tables of benchmarks.labelled")
    made.add_argument("--rows", type=int, default=600, help="rows of each sample")
    made.add_argument("--samples", type=int, default=1, help="samples of each table")
    made.add_argument("--fits", type=int, default=2, help="unseen seeds that each map is made with")
    options = parse(made, arguments)
    tables = []
    for name in options.sets:
        tables.append(_table(name, options.rows, options.samples, options.fits))
        print(f"{name:20} {tables[-1]['recommended']:.3f}  default {tables[-1]['fixed'][_DEFAULT]:.3f}", flush=True)
    agreement = _agreement(tables)
    print(agreement)
    write_json(options.out, "recommended", {"rows": options.rows, "agreement": agreement, "tables": tables})
    write_png(options.out, "recommended", _picture(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
