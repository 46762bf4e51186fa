"""plot_spectra: the spectra of kernels, and the front of ratio and fidelity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._palette import OTHER, class_colors
from gnomon.plot.style import import_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_spectra"]


def plot_spectra(selection: Any, *, n_curves: int = 6, title: str | None = None) -> Figure:
    """Draw how fast the spectra of kernels add up, and their ratio against their fidelity.

    Parameters
    ----------
    selection : KernelSelection
        Made by `select_kernel`.
    n_curves : int >= 1, default=6
        Spectra to draw: those of the best kernel, of PCA, and of the front.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    matplotlib Figure
        Not registered with pyplot.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    matplotlib = import_matplotlib()
    figure: Figure = matplotlib.figure.Figure(figsize=(10.0, 4.2), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    shown = {one.label: one for one in (selection.best, selection.pca, *selection.pareto)}
    drawn = list(shown.values())[:n_curves]
    colors = dict(zip((one.label for one in drawn), class_colors(len(drawn)), strict=True))
    for one in drawn:
        counts = np.arange(1, len(one.spectrum) + 1)
        left.plot(counts, np.cumsum(one.spectrum), color=colors[one.label], label=one.label, lw=1.6)
    left.axvline(selection.n_components, color="0.6", lw=0.8, ls=":")
    left.set(xlabel="components", ylabel="share of the spectrum", ylim=(0.0, 1.02))
    left.legend(frameon=False, fontsize=8)
    for one in selection.table:
        right.scatter(one.ratio, one.fidelity, s=26, color=colors.get(one.label, OTHER), zorder=3)
    front = selection.pareto
    right.plot([one.ratio for one in front], [one.fidelity for one in front], color="0.6", lw=0.9, zorder=2)
    right.axhline(selection.pca.fidelity, color="0.6", lw=0.8, ls=":")
    best = selection.best
    right.scatter(best.ratio, best.fidelity, s=140, facecolor="none", edgecolor="0.1", lw=1.2, zorder=4)
    right.set(xlabel=f"share of {selection.n_components} components", ylabel="fidelity of rows held out")
    right.set_title(f"chosen: {best.label}", fontsize=10, parse_math=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold", parse_math=False)
    return figure
