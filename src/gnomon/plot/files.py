"""matplotlib when it is needed, and figures as files and as elements of a page."""

from __future__ import annotations

import html
import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._files import atomic_write
from gnomon._printed import harmless
from gnomon.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["import_matplotlib", "inches_of", "save_figure", "svg_of"]

_VECTOR_MARKS = 2500  # more would make a page slow to draw and to print
_SVG_DPI = 220
_VECTORS = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42}  # text is text, which can be searched
_NO_DATES = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same figure, the same bytes


def import_matplotlib() -> Any:
    """Return matplotlib with the parts the figures use, or say how to install it."""
    try:
        import matplotlib
        import matplotlib.backends.backend_agg
        import matplotlib.colors
        import matplotlib.figure
    except ImportError as error:
        raise MissingDependencyError(
            "gnomon.plot needs matplotlib, which cannot be imported. Install it with: pip install 'gnomon[plot]'"
        ) from error
    return matplotlib


def inches_of(ax: Any) -> tuple[float, float]:
    """Return width and height of axes before they are laid out, in inches; their figure may be a part of one."""
    whole, share = ax.figure.bbox, ax.get_position()
    return float(share.width * whole.width / ax.figure.dpi), float(share.height * whole.height / ax.figure.dpi)


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float) -> None:
    """Write a figure on its ground to a file that appears only when it is complete.

    Parameters
    ----------
    figure : matplotlib Figure
        What to save.
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes (png, pdf, svg). Without one it becomes that of
        matplotlib's default, png. In PDF and SVG text is text, and the same figure gives the same bytes.
    dpi : float
        Pixels per inch.
    """
    matplotlib = import_matplotlib()
    target = Path(path)
    if not target.suffix:
        target = target.with_name(f"{target.name}.{figure.canvas.get_default_filetype()}")
    kind = target.suffix[1:].lower()
    with atomic_write(target) as file, matplotlib.rc_context({**_VECTORS, "svg.hashsalt": "gnomon"}):
        figure.savefig(file, format=kind, dpi=dpi, facecolor=figure.get_facecolor(), metadata=_NO_DATES.get(kind))


def svg_of(figure: Figure, *, label: str, key: str) -> str:
    """Return a figure as an SVG element for a page: the same bytes for the same figure, with text that is text.

    Parameters
    ----------
    figure : matplotlib Figure
        Where it has many marks, these become a picture; all else is drawn as vectors.
    label : str
        What it shows, for those who do not see it.
    key : str
        Put before names inside the element, so that those of several figures differ.
    """
    matplotlib = import_matplotlib()
    marks = [one for ax in figure.axes for one in ax.collections]
    many = sum(len(np.asarray(one.get_offsets())) for one in marks) > _VECTOR_MARKS
    for one in marks:
        one.set_rasterized(many or bool(one.get_rasterized()))
    buffer = io.StringIO()
    with matplotlib.rc_context({**_VECTORS, "svg.hashsalt": key}):
        figure.savefig(buffer, format="svg", dpi=_SVG_DPI, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(|xlink:href=")#([^)"]+)', text))
    text = re.sub(r' \bid="([^"]*)"', lambda one: f' id="{key}-{one[1]}"' if one[1] in used else "", text)
    text = re.sub(r'(url\(|xlink:href=")#', rf"\1#{key}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(harmless(label))}" ', 1)
