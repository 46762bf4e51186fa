"""plot_scorecard: the measures of a map by quality, their curves over sizes of neighbourhoods, the Shepard diagram."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.curves import Curve, CurvesDisplay, ScatterDisplay
from gnomon.plot.display import Display, GridDisplay, draws
from gnomon.plot.files import save_figure
from gnomon.plot.intervals import IntervalsDisplay, Line, in_words

__all__ = ["plot_curves", "plot_scorecard", "plot_shepard", "save_scorecard"]

_CURVES = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "q_nx": "common neighbours, Q_NX",
    "r_nx": "beyond chance, R_NX",
    "mrre_false": "1 - rank errors in the map",
    "mrre_missing": "1 - rank errors in the data",
}


@draws("Scorecard")
@entrance("plot_scorecard")
def plot_scorecard(scorecard: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> GridDisplay:
    """Draw every measure with its interval and chance level, curves over the size of neighbourhoods, and distances.

    Parameters
    ----------
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str, default=None
        Title of the figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        Left the measures: a point is the value, hollow where 0 is best, a line the interval, a grey tick what a random
        map gets; measures that are no shares are numbers alone. Top right the curves, with intervals as bands; bottom
        right the Shepard diagram, with the best increasing function and the line of the best scale. Of measures that
        look at no ranks there is nothing on the right.
    """
    parts: list[Display] = [_table(scorecard)]
    layout, size = [[0]], (7.2, 8.4)
    if scorecard.curves is not None:
        parts += [_curves(scorecard), _shepard(scorecard)]
        layout, size = [[0, 1], [0, 2]], (13.0, 8.4)
    return GridDisplay(parts, layout, size, title).plot(ax, **style)


def _table(scorecard: Any) -> IntervalsDisplay:
    """Return a line for each measure, under the names of the qualities."""
    from gnomon.evaluation import QUALITIES

    lines: list[Line] = []
    for quality, scores in scorecard.by_quality().items():
        lines.append(Line(QUALITIES[quality], heading=True))
        lines += [_line(one) for one in scores.values()]
    anchors = "all rows" if scorecard.n_anchors == scorecard.n_samples else f"{scorecard.n_anchors:,} random rows"
    rows = f"{scorecard.n_samples:,} rows, ranks of {anchors}"
    label = f"{rows}; {scorecard.n_neighbors} neighbours; grey: a random map"
    return IntervalsDisplay(lines, label, limits=(0.0, 1.0))


def _line(one: Any) -> Line:
    """Return the value of a share, its interval and its chance level; what lies below 0 stands at 0."""
    best = one.measure.best
    words = "" if best is None else {1.0: "  best 1", 0.0: "  best 0"}[best]
    name, note = in_words(one.name), f"{one.value:.3f}{words}"
    if best is None or one.measure.high != 1.0:
        return Line(name, note=note)
    low, high = (max(end, 0.0) for end in one.interval or (one.value, one.value))
    chance = None if one.chance is None else (max(one.chance, 0.0),) * 2
    return Line(name, max(one.value, 0.0), low, high, chance, note, hollow=best == 0.0)


@entrance("plot_curves")
def plot_curves(scorecard: Any, *, ax: Any = None, **style: Any) -> CurvesDisplay:
    """Draw measures over the size of neighbourhoods, with intervals as bands.

    Parameters
    ----------
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    **style
        As for `Display.plot`.

    Returns
    -------
    CurvesDisplay

    Raises
    ------
    ValueError
        If no measure of the scorecard looks at the ranks of all rows.
    """
    return _curves(scorecard).plot(ax, **style)


def _curves(scorecard: Any) -> CurvesDisplay:
    found = _of_ranks(scorecard.curves, "curves")
    return CurvesDisplay(
        [Curve(label, found.sizes, getattr(found, name), found.half_widths[name]) for name, label in _CURVES.items()],
        "size of the neighbourhoods",
        x_log=True,
        x_marks={"k": scorecard.n_neighbors, "local | global": scorecard.local_size},
        y_limits=(min(0.0, float(np.nanmin(found.r_nx))), 1.02),
    )


@draws("ShepardDiagram")
@entrance("plot_shepard")
def plot_shepard(scorecard: Any, *, ax: Any = None, **style: Any) -> ScatterDisplay:
    """Draw distances in the map against those in the data, with the best increasing function and scale.

    Parameters
    ----------
    scorecard : Scorecard or ShepardDiagram
        Made by `gnomon.evaluation.scorecard`.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    **style
        As for `Display.plot`.

    Returns
    -------
    ScatterDisplay

    Raises
    ------
    ValueError
        If no measure of the scorecard looks at the ranks of all rows.
    """
    return _shepard(scorecard).plot(ax, **style)


def _shepard(scorecard: Any) -> ScatterDisplay:
    found = _of_ranks(getattr(scorecard, "shepard", scorecard), "shepard")
    curves = [Curve("best increasing function", found.levels[:, 0], found.levels[:, 1])]
    if found.scale > 0:
        ends = np.array([0.0, found.data.max()])
        curves.append(Curve("best scale", ends, ends / found.scale, dashed=True))
    highest = 1.05 * float(found.map.max()) or 1.0
    return ScatterDisplay(
        found.data,
        found.map,
        "distance in the data",
        "distance in the map",
        curves=curves,
        x_limits=(0.0, None),
        y_limits=(0.0, highest),
    )


def _of_ranks(found: Any, name: str) -> Any:
    if found is None:
        fact, remedy = f"it has no {name}", "Take measures='all', or trustworthiness among them."
        raise ValueError(message("scorecard", "with a measure of ranks", fact=fact, remedy=remedy))
    return found


def save_scorecard(path: Any, scorecard: Any, *, title: str | None = None, dpi: int = 150, **style: Any) -> None:
    """Write the figure of `plot_scorecard` to a file.

    Parameters
    ----------
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes.
    scorecard : Scorecard
        Made by `gnomon.evaluation.scorecard`.
    title : str, default=None
        Title of the figure.
    dpi : int, default=150
        Pixels per inch.
    **style
        As for `Display.plot`.
    """
    save_figure(plot_scorecard(scorecard, title=title, **style).figure_, path, dpi=dpi)
