"""Values with intervals or null levels: scores, estimates of the dimension, verdicts, null maps and their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.map import plot_map
from gnomon.plot.style import import_matplotlib, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_dimension", "plot_evaluation", "plot_nulls", "plot_point_nulls", "plot_verdicts"]

_GREY = "0.6"
_LINE = 0.34  # inches
_WIDEST = 3.0  # an interval beyond so many times the value is drawn to there, with an arrow


@dataclass(frozen=True)
class _Line:
    """A value to draw: its name, its interval, what it is compared with and a note."""

    name: str
    value: float
    low: float
    high: float
    beside: tuple[float, float] | None = None
    note: str = ""


def _draw_lines(lines: Sequence[_Line], label: str, *, width: float = 7.2) -> Any:
    """Draw a line for each value; grey is what it is compared with."""
    ax, color = new_axes(width, 1.0 + _LINE * len(lines)), class_colors(1)[0]
    for row, one in enumerate(lines):
        if one.beside is not None:
            low, high = one.beside
            ax.plot([low, high], [row, row], color=_GREY, lw=7.0, alpha=0.55, solid_capstyle="butt")
            ax.plot([0.5 * (low + high)] * 2, [row - 0.3, row + 0.3], color=_GREY, lw=1.8)
        ax.plot([one.low, one.high], [row, row], color=color, lw=2.2, alpha=0.6)
        ax.plot(one.value, row, "o", color=color, ms=6, zorder=3)
        if one.note:
            ax.annotate(
                one.note,
                (1.01, row),
                xycoords=ax.get_yaxis_transform(),
                va="center",
                fontsize=8.5,
                annotation_clip=False,
                parse_math=False,
            )
    ax.set_yticks(range(len(lines)), [one.name for one in lines], fontsize=9)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set(xlabel=label, ylim=(len(lines) - 0.4, -0.6))
    ax.grid(axis="x", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plot_evaluation(evaluation: Any) -> Figure:
    """Draw the scores of a map beside those of a map that knows nothing of the data.

    Parameters
    ----------
    evaluation : Evaluation
        Made by `gnomon.evaluate`.

    Returns
    -------
    matplotlib Figure
        A point for each score, a grey tick for its chance level, with both as numbers.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    from gnomon.evaluation.words import title_of

    chance = evaluation.random_map
    lines = [
        _Line(title_of(name), value, value, value, (chance[name],) * 2, f"{value:.3f}  ({chance[name]:.3f} by chance)")
        for name, value in evaluation.scores().items()
    ]
    figure: Figure = _draw_lines(lines, "score; grey: a map that knows nothing of the data").figure
    return figure


def plot_dimension(dimension: Any) -> Figure:
    """Draw the estimates of the intrinsic dimension with their intervals, the one that counts first.

    Parameters
    ----------
    dimension : IntrinsicDimension
        Made by `gnomon.intrinsic_dimension`.

    Returns
    -------
    matplotlib Figure
        An interval without an end stops at three times its estimate.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If nothing could be estimated.
    """
    known = {name: one for name, one in dimension.estimates.items() if np.isfinite(one.value)}
    if not known:
        raise ValueError(message("a dimension without estimates", "one with at least one"))
    lines = [
        _Line(
            name.replace("_", " "),
            one.value,
            one.low,
            min(one.high, _WIDEST * one.value),
            note=f"{one.value:.1f}{'  (no upper end)' if one.high > _WIDEST * one.value else ''}",
        )
        for name, one in known.items()
    ]
    ax = _draw_lines(lines, f"intrinsic dimension, intervals of {dimension.confidence:.0%}")
    ax.set_xlim(0.0, None)
    figure: Figure = ax.figure
    return figure


def plot_verdicts(verdicts: Sequence[Any]) -> Figure:
    """Draw the statistic of each verdict with its interval, and the answer beside it.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Such as `gnomon.evaluation.are_apart` returns.

    Returns
    -------
    matplotlib Figure
        Statistics have units of their own; each is drawn over the half-width of its interval, so that a line that
        crosses 0 is one that cannot be told from the null.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If there is no verdict.
    """
    if not verdicts:
        raise ValueError(message("0 verdicts", "at least 1"))
    import_matplotlib()
    lines = []
    for one in verdicts:
        low, high = one.interval
        half = 0.5 * (high - low) if np.isfinite([low, high]).all() and high > low else np.nan
        misled = ", the map misleads" if one.is_illusion else ""
        lines.append(_Line(one.question, one.statistic / half, low / half, high / half, note=f"{one.answer}{misled}"))
    ax = _draw_lines(lines, "statistic over the half-width of its interval")
    ax.axvline(0.0, color="0.3", lw=0.8)
    figure: Figure = ax.figure
    return figure


def plot_nulls(nulls: Any) -> Figure:
    """Draw the scores of a map beside those of maps of tables without structure.

    Parameters
    ----------
    nulls : NullScores
        Made by `gnomon.evaluation.null_scores`.

    Returns
    -------
    matplotlib Figure
        A point for each score, a grey bar for the range of the structureless maps, and the p-value.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    lines = [
        _Line(
            name.replace("_", " "),
            value,
            value,
            value,
            (float(nulls.nulls[name].min()), float(nulls.nulls[name].max())),
            f"p = {nulls.p_values[name]:.3g}",
        )
        for name, value in nulls.scores.items()
    ]
    count = len(next(iter(nulls.nulls.values())))
    figure: Figure = _draw_lines(lines, f"score; grey: {count} tables without structure ({nulls.kind})").figure
    return figure


def plot_point_nulls(found: Any, *, level: float = 0.05) -> Figure:
    """Draw the scores of the points of a map beside those of points of structureless tables, and where each lies.

    Parameters
    ----------
    found : PointNulls
        Made by `gnomon.evaluation.embedr` or `gnomon.evaluation.scdeed`.
    level : float in (0, 0.5), default=0.05
        As for `PointNulls.verdicts`.

    Returns
    -------
    matplotlib Figure
        Left both distributions of the score; right the map, points coloured by their verdict, if it has two or three
        dimensions.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    matplotlib = import_matplotlib()
    drawn = found.embedding.shape[1] in (2, 3)
    figure: Figure = matplotlib.figure.Figure(figsize=(11.0 if drawn else 5.6, 4.6), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    axes = figure.subplots(1, 1 + drawn, squeeze=False)[0]
    scores, null = (one[np.isfinite(one)] for one in (found.scores, found.null.ravel()))
    edges = np.histogram_bin_edges(np.concatenate([scores, null]), bins=40)
    axes[0].hist(null, edges, density=True, color=_GREY, alpha=0.55, label="tables without structure")
    axes[0].hist(scores, edges, density=True, histtype="step", lw=2.0, color=class_colors(1)[0], label="this map")
    axes[0].set(xlabel=f"score of a point ({found.name})", yticks=[])
    axes[0].spines[["top", "right", "left"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=9)
    if drawn:
        plot_map(found.embedding, labels=found.verdicts(level), ax=axes[1], annotate=False)
    return figure
