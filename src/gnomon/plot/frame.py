"""Pictures of curved surfaces in the plane: where points are drawn, and what is drawn around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.plot.theme import Style, Theme
from gnomon.surfaces import Sphere, Surface

__all__ = ["Frame", "frame_of"]

Floats = npt.NDArray[np.float64]

_GAP = 0.12  # between the halves of a sphere, in their radii
_STEPS = 181  # of a drawn curve
_PARALLELS, _MERIDIANS = np.radians([-60, -30, 0, 30, 60]), np.radians([-60, -30, 0, 30, 60])
_RINGS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)  # radii from the middle of the disk
_LINE = {"lw": 0.6, "zorder": 0}


@dataclass(frozen=True)
class Frame:
    """A picture of a surface.

    Attributes
    ----------
    surface : Surface
    places : ndarray of shape (n, 2), float64
        Where its points are drawn.
    """

    surface: Surface
    places: Floats

    def draw(self, ax: Any, style: Style) -> None:
        """Draw rims and lines of equal coordinates on matplotlib axes, with words of what is shown."""
        if isinstance(self.surface, Sphere):
            _draw_halves(ax, style.theme)
        else:
            _draw_disk(ax, self.surface, style.theme)


def frame_of(surface: Surface, coordinates: npt.ArrayLike) -> Frame:
    """Return the picture of points with coordinates (n, 2); those with NaN have no place."""
    given = np.asarray(coordinates, dtype=np.float64)
    places = np.full(given.shape, np.nan)
    known = np.isfinite(given).all(axis=1)
    found = given[known]
    places[known] = _halves(found) if isinstance(surface, Sphere) else surface.picture(found)
    return Frame(surface, places)


def _halves(coordinates: Floats) -> Floats:
    """Return places in two unit disks side by side: the half about longitude 0, and the other, as seen from outside."""
    longitude, latitude = coordinates.T
    back = np.cos(longitude) < 0.0
    shift = np.where(back, 1.0 + 0.5 * _GAP, -1.0 - 0.5 * _GAP)
    places = _lambert(np.where(back, longitude - np.pi, longitude), latitude)
    places[:, 0] += shift
    return places


def _lambert(longitude: Floats, latitude: Floats) -> Floats:
    """Return places of half a sphere in the unit disk, by Lambert's azimuthal projection that keeps areas."""
    scale = 1.0 / np.sqrt(1.0 + np.cos(latitude) * np.cos(longitude))
    return np.stack([scale * np.cos(latitude) * np.sin(longitude), scale * np.sin(latitude)], axis=1)


def _draw_halves(ax: Any, theme: Theme) -> None:
    across, up = np.linspace(-np.pi / 2, np.pi / 2, _STEPS), np.linspace(-np.pi / 2, np.pi / 2, _STEPS)
    for side, words in ((-1.0, "around longitude 0"), (1.0, "around longitude 180°")):
        middle = side * (1.0 + 0.5 * _GAP)
        curves = [_lambert(across, np.full(_STEPS, latitude)) for latitude in _PARALLELS]
        curves += [_lambert(np.full(_STEPS, longitude), up) for longitude in _MERIDIANS]
        for curve in curves:
            ax.plot(curve[:, 0] + middle, curve[:, 1], color=theme.faint, **_LINE)
        _circle(ax, middle, 1.0, color=theme.line, lw=1.0)
        ax.text(middle, -1.06, words, ha="center", va="top", fontsize="small", color=theme.soft)
    ax.text(
        0.0,
        1.05,
        "the two halves of a sphere; their rims are one circle",
        ha="center",
        fontsize="small",
        color=theme.soft,
    )


def _draw_disk(ax: Any, surface: Surface, theme: Theme) -> None:
    for radii in _RINGS:
        _circle(ax, 0.0, float(np.tanh(0.5 * radii)), color=theme.faint, **_LINE)
    _circle(ax, 0.0, 1.0, color=theme.line, lw=1.0)
    words = f"the Poincaré disk; rings {', '.join(f'{r * surface.radius:g}' for r in _RINGS)} from the middle"
    ax.text(0.0, -1.04, words, ha="center", va="top", fontsize="small", color=theme.soft)


def _circle(ax: Any, x: float, radius: float, **line: Any) -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * _STEPS)
    ax.plot(x + radius * np.cos(angle), radius * np.sin(angle), **line)
