"""Figures go to files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon._files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_figure"]


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int) -> None:
    """Write a figure on white to a file that appears only when it is complete.

    Parameters
    ----------
    figure : matplotlib Figure
        What to save.
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes (png, pdf, svg). Without one it becomes that of
        matplotlib's default, png.
    dpi : int
        Pixels per inch.
    """
    target = Path(path)
    if not target.suffix:
        target = target.with_name(f"{target.name}.{figure.canvas.get_default_filetype()}")
    with atomic_write(target) as file:
        figure.savefig(file, format=target.suffix[1:], dpi=dpi, facecolor="white")
