"""Maps that were made several times: how far each point moves, and which clusters touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.map import draw_points, dress
from gnomon.plot.style import colors_of, import_matplotlib, ramp

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnomon.evaluation import MapStability

__all__ = ["plot_stability"]

_OPACITY = 0.45  # of the outlines of ellipses, which wide spreads lay over the points


@entrance("plot_stability")
def plot_stability(found: MapStability, *, n_ellipses: int = 60, title: str | None = None) -> Figure:
    """Draw how far the points of a map move from run to run, and in how many runs clusters touch.

    Parameters
    ----------
    found : gnomon.evaluation.MapStability
        Maps of two dimensions, or of three, of which the first two coordinates are drawn.
    n_ellipses : int >= 0, default=60
        Points that get an ellipse at most, spread evenly over the rows: it holds the places within one standard
        deviation over runs, around the mean place.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    matplotlib Figure
        Not registered with pyplot. Left the mean map, points coloured by `MapStability.spread`; right, if there are
        clusters, the share of the runs in which two of them touch.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the maps have one dimension or more than three.
    """
    if found.mean.shape[1] not in (2, 3):
        raise ValueError(message(f"maps of {found.mean.shape[1]} dimensions", "of two or three"))
    matplotlib = import_matplotlib()
    share = None if found.clusters is None or len(found.clusters.names) < 2 else found.clusters.touch_share
    figure: Figure = matplotlib.figure.Figure(figsize=(7.6 if share is None else 13.0, 6.0), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    axes = figure.subplots(1, 1 if share is None else 2, squeeze=False)[0]
    Y = found.mean[:, :2]
    colors: Any = colors_of(None, found.spread, len(Y))
    draw_points(axes[0], Y, colors.rgb)
    _draw_ellipses(axes[0], found.runs[:, :, :2], Y, colors.rgb, n_ellipses)
    colors.add_bar(figure, axes[0], shrink=0.6, label="spread over runs / size of the map")
    dress(axes[0], Y, f"{found.n_runs} runs, varied: {found.vary}")
    if share is not None and found.clusters is not None:
        _draw_touching(matplotlib, figure, axes[1], share, found.clusters.names)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold", parse_math=False)
    return figure


def _draw_ellipses(
    ax: Any, runs: npt.NDArray[np.float64], mean: npt.NDArray[np.float64], rgb: npt.NDArray[np.float64], most: int
) -> None:
    """Draw the covariance over runs of some points."""
    from matplotlib.collections import EllipseCollection

    rows = np.flatnonzero(np.isfinite(runs).all(axis=(0, 2)))
    if most < 1 or not len(rows):
        return
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64))]
    moved = runs[:, rows] - mean[rows]
    covariances = np.einsum("rni,rnj->nij", moved, moved) / max(len(runs) - 1, 1)
    variances, vectors = np.linalg.eigh(covariances)
    widths, heights = (2.0 * np.sqrt(np.maximum(variances[:, k], 0.0)) for k in (1, 0))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    ax.add_collection(
        EllipseCollection(
            widths,
            heights,
            angles,
            units="xy",
            offsets=mean[rows],
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=[(*color, _OPACITY) for color in rgb[rows]],
            linewidths=0.8,
        )
    )
    reach = np.sqrt(np.maximum(np.einsum("nii->ni", covariances), 0.0))
    ax.update_datalim(np.vstack([mean[rows] - reach, mean[rows] + reach]))


def _draw_touching(matplotlib: Any, figure: Any, ax: Any, share: npt.NDArray[np.float64], names: list[str]) -> None:
    """Draw the share of runs in which two clusters touch, as a matrix with its numbers."""
    shown = np.where(np.eye(len(share), dtype=np.bool_), np.nan, share)
    drawn = ax.imshow(shown, cmap=ramp(matplotlib), vmin=0.0, vmax=1.0, interpolation="nearest")
    figure.colorbar(drawn, ax=ax, shrink=0.6, label="share of the runs in which they touch")
    ax.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names)) > 3 else 0)
    ax.set_yticks(range(len(names)), names)
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set_parse_math(False)
    ax.spines[:].set_visible(False)
    if len(names) > 20:  # numbers would overlap
        return
    dark = sum(np.array([0.3, 0.59, 0.11]) * ramp(matplotlib)(np.array([1.0]))[0, :3]) < 0.5
    for a, b in zip(*np.nonzero(shown > 0), strict=True):
        color = "white" if (shown[a, b] > 0.5) == dark else "0.15"
        ax.text(b, a, f"{shown[a, b]:.0%}", ha="center", va="center", fontsize=8, color=color)
