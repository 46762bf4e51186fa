"""Curves, distributions and scatter plots: what many figures are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._palette import class_colors
from gnomon.plot.display import Display
from gnomon.plot.marks import point_style
from gnomon.plot.theme import Style, Theme
from gnomon.plot.wrapping import shortened

__all__ = ["Curve", "CurvesDisplay", "HistogramDisplay", "ScatterDisplay", "mark_places"]

_BINS = 40
_NAME = 32  # letters in a legend
_FEW = 500  # points among which a legend looks for room
_VECTORS = 5_000  # more marks are a picture in a vector file


@dataclass(frozen=True)
class Curve:
    """A curve to draw; what is not finite is left out.

    Attributes
    ----------
    name : str
        In the legend; an empty one is not listed.
    x, y : array-like of shape (n,)
    half : array-like of shape (n,) or None, default=None
        Half-width of the band around it.
    dashed : bool, default=False
    plain : bool, default=False
        Whether it is grey: something to compare with, which takes no colour.
    marked : array-like of bool of shape (n,) or None, default=None
        Where it has marks: full where True, hollow where False; None draws none.
    ring : int or None, default=None
        Place with a ring.
    """

    name: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    half: npt.ArrayLike | None = None
    dashed: bool = False
    plain: bool = False
    marked: npt.ArrayLike | None = None
    ring: int | None = None


@dataclass(eq=False)
class CurvesDisplay(Display):
    """Curves over one axis.

    Attributes
    ----------
    curves : sequence of Curve
    x_label, y_label : str, default=""
    title : str or None, default=None
    x_log, y_log : bool, default=False
        Whether the axes are logarithmic.
    x_marks : mapping of str to float, default={}
        Places on the first axis that have names.
    levels : sequence of float, default=()
        Lines across.
    band : tuple of (str, float, float) or None, default=None
        Name and ends of a range of the second axis.
    x_limits, y_limits : tuple of (float or None, float or None) or None, default=None
        Ends of the axes.
    ticks : sequence of str or None, default=None
        Words at 0, 1, 2, ... of the first axis.
    """

    curves: Sequence[Curve]
    x_label: str = ""
    y_label: str = ""
    title: str | None = None
    x_log: bool = False
    y_log: bool = False
    x_marks: Mapping[str, float] = field(default_factory=dict)
    levels: Sequence[float] = ()
    band: tuple[str, float, float] | None = None
    x_limits: tuple[float | None, float | None] | None = None
    y_limits: tuple[float | None, float | None] | None = None
    ticks: Sequence[str] | None = None

    def _draw(self, ax: Any, style: Style) -> None:
        theme = style.theme
        colors = iter(class_colors(sum(not one.plain for one in self.curves)))
        if self.band is not None:
            name, low, high = self.band
            ax.axhspan(low, high, color=class_colors(1)[0], alpha=0.14, lw=0, label=name)
        for one in self.curves:
            self._draw_curve(ax, one, theme.soft if one.plain else next(colors), style)
        mark_places(ax, self.x_marks, theme, ls=":")
        for level in self.levels:
            ax.axhline(level, color=theme.line, lw=0.8, ls=":")
        ax.set_xscale("log" if self.x_log else "linear")
        ax.set_yscale("log" if self.y_log else "linear")
        if self.ticks is not None:
            ax.set_xticks(range(len(self.ticks)), self.ticks)
        for limits, fix in ((self.x_limits, ax.set_xlim), (self.y_limits, ax.set_ylim)):
            if limits is not None:
                fix(*limits)
        _finish(ax, self.x_label, self.y_label, self.title)
        if ax.get_legend_handles_labels()[1]:
            legend = ax.legend(
                frameon=True, framealpha=0.85, edgecolor="none", facecolor=theme.ground, fontsize="x-small"
            )
            for text in legend.get_texts():
                text.set_parse_math(False)

    def _draw_curve(self, ax: Any, one: Curve, color: str, style: Style) -> None:
        x, y = np.asarray(one.x, dtype=np.float64), np.asarray(one.y, dtype=np.float64)
        good = np.isfinite(y) & ((y > 0.0) | (not self.y_log))
        shown = np.where(good, y, np.nan)
        dashes, name = "--" if one.dashed else "-", shortened(one.name, _NAME) or None
        ax.plot(x, shown, color=color, lw=1.2 if one.plain or one.dashed else 1.7, ls=dashes, label=name)
        if one.half is not None:
            half = np.asarray(one.half, dtype=np.float64)
            ax.fill_between(x, shown - half, shown + half, color=color, alpha=0.2, lw=0)
        if one.marked is not None:
            full = np.asarray(one.marked, dtype=np.bool_)
            ax.plot(x[full], shown[full], "o", color=color, ms=4)
            ax.plot(x[~full], shown[~full], "o", color=color, ms=4, mfc=style.theme.ground)
        if one.ring is not None:
            ax.plot(x[one.ring], shown[one.ring], "o", ms=11, mfc="none", mec=style.theme.ink, mew=1.5)


@dataclass(eq=False)
class HistogramDisplay(Display):
    """Distributions of values in the same bins.

    Attributes
    ----------
    values : mapping of str to array-like
        By their names; what is not finite is left out.
    label : str
        Of the axis.
    beside : array-like or None, default=None
        What they are compared with.
    beside_name : str, default=""
    title : str or None, default=None
    x_marks : mapping of str to float, default={}
        Places that have names.
    """

    values: Mapping[str, npt.ArrayLike]
    label: str
    beside: npt.ArrayLike | None = None
    beside_name: str = ""
    title: str | None = None
    x_marks: Mapping[str, float] = field(default_factory=dict)
    _size: ClassVar[tuple[float, float]] = (5.6, 4.2)

    def _draw(self, ax: Any, style: Style) -> None:
        theme = style.theme
        shown = {name: _finite(values) for name, values in self.values.items()}
        beside = None if self.beside is None else _finite(self.beside)
        everything = np.concatenate([*shown.values(), *([] if beside is None else [beside])])
        edges = np.histogram_bin_edges(everything, bins=_BINS)
        if beside is not None and beside.size:
            ax.hist(beside, edges, density=True, color=theme.line, alpha=0.55, label=self.beside_name)
        for (name, values), color in zip(shown.items(), class_colors(len(shown)), strict=True):
            if values.size:
                ax.hist(values, edges, density=True, histtype="step", lw=2.0, color=color, label=name)
        mark_places(ax, self.x_marks, theme, ls="--")
        ax.set_yticks([])
        _finish(ax, self.label, "", self.title)
        ax.spines["left"].set_visible(False)
        if beside is not None or len(shown) > 1:
            ax.legend()


@dataclass(eq=False)
class ScatterDisplay(Display):
    """Pairs of values as points, and curves over them.

    Attributes
    ----------
    x, y : array-like of shape (n,)
    x_label, y_label : str
    title : str or None, default=None
    curves : sequence of Curve, default=()
        Drawn over the points; the first is in ink, the others grey.
    names : sequence of str or None, default=None
        One for each point, written beside it.
    ring : int or None, default=None
        Point with a ring.
    x_limits, y_limits : tuple of (float or None, float or None) or None, default=None
        Ends of the axes.
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    x_label: str
    y_label: str
    title: str | None = None
    curves: Sequence[Curve] = ()
    names: Sequence[str] | None = None
    ring: int | None = None
    x_limits: tuple[float | None, float | None] | None = None
    y_limits: tuple[float | None, float | None] | None = None

    def _draw(self, ax: Any, style: Style) -> None:
        theme = style.theme
        x, y = np.asarray(self.x, dtype=np.float64), np.asarray(self.y, dtype=np.float64)
        area, opacity = point_style(len(x))
        ax.scatter(
            x,
            y,
            s=area if style.point_size is None else style.point_size,
            alpha=(0.5 * opacity if len(x) > 300 else opacity) if style.opacity is None else style.opacity,
            color=class_colors(1)[0],
            lw=0,
            rasterized=len(x) > _VECTORS if style.rasterized is None else style.rasterized,
        )
        for k, one in enumerate(self.curves):
            look = {"color": theme.soft if k else theme.ink, "lw": 1.0 if k else 1.5, "ls": "--" if one.dashed else "-"}
            ax.plot(np.asarray(one.x), np.asarray(one.y), label=one.name or None, **look)
        if self.ring is not None:
            ax.scatter(x[self.ring], y[self.ring], s=140, facecolor="none", edgecolor=theme.ink, lw=1.2, zorder=4)
        for limits, fix in ((self.x_limits, ax.set_xlim), (self.y_limits, ax.set_ylim)):
            if limits is not None:
                fix(*limits)
        _finish(ax, self.x_label, self.y_label, self.title)
        if self.names is not None:
            from gnomon.plot.names import ClassNames

            ax.margins(0.15)
            colors = [theme.ink] * len(x)
            places = np.column_stack([x, y])
            ClassNames(ax, places, list(self.names), colors, style, 0.8 * style.font_size, places, np.arange(len(x)))
        if any(one.name for one in self.curves):
            ax.legend(loc="best" if len(x) <= _FEW else "upper left")


def mark_places(ax: Any, places: Mapping[str, float], theme: Theme, *, ls: str) -> None:
    """Draw a line at each of some places of the first axis, with its name above, away from those of the others."""
    for k, (name, place) in enumerate(places.items()):
        ax.axvline(place, color=theme.soft, lw=0.8, ls=ls)
        where = {"transform": ax.get_xaxis_transform(), "va": "bottom"}
        side = "center" if len(places) == 1 else "right" if k == 0 else "left"
        ax.text(place, 1.01, name, ha=side, fontsize="small", color=theme.soft, parse_math=False, **where)


def _finite(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    given = np.asarray(values, dtype=np.float64).ravel()
    return given[np.isfinite(given)]


def _finish(ax: Any, x_label: str, y_label: str, title: str | None) -> None:
    """Words of axes, and no rim above and to the right."""
    ax.set_xlabel(x_label, parse_math=False)
    ax.set_ylabel(y_label, parse_math=False)
    if title:
        ax.set_title(title, loc="left", fontweight="bold", parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
