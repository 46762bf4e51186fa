"""Tables of numbers as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._palette import DIVERGING, RAMP, with_lightness
from gnomon.plot.colors import ramp
from gnomon.plot.display import Display
from gnomon.plot.theme import Style, Theme
from gnomon.plot.wrapping import columns_of, shortened

__all__ = ["MatrixDisplay"]

_CELL = 0.42  # inches, of letters of the usual size
_NUMBERS = 600  # cells at most that have their number
_NAME = 28  # letters
_DARK = 0.55  # lightness of a cell below which its number is light


@dataclass(eq=False)
class MatrixDisplay(Display):
    """A cell for each number, coloured by it.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Cells with NaN are empty.
    rows, columns : sequence of str
    label : str
        What the numbers are.
    title : str or None, default=None
    signed : bool, default=False
        Whether the scale is even about 0.
    limits : tuple of two float or None, default=None
        Ends of the scale; None takes those of the numbers.
    form : str, default=".2f"
        Of the numbers; an empty one writes none.
    """

    values: npt.NDArray[np.float64]
    rows: Sequence[str]
    columns: Sequence[str]
    label: str
    title: str | None = None
    signed: bool = False
    limits: tuple[float, float] | None = None
    form: str = ".2f"

    def _extent(self, style: Style) -> tuple[float, float]:
        names = max(map(columns_of, self.rows), default=0)
        width = 1.6 + 0.085 * min(names, _NAME) + _CELL * 1.3 * len(self.columns)
        head = 0.6 + (0.085 * min(max(map(columns_of, self.columns), default=0), _NAME))
        height = (0.3 + head + _CELL * 0.8 * len(self.rows) + (0.4 if self.title else 0.0)) * style.scale
        return style.width or max(width, 4.0), max(height, 2.2)

    def _draw(self, ax: Any, style: Style) -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        low, high = self._ends()
        shades = ramp(_stops(style.theme, self.signed))
        norm = Normalize(low, high)
        ax.imshow(self.values, cmap=shades, norm=norm, interpolation="nearest", aspect="auto")
        bar = ax.figure.colorbar(ScalarMappable(norm, shades), ax=ax, shrink=0.8, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(color=style.theme.soft, labelcolor=style.theme.ink, labelsize=0.833 * style.font_size)
        long = max(map(columns_of, self.columns), default=0) > 3
        ax.set_xticks(range(len(self.columns)), [shortened(one, _NAME) for one in self.columns], rotation=90 * long)
        ax.set_yticks(range(len(self.rows)), [shortened(one, _NAME) for one in self.rows])
        for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            text.set_parse_math(False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_xlabel(self.label, parse_math=False)
        if self.title:
            ax.set_title(self.title, loc="left", fontweight="bold", parse_math=False)
        if self.form and self.values.size <= _NUMBERS:
            self._write(ax, shades(norm(self.values)))

    def _ends(self) -> tuple[float, float]:
        if self.limits is not None:
            return self.limits
        known = self.values[np.isfinite(self.values)]
        if not known.size:
            return 0.0, 1.0
        if self.signed:
            reach = float(np.abs(known).max()) or 1.0
            return -reach, reach
        return float(known.min()), float(known.max()) if known.max() > known.min() else float(known.min()) + 1.0

    def _write(self, ax: Any, colors: npt.NDArray[np.float64]) -> None:
        light = colors[..., :3] @ np.array([0.3, 0.59, 0.11])
        for row, column in zip(*np.nonzero(np.isfinite(self.values)), strict=True):
            text, ink = format(self.values[row, column], self.form), "w" if light[row, column] < _DARK else "0.1"
            ax.text(column, row, text, ha="center", va="center", fontsize="x-small", color=ink)


def _stops(theme: Theme, signed: bool) -> tuple[str, ...]:
    """Return the colours of the scale: zero and the least are near the ground."""
    if not signed:
        return RAMP
    if theme.name == "light":
        return DIVERGING
    return tuple(with_lightness(color, lambda light: 1.15 - 0.95 * light) for color in DIVERGING)
