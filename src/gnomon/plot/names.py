"""Names of classes on a map. Their places are found when the figure is drawn, at whatever size that is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patheffects import Stroke

from gnomon.plot.placement import Crowd, densest_members, place_names
from gnomon.plot.theme import Style
from gnomon.plot.wrapping import wrapped

__all__ = ["ClassNames"]

_LINE, _LINES = 18, 3  # letters of a line, and lines
_CELL = 0.4  # of the grid of points that names should not cover, in sizes of the letters
_MOST = 120  # names that are tried, those of the largest classes
_FAR = 0.35  # heights of a name beyond which a leader says what it names


class ClassNames(Artist):
    """Names of what lies at places of a map, each with a halo in the colour of the ground.

    The names are ordinary texts of the axes. Before these are drawn this artist, which draws nothing itself, moves them
    so that no two overlap; those without room are hidden.

    Parameters
    ----------
    ax : matplotlib Axes
    anchors : ndarray of shape (n_names, 2)
        What is named, the most important first.
    names : list of str
    colors : list of str
        Of the words.
    style : Style
    size : float
        Of the letters, in points.
    points, codes : ndarray of shape (n, 2) and (n,), or None
        What should not be covered, and which of the names each point belongs to.
    """

    def __init__(
        self,
        ax: Any,
        anchors: npt.NDArray[np.float64],
        names: list[str],
        colors: list[str],
        style: Style,
        size: float,
        points: npt.NDArray[np.float64] | None = None,
        codes: npt.NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__()
        self.anchors, self.size = anchors, size
        self.points, self.codes = points, codes
        self._view: tuple[float, ...] = ()
        words = {"ha": "center", "va": "center", "fontsize": size, "fontweight": "bold", "parse_math": False}
        texts = [wrapped(name, _LINE, _LINES) for name in names]
        halo = [Stroke(linewidth=0.28 * size, foreground=style.theme.ground, alpha=0.9)]
        # Text with a stroke becomes outlines in a vector file: the halo is a text of its own, the name stays text.
        self.halos = [
            ax.text(*place, text, color=style.theme.ground, path_effects=halo, zorder=5.0, clip_on=False, **words)
            for place, text in zip(anchors, texts, strict=True)
        ]
        self.names = [
            ax.text(*place, text, color=color, zorder=5.1, clip_on=False, **words)
            for place, text, color in zip(anchors, texts, colors, strict=True)
        ]
        self.leaders = Line2D([], [], color=style.theme.soft, linewidth=0.7, zorder=4.9)
        ax.add_artist(self.leaders)
        for one in (*self.halos, *self.names, self.leaders):
            one.set_in_layout(False)
        self.set_in_layout(False)
        self.set_zorder(4.8)  # before the names
        ax.add_artist(self)

    @classmethod
    def of_classes(cls, ax: Any, Y: npt.NDArray[Any], colors: Any, style: Style, *, size: float) -> ClassNames:
        """Name the classes of a map at their densest members, the largest first, at most 120."""
        places = np.asarray(Y, dtype=np.float64)
        found = densest_members(places, colors.codes, len(colors.names))
        order = np.argsort(-colors.sizes[:-1], kind="stable")
        order = order[found[order] >= 0][:_MOST]
        rank = np.full(len(colors.names) + 1, -1, dtype=np.intp)
        rank[order] = np.arange(len(order))  # the last stays -1, for points without a class
        names, words = [colors.names[k] for k in order], [style.theme.text(colors.hexes[k]) for k in order]
        return cls(ax, places[found[order]], names, words, style, size, places, rank[colors.codes])

    def draw(self, renderer: Any) -> None:
        """Move the names to their places."""
        axes: Any = self.axes
        if not self.names or not self.get_visible():
            return
        bounds = np.array(axes.get_window_extent(renderer).extents)
        pixels, letter = axes.transData.transform, renderer.points_to_pixels(self.size)
        view = (*bounds, *axes.viewLim.extents, letter)
        if view == self._view:
            return
        self._view = view
        for text in self.names:
            text.set_visible(True)  # what is hidden has no size
        boxes = [text.get_window_extent(renderer) for text in self.names]
        sizes = np.array([(box.width, box.height) for box in boxes])
        anchors = pixels(self.anchors)
        covered = None
        if self.points is not None and self.codes is not None:
            covered = Crowd(pixels(self.points), self.codes, bounds, _CELL * letter).cost
        middles = place_names(anchors, sizes, bounds, covered=covered, gap=0.2 * letter)
        back = axes.transData.inverted().transform
        leaders = []
        for anchor, middle, size, *texts in zip(anchors, middles, sizes, self.halos, self.names, strict=True):
            shown = bool(np.isfinite(middle).all())
            for text in texts:
                text.set_visible(shown)
                if shown:
                    text.set_position(back(middle))
            rim = np.clip(anchor, middle - 0.5 * size, middle + 0.5 * size)
            if shown and np.linalg.norm(rim - anchor) > _FAR * letter:
                leaders += [back(anchor), back(rim), (np.nan, np.nan)]
        self.leaders.set_data(*np.reshape(leaders, (-1, 2)).T)
        self.stale = False
