"""plot_recommendation: the criterion over each parameter, and the map that was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._palette import class_colors
from gnomon.plot.map import draw_points, dress
from gnomon.plot.style import colors_of, import_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_recommendation"]

_PANEL = 3.4  # inches
_SHARE = 0.55  # of the side of a figure of one map


def plot_recommendation(recommendation: Any) -> Figure:
    """Draw a recommendation.

    Parameters
    ----------
    recommendation : Recommendation
        Made by `gnomon.recommend`.

    Returns
    -------
    matplotlib Figure
        A panel for each curve: the criterion, with the tolerance below its best value as a band, and trustworthiness;
        a ring around the value taken, and hollow points where a map was made with one seed alone. Last the map that
        was chosen, in the colours of the labels, if they were given.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    matplotlib = import_matplotlib()
    panels = len(recommendation.curves) + 1
    figure: Figure = matplotlib.figure.Figure(figsize=(panels * _PANEL, _PANEL + 0.5), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False).ravel()
    for k, (ax, curve) in enumerate(zip(axes, recommendation.curves, strict=False)):
        _draw_curve(ax, curve, recommendation, legend=k == 0)
    found = [value for curve in recommendation.curves for value in (*curve.criterion, *curve.trustworthiness)]
    for ax in axes[:-1]:  # one scale, so that methods can be compared
        ax.set_ylim(min([*found, 1.0]) - 0.03, max([*found, 0.0]) + 0.03)
    _draw_map(axes[-1], recommendation)
    figure.suptitle(f"Recommended: {recommendation.chosen.name}", x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


def _draw_curve(ax: Any, curve: Any, recommendation: Any, *, legend: bool) -> None:
    """Draw the measures over the places of the values, which are seldom evenly spaced."""
    places = np.arange(len(curve.values))
    colors = class_colors(2)
    best = max(curve.criterion)
    ax.axhspan(best - recommendation.tolerance, best, color=colors[0], alpha=0.12, lw=0, label="tolerance")
    ax.plot(places, curve.criterion, "o-", color=colors[0], ms=4, label=recommendation.criterion.replace("_", " "))
    ax.plot(places, curve.trustworthiness, "s--", color=colors[1], ms=3, lw=1, label="trustworthiness")
    most = max(curve.n_seeds)
    once = [k for k, n_seeds in enumerate(curve.n_seeds) if n_seeds < most]
    ax.plot(once, [curve.criterion[k] for k in once], "o", color=colors[0], ms=4, mfc="white")
    taken = curve.values.index(curve.chosen)
    ax.plot(taken, curve.criterion[taken], "o", ms=11, mfc="none", mec="0.1", mew=1.5)
    ax.set_xticks(places, [f"{value:g}" for value in curve.values])
    ax.set(xlabel=curve.parameter, title=curve.method)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(frameon=False, fontsize=8)


def _draw_map(ax: Any, recommendation: Any) -> None:
    Y = recommendation.chosen.embedding
    labels = recommendation.comparison.labels
    if Y.shape[1] == 1:
        Y = np.column_stack([Y[:, 0], np.random.default_rng(0).uniform(-0.05, 0.05, len(Y)) * np.ptp(Y)])
    colors = colors_of(labels, None, len(Y))
    draw_points(ax, Y[:, :2], None if colors is None else colors.rgb, share=_SHARE)
    dress(ax, Y[:, :2], None)
    ax.set_box_aspect(1.0)
    ax.set_title("the map", fontsize=11)
