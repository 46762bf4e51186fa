"""Colours of points by class, by value and by a diagnostic, on a light or a dark ground, and what explains them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._palette import CYCLIC, DIVERGING_MARKS, OTHER, RAMP, STANDS_OUT, class_colors, step_colors
from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.circles import TURN, Circle, circle_of
from gnomon.data.columns import n_steps_first
from gnomon.data.labels import MISSING, measured_labels, sort_into_classes, unlike
from gnomon.plot.files import import_matplotlib, inches_of
from gnomon.plot.wrapping import columns_of, shortened

if TYPE_CHECKING:
    from gnomon.evaluation.point_columns import PointScore
    from gnomon.plot.theme import Style, Theme

__all__ = ["ClassColors", "ValueColors", "colors_of", "colors_of_score", "ramp"]

_DISTINCT_FIRST = 20
"""With more classes the largest get the most distinct colours."""
_LISTED = 40
"""At most so many classes are in a legend, in columns of 20: as many have a colour of their own."""
_NAME = 36  # letters of a class in a legend, and in one of several columns
_NARROW = 22
_SIDE = 0.3  # of the width of a figure that a legend at its side takes at most
_LETTER, _MARK = 0.55, 3.0  # widths in sizes of the letters
_PALE = "#e4e8d8"
_QUARTERS = np.linspace(0.0, 1.0, 5)


def ramp(stops: Any = RAMP) -> Any:
    """Return a colour map through some colours."""
    return import_matplotlib().colors.LinearSegmentedColormap.from_list("gnomon", list(stops))


@dataclass(frozen=True)
class ClassColors:
    """One colour a class.

    Attributes
    ----------
    names : list of str
    codes : ndarray of shape (n,), int
        Class of every point, -1 for none.
    hexes : ndarray of shape (n_classes,), str
        Colour of every class.
    order : ndarray of int
        Classes as they are listed; the largest first where there are many.
    other : str
        Colour of points without a class.
    flags : bool
        Whether they mark what to look at.
    without : str
        What points without a class are called.
    """

    names: list[str]
    codes: npt.NDArray[np.intp]
    hexes: npt.NDArray[np.str_]
    order: npt.NDArray[np.intp]
    other: str = OTHER
    flags: bool = False
    without: str = MISSING

    @property
    def rgb(self) -> npt.NDArray[np.float64]:
        """Colour of every point, of shape (n, 3)."""
        channels = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in [*self.hexes, self.other]])
        return np.asarray(channels[self.codes])  # -1 is the last

    @property
    def sizes(self) -> npt.NDArray[np.intp]:
        """Number of points of each class, then of those without one."""
        counts = np.bincount(self.codes + 1, minlength=len(self.names) + 1)
        return np.append(counts[1:], counts[0])

    def on(self, theme: Theme) -> Self:
        """Return these colours as they are seen on a ground."""
        hexes = np.array([theme.standing_out(color) for color in self.hexes]) if self.flags else self.hexes
        return replace(self, hexes=hexes, other=theme.standing_out(self.other))

    def explain(self, figure: Any, axes: list[Any], style: Style) -> None:
        """Draw one legend beside several axes: outside of a figure, within a part of one beside the last axes."""
        if axes[0].get_subplotspec().get_gridspec().figure is figure and hasattr(figure, "savefig"):
            self._list(figure, style, 1 + (self.lists > 2 * _DISTINCT_FIRST), loc="outside right center")
        else:
            self._list(axes[-1], style, loc="center left", bbox_to_anchor=(1.0, 0.5))

    def add_legend(self, ax: Any, style: Style, *, below: bool = False) -> None:
        """Draw a legend beside the axes where it is short and narrow, else below them in columns."""
        if not below and self.fits_beside(inches_of(ax)[0], style):
            self._list(ax, style, loc="center left", bbox_to_anchor=(1.0, 0.5))
        else:
            n_columns = self.columns(ax.figure.bbox.width / ax.figure.dpi, style) if self.lists > 3 else 1
            self._list(ax, style, n_columns, loc="upper center", bbox_to_anchor=(0.5, 0.0))

    def fits_beside(self, width: float, style: Style) -> bool:
        """Whether a legend is short and narrow beside axes of a width in inches."""
        room = _SIDE * width * 72.0 / style.font_size
        return self.lists <= _DISTINCT_FIRST + 1 and self._column(_NAME, 0.833) <= room

    def columns(self, width: float, style: Style) -> int:
        """Return how many columns a legend has below axes in a figure of a width in inches."""
        return max(1, min(5, int(width * 72.0 / style.font_size / self._column(_NARROW, 0.694))))

    def height(self, width: float, style: Style) -> float:
        """Return the height of a legend below axes in a figure of a width in inches."""
        return -(-self.lists // self.columns(width, style)) * 1.25 * style.font_size / 72.0

    @property
    def lists(self) -> int:
        """Number of entries of a legend."""
        return min(len(self.names), _LISTED) + bool(self.sizes[-1])

    def _column(self, letters: int, size: float) -> float:
        """Return about the width of a column of a legend, in sizes of ordinary letters."""
        longest = max((columns_of(f"{self.names[k]}  ({self.sizes[k]:,})") for k in self.order[:_LISTED]), default=0)
        return size * (_LETTER * min(longest, letters + 9) + _MARK)

    def _list(self, where: Any, style: Style, n_columns: int = 1, **place: Any) -> None:
        from matplotlib.lines import Line2D

        seen, sizes = self.on(style.theme), self.sizes
        shown = self.order[:_LISTED]
        entries = [
            (seen.hexes[k], shortened(self.names[k], _NARROW if n_columns > 1 else _NAME), sizes[k]) for k in shown
        ]
        if sizes[-1]:
            entries.append((seen.other, unlike(self.names, self.without), sizes[-1]))
        rest = len(self.names) - len(shown)
        smaller = "smaller" if rest and sizes[self.order[_LISTED:]].max() < sizes[shown].min() else "more"
        marks = [
            Line2D([], [], marker="o", linestyle="", color=color, markersize=6 * style.scale) for color, _, _ in entries
        ]
        texts = [f"{name}  ({count:,})" for _, name, count in entries]
        legend = where.legend(
            marks,
            texts,
            title=f"{rest:,} {smaller} {'class is' if rest == 1 else 'classes are'} not listed" if rest else None,
            title_fontsize="x-small",
            fontsize="small" if n_columns == 1 and len(entries) <= _DISTINCT_FIRST + 1 else "x-small",
            ncols=n_columns,
            handletextpad=0.3,
            columnspacing=1.0,
            **place,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


@dataclass(frozen=True)
class ValueColors:
    """Colours of measured values.

    Attributes
    ----------
    values : ndarray of shape (n,), float64
    norm : matplotlib Normalize
    stops : tuple of str
        Colours that the scale goes through.
    missing : str
        Colour of points whose value is not known.
    dates : bool
        Whether the values are seconds since 1970.
    flags : bool
        Whether the scale stands out where to look, and not by the size of values.
    circle : gnomon.data.circles.Circle or None
        What the values lie around, such as angles: both ends of the scale are then one.
    """

    values: npt.NDArray[np.float64]
    norm: Any
    stops: tuple[str, ...] = RAMP
    missing: str = "0.75"
    dates: bool = False
    flags: bool = False
    circle: Circle | None = None

    @property
    def shades(self) -> Any:
        """The colour map."""
        return ramp(self.stops)

    @property
    def rgb(self) -> npt.NDArray[np.float64]:
        """Colour of every point, of shape (n, 3)."""
        known = np.isfinite(self.values)
        rgb = self.shades(self.norm(np.where(known, self.values, self.norm.vmin)))[:, :3]
        rgb[~known] = import_matplotlib().colors.to_rgb(self.missing)
        return np.asarray(rgb)

    def on(self, theme: Theme) -> Self:
        """Return these colours as they are seen on a ground."""
        change = theme.standing_out if self.flags else theme.mark
        stops = self.stops if self.circle is not None else tuple(change(stop) for stop in self.stops)
        return replace(self, stops=stops, missing=theme.missing)

    def explain(self, figure: Any, axes: list[Any], style: Style) -> None:
        """Draw one colour bar beside several axes."""
        self.add_bar(axes, style, shrink=0.6, aspect=28)

    def add_bar(self, axes: Any, style: Style, *, label: str = "", **options: Any) -> None:
        """Draw a colour bar beside axes."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.ticker import FuncFormatter

        text = FuncFormatter(lambda seconds, _: str(np.datetime64(int(seconds), "s"))[:10]) if self.dates else None
        figure = (axes[0] if isinstance(axes, list) else axes).figure
        shown = ScalarMappable(self.norm, self.on(style.theme).shades)
        if self.circle is None:
            bar = figure.colorbar(shown, ax=axes, extend="both", format=text, **options)
        else:
            bar = figure.colorbar(shown, ax=axes, ticks=self.circle.begin + self.circle.period * _QUARTERS, **options)
            bar.ax.set_yticklabels(_told_quarters(self.circle))
        bar.set_label(label, fontsize=0.833 * style.font_size, color=style.theme.ink, parse_math=False)
        bar.outline.set_edgecolor(style.theme.line)
        bar.ax.tick_params(color=style.theme.soft, labelcolor=style.theme.ink, labelsize=0.833 * style.font_size)


