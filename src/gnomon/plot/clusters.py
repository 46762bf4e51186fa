"""Clusters found: a map in their colours, a panel for each level, and how they lie within each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.colors import colors_of
from gnomon.plot.display import Display, GridDisplay, draws
from gnomon.plot.files import inches_of
from gnomon.plot.map import MapDisplay, positions_of
from gnomon.plot.theme import Style
from gnomon.plot.wrapping import wrapped

__all__ = ["TreeDisplay", "plot_clusters", "plot_tree"]

_PANEL = 6.0  # inches
_LEAST = 0.022  # share of the height that a box needs for a name
_LETTER = 0.085  # inches


@entrance("plot_clusters")
def plot_clusters(embedding: npt.ArrayLike, clusters: Any, *, ax: Any = None, **style: Any) -> GridDisplay:
    """Draw a map in the colours of its clusters.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions of the rows.
    clusters : gnomon.clusters.Clusters
        Found by `gnomon.find_clusters` or `gnomon.Map.clusters`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        A panel for each level, the coarsest first, with the names; rows in no cluster are grey. A single panel without
        colours where no cluster could be shown.

    Raises
    ------
    ValueError
        If the clusters are of another number of rows.
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    places, _ = positions_of(embedding)
    if len(places) != len(clusters.nearest):
        what = f"embedding with {len(places):,} rows"
        raise ValueError(message(what, f"of the {len(clusters.nearest):,} rows of clusters"))
    parts: list[Display] = []
    for number, level in enumerate(clusters.levels):
        default = " (default)" if number == clusters.default and len(clusters.levels) > 1 else ""
        colors = colors_of(level.names, None, len(places), without="in no cluster")
        parts.append(MapDisplay(places, colors, f"{len(level)} clusters{default}", annotate=False))
    if not parts:
        parts.append(MapDisplay(places, title="no clusters could be shown"))
    return GridDisplay(parts, [[*range(len(parts))]], (len(parts) * _PANEL, _PANEL)).plot(ax, **style)


@dataclass(eq=False)
class TreeDisplay(Display):
    """Groups within groups as boxes: a column for each level, the height of a box is the number of rows.

    Attributes
    ----------
    names : list of list of str
        Of the groups of each level, the coarsest level first.
    spans : list of ndarray of shape (n_groups, 2)
        Lower and upper end of each group, in shares of the rows; within those of its parent.
    title : str or None, default=None
    """

    names: list[list[str]]
    spans: list[npt.NDArray[np.float64]]
    title: str | None = None
    _size: ClassVar[tuple[float, float]] = (7.2, 5.0)

    def _draw(self, ax: Any, style: Style) -> None:
        from matplotlib.patches import Rectangle

        theme, colors = style.theme, class_colors(len(self.names[0]))
        letters = int(inches_of(ax)[0] / len(self.names) / (_LETTER * style.scale))
        for column, (names, spans) in enumerate(zip(self.names, self.spans, strict=True)):
            for name, (low, high) in zip(names, spans, strict=True):
                first = np.flatnonzero((self.spans[0][:, 0] <= low + 1e-9) & (high <= self.spans[0][:, 1] + 1e-9))
                color = colors[first[0]] if len(first) else theme.line
                look: dict[str, Any] = {"facecolor": color, "edgecolor": theme.ground, "lw": 1.5, "alpha": 0.35}
                ax.add_patch(Rectangle((column, 1.0 - high), 0.98, high - low, **look))
                if high - low >= _LEAST * style.scale:
                    words = wrapped(name, max(letters, 4), 2 if high - low >= 2.5 * _LEAST * style.scale else 1)
                    place = (column + 0.03, 1.0 - 0.5 * (low + high))
                    ax.text(*place, words, va="center", fontsize="x-small", parse_math=False, clip_on=True)
        ax.set(xlim=(0, len(self.names)), ylim=(0.0, 1.0), ylabel="share of the rows")
        ax.set_xticks(np.arange(len(self.names)) + 0.5, [f"{len(names)} clusters" for names in self.names])
        ax.tick_params(axis="x", length=0)
        ax.spines[:].set_visible(False)
        if self.title:
            ax.set_title(self.title, loc="left", fontweight="bold", parse_math=False)


@draws("Clusters")
@entrance("plot_tree")
def plot_tree(clusters: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> TreeDisplay:
    """Draw how the clusters of each level lie within those of the level before, and how large they are.

    Parameters
    ----------
    clusters : gnomon.clusters.Clusters
        Found by `gnomon.find_clusters` or `gnomon.Map.clusters`.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    TreeDisplay
        A column for each level, the coarsest first; what a column leaves free belongs to no cluster there.

    Raises
    ------
    ValueError
        If there is no cluster.
    """
    if not clusters.levels:
        raise ValueError(message("clusters", "with a level at least", fact="no cluster could be shown"))
    n_rows = len(clusters.nearest)
    names, spans = [], []
    starts: dict[int | None, float] = {None: 0.0}
    for level in clusters.levels:
        taken = dict(starts)
        found = np.zeros((len(level.clusters), 2))
        for one in level.clusters:
            low = taken[one.parent]
            found[one.number] = low, low + one.size / n_rows
            taken[one.parent] = found[one.number, 1]
        names.append([f"{one.name}  ({one.size:,})" for one in level.clusters])
        spans.append(found)
        starts = {number: low for number, (low, _) in enumerate(found)}
    return TreeDisplay(names, spans, title).plot(ax, **style)
