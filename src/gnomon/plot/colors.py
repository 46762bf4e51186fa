"""Colours of points by class or by value, to be used by one map or shared by several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.style import encode_classes, import_matplotlib, ramp

__all__ = ["LEGEND_CLASSES", "ClassInks", "ValueInks", "class_inks", "value_inks"]

LEGEND_CLASSES = 20
"""At most so many classes are listed and named."""


@dataclass(frozen=True)
class ClassInks:
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
class ValueInks:
    """Colours of measured values: their norm and colour map, and the colour of every point."""

    norm: Any
    shades: Any
    rgb: npt.NDArray[np.float64]

    def scale(self) -> Any:
        """Return what a colour bar shows."""
        from matplotlib.cm import ScalarMappable

        return ScalarMappable(self.norm, self.shades)


def class_inks(labels: Any, n_points: int, who: str) -> ClassInks:
    """Give every class a colour; where there are many the largest get the most distinct ones."""
    names, codes = encode_classes(labels, n_points, who)
    counts = np.bincount(codes, minlength=len(names))
    order = np.argsort(-counts, kind="stable") if len(names) > LEGEND_CLASSES else np.arange(len(names))
    hexes = np.empty(len(names), dtype="<U7")
    hexes[order] = class_colors(len(names))
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in hexes]).reshape(-1, 3)
    return ClassInks(names, codes, hexes, order[:LEGEND_CLASSES], rgb[codes])


def value_inks(values: Any, n_points: int, who: str) -> ValueInks:
    """Spread a ramp over the values without their outer hundredths; grey where a value is missing."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_points,):
        raise ValueError(message(who, f"values of shape {numbers.shape}", f"of shape ({n_points},)"))
    matplotlib = import_matplotlib()
    known = numbers[np.isfinite(numbers)]
    low, high = np.percentile(known, [1, 99]) if known.size else (0.0, 1.0)
    norm = matplotlib.colors.Normalize(low, high if high > low else low + 1.0)
    shades = ramp(matplotlib)
    rgb = shades(norm(np.where(np.isfinite(numbers), numbers, low)))[:, :3]
    rgb[~np.isfinite(numbers)] = 0.75
    return ValueInks(norm, shades, rgb)
