"""Values with intervals or null levels: scores, estimates of the dimension, verdicts, null maps and their points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.colors import colors_of
from gnomon.plot.curves import HistogramDisplay, mark_places
from gnomon.plot.display import Display, GridDisplay, draws
from gnomon.plot.map import MapDisplay
from gnomon.plot.theme import Style
from gnomon.plot.wrapping import wrapped

__all__ = [
    "SIGMAS",
    "IntervalsDisplay",
    "Line",
    "in_words",
    "plot_dimension",
    "plot_evaluation",
    "plot_nulls",
    "plot_point_nulls",
    "plot_verdicts",
]

SIGMAS = 1.96  # standard errors to both sides: an interval of 95 %
_LINE = 0.34  # inches, of letters of the usual size
_NAME = 40  # letters
_WIDEST = 3.0  # an interval beyond so many times the value is drawn to there, with an arrow


@dataclass(frozen=True)
class Line:
    """A value to draw.

    Attributes
    ----------
    name : str
    value : float
        NaN draws none: a heading, or a value that is a number alone.
    low, high : float
        Ends of its interval; both the value if it has none.
    beside : tuple of two float or None, default=None
        What it is compared with: a range, or twice the same level.
    note : str, default=""
        To the right.
    heading : bool, default=False
        Whether it is a heading of the lines below.
    hollow : bool, default=False
        Whether the mark is hollow.
    """

    name: str
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    beside: tuple[float, float] | None = None
    note: str = ""
    heading: bool = False
    hollow: bool = False


@dataclass(eq=False)
class IntervalsDisplay(Display):
    """A line for each value: a mark, its interval, in grey what it is compared with, and a note.

    Attributes
    ----------
    lines : sequence of Line
        From top to bottom.
    label : str
        Of the axis.
    title : str or None, default=None
        Above it.
    zero : bool, default=False
        Whether 0 is marked by a line.
    limits : tuple of (float or None, float or None) or None, default=None
        Ends of the axis; None leaves them to what is drawn.
    bars : bool, default=False
        Whether values are bars from 0 instead of marks.
    x_marks : mapping of str to float, default={}
        Places of the axis that have names.
    """

    lines: Sequence[Line]
    label: str
    title: str | None = None
    zero: bool = False
    limits: tuple[float | None, float | None] | None = None
    bars: bool = False
    x_marks: Mapping[str, float] = field(default_factory=dict)

    def _extent(self, style: Style) -> tuple[float, float]:
        return style.width or self._size[0], (1.0 + _LINE * len(self.lines)) * style.scale

    def _draw(self, ax: Any, style: Style) -> None:
        theme, color = style.theme, class_colors(1)[0]
        mark_places(ax, self.x_marks, theme, ls="--")
        for row, one in enumerate(self.lines):
            self._draw_line(ax, row, one, style, color)
            if one.note:
                ax.annotate(
                    one.note,
                    (1.03, row),
                    xycoords=ax.get_yaxis_transform(),
                    va="center",
                    fontsize="small",
                    annotation_clip=False,
                    parse_math=False,
                )
        ax.set_yticks(range(len(self.lines)), [wrapped(one.name, _NAME, 2) for one in self.lines])
        for text, one in zip(ax.get_yticklabels(), self.lines, strict=True):
            text.set_parse_math(False)
            text.set_fontweight("bold" if one.heading else "normal")
        if self.zero:
            ax.axvline(0.0, color=theme.line, lw=0.8, zorder=0.5)
        if self.limits is not None:
            ax.set_xlim(*self.limits)
        ax.set(xlabel=self.label, ylim=(len(self.lines) - 0.4, -0.6))
        if self.title:
            ax.set_title(self.title, loc="left", fontweight="bold", parse_math=False)
        ax.grid(axis="x", color=theme.faint)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)

    def _draw_line(self, ax: Any, row: int, one: Line, style: Style, color: str) -> None:
        theme, scale = style.theme, style.scale
        if one.beside is not None:
            low, high = one.beside
            ax.plot([low, high], [row, row], color=theme.line, lw=7.0 * scale, alpha=0.55, solid_capstyle="butt")
            ax.plot([0.5 * (low + high)] * 2, [row - 0.3, row + 0.3], color=theme.line, lw=1.8 * scale)
        if one.low < one.high:
            ax.plot(
                [one.low, one.high],
                [row, row],
                color=theme.ink if self.bars else color,
                lw=2.2 * scale,
                alpha=0.6,
                zorder=2.5,
            )
        if self.bars and np.isfinite(one.value):
            ax.barh(row, one.value, color=color, height=0.62)
        elif np.isfinite(one.value):
            fill = theme.ground if one.hollow else color
            ax.plot(one.value, row, "o", color=color, mfc=fill, ms=6 * scale, zorder=3, clip_on=False)


def in_words(name: str) -> str:
    """Return the name of a measure as words."""
    return name.replace("_", " ")


@draws("Evaluation")
@entrance("plot_evaluation")
def plot_evaluation(evaluation: Any, *, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw the scores of a map beside those of a map that knows nothing of the data.

    Parameters
    ----------
    evaluation : Evaluation
        Made by `gnomon.evaluate`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        A point for each score, a grey tick for its chance level, with both as numbers.
    """
    from gnomon.evaluation.words import title_of

    chance = evaluation.random_map
    lines = [
        Line(title_of(name), value, value, value, (chance[name],) * 2, f"{value:.3f}  ({chance[name]:.3f} by chance)")
        for name, value in evaluation.scores().items()
    ]
    return IntervalsDisplay(lines, "score; grey: a map that knows nothing of the data").plot(ax, **style)


