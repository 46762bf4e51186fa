"""plot_regrets: what the players of a Fenchel game regret, and how far the loss is from its least value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.style import import_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_regrets"]


def plot_regrets(solution: Any, *, bound: Any = None, title: str | None = None) -> Figure:
    """Draw the regrets of both players of a game by rounds, and the gap that they certify.

    Parameters
    ----------
    solution : Solution
        Of `gnomon.optimizers.fenchel.FenchelGame`, with certified rounds in its ``state.rounds``. Where the domain is
        unbounded the first player's regret and the gap are infinite and not drawn.
    bound : callable, default=None
        Takes numbers of rounds (array) to a bound known for the method, such as ``lambda T: R * G / T**0.5``.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    matplotlib Figure
        Not registered with pyplot. Left the regrets, right the gap, the loss above the least one of all rounds, and the
        bound, both on logarithmic scales.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the game has no certified round.
    """
    rounds = solution.state.rounds
    if not rounds:
        remedy = "Play one round at least, with certify_every of at most max_iter."
        raise ValueError(message("solution", "a game with certified rounds", remedy=remedy))
    matplotlib = import_matplotlib()
    figure: Figure = matplotlib.figure.Figure(figsize=(10.0, 4.2), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    number, loss, gap, regret_x, regret_y = (np.array(column, dtype=float) for column in zip(*rounds, strict=True))
    colors = class_colors(3)
    for regret, name, color in (
        (regret_x, "first player", colors[0]),
        (regret_y, "second player", colors[1]),
        (regret_x + regret_y, "both", colors[2]),
    ):
        left.plot(number, _drawable(regret), color=color, label=name, lw=1.6)
    left.axhline(0.0, color="0.6", lw=0.8, ls=":")
    left.set(xlabel="rounds", ylabel="regret")
    above = loss - loss.min()
    right.plot(number, _drawable(gap, positive=True), color=colors[2], label="certified gap", lw=1.6)
    right.plot(number, _drawable(above, positive=True), color="0.4", label="loss above the least of all rounds", lw=1.2)
    if bound is not None:
        right.plot(number, np.asarray(bound(number), dtype=float), color="0.1", ls="--", label="bound", lw=1.2)
    right.set(xlabel="rounds", xscale="log", yscale="log", ylabel="distance from the least loss")
    for ax in (left, right):
        ax.legend(frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold", parse_math=False)
    return figure


def _drawable(values: Any, *, positive: bool = False) -> Any:
    """Return values with NaN, which is not drawn, for what an axis cannot show."""
    fits = np.isfinite(values) & ((values > 0.0) if positive else True)
    return np.where(fits, values, np.nan)
