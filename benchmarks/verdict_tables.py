"""Tables of known answers for the benchmark of verdicts: some in sight while settings were chosen, some not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["COMPARISONS", "GAPS", "GROUPS", "WIDTHS"]

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]
Draw = np.random.Generator
Table = tuple[Floats, Groups]
_N = 600


def _gaussians(draw: Draw) -> Table:
    groups = np.arange(_N) % 2
    return draw.normal(size=(_N, 10)) + 8.0 * np.eye(10)[0] * groups[:, None], groups


def _one(draw: Draw) -> Table:
    return draw.normal(size=(_N, 10)), np.zeros(_N, dtype=np.int64)


def _heavy(draw: Draw) -> Table:
    scales = np.sqrt(draw.chisquare(3, (_N, 1)) / 3)
    return draw.normal(size=(_N, 5)) / scales, np.zeros(_N, dtype=np.int64)


def _circles(draw: Draw) -> Table:
    n = 3 * _N // 2  # rings of one dimension need more rows for their density to stand out from the gap
    angle, groups = draw.uniform(0, 2 * np.pi, n), (np.arange(n) % 4 > 0).astype(np.int64)
    points = (1.0 + 2.0 * groups)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    return points + 0.08 * draw.normal(size=(n, 2)), groups


def _sphere(draw: Draw) -> Table:
    points = draw.normal(size=(_N, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points + 0.02 * draw.normal(size=(_N, 3)), np.zeros(_N, dtype=np.int64)


def _dip(draw: Draw) -> Table:
    """Draw a bar whose middle sixth holds half as many rows to a length."""
    along = draw.uniform(-3, 3, 4 * _N)
    kept = along[(np.abs(along) > 0.5) | (draw.uniform(size=4 * _N) < 0.5)][:_N]
    return np.c_[kept, 0.3 * draw.normal(size=(_N, 1))], np.zeros(_N, dtype=np.int64)


def _noise(draw: Draw) -> Table:
    return draw.uniform(size=(_N, 10)), np.zeros(_N, dtype=np.int64)


def _ones(rows: Floats) -> Table:
    return rows, np.zeros(len(rows), dtype=np.int64)


def _unequal(draw: Draw) -> Table:
    """Draw five times as many rows in a group as in another, which is 2.5 times as wide."""
    groups = (np.arange(720) % 6 == 0).astype(np.int64)
    rows = np.where(groups, 2.5, 1.0)[:, None] * draw.normal(size=(720, 6))
    return rows + 20.0 * np.eye(6)[2] * groups[:, None], groups


def _anisotropic(draw: Draw) -> Table:
    groups = np.arange(800) % 2
    rows = draw.normal(size=(800, 4)) * [6.0, 1.0, 1.0, 1.0]
    return rows + 8.0 * np.eye(4)[1] * groups[:, None], groups


def _two_touch(draw: Draw) -> Table:
    """Draw three groups of which two, 2.5 deviations apart, have no gap between them."""
    part = np.arange(750) % 3
    centers = np.array([[0.0, 0.0], [2.5, 0.0], [1.0, 12.0]])[part]
    return np.c_[centers, np.zeros((750, 3))] + draw.normal(size=(750, 5)), (part == 2).astype(np.int64)


def _moons(draw: Draw) -> Table:
    groups, angle = np.arange(900) % 2, draw.uniform(0, np.pi, 900)
    points = np.c_[np.cos(angle), np.sin(angle)] * (1 - 2 * groups)[:, None] + np.outer(groups, [1.0, 0.5])
    return points + 0.07 * draw.normal(size=(900, 2)), groups


def _outliers(draw: Draw) -> Table:
    """Draw Student's t of two degrees, and 3 % of rows anywhere."""
    rows = draw.normal(size=(500, 4)) / np.sqrt(draw.chisquare(2, (500, 1)) / 2)
    rows[:15] = draw.uniform(-30, 30, size=(15, 4))
    return _ones(rows)


def _gradient(draw: Draw) -> Table:
    """Draw a slab whose density falls to a twentieth from one end to the other."""
    along = -np.log(1.0 - draw.uniform(size=(700, 1)) * 0.95)
    return _ones(np.c_[3.0 * along, draw.uniform(size=(700, 2))])


def _arms(draw: Draw) -> Table:
    """Draw three arms that meet in one place."""
    arms = np.array([[1.0, 0, 0, 0, 0], [-0.5, 0.8, 0.3, 0, 0], [-0.5, -0.8, 0, 0.3, 0]])[np.arange(690) % 3]
    return _ones(draw.uniform(size=(690, 1)) * 4.0 * arms + 0.15 * draw.normal(size=(690, 5)))


def _rolled(draw: Draw) -> Table:
    """Draw two groups on a roll, nine deviations apart along it."""
    groups = np.arange(1000) % 2
    along, across = 12.0 + 9.0 * groups + draw.normal(size=1000), 3.0 * draw.normal(size=1000)
    turn = np.sqrt(2.0 * along)
    return np.c_[turn * np.cos(turn), turn * np.sin(turn), across] + 0.05 * draw.normal(size=(1000, 3)), groups


def _bent(draw: Draw) -> Table:
    """Draw a sheet bent to an S."""
    turn = draw.uniform(-1.5 * np.pi, 1.5 * np.pi, 850)
    rows = np.c_[np.sin(turn), draw.uniform(0, 2, 850), np.sign(turn) * (np.cos(turn) - 1.0)]
    return _ones(rows + 0.03 * draw.normal(size=(850, 3)))


