"""plot_points and plot_point_scores: a map coloured by what is known of each of its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.evaluation.point_columns import POINT_SCORES, PointScore
from gnomon.plot.frame import frame_of
from gnomon.plot.map import draw_points, dress
from gnomon.plot.style import ClassColors, ValueColors, colors_of, colors_of_score, import_matplotlib, new_axes
from gnomon.surfaces import Surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_point_scores", "plot_points"]

_PANEL = 2.3  # inches
_ONE_MAP = 6.0


@entrance("plot_points")
def plot_points(
    embedding: npt.ArrayLike,
    values: npt.ArrayLike,
    name: str,
    *,
    ax: Any = None,
    title: str | None = None,
    surface: Surface | None = None,
) -> Any:
    """Draw a map coloured by one diagnostic of its points, by the scale that fits it, and say below what it means.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn.
    values : array of shape (n_samples,)
        A column of `gnomon.Map.point_scores`, or any other numbers; grey where NaN.
    name : str
        Its name. One of `gnomon.evaluation.POINT_SCORES` has its own scale: two colours for yes and no, a diverging
        scale where both ends stand out from an ordinary value, else a ramp that is dark where values stand out.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    title : str, default=None
        Title of the axes; None takes the name of the diagnostic.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on; the embedding then holds its two coordinates.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the values are not one for each row.
    """
    import_matplotlib()
    Y = np.asarray(embedding)
    if Y.ndim != 2 or Y.shape[1] not in (2, 3):
        raise ValueError(message(f"embedding of shape {Y.shape}", "of shape (n, 2) or (n, 3)"))
    frame = None if surface is None else frame_of(surface, Y)
    Y = Y[:, :2] if frame is None else frame.places
    if ax is None:
        ax = new_axes(7.2, 6.0)
    score = POINT_SCORES.get(name)
    _draw(ax, Y, values, score, title or (name if score is None else score.title))
    if frame is not None:
        frame.draw(ax)
    if score is not None:
        ax.set_xlabel(f"{score.says[0].upper()}{score.says[1:]}", fontsize=8.5, color="0.3")
    return ax


@entrance("plot_point_scores")
def plot_point_scores(
    embedding: npt.ArrayLike,
    scores: Mapping[str, npt.ArrayLike],
    *,
    names: Sequence[str] | None = None,
    n_columns: int = 3,
    surface: Surface | None = None,
) -> Figure:
    """Draw a map several times, each time coloured by another diagnostic of its points.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn.
    scores : mapping of str to array of shape (n_samples,)
        Such as `gnomon.Map.point_scores` returns.
    names : sequence of str, default=None
        Which of them; None draws all.
    n_columns : int >= 1, default=3
        Panels in a row.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on; the embedding then holds its two coordinates.

    Returns
    -------
    matplotlib Figure
        Not registered with pyplot.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If there is nothing to draw, or a name is not among the scores.
    """
    matplotlib = import_matplotlib()
    chosen = list(scores) if names is None else list(names)
    for name in chosen:
        if name not in scores:
            raise ValueError(message(f"name {name!r}", f"one of {', '.join(scores)}"))
    if not chosen or n_columns < 1:
        raise ValueError(message(f"{len(chosen)} names in {n_columns} columns", "at least 1 of each"))
    columns = min(n_columns, len(chosen))
    rows = -(-len(chosen) // columns)
    size = (columns * (_PANEL + 0.5), rows * _PANEL)
    figure: Figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    Y = np.asarray(embedding)
    Y = Y[:, :2] if surface is None else frame_of(surface, Y).places
    for ax, name in zip(axes, chosen, strict=False):
        score = POINT_SCORES.get(name)
        _draw(ax, Y, scores[name], score, name if score is None else score.title, share=_PANEL / _ONE_MAP)
        ax.set_box_aspect(1.0)
        ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=9, fontweight="bold", parse_math=False)
    for ax in axes[len(chosen) :]:
        ax.set_axis_off()
    return figure


def _draw(
    ax: Any, Y: npt.NDArray[Any], values: npt.ArrayLike, score: PointScore | None, title: str, share: float = 1.0
) -> None:
    colors = colors_of(None, values, len(Y)) if score is None else colors_of_score(values, score, len(Y))
    draw_points(ax, Y, None if colors is None else colors.rgb, share=share)
    dress(ax, Y, title)
    if isinstance(colors, ClassColors):
        marks, texts, _ = colors.entries()
        place = ("center left", (1.0, 0.5)) if share == 1.0 else ("upper center", (0.5, 0.0))
        ax.legend(marks, texts, loc=place[0], bbox_to_anchor=place[1], fontsize=8, frameon=False)
    elif isinstance(colors, ValueColors):
        colors.add_bar(ax.figure, ax, shrink=0.7)
