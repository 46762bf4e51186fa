"""mosaic: the pictures of a data set laid side by side in the order of a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, check_parameters, message
from gnomon.plot.grid import assign_to_grid
from gnomon.plot.style import import_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mosaic", "mosaic_picture"]

_DOTS_PER_INCH = 200
_LARGEST_SIDE = 40.0  # inches


def mosaic_picture(
    images: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    gap: int = 0,
    background: int = 255,
) -> npt.NDArray[np.uint8]:
    """Lay pictures on a grid so that each lies near its place in a map.

    Parameters
    ----------
    images : array-like of shape (n_samples, height, width) or (n_samples, height, width, 3), uint8
        A picture for each row of the map, grey or red, green and blue.
    Y : array-like of shape (n_samples, 2)
        Positions in the map.
    shape : (int, int) or None, default=None
        Rows and columns of the grid; None takes the smallest grid near the shape of the map.
    method : {"auto", "exact", "fast"}, default="auto"
        How points get their cells: "exact" by linear assignment, "fast" by halving and exchanging; "auto" is exact up
        to 1500 cells.
    gap : int >= 0, default=0
        Pixels between pictures.
    background : int in [0, 255], default=255
        Grey of gaps and of cells without a picture.

    Returns
    -------
    ndarray of shape (height, width) or (height, width, 3), uint8

    Raises
    ------
    ValueError
        If the pictures are not as described, not one for each position, or the grid is too small.
    """
    checked = check_parameters(
        "mosaic", {"gap": Integer(0), "background": Integer(0, 255)}, {"gap": gap, "background": background}
    )
    tiles = np.asarray(images)
    if tiles.ndim not in (3, 4) or (tiles.ndim == 4 and tiles.shape[3] != 3) or tiles.dtype != np.uint8:
        found = f"images of shape {tiles.shape} and type {tiles.dtype}"
        raise ValueError(message("mosaic", found, "uint8 of shape (n_samples, height, width) or with 3 colours last"))
    if np.shape(Y)[:1] != tiles.shape[:1]:
        what = f"Y of shape {np.shape(Y)}"
        raise ValueError(message("mosaic", what, f"of {len(tiles)} rows, one for each of the images"))
    cells = assign_to_grid(Y, shape, method=method, who="mosaic")
    n_rows, n_columns = cells.max(axis=0) + 1 if shape is None else shape
    height, width = tiles.shape[1] + checked["gap"], tiles.shape[2] + checked["gap"]
    picture = np.full(
        (n_rows * height - checked["gap"], n_columns * width - checked["gap"], *tiles.shape[3:]),
        checked["background"],
        dtype=np.uint8,
    )
    for tile, (row, column) in zip(tiles, cells, strict=True):
        top, left = row * height, column * width
        picture[top : top + tiles.shape[1], left : left + tiles.shape[2]] = tile
    return picture


def mosaic(
    images: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    gap: int = 0,
    background: int = 255,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw pictures on a grid so that each lies near its place in a map.

    Parameters
    ----------
    images, Y, shape, method, gap, background : as for `mosaic_picture`
        The pictures and how they are laid out.
    title : str or None, default=None
        Heading.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure in which a pixel of the pictures is a pixel of the figure, up to 40 inches at
        200 dots per inch.

    Returns
    -------
    matplotlib Axes
        Grey pictures are drawn in grey; the figure is ``ax.figure``, not registered with pyplot.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        As `mosaic_picture`.
    """
    picture = mosaic_picture(images, Y, shape=shape, method=method, gap=gap, background=background)
    if ax is None:
        ax = _new_axes(picture.shape, title is not None)
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.set_axis_off()
    if title is not None:
        ax.set_title(title)
    return ax


def _new_axes(shape: tuple[int, ...], titled: bool) -> Any:
    matplotlib = import_matplotlib()
    height, width = shape[0] / _DOTS_PER_INCH, shape[1] / _DOTS_PER_INCH
    factor = min(1.0, _LARGEST_SIDE / max(height, width)) * max(1.0, 3.0 / max(height, width))
    head = 0.4 if titled else 0.0
    size = (width * factor, height * factor + head)
    figure = matplotlib.figure.Figure(figsize=size, dpi=_DOTS_PER_INCH)
    return figure.add_axes((0.0, 0.0, 1.0, height * factor / size[1]))
