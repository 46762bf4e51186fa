"""plot_points and plot_point_scores: a map coloured by what is known of each of its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.evaluation.point_columns import POINT_SCORES
from gnomon.plot.colors import colors_of, colors_of_score
from gnomon.plot.display import GridDisplay, in_grid
from gnomon.plot.map import MapDisplay, positions_of
from gnomon.surfaces import Surface

__all__ = ["plot_point_scores", "plot_points"]

_PANEL = 2.3  # inches


@entrance("plot_points")
def plot_points(
    embedding: npt.ArrayLike,
    values: npt.ArrayLike,
    name: str,
    *,
    ax: Any = None,
    title: str | None = None,
    surface: Surface | None = None,
    **style: Any,
) -> MapDisplay:
    """Draw a map coloured by one diagnostic of its points, by the scale that fits it, and say below what it means.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn.
    values : array of shape (n_samples,)
        A column of `gnomon.Map.point_scores`, or any other numbers; grey where NaN.
    name : str
        Its name. One of `gnomon.evaluation.POINT_SCORES` has its own scale: two colours for yes and no, a diverging
        scale where both ends stand out from an ordinary value, else a ramp that stands out from the ground where values
        do.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    title : str, default=None
        Title of the axes; None takes the name of the diagnostic.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on; the embedding then holds its two coordinates.
    **style
        As for `Display.plot`.

    Returns
    -------
    MapDisplay

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the values are not one for each row.
    """
    places, frame = positions_of(embedding, surface)
    score = POINT_SCORES.get(name)
    display = _panel(places, values, name)
    display.frame, display.title, display.legend, display.square = frame, title or display.title, "right", False
    display.note = "" if score is None else f"{score.says[0].upper()}{score.says[1:]}"
    return display.plot(ax, **style)


@entrance("plot_point_scores")
def plot_point_scores(
    embedding: npt.ArrayLike,
    scores: Mapping[str, npt.ArrayLike],
    *,
    names: Sequence[str] | None = None,
    n_columns: int = 3,
    ax: Any = None,
    surface: Surface | None = None,
    **style: Any,
) -> GridDisplay:
    """Draw a map several times, each time coloured by another diagnostic of its points.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn.
    scores : mapping of str to array of shape (n_samples,)
        Such as `gnomon.Map.point_scores` returns, or ``columns()`` of `gnomon.evaluation.singularities` and
        `gnomon.evaluation.perturbations`.
    names : sequence of str, default=None
        Which of them; None draws all.
    n_columns : int >= 1, default=3
        Panels in a row.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on; the embedding then holds its two coordinates.
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
        If there is nothing to draw, or a name is not among the scores.
    """
    chosen = list(scores) if names is None else list(names)
    for name in chosen:
        if name not in scores:
            raise ValueError(message(f"name {name!r}", f"one of {', '.join(scores)}"))
    if not chosen or n_columns < 1:
        raise ValueError(message(f"{len(chosen)} names in {n_columns} columns", "at least 1 of each"))
    places, _ = positions_of(embedding, surface)
    layout = in_grid(len(chosen), min(n_columns, len(chosen)))
    size = (len(layout[0]) * (_PANEL + 0.5), len(layout) * _PANEL)
    parts = [_panel(places, scores[name], name) for name in chosen]
    return GridDisplay([*parts], layout, size).plot(ax, **style)


def _panel(places: npt.NDArray[Any], values: npt.ArrayLike, name: str) -> MapDisplay:
    score = POINT_SCORES.get(name)
    colors = colors_of(None, values, len(places)) if score is None else colors_of_score(values, score, len(places))
    if np.shape(values) != (len(places),):
        raise ValueError(message(f"values of shape {np.shape(values)}", f"of shape ({len(places)},)"))
    title = name if score is None else score.title
    return MapDisplay(places, colors, title, legend="below", annotate=False, square=True)
