"""plot_panels: maps of the same points side by side; plot_scores: what compared maps are worth."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.colors import ClassColors, colors_of
from gnomon.plot.display import GridDisplay, draws, in_grid
from gnomon.plot.files import save_figure
from gnomon.plot.intervals import in_words
from gnomon.plot.map import MapDisplay
from gnomon.plot.matrix import MatrixDisplay

__all__ = ["plot_panels", "plot_scores", "save_panels"]

_PANEL = 3.1  # inches
_LEGEND = 1.25
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
    ax: Any = None,
    **style: Any,
) -> GridDisplay:
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
        Whether to write the names of the classes into the panels; more than 16 are not.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the maps, titles and colours do not fit each other.
    """
    maps = _checked(embeddings, titles)
    n_columns = _columns(len(maps)) if n_columns is None else min(n_columns, len(maps))
    if n_columns < 1:
        raise ValueError(message(f"n_columns={n_columns}", "at least 1"))
    colors = colors_of(labels, values, len(maps[0]), name="")
    named = annotate and isinstance(colors, ClassColors) and len(colors.names) <= _NAMED
    layout = in_grid(len(maps), n_columns)
    told = [None] * len(maps) if titles is None else [str(one) for one in titles]
    size = (
        n_columns * _PANEL + (_LEGEND if colors else 0.0),
        len(layout) * (_PANEL + 0.3) + (0.4 if suptitle else 0.0),
    )
    parts = [
        MapDisplay(Y, colors, title, legend="none", annotate=named, square=True)
        for Y, title in zip(maps, told, strict=True)
    ]
    return GridDisplay([*parts], layout, size, suptitle, key=colors).plot(ax, **style)


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
    save_figure(plot_panels(embeddings, **options).figure_, path, dpi=dpi)


def _checked(embeddings: Sequence[npt.ArrayLike], titles: Sequence[object] | None) -> list[npt.NDArray[Any]]:
    maps = [np.asarray(one) for one in embeddings]
    if not maps:
        raise ValueError(message("0 embeddings", "at least 1"))
    for k, Y in enumerate(maps):
        if Y.ndim != 2 or Y.shape[1] not in (2, 3):
            raise ValueError(message(f"embedding {k} of shape {Y.shape}", "of shape (n, 2) or (n, 3)"))
        if len(Y) != len(maps[0]):
            raise ValueError(
                message(f"embedding {k} of {len(Y):,} rows", f"of {len(maps[0]):,}", fact="the same points")
            )
    if titles is not None and len(titles) != len(maps):
        raise ValueError(message(f"{len(titles)} titles", f"{len(maps)}", fact="one for each panel"))
    return [Y[:, :2] for Y in maps]


def _columns(n_panels: int) -> int:
    return n_panels if n_panels <= 4 else math.ceil(math.sqrt(n_panels * 4 / 3))


@draws("Comparison")
@entrance("plot_scores")
def plot_scores(comparison: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> MatrixDisplay:
    """Draw the measures of compared maps as a table.

    Parameters
    ----------
    comparison : gnomon.comparison.Comparison
        Made by `gnomon.compare`. Its ``plot`` draws the maps themselves.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    MatrixDisplay
        A row for each map, a column for each measure whose best value is 1, means over the seeds.
    """
    measures = dict.fromkeys(name for one in comparison.trials for name in one.scores if _best_is_1(one, name))
    values = np.array([[one.scores.get(name, np.nan) for name in measures] for one in comparison.trials])
    names = [one.name for one in comparison.trials]
    columns = [in_words(name) for name in measures]
    return MatrixDisplay(values, names, columns, "score, best 1", title, limits=(0.0, 1.0)).plot(ax, **style)


def _best_is_1(trial: Any, name: str) -> bool:
    return name in trial.scorecard and trial.scorecard[name].measure.best == 1.0
