"""Given positions of rows: how they are checked, what they are for equal rows, and where a map with them starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import linalg, objectives
from gnomon._validation import Either, Instance, Nothing, Real, Rule, message
from gnomon.data.arrays import unmasked
from gnomon.methods.parameters import Rows

__all__ = [
    "ANCHORS",
    "ANCHOR_WEIGHT",
    "Infinite",
    "check_anchors",
    "join_terms",
    "of_distinct_rows",
    "start_at_anchors",
]

Float64Array = npt.NDArray[np.float64]

_LARGEST = float(np.finfo(np.float32).max)

ANCHORS: Rule = Either(
    Rows("an array of shape (n_samples, n_components) with NaN in rows that are free"),
    Instance((Mapping,), "a dict of row number and position"),
    Nothing(),
)


@dataclass(frozen=True)
class Infinite:
    """Infinity, of a weight that holds exactly."""

    text: str = "inf"

    def check(self, value: object) -> float:
        """Return infinity."""
        if not isinstance(value, float | np.floating) or value != math.inf:
            raise ValueError
        return math.inf


ANCHOR_WEIGHT: Rule = Either(Real(0.0), Infinite())


def check_anchors(given: Any, shape: tuple[int, int]) -> Float64Array | None:
    """Return the anchors of a map, NaN in rows that are free, or raise an error about them.

    Parameters
    ----------
    given : array-like, mapping of int to position, or None
    shape : (n_samples, n_components)

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64, or None
    """
    if given is None:
        return None
    anchors = _from_mapping(given, shape) if isinstance(given, Mapping) else _numbers(given)
    if anchors.shape != shape:
        raise ValueError(message(f"anchors of shape {anchors.shape}", f"of shape (n_samples, n_components)={shape}"))
    free = np.isnan(anchors).all(axis=1)
    wrong = np.flatnonzero(~free & ~(np.abs(anchors) < _LARGEST).all(axis=1))
    if wrong.size:
        fact = f"{wrong.size:,} rows are not, the first is row {wrong[0]}: {anchors[wrong[0]].tolist()}"
        remedy = "Give a row all its coordinates, or NaN in all of them to leave it free."
        raise ValueError(message("anchors", "finite, or NaN in all of a row", fact=fact, remedy=remedy))
    if free.all():
        rule = "given for one row at least that takes part in the fit"
        raise ValueError(message("anchors", rule, remedy="Leave anchors out."))
    return anchors


def _numbers(given: Any) -> Float64Array:
    try:
        return np.array(unmasked(given, name="anchors"), dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(message(f"anchors of type {type(given).__name__}", "an array of numbers")) from None


def _from_mapping(given: Mapping[Any, Any], shape: tuple[int, int]) -> Float64Array:
    n, d = shape
    anchors = np.full(shape, np.nan)
    for row, position in given.items():
        if isinstance(row, bool | np.bool_) or not isinstance(row, int | np.integer) or not 0 <= row < n:
            rule = f"a dict whose keys are numbers of rows, from 0 to {n - 1}"
            raise ValueError(message(f"anchors with the key {row!r:.40}", rule))
        place = _numbers(position)
        if place.shape != (d,) or not np.isfinite(place).all():
            rule = f"{d} finite numbers, n_components={d}"
            raise ValueError(message(f"anchors[{row}]={position!r:.60}", rule))
        anchors[row] = place
    return anchors


def of_distinct_rows(anchors: Float64Array, copies: npt.NDArray[np.intp]) -> Float64Array:
    """Return the anchors of distinct rows: the means of those that equal rows have.

    Parameters
    ----------
    anchors : ndarray of shape (n_rows, n_components)
        NaN in free rows.
    copies : ndarray of shape (n_rows,)
        The distinct row of each.
    """
    held = ~np.isnan(anchors).any(axis=1)
    n = int(copies.max()) + 1
    count = np.bincount(copies[held], minlength=n)
    sums = np.stack([np.bincount(copies[held], weights=column[held], minlength=n) for column in anchors.T], axis=1)
    means: Float64Array = sums / np.where(count > 0, count, np.nan)[:, None]
    return means


def start_at_anchors(start: npt.NDArray[np.float32], anchors: Float64Array) -> npt.NDArray[np.float32]:
    """Turn, reflect, move and widen a start to the anchors, and put the anchored points on theirs.

    The start is scaled up to the spread of the anchors where that is wider, never down: what is too narrow unfolds,
    what is too wide stays apart.

    Parameters
    ----------
    start, anchors : ndarray of shape (n_samples, n_components)
        Anchors are NaN for points that are free.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float32
    """
    held = np.isfinite(anchors).all(axis=1)
    points = start.astype(np.float64)
    spread = math.sqrt(points.var(axis=0).sum())
    if spread > 0.0:
        points *= max(1.0, math.sqrt(anchors[held].var(axis=0).sum()) / spread)
    points = linalg.procrustes(points, anchors, scaling=False).apply(points)
    points[held] = anchors[held]
    return points.astype(np.float32)


def join_terms(objective: Any, *terms: objectives.AddedTerm) -> None:
    """Add terms to an objective, or raise ValueError if it takes none."""
    added = getattr(objective, "added", None)
    if not isinstance(added, objectives.AddedTerms):
        remedy = "Derive it from gnomon.objectives.PairObjective."
        raise ValueError(message(f"loss={type(objective).__name__}", "one that takes added terms", remedy=remedy))
    added.join(*terms)
