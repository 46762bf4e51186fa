"""The repulsion that the points of a map exert together, tabulated once on a grid over one or two dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.kernels.laws import evaluate_law
from gnomon.objectives import Repulsion

__all__ = ["RepulsionTable", "tabulate_repulsion", "tabulation_bytes"]

Float64Array = npt.NDArray[np.float64]

_SPACING = {1: 1.0 / 16.0, 2: 0.25}  # in units of the distance at which the kernel has fallen by half
_FEWEST, _MOST = {1: 8192, 2: 512}, {1: 32768, 2: 1024}  # cells along the longest axis of the map
_MARGIN = 0.25  # of the map's largest extent: the table reaches so far beyond the map
_NODES = 4  # around the table, for the splines
_NODE_BYTES = 330.0  # of a node while the table is made: padded to four, in and between transforms


@dataclass(frozen=True)
class RepulsionTable:
    """Coefficients of cubic B-splines of the summed repulsion.

    Attributes
    ----------
    coefficients : ndarray of shape (rows, columns), float64
        One row for a map of one component; columns go along the first component.
    low : tuple of two floats
        Place of the first node.
    spacing : float
        Between nodes.
    """

    coefficients: Float64Array
    low: tuple[float, float]
    spacing: float


def tabulate_repulsion(Y: npt.ArrayLike, repulsion: Repulsion, *, cells: int | None = None) -> RepulsionTable:
    """Sum the repulsion of all points of a map at the nodes of a grid, through Fourier transforms.

    Charges are spread to the nodes by cubic B-splines, convolved with the repulsion and read back by the same splines,
    whose smoothing is divided out. A repulsion that is infinite or has a kink at distance 0 goes on as a straight line
    in the squared distance within one spacing, which no grid resolves.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        One or two components.
    repulsion : Repulsion
        Its strength and its link are left out.
    cells : int or None, default=None
        Along the longest axis of the map; None takes four for each half-width of the kernel (16 in one dimension),
        between 512 and 1024 (8192 and 32768).

    Returns
    -------
    RepulsionTable
    """
    points = np.asarray(Y, dtype=np.float64)
    d = points.shape[1]
    low, spacing, shape = _grid(points, repulsion, cells)
    padded = [scipy.fft.next_fast_len(2 * n, real=True) for n in shape]
    values = np.ones(len(points)) if repulsion.charges is None else repulsion.charges
    charge = _spread((points - low) / spacing, values, shape)
    offsets = [np.minimum(np.arange(n), n - np.arange(n)) * spacing for n in padded]
    squares = np.square(offsets[0]) if d == 1 else np.square(offsets[0])[:, None] + np.square(offsets[1])[None, :]
    transform = scipy.fft.rfftn(charge, padded) * scipy.fft.rfftn(_resolved(repulsion, squares, spacing))
    for axis, n in enumerate(padded):
        waves = scipy.fft.rfftfreq(n) if axis == d - 1 else scipy.fft.fftfreq(n)
        smoothing = np.square((2.0 + np.cos(2.0 * np.pi * waves)) / 3.0)
        transform /= smoothing if axis == d - 1 else smoothing[:, None]
    table = scipy.fft.irfftn(transform, padded)[tuple(slice(0, n) for n in shape)]
    corner = (float(low[0]), float(low[1]) if d == 2 else 0.0)
    return RepulsionTable(np.ascontiguousarray(table.reshape(1, -1) if d == 1 else table), corner, spacing)


def tabulation_bytes(Y: npt.ArrayLike, repulsion: Repulsion) -> float:
    """Return the bytes that `tabulate_repulsion` takes at its peak."""
    return _NODE_BYTES * float(np.prod(_grid(np.asarray(Y, dtype=np.float64), repulsion, None)[2]))


def _grid(points: Float64Array, repulsion: Repulsion, cells: int | None) -> tuple[Float64Array, float, tuple[int, ...]]:
    """Return the first node of a grid, its spacing, and its nodes along the last component and the first."""
    d = points.shape[1]
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max()) or 1.0
    if cells is None:
        cells = int(np.clip(extent / (_SPACING[d] * _half_width(repulsion, extent)), _FEWEST[d], _MOST[d]))
    spacing = extent / cells
    reach = _NODES + int(np.ceil(_MARGIN * cells))
    low = low - reach * spacing
    counts = np.ceil((high - low) / spacing).astype(int) + reach + 1
    return low, spacing, tuple(int(n) for n in counts[::-1])  # rows go along the last component


def _half_width(repulsion: Repulsion, extent: float) -> float:
    """Return the distance at which a similarity has fallen by half, by bisection; the extent for other kernels."""
    kernel = repulsion.kernel
    if not kernel.bounded:
        return extent
    half = 0.5 * float(kernel.value(0.0))
    low, high = 0.0, extent
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(kernel.value(middle**2)) > half else (low, middle)
    return max(high, 1e-6 * extent)


def _resolved(repulsion: Repulsion, squares: Float64Array, spacing: float) -> Float64Array:
    """Return the repulsion, a straight line within one spacing unless it is smooth there."""
    kernel = repulsion.kernel
    smooth = kernel.smooth and (repulsion.law == "value" or float(kernel.value(0.0)) < 1.0)
    held = squares if smooth else np.maximum(squares, spacing**2)
    energies, slopes = evaluate_law(repulsion.law, kernel, held)
    return np.asarray(energies + slopes * (squares - held))


def _spread(places: Float64Array, charges: Float64Array, shape: tuple[int, ...]) -> Float64Array:
    """Return the charges on the nodes, spread by cubic B-splines; places are in units of the spacing."""
    first = np.floor(places).astype(np.int64)
    u = places - first
    v = 1.0 - u
    weights = [v * v**2 / 6.0, 2.0 / 3.0 - 0.5 * u**2 * (2.0 - u), 2.0 / 3.0 - 0.5 * v**2 * (2.0 - v), u * u**2 / 6.0]
    size = int(np.prod(shape))
    total = np.zeros(size)
    for a in range(4):
        if len(shape) == 1:
            total += np.bincount(first[:, 0] - 1 + a, weights=charges * weights[a][:, 0], minlength=size)
            continue
        for b in range(4):
            node = (first[:, 1] - 1 + b) * shape[1] + first[:, 0] - 1 + a
            total += np.bincount(node, weights=charges * weights[a][:, 0] * weights[b][:, 1], minlength=size)
    return total.reshape(shape)
