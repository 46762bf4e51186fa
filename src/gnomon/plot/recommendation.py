"""plot_recommendation: the criterion over each parameter, and the map that was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon.plot.colors import colors_of
from gnomon.plot.curves import Curve, CurvesDisplay
from gnomon.plot.display import Display, GridDisplay, draws
from gnomon.plot.intervals import in_words
from gnomon.plot.map import MapDisplay

__all__ = ["plot_recommendation"]

_PANEL = 3.4  # inches


@draws("Recommendation")
@entrance("plot_recommendation")
def plot_recommendation(recommendation: Any, *, ax: Any = None, **style: Any) -> GridDisplay:
    """Draw a recommendation.

    Parameters
    ----------
    recommendation : Recommendation
        Made by `gnomon.recommend`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        A panel for each curve: the criterion, with the tolerance below its best value as a band, and trustworthiness;
        a ring around the value taken, and hollow points where a map was made with one seed alone. Last the map that
        was chosen, in the colours of the labels, if they were given.
    """
    found = [value for curve in recommendation.curves for value in (*curve.criterion, *curve.trustworthiness)]
    limits = (min([*found, 1.0]) - 0.03, max([*found, 0.0]) + 0.03)  # one scale, so that methods can be compared
    parts: list[Display] = [_curve(curve, recommendation, limits) for curve in recommendation.curves]
    parts.append(_map(recommendation))
    title = f"Recommended: {recommendation.chosen.name}"
    return GridDisplay(parts, [[*range(len(parts))]], (len(parts) * _PANEL, _PANEL + 0.5), title).plot(ax, **style)


def _curve(curve: Any, recommendation: Any, limits: tuple[float, float]) -> CurvesDisplay:
    """Return the measures over the places of the values, which are seldom evenly spaced."""
    places, best = np.arange(len(curve.values)), max(curve.criterion)
    repeated = np.array(curve.n_seeds) >= max(curve.n_seeds)
    ring = curve.values.index(curve.chosen)
    return CurvesDisplay(
        [
            Curve(in_words(recommendation.criterion), places, curve.criterion, marked=repeated, ring=ring),
            Curve("trustworthiness", places, curve.trustworthiness, dashed=True),
        ],
        curve.parameter,
        title=curve.method,
        band=("tolerance", best - recommendation.tolerance, best),
        y_limits=limits,
        ticks=[f"{value:g}" for value in curve.values],
    )


def _map(recommendation: Any) -> MapDisplay:
    Y = recommendation.chosen.embedding
    if Y.shape[1] == 1:
        Y = np.column_stack([Y[:, 0], np.random.default_rng(0).uniform(-0.05, 0.05, len(Y)) * np.ptp(Y)])
    colors = colors_of(recommendation.comparison.labels, None, len(Y))
    return MapDisplay(Y[:, :2], colors, "the map", legend="none", annotate=False, square=True)
