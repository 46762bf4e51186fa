"""The colours that the static and the interactive figures share."""

from __future__ import annotations

import colorsys

__all__ = ["OTHER", "RAMP", "class_colors"]

# Twelve hues that differ in lightness too, so that neighbours stay apart under the common colour-vision deficiencies.
_CLASSES = (
    "#3b6fb6",
    "#e8803c",
    "#2a8f5b",
    "#c23b55",
    "#7fc4e8",
    "#8a4f9e",
    "#c9b23a",
    "#7a2f4f",
    "#3aa6a0",
    "#8b6a4a",
    "#2e2f74",
    "#e59ac0",
)

OTHER = "#9aa3ad"
"""Classes beyond the palette, and rows without a label."""

RAMP = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
"""Nine stops of the viridis ramp, dark to light; perceptually uniform and readable without colour vision."""

_LIMIT = 40
_GOLDEN = 0.6180339887498949


def class_colors(n_classes: int) -> list[str]:
    """Give every class a colour.

    Parameters
    ----------
    n_classes : int >= 0
        Number of classes, the most important first.

    Returns
    -------
    list of str
        Hexadecimal colours: twelve fixed ones, generated hues up to 40 classes, then `OTHER` for the rest.
    """
    colors = list(_CLASSES[:n_classes])
    for k in range(len(colors), min(n_classes, _LIMIT)):
        lightness, saturation = ((0.40, 0.55), (0.60, 0.50), (0.50, 0.75))[k % 3]
        red, green, blue = colorsys.hls_to_rgb((k * _GOLDEN) % 1.0, lightness, saturation)
        colors.append(f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}")
    return colors + [OTHER] * (n_classes - len(colors))
