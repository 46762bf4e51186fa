"""Small tables of the kinds that are hard on a method, made by hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

__all__ = ["tables"]

Rows = npt.NDArray[np.float64]


def _normal(rng: np.random.Generator, n: int, d: int) -> Rows:
    return rng.standard_normal((n, d))


def _integers(rng: np.random.Generator, n: int, d: int) -> Rows:
    return rng.integers(-3, 4, (n, d)).astype(np.float64)


def _lattice(rng: np.random.Generator, n: int, d: int) -> Rows:
    """Neighbours at equal distances: every search has ties."""
    side = int(np.ceil(n ** (1 / min(d, 2))))
    return np.stack([np.arange(n) // side**axis % side if axis < 2 else np.zeros(n) for axis in range(d)], axis=1)


def _line(rng: np.random.Generator, n: int, d: int) -> Rows:
    return np.linspace(0.0, 1.0, n)[:, None] * np.arange(1.0, d + 1)


def _low_rank(rng: np.random.Generator, n: int, d: int) -> Rows:
    rank = max(1, d // 3)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def _clusters(rng: np.random.Generator, n: int, d: int) -> Rows:
    centers = 1e3 * rng.standard_normal((3, d))
    return centers[np.arange(n) % 3] + rng.standard_normal((n, d))


def _outlier(rng: np.random.Generator, n: int, d: int) -> Rows:
    rows = rng.standard_normal((n, d))
    rows[n // 2] *= 1e6
    return rows


_KINDS = {
    "normal": _normal,
    "integers": _integers,
    "lattice": _lattice,
    "line": _line,
    "low rank": _low_rank,
    "clusters": _clusters,
    "outlier": _outlier,
}


@st.composite
def tables(
    draw: Any,
    *,
    kinds: tuple[str, ...] = tuple(_KINDS),
    offsets: tuple[float, ...] = (0.0, 1.0, -1e3, 1.6e9),
    scales: tuple[float, ...] = (1.0, 2.0**-40, 2.0**40, 1e-6, 1e25),
    n_rows: tuple[int, int] = (5, 60),
    n_columns: tuple[int, int] = (1, 8),
    copies: bool = True,
    constants: bool = True,
) -> Rows:
    """Draw a table of float64.

    Parameters
    ----------
    kinds : tuple of str
        What the rows are before they are repeated, moved and scaled.
    offsets, scales : tuple of float
        One is added to all numbers, after one has multiplied them.
    n_rows, n_columns : pair of int
        Fewest and most.
    copies : bool, default=True
        Whether rows may be repeated.
    constants : bool, default=True
        Whether a column may be constant.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        With two different rows at least.
    """
    n, d = draw(st.integers(*n_rows)), draw(st.integers(*n_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = _KINDS[draw(st.sampled_from(kinds))](rng, n, d)
    if constants and d > 1 and draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = draw(st.sampled_from((0.0, 1.0, -7.5)))
    if copies and (n_copies := draw(st.sampled_from((0, 0, 1, n // 2)))):
        X[rng.permutation(n)[:n_copies]] = X[rng.integers(n)]
    X = X * draw(st.sampled_from(scales)) + draw(st.sampled_from(offsets))
    if (X[0] == X).all():
        X[0] += max(1.0, abs(X[0, 0]))
    return np.ascontiguousarray(X)
