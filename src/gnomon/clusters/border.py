"""Whether the rows on the border of two groups lie farther apart than those inside: a bend in one thread does not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon._run import current_run
from gnomon.geometry.dimension_estimators import mackay_ghahramani
from gnomon.neighbors import RowSearch, compute_neighbors

__all__ = ["FALL", "HeldOutNeighbors"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

FALL = math.log(2.5)
"""Of the logarithm of density, at least, on a border that is open."""
_N_NEIGHBORS = 15
_BOTH = 0.2  # share of a row's neighbours that each of two groups has at the border, at least
_WIDE = 0.5  # of the distance of two groups: so wide neighbourhoods smooth their border
_FALL_WIDE = math.log(1.5)  # which then is as much as can be asked
_SURE = 1e-3  # p-value of a split of which nothing is asked where its border cannot be seen
_WIDER = 1.0  # holds rows of both wherever it is
_ALL = 0.8  # share of a row's neighbours that a group has inside it, at least
_CLOSE = 8  # of these tell the density at a row: fewer stray more, more reach across a gap
_FEW = 2  # rows on the border: of a thread ten are on the mean, and two at most at 1 % of its places


@dataclass(frozen=True)
class HeldOutNeighbors:
    """Neighbours of rows held out.

    Attributes
    ----------
    neighbors : ndarray of shape (n_held_out, 15), int64
        Nearest learned rows of each; 0.999 of them at least where 10,000 rows or more are learned.
    radii : ndarray of shape (n_held_out,), float64
        Distance of each to the 15th nearest other one held out.
    densities : ndarray of shape (n_held_out,), float64
        Logarithm of the density at each, by its distance to the 8th nearest and in as many dimensions as the rows have
        locally. Its standard deviation by chance is 0.36.
    n_learned : int
    """

    neighbors: npt.NDArray[np.int64]
    radii: Floats
    densities: Floats
    n_learned: int

    @classmethod
    def of(cls, learned: Floats, held_out: Floats) -> Self:
        """Find the neighbours."""
        k = min(_N_NEIGHBORS, len(learned) - 1)
        seed = current_run().seed
        neighbors = RowSearch.of(learned, k, many=True, seed=seed).find(held_out)[0].astype(np.int64)
        distances = compute_neighbors(held_out, k, seed=seed).distances.astype(np.float64)
        found = mackay_ghahramani(distances, range(k, k + 1)).value
        dimension = max(1.0, found) if math.isfinite(found) else 1.0
        close = distances[:, min(_CLOSE, k) - 1]
        densities = -dimension * log(np.maximum(close, np.finfo(np.float32).tiny))
        return cls(neighbors, distances[:, -1], densities, len(learned))

    def is_open(self, a: Rows, b: Rows, apart: float, p_value: float) -> bool:
        """Return whether two groups do not join around a bend.

        The logarithm of density falls on their border by that of 2.5 at least, or 1.5 where neighbourhoods there are
        wider than half the distance of the groups and smooth it. Nothing is asked where hardly any row is on the
        border, nor of so wide neighbourhoods where they are wider than the distance, so that both groups are in them,
        or where the split is so sure that no ring or arc of few rows would show it.

        Parameters
        ----------
        a, b : ndarray of int64
            Learned rows of both groups.
        apart : float
            Distance of their means.
        p_value : float
            Of the split, before it is adjusted for others.
        """
        fall, radius = self.fall(a, b)
        if radius < _WIDE * apart:
            return fall >= FALL
        return radius >= _WIDER * apart or p_value <= _SURE or fall >= _FALL_WIDE

    def is_smoothed(self, a: Rows, b: Rows, apart: float) -> bool:
        """Return whether neighbourhoods on the border of two groups are too wide to show how far density falls there.

        Parameters are those of `is_open`.
        """
        return self.fall(a, b)[1] >= _WIDE * apart

    def fall(self, a: Rows, b: Rows) -> tuple[float, float]:
        """Return by how much the logarithm of density is lower on the border of two groups than inside the sparser one.

        The medians are compared, of rows whose neighbours belong to both groups and of those whose neighbours belong to
        one. Held-out rows alone tell densities: where learned rows are few by chance had a part in where the border is.
        Infinite where two rows at most are on the border: a thread has ten there, however thin it gets, since its
        neighbourhoods grow longer as it does, and a sheet has far more. Of groups of fewer than 15 rows as many
        neighbours are looked at as the smaller has: more would reach into the other one from anywhere.

        Returns
        -------
        fall : float
        radius : float
            Median distance to the 15th neighbour of the rows on the border.
        """
        shares, k = [], min(self.neighbors.shape[1], len(a), len(b))
        for rows in (a, b):
            inside = np.zeros(self.n_learned, dtype=np.bool_)
            inside[rows] = True
            shares.append(inside[self.neighbors[:, :k]].mean(axis=1))
        border = (shares[0] >= _BOTH) & (shares[1] >= _BOTH)
        if np.count_nonzero(border) <= _FEW:
            return math.inf, 0.0
        radius = float(np.median(self.radii[border]))
        sides = [self.densities[share >= _ALL] for share in shares]
        if min(len(side) for side in sides) == 0:
            return 0.0, radius
        return min(float(np.median(side)) for side in sides) - float(np.median(self.densities[border])), radius