@draws("IntrinsicDimension")
@entrance("plot_dimension")
def plot_dimension(dimension: Any, *, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw the estimates of the intrinsic dimension with their intervals, the one that counts first.

    Parameters
    ----------
    dimension : IntrinsicDimension
        Made by `gnomon.intrinsic_dimension`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        An interval without an end stops at three times its estimate.

    Raises
    ------
    ValueError
        If nothing could be estimated.
    """
    known = {name: one for name, one in dimension.estimates.items() if np.isfinite(one.value)}
    if not known:
        raise ValueError(message("a dimension without estimates", "one with at least one"))
    lines = [
        Line(
            in_words(name),
            one.value,
            one.low,
            min(one.high, _WIDEST * one.value),
            note=f"{one.value:.1f}{'  (no upper end)' if one.high > _WIDEST * one.value else ''}",
        )
        for name, one in known.items()
    ]
    label = f"intrinsic dimension, intervals of {dimension.confidence:.0%}"
    return IntervalsDisplay(lines, label, limits=(0.0, None)).plot(ax, **style)


@draws("several Verdict", "MapVerdicts")
@entrance("plot_verdicts")
def plot_verdicts(verdicts: Sequence[Any], *, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw the statistic of each verdict with its interval, and the answer beside it.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Such as `gnomon.evaluation.are_apart` or `gnomon.evaluation.find_illusions` returns.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        Statistics have units of their own; each is drawn over the half-width of its interval, so that a line that
        crosses 0 is one that cannot be told from the null.

    Raises
    ------
    ValueError
        If there is no verdict.
    """
    if not verdicts:
        raise ValueError(message("0 verdicts", "at least 1"))
    lines = []
    for one in verdicts:
        low, high = one.interval
        half = 0.5 * (high - low) if np.isfinite([low, high]).all() and high > low else np.nan
        misled = ", the map misleads" if one.is_illusion else ""
        lines.append(Line(one.question, one.statistic / half, low / half, high / half, note=f"{one.answer}{misled}"))
    label = "statistic over the half-width of its interval"
    return IntervalsDisplay(lines, label, zero=True).plot(ax, **style)


@draws("NullScores")
@entrance("plot_nulls")
def plot_nulls(nulls: Any, *, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw the scores of a map beside those of maps of tables without structure.

    Parameters
    ----------
    nulls : NullScores
        Made by `gnomon.evaluation.null_scores`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        A point for each score, a grey bar for the range of the structureless maps, and the p-value.
    """
    lines = [
        Line(
            in_words(name),
            value,
            value,
            value,
            (float(nulls.nulls[name].min()), float(nulls.nulls[name].max())),
            f"p = {nulls.p_values[name]:.3g}",
        )
        for name, value in nulls.scores.items()
    ]
    count = len(next(iter(nulls.nulls.values())))
    label = f"score; grey: {count} tables without structure ({nulls.kind})"
    return IntervalsDisplay(lines, label).plot(ax, **style)


@draws("PointNulls")
@entrance("plot_point_nulls")
def plot_point_nulls(found: Any, *, alpha: float = 0.05, ax: Any = None, **style: Any) -> GridDisplay:
    """Draw the scores of the points of a map beside those of points of structureless tables, and where each lies.

    Parameters
    ----------
    found : PointNulls
        Made by `gnomon.evaluation.embedr` or `gnomon.evaluation.scdeed`.
    alpha : float in (0, 0.5), default=0.05
        As for `PointNulls.verdicts`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        Left both distributions of the score; right the map, points coloured by their verdict, if it has two or three
        dimensions.
    """
    parts: list[Display] = [
        HistogramDisplay(
            {"this map": found.scores},
            f"score of a point ({found.name})",
            beside=found.null.ravel(),
            beside_name="tables without structure",
        )
    ]
    if found.embedding.shape[1] in (2, 3):
        colors = colors_of(found.verdicts(alpha), None, len(found.embedding))
        parts.append(MapDisplay(found.embedding[:, :2], colors, annotate=False))
    return GridDisplay(parts, [[*range(len(parts))]], (5.6 * len(parts), 4.6)).plot(ax, **style)