def _told_quarters(circle: Circle) -> list[str]:
    """Return what begins the quarters of a circle, in radians as parts of pi."""
    if circle.period != TURN:
        return [f"{number:g}" for number in circle.begin + circle.period * _QUARTERS]
    return ["−π", "−π/2", "0", "π/2", "π"] if circle.begin else ["0", "π/2", "π", "3π/2", "2π"]


def colors_of(
    labels: Any, values: Any, n_points: int, *, without: str = MISSING, name: str | None = None
) -> ClassColors | ValueColors | None:
    """Colour points by their labels, if these are classes, or by measured labels or values; None without either.

    `without` is what points without a class are called.
    """
    if labels is not None and values is not None:
        raise ValueError(message("labels and values", "given one at a time", remedy="Pass one of them."))
    if labels is None:
        return None if values is None else _around(_colors_of_values(values, n_points), name)
    checked = check_labels(labels, n_points)
    measured = measured_labels(checked)
    if measured is None:
        return replace(_colors_of_classes(checked), without=without)
    if checked.dtype.kind == "M":
        return replace(_colors_of_values(measured, n_points), dates=True)
    return _around(_colors_of_values(measured, n_points), name)


def _around(colors: ValueColors, name: str | None) -> ValueColors:
    """Return colours that begin again where the values of a column of a name do; as they are without a name."""
    circle = None if name is None else circle_of(colors.values, name)
    if circle is None:
        return colors
    norm = import_matplotlib().colors.Normalize(circle.begin, circle.begin + circle.period)
    return replace(colors, norm=norm, stops=CYCLIC, circle=circle)


