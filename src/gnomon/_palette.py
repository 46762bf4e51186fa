"""The colours that the static and the interactive figures share."""

from __future__ import annotations

__all__ = ["DIVERGING", "DIVERGING_MARKS", "N_DISTINCT", "OTHER", "RAMP", "STANDS_OUT", "class_colors"]

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
