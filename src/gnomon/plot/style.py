"""What all figures share: their look, the colours of points by class or by value, and the file that holds them."""

from __future__ import annotations

import html
import io
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write
from gnomon._palette import DIVERGING_MARKS, OTHER, RAMP, STANDS_OUT, class_colors
from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnomon.evaluation.point_columns import PointScore

__all__ = [
    "ClassColors",
    "ValueColors",
    "class_centers",
    "colors_of",
    "colors_of_score",
    "import_matplotlib",
    "new_axes",
    "point_style",
    "ramp",
    "save_figure",
    "svg_of",
]

DENSITY_FROM = 200_000
"""Above so many points single marks only cover each other: the figure shows how many lie in each pixel."""
_LEGEND_CLASSES = 20
"""At most so many classes are listed and named."""
_VECTOR_MARKS = 2500  # more would make a page slow to draw and to print
_SVG_DPI = 220
_PALE = "#e4e8d8"


def import_matplotlib() -> Any:
    """Return matplotlib with the parts the figures use, or say how to install it."""
    try:
        import matplotlib
        import matplotlib.backends.backend_agg
        import matplotlib.colors
        import matplotlib.figure
    except ImportError as error:
        raise MissingDependencyError(
            "gnomon.plot needs matplotlib, which cannot be imported. Install it with: pip install 'gnomon[plot]'"
        ) from error
    return matplotlib


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new figure of so many inches, which is not registered with pyplot."""
    figure = import_matplotlib().figure.Figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def point_style(n_points: int) -> tuple[float, float]:
    """Area in square points and opacity of one mark: they shrink as the points get many."""
    area = float(np.clip(24_000.0 / max(n_points, 1), 0.7, 36.0))
    opacity = float(np.clip(2.2 * max(n_points, 1) ** -0.13, 0.35, 0.9))
    return area, opacity


def ramp(matplotlib: Any) -> Any:
    """Return the colour map of measured values."""
    return matplotlib.colors.LinearSegmentedColormap.from_list("gnomon", RAMP)


def class_centers(
    embedding: npt.NDArray[np.floating[Any]], codes: npt.NDArray[np.intp], n_classes: int
) -> npt.NDArray[np.float64]:
    """Medians of the finite points of each class, NaN where there are none; shape (n_classes, 2)."""
    centers = np.full((n_classes, 2), np.nan)
    finite = np.isfinite(embedding).all(axis=1)
    for k in range(n_classes):
        members = embedding[finite & (codes == k)]
        if len(members):
            centers[k] = np.median(members, axis=0)
    return centers


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
    shown : ndarray of int
        Classes to list: all, or the largest first where there are too many.
    rgb : ndarray of shape (n, 3)
        Colour of every point.
    """

    names: list[str]
    codes: npt.NDArray[np.intp]
    hexes: npt.NDArray[np.str_]
    shown: npt.NDArray[np.intp]
    rgb: npt.NDArray[np.float64]

    def entries(self) -> tuple[list[Any], list[str], str | None]:
        """Return handles, texts and title of a legend."""
        from matplotlib.lines import Line2D

        counts = np.bincount(self.codes + 1, minlength=len(self.names) + 1)
        entries = [(self.hexes[k], self.names[k], counts[k + 1]) for k in self.shown]
        if counts[0]:
            entries.append((OTHER, "no label", counts[0]))
        marks = [Line2D([], [], marker="o", linestyle="", color=color, markersize=6) for color, _, _ in entries]
        texts = [f"{name}  ({count:,})" for _, name, count in entries]
        rest = len(self.names) - len(self.shown)
        return marks, texts, f"{rest} smaller classes are not listed" if rest else None


