"""The colours that the static and the interactive figures share."""

from __future__ import annotations

from collections.abc import Callable

__all__ = [
    "CYCLIC",
    "DIVERGING",
    "DIVERGING_MARKS",
    "N_DISTINCT",
    "OTHER",
    "RAMP",
    "STANDS_OUT",
    "class_colors",
    "step_colors",
    "with_lightness",
]

# Found by studies/class_colors.py. All have a contrast of 3:1 or more with the light and the dark paper of the page.
# The first ten differ by 0.08 or more in OKLab with full vision, deuteranopia, protanopia and tritanopia; each
# further one is the farthest from those before.
_CODES = (
    "0091ff d60000 7657bb ce7c16 247a43 b172c1 fa4f85 af4386 5e916d 5053fa "
    "cd00dc 00a505 0078a0 915f28 f541c8 c35fff be5a55 646e6e dc0096 7887d2 "
    "eb6450 0073dc c8788c 8c5ff0 0596b4 aa37b9 d2145f 9b8746 825f8c a51ef0 "
    "ff1441 dc64af 6e7d2d 9b6e73 697d9b 9b5aaf f000e6 d25582 f50078 a078eb "
    "b97d5f 0a8773 b46414 d25fd7 9b7da5 46963c 505fd2 7378f0 a55064 af55d2 "
    "be55a5 ff00a0 9146cd 2d8700 5f78be a55f8c be239b d737c8 969100 0587cd"
)
_CLASSES = tuple(f"#{code}" for code in _CODES.split())

N_DISTINCT = len(_CLASSES)
"""So many classes have a colour of their own."""

OTHER = "#87909a"
"""Rows without a label or a value."""

RAMP = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""Nine stops of the viridis ramp, dark to light; perceptually uniform and readable without colour vision."""

DIVERGING = ("#2d004b", "#542788", "#8073ac", "#b2abd2", "#f7f7f7", "#fdb863", "#e08214", "#b35806", "#7f3b08")
"""Nine stops from purple over white to orange (ColorBrewer PuOr), told apart with any colour vision."""

DIVERGING_MARKS = ("#6f2fb7", "#7d55b7", "#8c74b6", "#9c91b2", "#acacac", "#a79385", "#9f795d", "#976033", "#8d4400")
"""The same for marks: in even steps of OKLab over a grey that is seen on white, to ends that are seen on dark paper."""

CYCLIC = (
    *("#b9a5b9", "#c2a191", "#c29664", "#b98637", "#aa7409", "#966405", "#815927", "#6f5244", "#625061"),
    *("#5b5182", "#5c56a5", "#6360c5", "#7170de", "#8383eb", "#9694e9", "#aaa0d7", "#b9a5b9"),
)
"""Seventeen stops around a circle, of which the last is the first: pale, orange, dark, blue, pale.

An ellipse of OKLab, cosine of .145 in lightness about .6 and sine of .14 from blue to yellow, which no eye confuses."""

STANDS_OUT = ("#5f8fb5", "#d13a1c")
"""Of marks that are as they should be, and of those to look at."""


def class_colors(n_classes: int) -> list[str]:
    """Give every class a colour.

    Parameters
    ----------
    n_classes : int >= 0
        Number of classes, the most important first.

    Returns
    -------
    list of str
        Hexadecimal colours. The first `N_DISTINCT` differ; further classes take the same ones in turn, so that no
        colour stands for more than its share of the classes.
    """
    return [_CLASSES[k % N_DISTINCT] for k in range(n_classes)]


def step_colors(n_steps: int) -> list[str]:
    """Give steps of a scale colours along `RAMP`, in order.

    Parameters
    ----------
    n_steps : int >= 0
        Number of steps, low to high.

    Returns
    -------
    list of str
        Hexadecimal colours, the first and the last of the ramp at its ends.
    """
    stops = [tuple(int(color[k : k + 2], 16) for k in (1, 3, 5)) for color in RAMP]
    colors = []
    for step in range(n_steps):
        at = step * (len(RAMP) - 1) / max(1, n_steps - 1)
        low = min(int(at), len(RAMP) - 2)
        mixed = (a + (at - low) * (b - a) for a, b in zip(stops[low], stops[low + 1], strict=True))
        colors.append("#" + "".join(f"{round(channel):02x}" for channel in mixed))
    return colors


def with_lightness(color: str, change: Callable[[float], float]) -> str:
    """Return a colour of the same hue with another lightness.

    Parameters
    ----------
    color : str
        Hexadecimal.
    change : callable
        Takes the lightness of OKLab, 0 for black and 1 for white, to another.

    Returns
    -------
    str
        Hexadecimal; channels that leave the screen's range are cut off there.
    """
    lightness, a, b = _oklab(color)
    return _hex(_from_oklab(change(lightness), a, b))


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


def _from_oklab(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        _screen(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
        _screen(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
        _screen(-0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short),
    )


def _screen(light: float) -> float:
    inside = min(max(light, 0.0), 1.0)
    return 12.92 * inside if inside <= 0.0031308 else float(1.055 * inside ** (1 / 2.4) - 0.055)
