"""mosaic: the pictures of a data set laid side by side in the order of a map.

Each point of the map gets a cell of a grid of its own; all together move as little as possible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance, part
from gnomon._validation import Integer, Options, check_parameters, message
from gnomon.plot.display import Display
from gnomon.plot.files import import_matplotlib
from gnomon.plot.theme import Style

__all__ = ["MosaicDisplay", "assign_to_grid", "mosaic", "mosaic_picture"]

_LARGEST_EXACT = 1500  # points: the linear assignment then takes about a second
_HALF = 6  # cells: half the side of a block that is solved exactly
_SWEEPS = 4

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
_DOTS_PER_INCH = 200
_LARGEST_SIDE = 40.0  # inches


@part("assign_to_grid")
def assign_to_grid(Y: npt.ArrayLike, shape: tuple[int, int] | None = None, *, method: str = "auto") -> IntArray:
    """Give each point of a map a cell of a grid of its own, near its place.

    Parameters
    ----------
    Y : array-like of shape (n_samples, 2)
        Finite positions; each axis is stretched to the grid.
    shape : (int, int) or None, default=None
        Rows and columns of the grid, at least n_samples cells; None takes the smallest grid near the shape of the map.
    method : {"auto", "exact", "fast"}, default="auto"
        "exact": the least sum of squared displacements, by linear assignment, cubic in the number of cells. "fast":
        points and cells are halved together again and again, then overlapping blocks of 144 cells are solved exactly;
        the sum comes out some percent higher. "auto" is exact up to 1500 cells.

    Returns
    -------
    ndarray of shape (n_samples, 2), intp
        Row and column of each point; row 0 is at the top, where the second coordinate is largest. No cell twice.

    Raises
    ------
    ValueError
        If Y is not finite or two-dimensional, or the grid has too few cells.
    """
    method = check_parameters({"method": Options("auto", "exact", "fast")}, {"method": method})["method"]
    positions = np.asarray(Y, dtype=np.float64)
    if positions.ndim != 2 or positions.shape[1] != 2 or not positions.size:
        raise ValueError(message(f"Y of shape {positions.shape}", "of shape (n_samples, 2), one point at least"))
    if not np.isfinite(positions).all():
        bad = int((~np.isfinite(positions).all(axis=1)).sum())
        raise ValueError(message("Y", "finite", fact=f"{bad} rows are not", remedy="Leave them out."))
    n_rows, n_columns = _grid_shape(positions) if shape is None else (int(shape[0]), int(shape[1]))
    if min(n_rows, n_columns) < 1 or n_rows * n_columns < len(positions):
        what = f"shape=({n_rows}, {n_columns})"
        raise ValueError(message(what, f"a grid of at least n_samples={len(positions)} cells"))
    places = _on_grid(positions, n_rows, n_columns)
    if method == "auto":
        method = "exact" if n_rows * n_columns <= _LARGEST_EXACT else "fast"
    if method == "exact":
        return _exact(places, n_rows, n_columns)
    return _improve(places, _halve(places, n_rows, n_columns), n_rows, n_columns)


def _grid_shape(positions: Float64Array) -> tuple[int, int]:
    """Return rows and columns of about the proportions of the map, at most four to one."""
    n = len(positions)
    width, height = np.ptp(positions, axis=0)
    ratio = float(np.clip(width / height if height > 0.0 else 4.0, 0.25, 4.0))
    n_columns = max(1, round(math.sqrt(n * ratio)))
    return math.ceil(n / n_columns), n_columns


def _on_grid(positions: Float64Array, n_rows: int, n_columns: int) -> Float64Array:
    """Return the positions in units of cells: the first coordinate to columns, the second to rows from below."""
    low, extent = positions.min(axis=0), np.ptp(positions, axis=0)
    unit = (positions - low) / np.where(extent > 0.0, extent, 1.0)
    return np.stack([(1.0 - unit[:, 1]) * (n_rows - 1), unit[:, 0] * (n_columns - 1)], axis=1)


def _exact(places: Float64Array, n_rows: int, n_columns: int) -> IntArray:
    from scipy.optimize import linear_sum_assignment

    cells = np.stack(np.unravel_index(np.arange(n_rows * n_columns), (n_rows, n_columns)), axis=1)
    costs = ((places[:, None, :] - cells[None]) ** 2).sum(axis=2)
    _, chosen = linear_sum_assignment(costs)
    return np.asarray(cells[chosen], dtype=np.intp)


def _halve(places: Float64Array, n_rows: int, n_columns: int) -> IntArray:
    """Split points and cells along the longer side of the grid again and again until one cell is left."""
    cells = np.empty((len(places), 2), dtype=np.intp)
    parts: list[tuple[IntArray, int, int, int, int]] = [(np.arange(len(places)), 0, n_rows, 0, n_columns)]
    while parts:
        points, top, bottom, left, right = parts.pop()
        if not points.size:
            continue
        if (bottom - top) * (right - left) == 1:
            cells[points] = (top, left)
            continue
        axis = 0 if bottom - top >= right - left else 1
        begin, end = (top, bottom) if axis == 0 else (left, right)
        middle, other = (begin + end) // 2, (right - left if axis == 0 else bottom - top)
        first_cells, all_cells = (middle - begin) * other, (end - begin) * other
        count = int(np.count_nonzero(places[points, axis] < middle - 0.5))  # who lies there, as far as there is room
        count = min(max(count, points.size - (all_cells - first_cells)), first_cells)
        order = points[np.argsort(places[points, axis], kind="stable")]
        for some, low, high in ((order[:count], begin, middle), (order[count:], middle, end)):
            parts.append((some, low, high, left, right) if axis == 0 else (some, top, bottom, low, high))
    return cells


def _improve(places: Float64Array, cells: IntArray, n_rows: int, n_columns: int) -> IntArray:
    """Solve the assignment exactly within square blocks of cells, which are shifted by half a block in each sweep."""
    grid = np.full((n_rows, n_columns), -1, dtype=np.intp)
    grid[cells[:, 0], cells[:, 1]] = np.arange(len(places))
    for sweep in range(_SWEEPS):
        shift_down, shift_right = _HALF * (sweep % 2), _HALF * (sweep // 2 % 2)
        for top in range(-shift_down, n_rows, 2 * _HALF):
            for left in range(-shift_right, n_columns, 2 * _HALF):
                origin = (max(top, 0), max(left, 0))
                block = grid[origin[0] : top + 2 * _HALF, origin[1] : left + 2 * _HALF]
                points = block[block >= 0]
                if points.size:
                    local = _exact(places[points] - origin, *block.shape)
                    block[:] = -1
                    block[local[:, 0], local[:, 1]] = points
    found = np.argwhere(grid >= 0)
    out = np.empty_like(cells)
    out[grid[found[:, 0], found[:, 1]]] = found
    return out


@entrance("mosaic")
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
        {"gap": Integer(0), "background": Integer(0, 255)}, {"gap": gap, "background": background}
    )
    tiles = np.asarray(images)
    if tiles.ndim not in (3, 4) or (tiles.ndim == 4 and tiles.shape[3] != 3) or tiles.dtype != np.uint8:
        found = f"images of shape {tiles.shape} and type {tiles.dtype}"
        raise ValueError(message(found, "uint8 of shape (n_samples, height, width) or with 3 colours last"))
    if np.shape(Y)[:1] != tiles.shape[:1]:
        what = f"Y of shape {np.shape(Y)}"
        raise ValueError(message(what, f"of {len(tiles):,} rows, one for each of the images"))
    cells = assign_to_grid(Y, shape, method=method)
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


@dataclass(eq=False)
class MosaicDisplay(Display):
    """Pictures laid on a grid.

    Attributes
    ----------
    picture : ndarray of shape (height, width) or (height, width, 3), uint8
        Drawn pixel by pixel, grey ones in grey.
    title : str or None, default=None
        Above it.
    """

    picture: npt.NDArray[np.uint8]
    title: str | None = None

    def _draw_in(self, ax: Any, style: Style) -> tuple[Any, ...]:
        if ax is None:
            ax = _new_axes(self.picture.shape, self.title is not None, style)
        ax.imshow(self.picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set_axis_off()
        if self.title is not None:
            ax.set_title(self.title, parse_math=False)
        return (ax,)


@entrance("mosaic")
def mosaic(
    images: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    method: str = "auto",
    gap: int = 0,
    background: int = 255,
    title: str | None = None,
    ax: Any = None,
    **style: Any,
) -> MosaicDisplay:
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
    **style
        As for `Display.plot`.

    Returns
    -------
    MosaicDisplay

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        As `mosaic_picture`.
    """
    picture = mosaic_picture(images, Y, shape=shape, method=method, gap=gap, background=background)
    return MosaicDisplay(picture, title).plot(ax, **style)


def _new_axes(shape: tuple[int, ...], titled: bool, style: Style) -> Any:
    matplotlib = import_matplotlib()
    height, width = shape[0] / _DOTS_PER_INCH, shape[1] / _DOTS_PER_INCH
    factor = min(1.0, _LARGEST_SIDE / max(height, width)) * max(1.0, 3.0 / max(height, width))
    if style.width is not None:
        factor = style.width / width
    head = 0.4 if titled else 0.0
    size = (width * factor, height * factor + head)
    figure = matplotlib.figure.Figure(figsize=size, dpi=_DOTS_PER_INCH)
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    return figure.add_axes((0.0, 0.0, 1.0, height * factor / size[1]))
