"""plot_forecast: the memory that each stage of a fit is expected to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon._memory import in_bytes
from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.style import new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_forecast"]


def plot_forecast(forecast: Any) -> Figure:
    """Draw the memory at the peak of each stage of a fit, as foretold.

    Parameters
    ----------
    forecast : Forecast
        Made by `gnomon.forecast`.

    Returns
    -------
    matplotlib Figure
        A bar for each stage, in megabytes beyond the table; the line is the peak of the whole fit.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the forecast does not tell the stages apart.
    """
    stages = dict(forecast.stages)
    if not stages:
        raise ValueError(message("a forecast without stages", "one that tells them apart"))
    ax = new_axes(7.2, 1.2 + 0.4 * len(stages))
    sizes = [n_bytes / 1e6 for n_bytes in stages.values()]
    ax.barh(range(len(stages)), sizes, color=class_colors(1)[0], height=0.6)
    for row, n_bytes in enumerate(stages.values()):
        ax.text(n_bytes / 1e6, row, f" {in_bytes(n_bytes)}", va="center", fontsize=8.5)
    ax.axvline(forecast.n_bytes / 1e6, color="0.3", lw=1.0, ls="--")
    ax.set_yticks(range(len(stages)), list(stages))
    ax.invert_yaxis()
    ax.set(xlabel="expected memory beyond the table, MB", xlim=(0.0, 1.18 * forecast.n_bytes / 1e6))
    ax.spines[["top", "right"]].set_visible(False)
    figure: Figure = ax.figure
    return figure
