"""plot_spectra: the spectra of kernels, and the front of ratio and fidelity."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon.plot.curves import Curve, CurvesDisplay, ScatterDisplay
from gnomon.plot.display import GridDisplay, draws

__all__ = ["plot_spectra"]


@draws("KernelSelection")
@entrance("plot_spectra")
def plot_spectra(
    selection: Any, *, n_curves: int = 6, ax: Any = None, title: str | None = None, **style: Any
) -> GridDisplay:
    """Draw how fast the spectra of kernels add up, and their ratio against their fidelity.

    Parameters
    ----------
    selection : KernelSelection
        Made by `select_kernel`.
    n_curves : int >= 1, default=6
        Spectra to draw: those of the best kernel, of PCA, and of the front.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str, default=None
        Title of the figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        Left the spectra; right all candidates, the front as a line, the chosen one with a ring, PCA's fidelity dashed.
    """
    drawn = list({one.label: one for one in (selection.best, selection.pca, *selection.pareto)}.values())[:n_curves]
    sums = CurvesDisplay(
        [Curve(one.label, np.arange(1, len(one.spectrum) + 1), np.cumsum(one.spectrum)) for one in drawn],
        "components",
        "share of the spectrum",
        x_marks={f"{selection.n_components}": selection.n_components},
        y_limits=(0.0, 1.02),
    )
    ratios = np.array([one.ratio for one in selection.table])
    front = Curve("front", [one.ratio for one in selection.pareto], [one.fidelity for one in selection.pareto])
    level = Curve("PCA", [ratios.min(), ratios.max()], [selection.pca.fidelity] * 2, dashed=True)
    candidates = ScatterDisplay(
        ratios,
        [one.fidelity for one in selection.table],
        f"share of {selection.n_components} components",
        "fidelity of rows held out",
        f"chosen: {selection.best.label}",
        curves=[front, level],
        ring=next(k for k, one in enumerate(selection.table) if one.label == selection.best.label),
    )
    return GridDisplay([sums, candidates], [[0, 1]], (10.0, 4.2), title).plot(ax, **style)
