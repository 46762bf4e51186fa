"""plot_regrets: what the players of a Fenchel game regret, and how far the loss is from its least value."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.curves import Curve, CurvesDisplay
from gnomon.plot.display import GridDisplay

__all__ = ["plot_regrets"]


@entrance("plot_regrets")
def plot_regrets(
    solution: Any, *, bound: Any = None, ax: Any = None, title: str | None = None, **style: Any
) -> GridDisplay:
    """Draw the regrets of both players of a game by rounds, and the gap that they certify.

    Parameters
    ----------
    solution : Solution
        Of `gnomon.optimizers.fenchel.FenchelGame`, with certified rounds in its ``state.rounds``. Where the domain is
        unbounded the first player's regret and the gap are infinite and not drawn.
    bound : callable, default=None
        Takes numbers of rounds (array) to a bound known for the method, such as ``lambda T: R * G / T**0.5``.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str, default=None
        Title of the figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        Left the regrets, right the gap, the loss above the least one of all rounds, and the bound, both on logarithmic
        scales.

    Raises
    ------
    ValueError
        If the game has no certified round.
    """
    rounds = solution.state.rounds
    if not rounds:
        remedy = "Play one round at least, with certify_every of at most max_iter."
        raise ValueError(message("solution", "a game with certified rounds", remedy=remedy))
    number, loss, gap, first, second = (np.array(column, dtype=float) for column in zip(*rounds, strict=True))
    regrets = CurvesDisplay(
        [
            Curve("first player", number, first),
            Curve("second player", number, second),
            Curve("both", number, first + second),
        ],
        "rounds",
        "regret",
        levels=(0.0,),
    )
    distances = [
        Curve("certified gap", number, gap),
        Curve("loss above the least of all rounds", number, loss - loss.min(), plain=True),
    ]
    if bound is not None:
        distances.append(Curve("bound", number, np.asarray(bound(number), dtype=float), plain=True, dashed=True))
    gaps = CurvesDisplay(distances, "rounds", "distance from the least loss", x_log=True, y_log=True)
    return GridDisplay([regrets, gaps], [[0, 1]], (10.0, 4.2), title).plot(ax, **style)