def _four(draw: Draw) -> Table:
    """Draw four groups of unequal sizes in thirty dimensions, 14 deviations apart."""
    groups = np.repeat(np.arange(4), [400, 300, 200, 100])
    return draw.normal(size=(1000, 30)) + 14.0 / np.sqrt(2.0) * np.eye(30)[groups], groups


def _skewed(draw: Draw) -> Table:
    return _ones(np.exp(0.7 * draw.normal(size=(550, 8))))


GAPS: dict[str, Callable[[Draw], Table]] = {
    "two Gaussians": _gaussians,
    "one Gaussian": _one,
    "heavy tails": _heavy,
    "nested circles": _circles,
    "sphere": _sphere,
    "continuum with a dip": _dip,
    "uniform noise": _noise,
    "unequal groups": _unequal,
    "long groups": _anisotropic,
    "three, two touch": _two_touch,
    "moons": _moons,
    "heavy tails, outliers": _outliers,
    "density gradient": _gradient,
    "three arms": _arms,
    "groups on a roll": _rolled,
    "bent sheet": _bent,
    "four in 30 dimensions": _four,
    "skewed": _skewed,
}
"""Makers of tables and of the groups that their rows were drawn from."""


def _three(draw: Draw, second: tuple[float, float], third: tuple[float, float], spreads: tuple[float, ...]) -> Table:
    """Draw three Gaussian groups in ten dimensions, the first at 0."""
    centers = np.zeros((3, 10))
    centers[1, :2], centers[2, :2] = second, third
    groups = np.arange(_N) % 3
    return centers[groups] + np.array(spreads)[groups][:, None] * draw.normal(size=(_N, 10)), groups


def _uneven(draw: Draw, sizes: list[int], second: float, third: float, widths: list[float]) -> Table:
    """Draw three groups of Student's t of five degrees in six dimensions, long in directions of their own."""
    groups = np.repeat(np.arange(3), sizes)
    shapes = np.array([[2.0, 1.0, 1.0, 0.5, 1.0, 1.0], [1.0, 1.0, 1.0, 2.0, 0.5, 1.0], [1.0, 1.0, 1.0, 2.0, 0.5, 1.0]])
    rows = draw.normal(size=(len(groups), 6)) / np.sqrt(draw.chisquare(5, (len(groups), 1)) / 5)
    centers = np.zeros((3, 6))
    centers[1, 1], centers[2, 2] = second, third
    return centers[groups] + np.array(widths)[groups][:, None] * shapes[groups] * rows, groups


_EVEN = (30.0 * 0.5, 30.0 * 0.75**0.5)
COMPARISONS: dict[str, tuple[str, str, Callable[[Draw], Table]]] = {
    "four times as wide": ("denser", "yes", lambda draw: _three(draw, (60.0, 0.0), (0.0, 60.0), (1.0, 4.0, 1.0))),
    "as wide": ("denser", "cannot be told", lambda draw: _three(draw, (30.0, 0.0), _EVEN, (1.0, 1.0, 1.0))),
    "twice as far": ("nearer", "yes", lambda draw: _three(draw, (30.0, 0.0), (-60.0, 0.0), (1.0, 1.0, 1.0))),
    "as far": ("nearer", "cannot be told", lambda draw: _three(draw, (30.0, 0.0), _EVEN, (1.0, 1.0, 1.0))),
    "twice as wide, heavy tails": ("denser", "yes", lambda draw: _uneven(draw, [200] * 3, 25.0, 25.0, [1.0, 2.0, 1.0])),
    "as wide, other shape": ("denser", "cannot be told", lambda draw: _uneven(draw, [250] * 3, 25.0, 25.0, [1.0] * 3)),
    "half as far again": ("nearer", "yes", lambda draw: _uneven(draw, [300, 60, 140], 20.0, 30.0, [1.0] * 3)),
    "as far, unequal sizes": (
        "nearer",
        "cannot be told",
        lambda draw: _uneven(draw, [300, 60, 140], 25.0, 25.0, [3.0, 1.0, 1.0]),
    ),
}
"""Question about the first group, right answer, and maker of three groups."""


def _wide(draw: Draw, times: float) -> Table:
    """Draw two groups in five dimensions, the second so many times as wide."""
    groups = np.arange(300) % 2
    return np.where(groups, times, 1.0)[:, None] * draw.normal(size=(300, 5)) + 40.0 * groups[:, None], groups


WIDTHS: dict[str, tuple[float, Callable[[Draw], Table]]] = {
    "of one width": (1.0, lambda draw: _wide(draw, 1.0)),
    "of twice the width": (2.0, lambda draw: _wide(draw, 2.0)),
    "of four times the width": (4.0, lambda draw: _wide(draw, 4.0)),
}
"""By how much the second group is wider than the first, and maker of the two."""

_SEEN = (*list(GAPS)[:7], *list(COMPARISONS)[:4])
GROUPS: dict[str, tuple[str, ...]] = {
    "seen": _SEEN,
    "unseen": tuple(name for name in (*GAPS, *COMPARISONS) if name not in _SEEN),
    "widths": tuple(WIDTHS),
}
"""Tables that were in sight while settings were chosen, tables that settings were never chosen by, and two groups."""
