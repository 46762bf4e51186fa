"""What all figures share: their look, the colours of points by class or by value, and the file that holds them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write
from gnomon._palette import class_colors
from gnomon._validation import caller, message
from gnomon.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ClassColors",
    "ValueColors",
    "class_centers",
    "colors_of_classes",
    "colors_of_values",
    "import_matplotlib",
    "point_style",
    "ramp",
    "save_figure",
]

DENSITY_FROM = 200_000
"""Above so many points single marks only cover each other: the figure shows how many lie in each pixel."""
_LEGEND_CLASSES = 20
"""At most so many classes are listed and named."""


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


def point_style(n_points: int) -> tuple[float, float]:
    """Area in square points and opacity of one mark: they shrink as the points get many."""
    area = float(np.clip(24_000.0 / max(n_points, 1), 0.7, 36.0))
    opacity = float(np.clip(2.2 * max(n_points, 1) ** -0.13, 0.35, 0.9))
    return area, opacity


def ramp(matplotlib: Any) -> Any:
    """Return the colour map of measured values."""
    from gnomon._palette import RAMP

    return matplotlib.colors.LinearSegmentedColormap.from_list("gnomon", RAMP)


def _encode_classes(labels: Any, n_points: int) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Names of the classes (numbers by value, the rest by text) and the class of every point."""
    values = np.asarray(labels)
    if values.shape != (n_points,):
        raise ValueError(f"{caller()}: labels of shape {values.shape} must be of shape ({n_points},).")
    distinct, codes = np.unique(values if values.dtype.kind in "biufU" else values.astype(str), return_inverse=True)
    return [f"{v:g}" if isinstance(v, float) else str(v) for v in distinct.tolist()], codes


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
        Class of every point.
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

        counts = np.bincount(self.codes, minlength=len(self.names))
        marks = [Line2D([], [], marker="o", linestyle="", color=self.hexes[k], markersize=6) for k in self.shown]
        texts = [f"{self.names[k]}  ({counts[k]:,})" for k in self.shown]
        rest = len(self.names) - len(self.shown)
        return marks, texts, f"{rest} smaller classes are not listed" if rest else None


@dataclass(frozen=True)
class ValueColors:
    """Colours of measured values: their norm and colour map, and the colour of every point."""

    norm: Any
    shades: Any
    rgb: npt.NDArray[np.float64]

    def scale(self) -> Any:
        """Return what a colour bar shows."""
        from matplotlib.cm import ScalarMappable

        return ScalarMappable(self.norm, self.shades)


def colors_of_classes(labels: Any, n_points: int) -> ClassColors:
    """Give every class a colour; where there are many the largest get the most distinct ones."""
    names, codes = _encode_classes(labels, n_points)
    counts = np.bincount(codes, minlength=len(names))
    order = np.argsort(-counts, kind="stable") if len(names) > _LEGEND_CLASSES else np.arange(len(names))
    hexes = np.empty(len(names), dtype="<U7")
    hexes[order] = class_colors(len(names))
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in hexes]).reshape(-1, 3)
    return ClassColors(names, codes, hexes, order[:_LEGEND_CLASSES], rgb[codes])


def colors_of_values(values: Any, n_points: int) -> ValueColors:
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
