"""Columns of a large page in fewer bytes: 16 bits a coordinate, 8 bits for scores, arrows and local fits.

What is alike at points that lie together, such as their neighbours, is stored in the order of the map, which the page
finds from the positions.

What is rounded has other names or types, by which static/data/rounded.js undoes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.viewer.bins import bins_of
from gnomon.viewer.content import encode_frames

__all__ = ["POSITION_LEVELS", "map_order", "round_columns", "round_numbers"]

POSITION_LEVELS = 65_534
"""Steps across the width, and across the height, of a map whose positions are rounded."""

_SAMPLE = 20_000  # numbers from which quantiles are taken
_MISSING = 255
_FRACTIONS = ("arrows", "importance", "coefficients", "distances")  # 16-bit fractions of each row's largest
_EXACT_FLOAT32 = 2.0**24  # integers up to here survive single precision
Array = npt.NDArray[Any]


def round_numbers(values: Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """Code numbers by at most 255 levels: exact if there are so few, else no step is wide in value or in rank.

    Half of the levels part the range evenly, half the numbers: a number is off by 1/128 of the range at most, and about
    1/127 of the numbers share a level, so that neither the extremes nor the bulk are lost.

    Parameters
    ----------
    values : ndarray of shape (n,)
        What is not finite is missing.

    Returns
    -------
    codes : ndarray of shape (n,), uint8
        Ascending with the value; 255 is missing.
    levels : ndarray of shape (256,), float32
        The mean of the values of each code; NaN for codes that are not used.
    """
    given = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(given)
    known = given[finite]
    levels = np.full(256, np.nan, dtype=np.float32)
    codes = np.full(given.shape, _MISSING, dtype=np.uint8)
    if not known.size:
        return codes, levels
    found = bins_of(known, _edges(known))
    counts = np.bincount(found, minlength=1)
    used = counts > 0
    levels[: used.sum()] = np.bincount(found, weights=known)[used] / counts[used]
    codes[finite] = (np.cumsum(used) - 1)[found]
    return codes, levels


def _edges(known: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return ascending inner edges of at most 255 bins [edge, next edge)."""
    sample = np.sort(known if known.size <= _SAMPLE else known[:: -(-known.size // _SAMPLE)])
    if np.count_nonzero(np.diff(sample)) < _MISSING:
        distinct = np.unique(known)
        if distinct.size <= _MISSING:
            return distinct[1:]
    even = np.linspace(known.min(), known.max(), 130)[1:-1]
    return np.union1d(sample[(np.arange(1, 127) * sample.size) // 127], even)


def map_order(embedding: Array) -> npt.NDArray[np.int64]:
    """Return the rows along Morton's curve through the rounded positions, which keeps those near that lie near.

    Parameters
    ----------
    embedding : ndarray of shape (n, 2 or 3)
        Rows without a place come last.

    References
    ----------
    .. [1] Morton, "A computer oriented geodetic data base and a new technique in file sequencing", IBM, 1966.
    """
    planes = encode_frames([embedding], levels=POSITION_LEVELS).planes[0].astype(np.uint32)
    codes = planes[:, 0] | planes[:, 1] << 8
    n_bits = 32 // len(codes) if len(codes) > 2 else 16
    keys = np.zeros(codes.shape[1], dtype=np.uint32)
    for c, code in enumerate(codes):
        for bit in range(n_bits):
            keys |= (code >> (16 - n_bits + bit) & 1) << (len(codes) * bit + c)
    return np.argsort(keys, kind="stable")


def round_columns(
    columns: Mapping[str, Array], n: int, *, n_features: int, exact: set[str], order: npt.NDArray[np.int64]
) -> dict[str, Array]:
    """Return the columns of a group of the payload in fewer bytes.

    Parameters
    ----------
    columns : mapping of str to ndarray
        As `Document` fills them.
    n : int
        Points of the page; columns of another length are kept.
    n_features : int
        Columns of the table, of which the explanation names some.
    exact : set of str
        Columns that are kept as they are.
    order : ndarray of shape (n,), int64
        The points as `map_order` has them.
    """
    made: dict[str, Array] = {}
    for name, column in columns.items():
        if name in exact:
            made[name] = column
        elif name == "embedding":
            codes = encode_frames([column], levels=POSITION_LEVELS)
            made |= {"places": codes.planes[0], "places_low": codes.low[0], "places_step": codes.step[0]}
        elif name == "ellipses":
            made |= _fractions(name, column.astype(np.float64))
        elif name in _FRACTIONS:
            made |= _coarser(name, column, columns[f"{name}_scale"])
        elif name == "near":
            made["near_steps"] = _steps_to(column, order)
        elif name == "top":
            made["top_ordered"] = column[order].astype(np.uint8 if n_features <= 256 else column.dtype)
        elif name.removesuffix("_scale") in _FRACTIONS:
            continue  # of fractions, which bring their own
        elif column.shape == (n,) and column.dtype == np.float32:
            made |= _by_levels(name, column)
        elif column.shape == (n,) and column.dtype == np.float64 and _fits_float32(column):
            made[name] = column.astype(np.float32)
        else:
            made[name] = column
    return made


def _by_levels(name: str, column: Array) -> dict[str, Array]:
    codes, levels = round_numbers(column)
    return {name: codes, f"{name}_levels": levels}


def _coarser(name: str, column: npt.NDArray[np.int16], scale: npt.NDArray[np.float32]) -> dict[str, Array]:
    """Return 8-bit fractions of each row's largest entry from those of 16 bits, and these entries by levels."""
    every = np.arange(-(1 << 15), 1 << 15, dtype=np.float64)
    shorter = np.roll(np.round(every * (127.0 / 32_767.0)).astype(np.int8), 1 << 15)  # by the bits of a fraction
    return {name: shorter[column.view(np.uint16)]} | _by_levels(f"{name}_scale", scale * (32_767.0 / 127.0))


def _fractions(name: str, values: npt.NDArray[np.float64]) -> dict[str, Array]:
    """Return 8-bit fractions of each row's largest entry, and these entries by levels; a row with NaN has none."""
    finite = np.asarray(np.isfinite(values).all(axis=1))
    scale = np.abs(np.where(finite[:, None], values, 0.0)).max(axis=1, initial=0.0)
    divisor = np.where(scale > 0, scale, 1.0)[:, None]
    fractions = np.round(np.where(finite[:, None], values, 0.0) * (127.0 / divisor)).astype(np.int8)
    return {name: fractions} | _by_levels(f"{name}_scale", np.where(finite, scale / 127.0, np.nan))


def _steps_to(near: Array, order: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return how far neighbours are in the order of the map, of points in this order, as planes of bytes, lowest first.

    Steps 0, -1, 1, -2, 2 ... are the numbers 0, 1, 2, 3, 4 ..., so that all but the lowest bytes are mostly zero.
    """
    n = len(order)
    rank = np.empty(n, dtype=np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    steps = rank[near[order]] - np.arange(n, dtype=np.int32)[:, None]
    numbers = (steps << 1 ^ steps >> 31).reshape(-1).view(np.uint32)
    n_bytes = max(1, ((2 * n - 1).bit_length() + 7) // 8)
    return np.stack([(numbers >> 8 * b).astype(np.uint8) for b in range(n_bytes)])


def _fits_float32(column: Array) -> bool:
    known = column[np.isfinite(column)]
    whole = bool((known == np.floor(known)).all())
    return not known.size or not whole or float(np.abs(known).max()) <= _EXACT_FLOAT32
