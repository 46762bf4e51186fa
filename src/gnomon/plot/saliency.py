"""Effects of pixels as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._palette import DIVERGING, RAMP
from gnomon._validation import message
from gnomon.plot.colors import ramp
from gnomon.plot.display import Display, draws
from gnomon.plot.files import import_matplotlib, save_figure
from gnomon.plot.theme import Style

__all__ = ["SaliencyDisplay", "plot_saliency", "save_saliency"]


@dataclass(eq=False)
class SaliencyDisplay(Display):
    """Effects of pixels.

    Attributes
    ----------
    effects : ndarray of shape (height, width)
        Of all colours together.
    picture : ndarray of shape (height, width) or None, default=None
        The picture itself, in grey; its outline is drawn.
    title : str, default=""
        Above it.
    """

    effects: npt.NDArray[np.float64]
    picture: npt.NDArray[np.float64] | None = None
    title: str = ""
    _size: ClassVar[tuple[float, float]] = (4.6, 4.0)

    def _draw(self, ax: Any, style: Style) -> None:
        largest = float(np.nanmax(np.abs(self.effects), initial=0.0)) or 1.0
        signed = bool((self.effects < 0).any())
        shades, low = ramp(DIVERGING if signed else RAMP), -largest if signed else 0.0
        drawn = ax.imshow(self.effects, cmap=shades, vmin=low, vmax=largest, interpolation="nearest")
        if self.picture is not None:
            grey = self.picture
            middle = (grey.min() + grey.max()) / 2
            if grey.min() < middle < grey.max():
                ax.contour(grey, levels=[middle], colors="black" if signed else "white", linewidths=0.8)
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.85)
        bar.set_label("effect, units of the map per SD", fontsize="small", color=style.theme.ink)
        bar.ax.tick_params(color=style.theme.soft, labelcolor=style.theme.ink, labelsize=0.8 * style.font_size)
        ax.set(xticks=[], yticks=[])
        if self.title:
            ax.set_title(self.title, loc="left", parse_math=False)


@entrance("plot_saliency")
def plot_saliency(
    image: npt.ArrayLike, *, picture: npt.ArrayLike | None = None, ax: Any = None, title: str = "", **style: Any
) -> SaliencyDisplay:
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
    **style
        As for `Display.plot`.

    Returns
    -------
    SaliencyDisplay

    Raises
    ------
    ValueError
        If effects or picture are not of such a shape.
    """
    import_matplotlib()
    effects = np.asarray(image, dtype=np.float64)
    if effects.ndim not in (2, 3) or not effects.size:
        raise ValueError(message(f"image of shape {effects.shape}", "(height, width[, channels])"))
    if effects.ndim == 3:
        effects = effects.sum(axis=2)
    grey = None if picture is None else np.asarray(picture, dtype=np.float64)
    if grey is not None and grey.ndim == 3:
        grey = grey.mean(axis=2)
    if grey is not None and grey.shape != effects.shape:
        raise ValueError(message(f"picture of shape {np.asarray(picture).shape}", f"of {effects.shape} pixels"))
    return SaliencyDisplay(effects, grey, title).plot(ax, **style)


@draws("Saliency")
def _plot_of_answer(found: Any, ax: Any = None, **options: Any) -> SaliencyDisplay:
    return plot_saliency(found.image, ax=ax, **options)


def save_saliency(
    path: Any, image: npt.ArrayLike, *, picture: npt.ArrayLike | None = None, title: str = "", **style: Any
) -> None:
    """Write the figure of `plot_saliency` to a file.

    Parameters
    ----------
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes (png, pdf, svg).
    image, picture, title : as for `plot_saliency`
        What is drawn.
    **style
        As for `Display.plot`.
    """
    save_figure(plot_saliency(image, picture=picture, title=title, **style).figure_, path, dpi=150)
