"""Noise for features that go in steps, counts and rounded numbers, between which no row lies for want of a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon._threads import in_order
from gnomon.linalg import columns_of_parts, find_categories, most_likely_levels

__all__ = ["noise_of_steps", "without_levels"]

Floats = npt.NDArray[np.float64]

_STREAM = 1  # of the seed; the halves are drawn from the seed itself
_TIED = 2.0  # rows of each value of a feature that goes in steps, at least and on average
_HOLE = 3.0  # times the steps on both sides: a wider one is no step but a hole, and stays empty
_SHARE = 0.05  # of a feature's variance that the components hold: less is one of many that even out each other's steps
_COUNTED = 1 << 16  # whole numbers in a smaller range are counted
_BETWEEN = 0.25  # of the rows, at most, that lie between two levels since a missing cell was filled in
_EVEN = 1e-6  # by which steps of equal width may differ
_TOGETHER = 16  # features drawn at a time


def noise_of_steps(parts: Sequence[Any], components: Floats, seed: int) -> list[Floats] | None:
    """Return noise, along some components, that spreads each value of a feature evenly over its step.

    A feature goes in steps if its values have two rows each on average. A value is spread half-way to the next ones, as
    far to the one side as to the other where it has but one neighbour or beyond a hole. A cloud of one peak that was
    rounded, or that counts something, then has a density of one peak again: without noise its rows seem to thin out
    between any two of its values. The indicators of a category, of which each row has one, are spread together, since
    each alone leaves a hole between the levels: over the points that are nearer to the level than to any other in a
    simplex, whose density along any line has one peak where the levels are equally frequent. A row between levels, in
    which a missing cell was filled in by how likely each is, is spread as one of its most likely level.

    Parameters
    ----------
    parts : sequence of ndarray or CSR of shape (n_rows, n_features)
        Rows of one table.
    components : ndarray of shape (n_components, n_features), float64
        Orthonormal.
    seed : int

    Returns
    -------
    list of ndarray of shape (n_rows, n_components), float64, or None
        For each of the parts; None where no feature goes in steps.
    """
    draw = np.random.default_rng((seed, _STREAM))
    features = np.flatnonzero(np.square(components).sum(axis=0) >= _SHARE)
    parts = [part if isinstance(part, np.ndarray) else part.tocsc() for part in parts]  # columns are asked for
    noise: Floats | None = None
    for columns in find_categories(parts):
        if np.isin(columns, features).any():
            added = product(_within_categories(columns_of_parts(parts, columns), draw), components[:, columns].T)
            noise = added if noise is None else np.add(noise, added, out=noise)
            features = np.setdiff1d(features, columns)

    def look(some: npt.NDArray[np.intp]) -> dict[int, _Steps]:
        table = columns_of_parts(parts, some)
        found = {feature: _Steps.of(table[:, at]) for at, feature in enumerate(some.tolist())}
        return {feature: steps for feature, steps in found.items() if steps is not None}

    blocks = [features[start : start + _TOGETHER] for start in range(0, len(features), _TOGETHER)]
    for stepped in in_order(look, blocks):
        if stepped:
            drawn = np.stack([steps.drawn(draw) for steps in stepped.values()], axis=1)
            added = product(drawn, components[:, list(stepped)].T)
            noise = added if noise is None else np.add(noise, added, out=noise)
    return None if noise is None else np.split(noise, np.cumsum([rows.shape[0] for rows in parts])[:-1])


def without_levels(X: Any, seed: int) -> Any:
    """Return rows of a table with the indicators of each category spread, as `noise_of_steps` does.

    Neighbours then do not fall apart by the levels of a category alone, which would hide what parts them otherwise.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        Sparse tables stay as they are.
    seed : int
    """
    categories = find_categories([X]) if isinstance(X, np.ndarray) else []
    if not categories:
        return X
    draw, spread = np.random.default_rng((seed, _STREAM)), X.astype(np.float64)
    for columns in categories:
        spread[:, columns] += _within_categories(spread[:, columns], draw)
    return spread


def _levels(values: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return the different values in order, and the number of that of each row."""
    low, high = float(values.min()), float(values.max())
    if high - low >= _COUNTED or not (values == np.rint(values)).all():
        levels, level = np.unique(values, return_inverse=True)
        return levels, level
    counted = (values - low).astype(np.intp)  # whole numbers need not be sorted
    present = np.bincount(counted) > 0
    return low + np.flatnonzero(present).astype(np.float64), (np.cumsum(present) - 1)[counted]


