"""Clumps of a map that are too small to be judged one by one, counted beside those of the data and of even tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.gaps.falls import FEWEST_ROWS
from gnomon.evaluation.gaps.saddles import Landscape
from gnomon.evaluation.gaps.sample import SampledRows
from gnomon.geometry.check import has_place

__all__ = ["Clumps"]

Floats = npt.NDArray[np.float64]

_NEIGHBORS = 4  # fewer tell clumps in any table, more miss those of five to ten rows
_FEWEST = _NEIGHBORS + 1  # rows that are each other's neighbours
_MOST = 0.5  # of the rows of a map
_TABLES = 19  # of each kind, without clumps


@dataclass(frozen=True)
class Clumps:
    """Parts of 5 to 29 rows, around each of which density falls below a share of that within, as 4 neighbours tell it.

    Attributes
    ----------
    in_map, in_data : int
        How many there are.
    by_chance : int
        The most in tables of as many rows and components as the map that have none: of even density, and normal clouds.
    share : float in [0, 1]
        Of the rows of the map, those in its clumps.
    """

    in_map: int
    in_data: int
    by_chance: int
    share: float

    @classmethod
    def of(cls, sample: SampledRows, bridge: float) -> Clumps:
        """Count them in the rows looked at that have a place."""
        limit = -math.log(bridge)
        if sample.Y is None:
            return cls(0, 0, 0, 0.0)
        placed = has_place(sample.Y)
        places = np.ascontiguousarray(sample.Y[placed], dtype=np.float64)
        by_chance = _most_by_chance(len(places), places.shape[1], limit, sample.seed)
        own, in_data = _sizes(places, limit), len(_sizes(sample.as_given[placed], limit))
        return cls(len(own), in_data, by_chance, float(own.sum()) / len(places))

    @property
    def are_shown(self) -> bool:
        """Whether the map shows more clumps than any of the tables without them."""
        return self.in_map > self.by_chance

    @property
    def are_drawn(self) -> bool:
        """Whether the map shows clumps of which the data have not half as many."""
        return self.are_shown and 2 * self.in_data < self.in_map

    @property
    def are_most(self) -> bool:
        """Whether the map is mostly clumps of which the data have not half as many."""
        return self.are_drawn and self.share >= _MOST

    @property
    def sentence(self) -> str:
        """How many there are, in words; empty where the map shows none."""
        if not self.are_shown:
            return ""
        few = "none" if self.in_data == 0 else f"{self.in_data}"
        return (
            f"The map shows {self.in_map} clumps of {_FEWEST} to {FEWEST_ROWS - 1} rows, too small to judge one by "
            f"one; the data show {few}, and tables without groups at most {self.by_chance}."
        )


def _sizes(X: Floats, limit: float) -> npt.NDArray[np.int64]:
    """Return how many rows each part has that density falls around by `limit`, of those with too few for a verdict."""
    codes = Landscape.of(X, _NEIGHBORS).islands(limit, _FEWEST)
    sizes = np.bincount(codes[codes >= 0])
    return sizes[sizes < FEWEST_ROWS]


@lru_cache(maxsize=4)
def _most_by_chance(n: int, n_components: int, limit: float, seed: int) -> int:
    """Return the most such parts in tables without any."""
    most = 0
    for number in range(_TABLES):
        draw = np.random.default_rng((seed, 5, number))
        for drawn in (draw.uniform(size=(n, n_components)), draw.normal(size=(n, n_components))):
            most = max(most, len(_sizes(drawn, limit)))
    return most