def _colors_of_classes(labels: npt.NDArray[Any]) -> ClassColors:
    """Give every class a colour, grey for none; where there are many the largest get the most distinct ones.

    Steps of a scale have colours along a ramp.
    """
    classes = sort_into_classes(labels)
    names, codes = classes.names, classes.codes
    if n_steps := n_steps_first("", names):
        colors = step_colors(n_steps) + [OTHER] * (len(names) - n_steps)
        return ClassColors(names, codes, np.array(colors, dtype="<U7"), np.arange(len(names)))
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    order = np.argsort(-counts, kind="stable") if len(names) > _DISTINCT_FIRST else np.arange(len(names))
    hexes = np.empty(len(names), dtype="<U7")
    hexes[order] = class_colors(len(names))
    return ClassColors(names, codes, hexes, order)


def _colors_of_values(values: Any, n_points: int) -> ValueColors:
    """Spread a ramp over the values without their outer hundredths; grey where a value is missing."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_points,):
        raise ValueError(message(f"values of shape {numbers.shape}", f"of shape ({n_points},)"))
    known = numbers[np.isfinite(numbers)]
    low, high = np.percentile(known, [1, 99]) if known.size else (0.0, 1.0)
    return ValueColors(numbers, import_matplotlib().colors.Normalize(low, high if high > low else low + 1.0))


def colors_of_score(values: Any, score: PointScore, n_points: int) -> ClassColors | ValueColors:
    """Colour points by a diagnostic, by the scale that fits it; grey where it is not known.

    Parameters
    ----------
    values : array-like of shape (n_points,)
    score : PointScore
        Says which scale.
    n_points : int
    """
    if score.flags is not None:
        return _colors_of_flags(np.asarray(values, dtype=np.float64), score)
    found = _colors_of_values(values, n_points)
    if score.center is not None:
        reach = max(score.center - found.norm.vmin, found.norm.vmax - score.center, 1e-12)
        norm = import_matplotlib().colors.Normalize(score.center - reach, score.center + reach)
        return replace(found, norm=norm, stops=DIVERGING_MARKS, flags=True)
    if score.stands_out != "low":  # dark where values stand out; yellow would glare on white
        return replace(found, stops=(_PALE, *RAMP[-2::-1]), flags=True)
    return replace(found, stops=RAMP[:-1], flags=True)


def _colors_of_flags(values: npt.NDArray[np.float64], score: PointScore) -> ClassColors:
    """Mark the rows to look at."""
    usual, marked = STANDS_OUT
    codes = np.where(np.isfinite(values), values, -1).astype(np.intp)
    hexes = np.array([marked, usual] if score.stands_out == "low" else [usual, marked])
    return ClassColors(list(score.flags or ()), codes, hexes, np.arange(2), flags=True)