def _within_categories(indicators: Floats, draw: np.random.Generator) -> Floats:
    """Return by how much to move the indicators of a category in each row; nothing on the mean of a level."""
    low, high = indicators.min(axis=0), indicators.max(axis=0)
    rows, n_levels = indicators.shape
    level = most_likely_levels(indicators)
    is_level = level[:, None] == np.arange(n_levels)
    points = draw.standard_exponential(size=indicators.shape)
    points /= points.sum(axis=1, keepdims=True)  # even over the simplex
    largest = np.argmax(points, axis=1)
    all_rows = np.arange(rows)
    ours, most = points[all_rows, level].copy(), points[all_rows, largest].copy()
    points[all_rows, largest], points[all_rows, level] = ours, most
    widened = (n_levels - 1.0) / ((1.0 / np.arange(1, n_levels + 1)).sum() - 1.0)
    moved: Floats = (1.0 / n_levels + widened * (points - 1.0 / n_levels) - is_level) * (high - low)
    moved += np.where(is_level, high, low) - indicators  # rows between levels go to theirs
    return moved


@dataclass(frozen=True)
class _Steps:
    """A feature that goes in steps.

    Attributes
    ----------
    level : ndarray of shape (n_rows,), intp
        The number of the value of each row.
    below, width : ndarray of shape (n_values,), float64
        How far the step of each value reaches below it, and how wide it is.
    shift : ndarray of shape (n_rows,), float64, or None
        By how much rows between two values go to the likelier one.
    """

    level: npt.NDArray[np.intp]
    below: Floats
    width: Floats
    shift: Floats | None = None

    @classmethod
    def of(cls, values: Floats) -> _Steps | None:
        """Find the steps; None if the feature does not go in any."""
        levels, level = _levels(values)
        likely = _without_between(values, levels, level)
        if likely is not None:
            found = cls.of(likely)
            return None if found is None else replace(found, shift=likely - values)
        if len(levels) < 2 or len(values) < _TIED * len(levels):
            return None
        steps = np.diff(levels)
        beside = np.pad(steps, 1)
        widest = np.maximum(beside[:-2], beside[2:])  # of the steps on both sides of each, 0 where there is none
        half = np.where((widest > 0.0) & (steps > _HOLE * widest), 0.0, steps / 2.0)
        below, above = np.pad(half, (1, 0)), np.pad(half, (0, 1))
        below, above = np.where(below > 0.0, below, above), np.where(above > 0.0, above, below)
        return cls(level, below, below + above)

    def drawn(self, draw: np.random.Generator) -> Floats:
        """Return by how much to move the value of each row."""
        moved: Floats = draw.uniform(size=len(self.level)) * self.width[self.level] - self.below[self.level]
        return moved if self.shift is None else moved + self.shift


def _without_between(values: Floats, levels: Floats, level: npt.NDArray[np.intp]) -> Floats | None:
    """Return a feature of yes and no with the likelier of both where a missing cell was filled in; None of others.

    Both are more frequent than all between them. Answers on a scale of even steps, of two rows each, stay.
    """
    counts = np.bincount(level)
    n_between = int(counts[1:-1].sum())
    if n_between == 0 or n_between > min(_BETWEEN * len(values), counts[0] - 1, counts[-1] - 1):
        return None
    steps = np.diff(levels)
    if np.ptp(steps) <= _EVEN * steps.max() and counts[1:-1].min() >= _TIED:
        return None
    likelier: Floats = np.where(values - levels[0] < levels[-1] - values, levels[0], levels[-1])
    return likelier
