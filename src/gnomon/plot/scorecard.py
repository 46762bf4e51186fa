"""plot_scorecard: the measures of a map by quality, their curves over sizes of neighbourhoods, the Shepard diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.style import import_matplotlib, new_axes, point_style, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_curves", "plot_scorecard", "plot_shepard", "save_scorecard"]

_CURVES = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "q_nx": "common neighbours, Q_NX",
    "r_nx": "beyond chance, R_NX",
    "mrre_false": "1 - rank errors in the map",
    "mrre_missing": "1 - rank errors in the data",
}
_GREY = "0.6"


def plot_scorecard(scorecard: Any, *, title: str | None = None) -> Figure:
    """Draw every measure with its interval and chance level, curves over the size of neighbourhoods, and distances.

    Parameters
    ----------
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    matplotlib Figure
        Not registered with pyplot. Left the measures: a point is the value, a line the interval, a grey tick what a
        random map gets; measures that are no shares are numbers alone. Top right the curves, with intervals as bands;
        bottom right the Shepard diagram, with the best increasing function and the line of the best scale. Of measures
        that look at no ranks there is nothing on the right.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    matplotlib = import_matplotlib()
    figure: Figure = matplotlib.figure.Figure(figsize=(13.0, 8.4), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    ranked = scorecard.curves is not None
    axes = figure.subplot_mosaic("tc;ts" if ranked else "t.", width_ratios=[1.15, 1.0])  # table, curves, Shepard
    _draw_table(axes["t"], scorecard)
    if ranked:
        plot_curves(scorecard, ax=axes["c"])
        plot_shepard(scorecard, ax=axes["s"])
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold", parse_math=False)
    return figure


def _draw_table(ax: Any, scorecard: Any) -> None:
    """Draw a line for each measure, under the names of the qualities."""
    from gnomon.evaluation import QUALITIES

    color, row = class_colors(1)[0], 0
    for quality, scores in scorecard.by_quality().items():
        ax.text(-0.02, row, QUALITIES[quality], ha="right", va="center", fontsize=9, fontweight="bold")
        row += 1
        for one in scores.values():
            best = one.measure.best
            ax.text(-0.02, row, one.name.replace("_", " "), ha="right", va="center", fontsize=9)
            note = "" if best is None else {1.0: "best 1", 0.0: "best 0"}[best]
            ax.text(1.03, row, f"{one.value:.3f}", va="center", fontsize=9, family="monospace")
            ax.text(1.16, row, note, va="center", fontsize=8, color=_GREY)
            if best is not None and one.measure.high == 1.0:
                _draw_share(ax, row, one, color)
            row += 1
    ax.set(xlim=(0.0, 1.0), ylim=(row - 0.3, -0.8), yticks=[], xticks=[0.0, 0.25, 0.5, 0.75, 1.0])
    ax.grid(axis="x", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(length=0, labelsize=8)
    anchors = "all rows" if scorecard.n_anchors == scorecard.n_samples else f"{scorecard.n_anchors:,} random rows"
    text = f"{scorecard.n_samples:,} rows, ranks of {anchors}; {scorecard.n_neighbors} neighbours; grey: a random map"
    ax.set_xlabel(text, fontsize=8)


def _draw_share(ax: Any, row: int, one: Any, color: str) -> None:
    """Draw the value of a share, its interval and its chance level; what lies below 0 stands at 0."""
    hollow = one.measure.best == 0.0
    if one.chance is not None:
        ax.plot([max(one.chance, 0.0)] * 2, [row - 0.28, row + 0.28], color=_GREY, lw=1.6, clip_on=False)
    if one.interval is not None:
        ax.plot(np.maximum(one.interval, 0.0), [row, row], color=color, lw=2.4, alpha=0.5, clip_on=False)
    ax.plot(
        max(one.value, 0.0),
        row,
        marker="o",
        ms=5,
        mfc="white" if hollow else color,
        mec=color,
        clip_on=False,
        zorder=3,
    )


def plot_curves(scorecard: Any, *, ax: Any = None) -> Any:
    """Draw measures over the size of neighbourhoods, with intervals as bands.

    Parameters
    ----------
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If no measure of the scorecard looks at the ranks of all rows.
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    curves = _of_ranks(scorecard.curves, "curves")
    ax = new_axes(7.2, 4.2) if ax is None else ax
    for (name, label), color in zip(_CURVES.items(), class_colors(len(_CURVES)), strict=True):
        values, half = getattr(curves, name), curves.half_widths[name]
        ax.plot(curves.sizes, values, color=color, lw=1.5, label=label)
        ax.fill_between(curves.sizes, values - half, values + half, color=color, alpha=0.2, lw=0)
    for size, text in ((scorecard.n_neighbors, "k"), (scorecard.local_size, "local | global")):
        ax.axvline(size, color=_GREY, lw=0.8, ls=":")
        ax.text(size, 1.01, text, ha="center", va="bottom", fontsize=8, color="0.4", transform=ax.get_xaxis_transform())
    ax.set(xscale="log", xlabel="size of the neighbourhoods", ylim=(min(0.0, float(np.nanmin(curves.r_nx))), 1.02))
    ax.legend(frameon=True, framealpha=0.85, edgecolor="none", fontsize=7.5, loc="lower right", ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_shepard(scorecard: Any, *, ax: Any = None) -> Any:
    """Draw distances in the map against those in the data, with the best increasing function and scale.

    Parameters
    ----------
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If no measure of the scorecard looks at the ranks of all rows.
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    shepard = _of_ranks(scorecard.shepard, "shepard")
    ax = new_axes(7.2, 4.2) if ax is None else ax
    area, opacity = point_style(len(shepard.data))
    colors = class_colors(3)
    ax.scatter(shepard.data, shepard.map, s=area, alpha=0.5 * opacity, color=colors[0], lw=0, rasterized=True)
    ax.plot(shepard.levels[:, 0], shepard.levels[:, 1], color="0.1", lw=1.5, label="best increasing function")
    if shepard.scale > 0:
        ends = np.array([0.0, shepard.data.max()])
        ax.plot(ends, ends / shepard.scale, color=_GREY, lw=1.0, ls="--", label="best scale")
    ax.set(xlabel="distance in the data", ylabel="distance in the map", xlim=(0.0, None))
    ax.set_ylim(0.0, 1.05 * float(shepard.map.max()) or 1.0)
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _of_ranks(found: Any, name: str) -> Any:
    if found is None:
        fact, remedy = f"it has no {name}", "Take measures='all', or trustworthiness among them."
        raise ValueError(message("scorecard", "with a measure of ranks", fact=fact, remedy=remedy))
    return found


def save_scorecard(path: Any, scorecard: Any, *, title: str | None = None, dpi: int = 150) -> None:
    """Write the figure of `plot_scorecard` to a file.

    Parameters
    ----------
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes.
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    title : str, default=None
        Title of the figure.
    dpi : int, default=150
        Pixels per inch.
    """
    save_figure(plot_scorecard(scorecard, title=title), path, dpi=dpi)