@dataclass(frozen=True)
class ValueColors:
    """Colours of measured values: their norm and colour map, the colour of every point, and whether they are dates."""

    norm: Any
    shades: Any
    rgb: npt.NDArray[np.float64]
    dates: bool = False

    def add_bar(self, figure: Figure, axes: Any, **options: Any) -> None:
        """Draw a colour bar beside axes."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.ticker import FuncFormatter

        text = FuncFormatter(lambda seconds, _: str(np.datetime64(int(seconds), "s"))[:10]) if self.dates else None
        figure.colorbar(ScalarMappable(self.norm, self.shades), ax=axes, extend="both", format=text, **options)


def colors_of(labels: Any, values: Any, n_points: int) -> ClassColors | ValueColors | None:
    """Colour points by their labels, if these are classes, or by measured labels or values; None without either."""
    if labels is not None and values is not None:
        raise ValueError(message("labels and values", "given one at a time", remedy="Pass one of them."))
    if labels is None:
        return None if values is None else _colors_of_values(values, n_points)
    checked = check_labels(labels, n_points)
    measured = measured_labels(checked)
    if measured is None:
        return _colors_of_classes(checked)
    return replace(_colors_of_values(measured, n_points), dates=checked.dtype.kind == "M")


def _colors_of_classes(labels: npt.NDArray[Any]) -> ClassColors:
    """Give every class a colour, grey for none; where there are many the largest get the most distinct ones."""
    classes = sort_into_classes(labels)
    names, codes = classes.names, classes.codes
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    order = np.argsort(-counts, kind="stable") if len(names) > _LEGEND_CLASSES else np.arange(len(names))
    hexes = np.empty(len(names), dtype="<U7")
    hexes[order] = class_colors(len(names))
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in [*hexes, OTHER]])
    return ClassColors(names, codes, hexes, order[:_LEGEND_CLASSES], rgb[codes])  # -1 is the last


def _colors_of_values(values: Any, n_points: int) -> ValueColors:
    """Spread a ramp over the values without their outer hundredths; grey where a value is missing."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_points,):
        raise ValueError(message(f"values of shape {numbers.shape}", f"of shape ({n_points},)"))
    matplotlib = import_matplotlib()
    known = numbers[np.isfinite(numbers)]
    low, high = np.percentile(known, [1, 99]) if known.size else (0.0, 1.0)
    norm = matplotlib.colors.Normalize(low, high if high > low else low + 1.0)
    shades = ramp(matplotlib)
    rgb = shades(norm(np.where(np.isfinite(numbers), numbers, low)))[:, :3]
    rgb[~np.isfinite(numbers)] = 0.75
    return ValueColors(norm, shades, rgb)


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
    matplotlib, numbers = import_matplotlib(), np.asarray(values, dtype=np.float64)
    stops, norm = [*RAMP[:-1]], found.norm
    if score.center is not None:
        reach = max(score.center - norm.vmin, norm.vmax - score.center, 1e-12)
        stops, norm = [*DIVERGING_MARKS], matplotlib.colors.Normalize(score.center - reach, score.center + reach)
    elif score.stands_out != "low":
        stops = [_PALE, *RAMP[-2::-1]]  # dark where values stand out; yellow would glare on white
    shades = matplotlib.colors.LinearSegmentedColormap.from_list("gnomon", stops)
    known = np.isfinite(numbers)
    rgb = np.where(known[:, None], shades(norm(np.where(known, numbers, norm.vmin)))[:, :3], 0.75)
    return ValueColors(norm, shades, rgb)


def _colors_of_flags(values: npt.NDArray[np.float64], score: PointScore) -> ClassColors:
    """Mark the rows to look at."""
    usual, marked = STANDS_OUT
    codes = np.where(np.isfinite(values), values, -1).astype(np.intp)
    hexes = np.array([marked, usual] if score.stands_out == "low" else [usual, marked])
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in [*hexes, OTHER]])
    return ClassColors(list(score.flags or ()), codes, hexes, np.arange(2), rgb[codes])


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int) -> None:
    """Write a figure on white to a file that appears only when it is complete.

    Parameters
    ----------
    figure : matplotlib Figure
        What to save.
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes (png, pdf, svg). Without one it becomes that of
        matplotlib's default, png.
    dpi : int
        Pixels per inch.
    """
    target = Path(path)
    if not target.suffix:
        target = target.with_name(f"{target.name}.{figure.canvas.get_default_filetype()}")
    with atomic_write(target) as file:
        figure.savefig(file, format=target.suffix[1:], dpi=dpi, facecolor="white")


def svg_of(figure: Figure, *, label: str, key: str) -> str:
    """Return a figure as an SVG element for a page: the same bytes for the same figure, with text that is text.

    Parameters
    ----------
    figure : matplotlib Figure
        Where it has many marks, these become a picture; all else is drawn as vectors.
    label : str
        What it shows, for those who do not see it.
    key : str
        Put before names inside the element, so that those of several figures differ.
    """
    matplotlib = import_matplotlib()
    marks = [one for ax in figure.axes for one in ax.collections]
    many = sum(len(np.asarray(one.get_offsets())) for one in marks) > _VECTOR_MARKS
    for one in marks:
        one.set_rasterized(many or bool(one.get_rasterized()))
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(buffer, format="svg", dpi=_SVG_DPI, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(|xlink:href=")#([^)"]+)', text))
    text = re.sub(r' \bid="([^"]*)"', lambda one: f' id="{key}-{one[1]}"' if one[1] in used else "", text)
    text = re.sub(r'(url\(|xlink:href=")#', rf"\1#{key}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label)}" ', 1)
