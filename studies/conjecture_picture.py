"""The picture of the study of Conjecture 1: cosine along the runs, its mean by stage, and how alike the maps end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.output import make_figure

__all__ = ["picture"]

_COLORS = {"signed": "#d47719", "non_negative": "#6273d5", "membership": "#2aa56d", "control": "0.35"}
_WORDS = {
    "signed": "LLE, signed weights",
    "non_negative": "LLE, non-negative weights",
    "membership": "LLE, weights from memberships",
    "control": "control: two-kernel PCA",
}
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 11, "fontweight": "bold"}


def _along(found: Any, epochs: Sequence[int], starts: Sequence[str], value: str) -> npt.NDArray[np.float64]:
    """Return a figure by start and epoch."""
    return np.array([[getattr(found[f"run/{start}/{epoch}"], value) for epoch in epochs] for start in starts])


def _draw_run(
    ax: Any, name: str, one: Any, epochs: Sequence[int], starts: Sequence[str], weights: Sequence[str]
) -> None:
    """Draw the cosine along the runs of one data set: mean over starts, and its range."""
    x = np.arange(len(epochs))
    means, spreads = (
        np.mean([_along(one["alignments"][kind], epochs, starts, value).mean(axis=0) for kind in weights], axis=0)
        for value in ("null_mean", "null_std")
    )
    ax.fill_between(x, means - 2 * spreads, means + 2 * spreads, color="0.82", lw=0, label="null: weights permuted")
    for kind in (*weights, "control"):
        source = one["alignments"][weights[0] if kind == "control" else kind]
        values = _along(source, epochs, starts, "control" if kind == "control" else "cosine")
        dashed = {"ls": "--", "lw": 1.5} if kind == "control" else {"lw": 2.2}
        ax.plot(x, values.mean(axis=0), color=_COLORS[kind], label=_WORDS[kind], **dashed)
        if kind != "control":
            ax.fill_between(x, values.min(axis=0), values.max(axis=0), color=_COLORS[kind], alpha=0.13, lw=0)
    ax.axhline(0, color="0.5", lw=0.8)
    ax.set_xticks(x, [str(epoch) for epoch in epochs], fontsize=7.5)
    ax.set_ylim(-0.35, 1.0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(f"{name.replace('_sample', '').replace('_', ' ')}, {one['rows']:,} rows", loc="left", fontsize=10.5)


def _draw_stages(ax: Any, table: Sequence[dict[str, Any]], weights: Sequence[str]) -> None:
    stages = list(dict.fromkeys(row["stage"] for row in table))
    for k, kind in enumerate((*weights, "control")):
        for i, stage in enumerate(stages):
            row = next(row for row in table if (row["stage"], row["weights"]) == (stage, kind))
            y = i + 0.17 * (k - 1.5)
            ax.plot([row["low"], row["high"]], [y, y], color=_COLORS[kind], lw=4, alpha=0.4, solid_capstyle="butt")
            ax.plot(row["cosine"], y, "o", color=_COLORS[kind], ms=6)
            if kind == weights[0]:
                null, spread = row["null_mean"], 2 * row["null_std"]
                ax.fill_betweenx([i - 0.42, i + 0.42], null - spread, null + spread, color="0.82", lw=0)
    ax.axvline(0, color="0.5", lw=0.8)
    ax.set_yticks(range(len(stages)), stages, fontsize=10)
    ax.set_ylim(len(stages) - 0.5, -0.5)
    ax.set_xlabel("cosine of the two gradients: mean over data sets and 95% interval", fontsize=9)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title("2  The same, averaged by stage of the run", **_TITLE)


def _draw_likeness(ax: Any, studied: dict[str, Any]) -> None:
    """Draw the likeness to UMAP's map: one dot a data set, a bar for the mean."""
    first = next(iter(studied.values()))["likeness"]
    shades = ("#2f2f2f", "#a65286")
    words = {"procrustes": "Procrustes: the layout", "knn": "shared neighbours"}
    names = list(first[next(iter(first))])
    for m, measure in enumerate(first):
        values = np.array([[one["likeness"][measure][name] for name in names] for one in studied.values()])
        y = np.arange(len(names)) + 0.36 * (m - 0.5)
        ax.barh(y, values.mean(axis=0), height=0.3, color=shades[m], alpha=0.35, label=words.get(measure, measure))
        for row in values:
            ax.plot(row, y, "o", color=shades[m], ms=4)
    ax.set_yticks(range(len(names)), names, fontsize=10)
    ax.set_ylim(len(names) + 0.2, -0.6)  # room for the legend below
    ax.set_xlim(0, 1)
    ax.set_xlabel("likeness to UMAP's map: 0, as unrelated maps; 1, the same map. A dot for each data set", fontsize=9)
    ax.legend(frameon=False, fontsize=9, loc="lower right", ncols=2)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title("3  Do both end at the same map?", **_TITLE)


