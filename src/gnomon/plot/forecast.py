"""plot_forecast: the memory that each stage of a fit is expected to take."""

from __future__ import annotations

from typing import Any

from gnomon._entrance import entrance
from gnomon._memory import in_bytes
from gnomon._validation import message
from gnomon.plot.display import draws
from gnomon.plot.intervals import IntervalsDisplay, Line

__all__ = ["plot_forecast"]


@draws("Forecast")
@entrance("plot_forecast")
def plot_forecast(forecast: Any, *, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw the memory at the peak of each stage of a fit, as foretold.

    Parameters
    ----------
    forecast : Forecast
        Made by `gnomon.forecast`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        A bar for each stage, in megabytes beyond the table; the line is the peak of the whole fit.

    Raises
    ------
    ValueError
        If the forecast does not tell the stages apart.
    """
    stages = dict(forecast.stages)
    if not stages:
        raise ValueError(message("a forecast without stages", "one that tells them apart"))
    lines = [Line(name, n_bytes / 1e6, note=in_bytes(n_bytes)) for name, n_bytes in stages.items()]
    peak = forecast.n_bytes / 1e6
    label, limits = "expected memory beyond the table, MB", (0.0, 1.08 * peak)
    return IntervalsDisplay(lines, label, limits=limits, bars=True, x_marks={"peak": peak}).plot(ax, **style)
