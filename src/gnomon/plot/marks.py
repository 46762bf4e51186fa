"""Points of a map as marks, or as a picture of how many lie where; and what is drawn over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon.plot.files import inches_of
from gnomon.plot.theme import Style

__all__ = ["Arrows", "Directions", "Ellipses", "Layer", "Route", "draw_points", "point_style"]

Floats = npt.NDArray[np.float64]

_DENSITY_FROM = 200_000
"""Above so many points single marks only cover each other: the figure shows how many lie in each pixel."""
_PICTURE_FROM = 5_000
"""Above so many points they are a picture in a vector file."""
_SIDE = 6.0  # inches of axes on which marks have their usual size
_USUAL_SHARE = 0.4  # of the square around a map, in which points lie
_INK = 42_000.0  # square points of all marks on such axes


def point_style(n_points: int, room: float = 1.0) -> tuple[float, float]:
    """Return area in square points and opacity of one mark: they shrink as the points get many.

    Parameters
    ----------
    n_points : int
    room : float > 0, default=1.0
        Area on which the points lie, over that of a usual map on axes of six inches.
    """
    fair = _INK * room / max(n_points, 1)
    area = float(np.clip(fair, 0.6, 36.0))
    opacity = 0.85 * min(fair / area, 1.0) ** 0.3 if n_points > 300 else 0.9
    return area, float(np.clip(opacity, 0.3, 0.9))


def _room(ax: Any, Y: Floats) -> float:
    """Return the area on which points lie on axes, over that of a usual map."""
    known = Y[np.isfinite(Y).all(axis=1)]
    if len(known) < 2:
        return 1.0
    side = int(np.clip(np.sqrt(len(known)) / 2.0, 4, 64))
    extent = max(float(np.ptp(known, axis=0).max()), 1e-300)
    cells = np.minimum(((known - known.min(axis=0)) * (side / extent)).astype(np.intp), side - 1)
    share = len(np.unique(cells[:, 0] * side + cells[:, 1])) / side**2
    return float((min(inches_of(ax)) / _SIDE) ** 2 * share / _USUAL_SHARE)


def draw_points(ax: Any, Y: npt.NDArray[Any], rgb: Floats | None, style: Style) -> None:
    """Draw marks, or how many points lie in each pixel where marks would only cover each other.

    Parameters
    ----------
    ax : matplotlib Axes
    Y : ndarray of shape (n, 2)
    rgb : ndarray of shape (n, 3) or None
        One colour a point; None gives all the same.
    style : Style
    """
    from matplotlib.colors import to_rgb

    if rgb is None:
        rgb = np.tile([to_rgb(style.theme.plain)], (len(Y), 1))
    if len(Y) > _DENSITY_FROM:
        _draw_raster(ax, Y, rgb)
        return
    area, opacity = point_style(len(Y), _room(ax, np.asarray(Y, dtype=np.float64)))
    order = np.random.default_rng(0).permutation(len(Y))  # so that no class hides the others
    ax.scatter(
        Y[order, 0],
        Y[order, 1],
        s=area if style.point_size is None else style.point_size,
        c=rgb[order],
        alpha=opacity if style.opacity is None else style.opacity,
        linewidths=0,
        rasterized=len(Y) > _PICTURE_FROM if style.rasterized is None else style.rasterized,
    )


def _draw_raster(ax: Any, Y: npt.NDArray[Any], rgb: Floats, *, side: int = 900) -> None:
    """Mean colour of each pixel, fading into the ground where few points lie."""
    finite = np.isfinite(Y).all(axis=1)
    points = Y[finite].astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    step = max(float((high - low).max()), 1e-30) / (side - 1)
    width, height = (np.floor((high - low) / step) + 1).astype(int)
    cells = np.floor((points - low) / step).astype(np.int64)
    cell = cells[:, 1] * width + cells[:, 0]
    counts = np.bincount(cell, minlength=width * height)
    means = [
        np.bincount(cell, weights=rgb[finite, c], minlength=width * height) / np.maximum(counts, 1) for c in range(3)
    ]
    busy = np.percentile(counts[counts > 0], 95) if counts.any() else 1.0
    alpha = np.where(counts > 0, 0.25 + 0.75 * np.clip(np.log1p(counts) / np.log1p(busy), 0, 1), 0.0)
    picture = np.dstack([*(m.reshape(height, width) for m in means), alpha.reshape(height, width)])
    extent = (low[0], low[0] + width * step, low[1], low[1] + height * step)
    ax.imshow(picture, origin="lower", extent=extent, interpolation="nearest")


class Layer(Protocol):
    """What is drawn over the points of a map."""

    def draw(self, ax: Any, Y: Floats, rgb: Floats | None, style: Style) -> None:
        """Draw it on axes with points `Y` in their colours."""


@dataclass(frozen=True)
class Directions:
    """Arrows from the middle of a map, with names.

    Attributes
    ----------
    arrows : mapping of str to (dx, dy)
        In units of the map; scaled together to a readable length.
    """

    arrows: Mapping[str, tuple[float, float]]

    def draw(self, ax: Any, Y: Floats, rgb: Floats | None, style: Style) -> None:
        """Draw them on axes with points `Y`."""
        from gnomon.plot.names import ClassNames

        finite = Y[np.isfinite(Y).all(axis=1)]
        center, reach = np.median(finite, axis=0), 0.3 * float(np.ptp(finite, axis=0).max())
        longest = max(float(np.hypot(*v)) for v in self.arrows.values()) or 1.0
        tips = [center + np.array(step) * (reach / longest) for step in self.arrows.values()]
        for tip in tips:
            look = {"arrowstyle": "-|>", "color": style.theme.ink, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", tip, center, arrowprops=look)
        ends = np.array([center + 1.08 * (tip - center) for tip in tips])
        ClassNames(ax, ends, list(self.arrows), [style.theme.ink] * len(tips), style, 0.95 * style.font_size)


@dataclass(frozen=True)
class Ellipses:
    """Outlines of ellipses.

    Attributes
    ----------
    middles : ndarray of shape (n, 2)
    widths, heights : ndarray of shape (n,)
        Whole lengths of the axes, in units of the map.
    angles : ndarray of shape (n,)
        Of the widths, in degrees.
    rows : ndarray of shape (n,), int
        Points whose colours they have.
    opacity : float
    """

    middles: Floats
    widths: Floats
    heights: Floats
    angles: Floats
    rows: npt.NDArray[np.intp]
    opacity: float = 0.6

    def draw(self, ax: Any, Y: Floats, rgb: Floats | None, style: Style) -> None:
        """Draw them in the colours of their points."""
        from matplotlib.collections import EllipseCollection
        from matplotlib.colors import to_rgb

        if not len(self.rows):
            return
        colors = [to_rgb(style.theme.ink)] * len(self.rows) if rgb is None else rgb[self.rows]
        ax.add_collection(
            EllipseCollection(
                self.widths,
                self.heights,
                self.angles,
                units="xy",
                offsets=self.middles,
                offset_transform=ax.transData,
                facecolors="none",
                edgecolors=[(*color, self.opacity) for color in colors],
                linewidths=0.8,
            )
        )
        reach = 0.5 * np.maximum(self.widths, self.heights)[:, None]
        ax.update_datalim(np.vstack([self.middles - reach, self.middles + reach]))


@dataclass(frozen=True)
class Arrows:
    """Arrows between places of a map.

    Attributes
    ----------
    starts, ends : ndarray of shape (n, 2)
    """

    starts: Floats
    ends: Floats

    def draw(self, ax: Any, Y: Floats, rgb: Floats | None, style: Style) -> None:
        """Draw them in the colour of ink."""
        step = self.ends - self.starts
        look = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.0022, "alpha": 0.75}
        ax.quiver(*self.starts.T, *step.T, color=style.theme.ink, zorder=3, **look)
        ax.update_datalim(np.vstack([self.starts, self.ends]))


@dataclass(frozen=True)
class Route:
    """A way over a map, from a ring to a point.

    Attributes
    ----------
    places : ndarray of shape (n, 2)
        The first and the last are marked.
    names : tuple of two str
        What they are.
    """

    places: Floats
    names: tuple[str, str]

    def draw(self, ax: Any, Y: Floats, rgb: Floats | None, style: Style) -> None:
        """Draw it over the points."""
        from gnomon.plot.names import ClassNames

        ink, ground = style.theme.ink, style.theme.ground
        ax.plot(*self.places.T, color=ground, lw=4.0, zorder=3, solid_capstyle="round")
        ax.plot(*self.places.T, color=ink, lw=1.8, zorder=3.1)
        ax.plot(*self.places[0], "o", ms=8, mfc=ground, mec=ink, mew=1.8, zorder=3.2)
        ax.plot(*self.places[-1], "o", ms=8, mfc=ink, mec=ground, mew=1.2, zorder=3.2)
        ends, names = self.places[[0, -1]].astype(np.float64), list(self.names)
        ClassNames(ax, ends, names, [ink, ink], style, 0.9 * style.font_size, ends, np.arange(2))
