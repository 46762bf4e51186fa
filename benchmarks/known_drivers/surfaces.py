"""Surfaces of two dimensions as functions of their coordinates, for data whose driving features are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["JOINED", "SEPARATE", "Ints", "JoinedSurface", "Surface", "Values", "tangent"]

Values = npt.NDArray[Any]  # float64, or complex128 while derivatives are taken
Ints = npt.NDArray[np.int32]

_FADE = 0.3  # length over which neighbouring regions of a joined surface change over


@dataclass(frozen=True)
class Surface:
    """A surface: `low` and `high` bound its two coordinates, `shape` maps (m, 2) of them to (m, p) coordinates."""

    low: tuple[float, float]
    high: tuple[float, float]
    shape: Callable[[Values], Values]


@dataclass(frozen=True)
class JoinedSurface:
    """One surface for all regions; ``shape(u, regions, n_regions)`` has shape (m, n_regions, p)."""

    low: tuple[float, float]
    high: tuple[float, float]
    shape: Callable[[Values, Ints, int], Values]


def _sheet(u: Values) -> Values:
    return u


def _roll(u: Values) -> Values:
    angle = np.sqrt(2.0 * u[:, 0])  # nearly the length along the spiral
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle), u[:, 1]])


def _s_curve(u: Values) -> Values:
    side = np.where(u[:, 0].real > 0, 1.0, -1.0)
    return np.column_stack([np.sin(u[:, 0]), side * (np.cos(u[:, 0]) - 1.0), u[:, 1]])


def _cylinder(u: Values) -> Values:
    return np.column_stack([np.cos(u[:, 0]), np.sin(u[:, 0]), u[:, 1]])


def _cap(u: Values) -> Values:
    return np.column_stack([np.sin(u[:, 0]) * np.cos(u[:, 1]), np.sin(u[:, 1]), np.cos(u[:, 0]) * np.cos(u[:, 1])])


def _torus(u: Values) -> Values:
    around = 2.0 + np.cos(u[:, 1])
    return np.column_stack([around * np.cos(u[:, 0]), around * np.sin(u[:, 0]), np.sin(u[:, 1])])


SEPARATE = {
    "sheets": Surface((0.0, 0.0), (1.5, 1.0), _sheet),
    "rolls": Surface((0.5 * (1.5 * np.pi) ** 2, 0.0), (0.5 * (4.0 * np.pi) ** 2, 18.0), _roll),
    "s_curves": Surface((-1.4 * np.pi, 0.0), (1.4 * np.pi, 3.0), _s_curve),
    "cylinders": Surface((0.0, 0.0), (1.5 * np.pi, 2.5), _cylinder),
    "caps": Surface((-0.9, -0.9), (0.9, 0.9), _cap),
    "tori": Surface((0.0, -1.2), (2.4, 1.2), _torus),
}
"""One surface for each region, all of one shape."""


def _rise(x: Values) -> Values:
    """Return the integral of a smooth step from 0 at x = -1/2 to 1 at x = 1/2: 0 below, x above."""
    inner = 0.5 * x + 0.75 * x**2 - 0.5 * x**4 + 0.09375
    rise: Values = np.where(x.real < -0.5, 0.0 * x, np.where(x.real > 0.5, x, inner))
    return rise


def _step(x: Values) -> Values:
    step: Values = np.where(x.real < -0.5, 0.0 * x, np.where(x.real > 0.5, 1.0 + 0.0 * x, 0.5 + 1.5 * x - 2.0 * x**3))
    return step


def _ribbon(u: Values, regions: Ints, n_regions: int) -> Values:
    """Map a band along which the coordinates of the regions change one after the other, taking turns smoothly."""
    t, blocks = n_regions * u[:, 0], []
    for r in range(n_regions):
        rise, step = (
            _FADE * _rise((t - r) / _FADE) if r else t,
            _step((t - r) / _FADE) if r else 1.0 + 0.0 * t,
        )
        if r < n_regions - 1:
            rise = rise - _FADE * _rise((t - r - 1) / _FADE)
            step = step - _step((t - r - 1) / _FADE)
        blocks.append(np.column_stack([rise, u[:, 1] * step]))
    return np.stack(blocks, axis=1)


def _tree(u: Values, regions: Ints, n_regions: int) -> Values:
    """Map branches that leave one point, each in coordinates of its own, and widen along the first of their way."""
    width = np.where(u[:, 0].real < _FADE, u[:, 0] / _FADE, 1.0 + 0.0 * u[:, 0])
    blocks = np.zeros((len(u), n_regions, 2), dtype=u.dtype)
    blocks[np.arange(len(u)), regions] = np.column_stack([u[:, 0], u[:, 1] * width])
    return blocks


JOINED = {
    "ribbon": JoinedSurface((0.0, -0.4), (1.0, 0.4), _ribbon),
    "tree": JoinedSurface((0.1, -0.25), (1.0, 0.25), _tree),
}
"""One surface that all regions share."""


def tangent(shape: Callable[[Values], Values], u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the derivative of a shape by each coordinate, last axis, to rounding (by a complex step).

    Parameters
    ----------
    shape : callable
        Maps (m, 2) to an array of m rows by functions that continue to complex numbers.
    u : ndarray of shape (m, 2)
    """
    step = 1e-30
    columns = [np.imag(shape(u + 1j * step * np.eye(u.shape[1])[a])) / step for a in range(u.shape[1])]
    return np.stack(columns, axis=-1)
