"""What all figures are: data that are drawn when asked, on axes given or in a figure of their own."""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from gnomon._printed import harmless
from gnomon._validation import message
from gnomon.plot.colors import ClassColors, ValueColors
from gnomon.plot.files import import_matplotlib, save_figure
from gnomon.plot.fonts import add_fonts
from gnomon.plot.theme import Style, style_of

__all__ = ["Display", "GridDisplay", "draws", "in_grid"]


class Display:
    """A figure: its data are attributes, `plot` draws them.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Where it was drawn last; not registered with pyplot.
    ax_ : matplotlib Axes
        The axes, of several the first.
    axes_ : tuple of matplotlib Axes
        All axes, colour bars apart.
    """

    _size: ClassVar[tuple[float, float]] = (7.2, 4.4)  # inches
    figure_: Any
    ax_: Any
    axes_: tuple[Any, ...]

    def plot(
        self,
        ax: Any = None,
        *,
        theme: str | None = None,
        width: float | str | None = None,
        font_size: float | None = None,
        point_size: float | None = None,
        opacity: float | None = None,
        rasterized: bool | None = None,
    ) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure. A figure of several panels shares the place of the axes among them.
        theme : {"light", "dark"} or None, default=None
            None takes what can be read on the axes given, and light for a new figure.
        width : float, {"single", "middle", "double"} or None, default=None
            Of a new figure: inches, or one, one and a half or two columns of a journal (89, 120 and 183 mm); None takes
            a size for screens.
        font_size : float or None, default=None
            Of ordinary text, in points; None takes 10, and 7 where a width is given, as journals ask.
        point_size : float or None, default=None
            Area of a mark in square points; None chooses by their number and by how much room they take.
        opacity : float in (0, 1] or None, default=None
            Of marks; None chooses like `point_size`.
        rasterized : bool or None, default=None
            Whether points are a picture in PDF and SVG; None makes them one if there are more than 5,000.

        Returns
        -------
        Display
            Itself, with `figure_`, `ax_` and `axes_`.

        Raises
        ------
        MissingDependencyError
            If matplotlib cannot be imported.
        ValueError
            If a value is not as described.
        """
        matplotlib = import_matplotlib()
        style = style_of(ax, theme, width, font_size, point_size, opacity, rasterized)
        with matplotlib.rc_context(style.settings()):
            self.axes_ = self._draw_in(ax, style)
        add_fonts(self.axes_[0].figure)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure.canvas.figure
        return self

    @classmethod
    def from_result(cls, result: Any, ax: Any = None, **options: Any) -> Self:
        """Draw the figure of a table or an answer.

        Parameters
        ----------
        result : object
            Such as what `gnomon.evaluate`, `gnomon.Map.why` or `gnomon.theory.pca_certificate` return, a list of
            verdicts, or answers by their names.
        ax : matplotlib Axes or None, default=None
            As for `plot`.
        **options
            Of the function that draws it, and as for `plot`.

        Returns
        -------
        Display
            Of the kind that fits; drawn.

        Raises
        ------
        TypeError
            If there is no such figure, or it is of another class than the one that was asked.
        """
        draw = next((_FIGURES[kind] for kind in _kinds(result) if kind in _FIGURES), None)
        if draw is None:
            what = f"result of type {type(result).__name__}"
            rule = f"one of {', '.join(sorted(_FIGURES))}"
            raise TypeError(message(what, rule, remedy="See the functions of gnomon.plot.", who=cls.__name__))
        drawn = draw(result, ax=ax, **options)
        if not isinstance(drawn, cls):
            what, rule = f"result of type {type(result).__name__}", f"one that {cls.__name__} draws"
            remedy = f"Call {type(drawn).__name__}.from_result."
            raise TypeError(message(what, rule, remedy=remedy, who=cls.__name__))
        return drawn

    def save(self, path: str | os.PathLike[str], *, dpi: float = 300) -> None:
        """Write the figure to a file, which appears only when it is complete; drawn on white if it was not drawn yet.

        Parameters
        ----------
        path : str or path-like
            Its suffix may be any that matplotlib writes (png, pdf, svg); without one it becomes png. In PDF and SVG
            text is text, and the same figure gives the same bytes.
        dpi : float, default=300
            Pixels per inch, also of points that are a picture in a vector file.
        """
        save_figure(self._drawn(), path, dpi=dpi)

    def _drawn(self) -> Any:
        if not hasattr(self, "figure_"):
            self.plot()
        return self.figure_

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self._drawn().savefig(buffer, format="png", dpi=120)
        return buffer.getvalue()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        """Return the picture for a notebook, with words for those who do not see it."""
        picture = base64.b64encode(self._repr_png_()).decode("ascii")
        return {"image/png": picture}, {"image/png": {"alt": self._in_words()}}

    def _in_words(self) -> str:
        """Return what the figure is of: the titles of its panels, else its kind."""
        titles = [str(ax.get_title(loc=side)) for ax in self._drawn().axes for side in ("left", "center")]
        told = "; ".join(dict.fromkeys(harmless(one).replace("\n", " ") for one in titles if one))
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__.removesuffix("Display")).lower()
        return f"Figure ({kind}): {told}" if told else f"Figure ({kind})"

    def _extent(self, style: Style) -> tuple[float, float]:
        """Return width and height of a new figure in inches; the height keeps the proportions."""
        width, height = self._size
        return (width, height) if style.width is None else (style.width, height * style.width / width)

    def _new_figure(self, style: Style) -> Any:
        matplotlib = import_matplotlib()
        figure = matplotlib.figure.Figure(figsize=self._extent(style), layout="constrained")
        matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
        return figure

    def _draw_in(self, ax: Any, style: Style) -> tuple[Any, ...]:
        """Draw on axes, or in a new figure, and return all axes that were drawn on."""
        if ax is None:
            ax = self._new_figure(style).add_subplot()
        self._draw(ax, style)
        style.dress(ax)
        return (ax,)

    def _draw(self, ax: Any, style: Style) -> None:
        raise NotImplementedError


_FIGURES: dict[str, Callable[..., Display]] = {}
_Draw = TypeVar("_Draw", bound=Callable[..., Display])


def draws(*kinds: str) -> Callable[[_Draw], _Draw]:
    """Say of which results a function draws the figure.

    Parameters
    ----------
    *kinds : str
        Names of classes; after "several ", of the elements of a list or of the values of a dict.

    Returns
    -------
    callable
        The decorator.
    """

    def note(function: _Draw) -> _Draw:
        _FIGURES.update(dict.fromkeys(kinds, function))
        return function

    return note


def _kinds(result: Any) -> list[str]:
    """Return the names under which the figure of a result may be known, the closest first."""
    before = ""
    if isinstance(result, (list, tuple, dict)) and type(result).__mro__[-2] in (list, tuple, dict) and len(result):
        before, result = "several ", next(iter(result.values() if isinstance(result, dict) else result))
    return [before + one.__name__ for one in type(result).__mro__]


@dataclass(eq=False)
class GridDisplay(Display):
    """Figures beside each other.

    Attributes
    ----------
    parts : list of Display
        What is drawn in each panel.
    layout : list of list of int
        Rows of the grid: which part stands in each cell, -1 for none. A part may take a rectangle of cells.
    size : tuple of two float
        Width and height of a new figure, in inches.
    title : str or None, default=None
        Above all panels.
    shares : list of float or None, default=None
        Of the columns in the width; None makes them equal.
    key : ClassColors, ValueColors or None, default=None
        Colours that all panels share, explained once.
    """

    parts: list[Display]
    layout: list[list[int]]
    size: tuple[float, float]
    title: str | None = None
    shares: list[float] | None = None
    key: ClassColors | ValueColors | None = None

    def _extent(self, style: Style) -> tuple[float, float]:
        width, height = self.size
        return (width, height) if style.width is None else (style.width, height * style.width / width)

    def _draw_in(self, ax: Any, style: Style) -> tuple[Any, ...]:
        cells = np.array(self.layout)
        if ax is None:
            figure = self._new_figure(style)
            if self.title:
                words = {"ha": "left", "fontsize": "x-large", "fontweight": "bold"}
                figure.suptitle(self.title, x=0.01, parse_math=False, **words)
            grid = figure.add_gridspec(*cells.shape, width_ratios=self.shares)
        else:
            grid = self._share(ax, cells.shape)
            figure = ax.figure
        axes: list[Any] = []
        for k in range(len(self.parts)):
            rows, columns = np.nonzero(cells == k)
            place = grid[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
            axes.append(figure.add_subplot(place))
        for one, where in zip(self.parts, axes, strict=True):
            one.ax_, one.axes_, one.figure_ = where, one._draw_in(where, style), figure.canvas.figure
        if self.key is not None:
            self.key.explain(figure, axes, style)
        return tuple(axes)

    def _share(self, ax: Any, shape: tuple[int, ...]) -> Any:
        """Return a grid in the place of axes, which stay for the title."""
        place = ax.get_subplotspec()
        if place is None:
            remedy = "Make them with subplots or add_subplot."
            raise ValueError(message("ax", "axes in a grid, for a figure of several panels", remedy=remedy))
        ax.set_axis_off()
        if self.title:
            ax.set_title(self.title, loc="left", fontweight="bold", parse_math=False)
        return place.subgridspec(*shape, width_ratios=self.shares)


def in_grid(n_parts: int, n_columns: int) -> list[list[int]]:
    """Return the layout of parts row by row."""
    n_rows = -(-n_parts // n_columns)
    numbers = [*range(n_parts), *[-1] * (n_rows * n_columns - n_parts)]
    return [numbers[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]
