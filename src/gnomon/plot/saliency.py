"""Effects of pixels as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._palette import DIVERGING
from gnomon._validation import message
from gnomon.plot.style import import_matplotlib, ramp, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_saliency", "save_saliency"]


@entrance("plot_saliency")
def plot_saliency(
    image: npt.ArrayLike, *, picture: npt.ArrayLike | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the effects of pixels: purple is against the direction, orange along it; without signs dark is none.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        Effects, such as ``Saliency.image``. Those of colours are added up.
    picture : array-like of shape (height, width) or (height, width, 3), default=None
        The picture itself; its outline is drawn over the effects.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.
    title : str, default=""
        Heading.

    Returns
    -------
    matplotlib Axes
    """
    matplotlib = import_matplotlib()
    effects = np.asarray(image, dtype=np.float64)
    if effects.ndim not in (2, 3) or not effects.size:
        raise ValueError(message(f"image of shape {effects.shape}", "(height, width[, channels])"))
    if effects.ndim == 3:
        effects = effects.sum(axis=2)
    if ax is None:
        figure = matplotlib.figure.Figure(figsize=(4.6, 4.0), layout="constrained")
        matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
        ax = figure.add_subplot()
    largest = float(np.nanmax(np.abs(effects), initial=0.0)) or 1.0
    signed = bool((effects < 0).any())
    shades: Any = ramp(matplotlib)
    if signed:
        shades = matplotlib.colors.LinearSegmentedColormap.from_list("gnomon diverging", DIVERGING)
    drawn = ax.imshow(effects, cmap=shades, vmin=-largest if signed else 0.0, vmax=largest, interpolation="nearest")
    if picture is not None:
        _outline(ax, np.asarray(picture, dtype=np.float64), effects.shape, signed)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.85)
    bar.set_label("effect, units of the map per SD", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    ax.set_xticks([])
    ax.set_yticks([])
    if title:
        ax.set_title(title, loc="left", fontsize=10, parse_math=False)
    return ax


def _outline(ax: Any, picture: npt.NDArray[np.float64], shape: tuple[int, ...], signed: bool) -> None:
    grey = picture.mean(axis=2) if picture.ndim == 3 else picture
    if grey.shape != shape:
        raise ValueError(message(f"picture of shape {picture.shape}", f"of {shape} pixels"))
    middle = (grey.min() + grey.max()) / 2
    if grey.min() < middle < grey.max():
        ax.contour(grey, levels=[middle], colors="black" if signed else "white", linewidths=0.8)


def save_saliency(path: Any, image: npt.ArrayLike, *, picture: npt.ArrayLike | None = None, title: str = "") -> None:
    """Write the figure of `plot_saliency` to a file.

    Parameters
    ----------
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes (png, pdf, svg).
    image, picture, title : as for `plot_saliency`
        What is drawn.
    """
    figure: Any = plot_saliency(image, picture=picture, title=title).figure
    save_figure(figure, path, dpi=150)
