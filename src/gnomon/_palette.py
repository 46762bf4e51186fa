"""The colours that the static and the interactive figures share."""

from __future__ import annotations

import colorsys
import math

__all__ = ["DIVERGING", "DIVERGING_MARKS", "OTHER", "RAMP", "STANDS_OUT", "class_colors"]

# Chosen by search so that any two differ clearly in OKLab, as they are and as seen with deuteranopia and protanopia.
_CLASSES = (
    "#6273d5",
    "#d47719",
    "#2aa56d",
    "#765e19",
    "#23abf0",
    "#6841a1",
    "#d5bb31",
    "#a65286",
    "#3edba9",
    "#72192c",
    "#2e2f74",
    "#d17db8",
)

OTHER = "#9aa3ad"
"""Classes beyond the palette, and rows without a label."""

RAMP = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""Nine stops of the viridis ramp, dark to light; perceptually uniform and readable without colour vision."""

DIVERGING = ("#2d004b", "#542788", "#8073ac", "#b2abd2", "#f7f7f7", "#fdb863", "#e08214", "#b35806", "#7f3b08")
"""Nine stops from purple over white to orange (ColorBrewer PuOr), told apart with any colour vision."""

DIVERGING_MARKS = ("#40106e", "#6a4aa3", "#9a8fc0", "#b9b5c9", "#c6c6c6", "#dcc09a", "#e09a3e", "#b8600a", "#7f3b08")
"""The same over grey: marks on white must be seen at the middle too."""

STANDS_OUT = ("#c3ccd4", "#c4321a")
"""Of marks that are as they should be, and of those to look at."""

_LIMIT = 40


def class_colors(n_classes: int) -> list[str]:
    """Give every class a colour.

    Parameters
    ----------
    n_classes : int >= 0
        Number of classes, the most important first.

    Returns
    -------
    list of str
        Hexadecimal colours: twelve fixed ones, then up to 40 classes the colour farthest from those before, then
        `OTHER` for the rest.
    """
    colors = list(_CLASSES[:n_classes])
    if n_classes > len(_CLASSES):
        colors += _farthest_colors(min(n_classes, _LIMIT) - len(_CLASSES))
    return colors + [OTHER] * (n_classes - len(colors))


def _farthest_colors(n_more: int) -> list[str]:
    shades = [(hue / 36, light, strong) for light in (0.35, 0.5, 0.65) for strong in (0.35, 0.55) for hue in range(36)]
    candidates = [_hex(colorsys.hls_to_rgb(*shade)) for shade in shades]
    places = [_oklab(color) for color in candidates]
    gaps = [min(math.dist(place, _oklab(color)) for color in (*_CLASSES, OTHER)) for place in places]
    chosen: list[str] = []
    for _ in range(n_more):
        best = max(range(len(gaps)), key=gaps.__getitem__)
        chosen.append(candidates[best])
        gaps = [min(gap, math.dist(place, places[best])) for gap, place in zip(gaps, places, strict=True)]
    return chosen


def _hex(rgb: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in rgb)


def _oklab(color: str) -> tuple[float, float, float]:
    """Coordinates in which distance is about what the eye sees (Ottosson 2020)."""
    red, green, blue = (_linear(int(color[k : k + 2], 16) / 255) for k in (1, 3, 5))
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