def _headline(table: Sequence[dict[str, Any]], weights: Sequence[str]) -> str:
    """Say what the table says: which cosines lie above both the null and the control."""
    stages = list(dict.fromkeys(row["stage"] for row in table))

    def row(stage: str, kind: str) -> dict[str, Any]:
        return next(one for one in table if (one["stage"], one["weights"]) == (stage, kind))

    early = stages[1]
    best = max(weights, key=lambda kind: float(row(early, kind)["cosine"]))
    one, last, control = row(early, best), row(stages[-1], best), row(early, "control")
    real = one["low"] > one["null_mean"] + 2 * one["null_std"]
    beyond = one["low"] > control["high"]
    return (
        f"UMAP's force and two-kernel LLE's {'agree beyond chance' if real else 'do not agree beyond chance'} "
        f"while the map is made (cosine {one['cosine']:.2f}, {_WORDS[best].removeprefix('LLE, ')}), "
        f"{'more' if beyond else 'not clearly more'} than UMAP's with two-kernel PCA's ({control['cosine']:.2f}); "
        f"at the end {last['cosine']:.2f}"
    )


def picture(
    studied: dict[str, Any],
    table: Sequence[dict[str, Any]],
    *,
    epochs: Sequence[int],
    starts: Sequence[str],
    weights: Sequence[str],
) -> Any:
    """Return the figure."""
    columns = min(3, len(studied))
    rows = -(-len(studied) // columns)
    figure = make_figure(15.5, 4.6 + 3.0 * rows)
    upper, lower = figure.subfigures(2, 1, height_ratios=[3.0 * rows, 3.9])
    axes = np.atleast_1d(upper.subplots(rows, columns, sharey=True, squeeze=False)).ravel()
    for ax, (name, one) in zip(axes, studied.items(), strict=False):
        _draw_run(ax, name, one, epochs, starts, weights)
    for ax in axes[len(studied) :]:
        ax.set_visible(False)
    for ax in axes[::columns]:
        ax.set_ylabel("cosine of the gradients", fontsize=9)
    for ax in axes[max(len(studied) - columns, 0) : len(studied)]:
        ax.set_xlabel(f"epoch of UMAP; at {epochs[-1]} the map rests and little force is left", fontsize=9)
    upper.suptitle(
        "1  Cosine of UMAP's mean force and the gradient of each loss along UMAP runs from three starts (line: mean; "
        "band: range over starts)",
        x=0.01,
        ha="left",
        fontsize=11,
        fontweight="bold",
    )
    handles, labels = axes[0].get_legend_handles_labels()
    upper.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=10)
    left, right = lower.subplots(1, 2)
    _draw_stages(left, table, weights)
    _draw_likeness(right, studied)
    figure.suptitle(_headline(table, weights), x=0.01, ha="left", fontsize=13, fontweight="bold", wrap=True)
    return figure
