"""plot_panels: maps of the same points side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.map import draw_points, dress, name_classes
from gnomon.plot.style import (
    ClassColors,
    ValueColors,
    colors_of,
    import_matplotlib,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_panels", "save_panels"]

_PANEL = 3.1  # inches
_LEGEND = 1.25
_ONE_MAP = 6.0  # inches of the side of a figure with a single map, for which the marks are made
_NAMED = 16  # more names than these would cover a small panel


@entrance("plot_panels")
def plot_panels(
    embeddings: Sequence[npt.ArrayLike],
    *,
    labels: npt.ArrayLike | None = None,
    titles: Sequence[object] | None = None,
    values: npt.ArrayLike | None = None,
    n_columns: int | None = None,
    suptitle: str | None = None,
    annotate: bool = True,
) -> Figure:
    """Draw maps of the same points in equal panels, with the same colours and one legend.

    Parameters
    ----------
    embeddings : sequence of arrays of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn, each map in its own units.
    labels : array of shape (n_samples,), default=None
        Classes to colour by.
    titles : sequence of objects, default=None
        One for each panel, shown as text.
    values : array of shape (n_samples,), default=None
        Numbers to colour by, with a colour bar; not together with labels.
    n_columns : int, default=None
        Panels in a row; by default up to four in one row, else about three rows for four columns.
    suptitle : str, default=None
        Title of the figure.
    annotate : bool, default=True
        Whether to write the names of the classes into the panels.

    Returns
    -------
    matplotlib Figure
        Not registered with pyplot; the points are pictures in a PDF or SVG made from it.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    maps = _checked(embeddings, titles)
    matplotlib = import_matplotlib()
    n_columns = _columns(len(maps)) if n_columns is None else min(n_columns, len(maps))
    if n_columns < 1:
        raise ValueError(message(f"n_columns={n_columns}", "at least 1"))
    colors = colors_of(labels, values, len(maps[0]))
    n_rows = math.ceil(len(maps) / n_columns)
    size = (n_columns * _PANEL + (_LEGEND if colors else 0.0), n_rows * (_PANEL + 0.3) + (0.4 if suptitle else 0.0))
    figure: Figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for k, (ax, Y) in enumerate(zip(axes, maps, strict=False)):
        _draw_panel(ax, Y, colors, None if titles is None else str(titles[k]), annotate=annotate)
    for ax in axes[len(maps) :]:
        ax.set_axis_off()
    if suptitle:
        figure.suptitle(suptitle, x=0.01, ha="left", fontsize=14, fontweight="bold", parse_math=False)
    _explain_colors(figure, axes, colors)
    return figure


def save_panels(
    path: str | os.PathLike[str], embeddings: Sequence[npt.ArrayLike], *, dpi: int = 200, **options: Any
) -> None:
    """Save `plot_panels` as a picture; its suffix may be any that matplotlib writes (png, pdf, svg).

    Parameters
    ----------
    path : str or path-like
        File to write.
    embeddings : sequence of arrays
        As for `plot_panels`.
    dpi : int, default=200
        Pixels per inch.
    **options
        As for `plot_panels`.
    """
    save_figure(plot_panels(embeddings, **options), path, dpi=dpi)


def _checked(embeddings: Sequence[npt.ArrayLike], titles: Sequence[object] | None) -> list[npt.NDArray[Any]]:
    maps = [np.asarray(one) for one in embeddings]
    if not maps:
        raise ValueError(message("0 embeddings", "at least 1"))
    for k, Y in enumerate(maps):
        if Y.ndim != 2 or Y.shape[1] not in (2, 3):
            raise ValueError(message(f"embedding {k} of shape {Y.shape}", "of shape (n, 2) or (n, 3)"))
        if len(Y) != len(maps[0]):
            raise ValueError(message(f"embedding {k} of {len(Y)} rows", f"of {len(maps[0])}", fact="the same points"))
    if titles is not None and len(titles) != len(maps):
        raise ValueError(message(f"{len(titles)} titles", f"{len(maps)}", fact="one for each panel"))
    return [Y[:, :2] for Y in maps]


def _columns(n_panels: int) -> int:
    return n_panels if n_panels <= 4 else math.ceil(math.sqrt(n_panels * 4 / 3))


def _draw_panel(
    ax: Any, Y: npt.NDArray[Any], colors: ClassColors | ValueColors | None, title: str | None, *, annotate: bool
) -> None:
    draw_points(ax, Y, None if colors is None else colors.rgb, share=_PANEL / _ONE_MAP)
    dress(ax, Y, None)
    ax.set_box_aspect(1.0)
    if title:
        ax.set_title(title, fontsize=11, parse_math=False)
    if annotate and isinstance(colors, ClassColors) and len(colors.names) <= _NAMED:
        name_classes(ax, Y, colors, size=8.5)


def _explain_colors(figure: Figure, axes: npt.NDArray[Any], colors: ClassColors | ValueColors | None) -> None:
    if isinstance(colors, ClassColors):
        marks, texts, note = colors.entries()
        figure.legend(marks, texts, loc="outside right center", frameon=False, fontsize=9, title=note, title_fontsize=8)
    elif colors is not None:
        colors.add_bar(figure, list(axes), shrink=0.6, aspect=28)
