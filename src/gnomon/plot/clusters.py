"""plot_clusters: a map coloured by the clusters found, a panel for each level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.map import plot_map
from gnomon.plot.style import import_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_clusters"]

_PANEL = 6.0  # inches


@entrance("plot_clusters")
def plot_clusters(embedding: npt.ArrayLike, clusters: Any) -> Figure:
    """Draw a map in the colours of its clusters.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions of the rows.
    clusters : gnomon.clusters.Clusters
        Found by `gnomon.find_clusters` or `gnomon.Map.clusters`.

    Returns
    -------
    matplotlib Figure
        A panel for each level, the coarsest first, with the names; rows in no cluster are grey. A single panel without
        colours where no cluster could be shown.

    Raises
    ------
    ValueError
        If the clusters are of another number of rows.
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    matplotlib = import_matplotlib()
    Y = np.asarray(embedding)
    if len(Y) != len(clusters.nearest):
        raise ValueError(message(f"embedding with {len(Y)} rows", f"of the {len(clusters.nearest)} rows of clusters"))
    panels = max(1, len(clusters.levels))
    figure: Figure = matplotlib.figure.Figure(figsize=(panels * _PANEL, _PANEL), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False).ravel()
    if not clusters.levels:
        plot_map(Y, ax=axes[0], title="no clusters could be shown")
    for number, (ax, level) in enumerate(zip(axes, clusters.levels, strict=False)):
        default = " (default)" if number == clusters.default and panels > 1 else ""
        plot_map(Y, labels=level.names, ax=ax, title=f"{len(level)} clusters{default}", annotate=False)
    return figure
