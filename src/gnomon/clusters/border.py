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

__all__ = ["HeldOutNeighbors"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_N_NEIGHBORS = 15
_BOTH = 0.2  # share of a row's neighbours that each of two groups has at the border, at least
_WIDE = 0.5  # of the distance of two groups: a neighbourhood so wide holds rows of both
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

    def fall(self, a: Rows, b: Rows, apart: float) -> float:
        """Return by how much the logarithm of density is lower on the border of two groups than inside the sparser one.

        The medians are compared, of rows whose neighbours belong to both groups and of those whose neighbours belong to
        one. Held-out rows alone tell densities: where learned rows are few by chance had a part in where the border is.
        Infinite where two rows at most are on the border: a thread has ten there, however thin it gets, since its
        neighbourhoods grow longer as it does, and a sheet has far more. So it is where neighbourhoods are wider than
        half the distance of the groups: then both are in them, and no bend can hide.

        Parameters
        ----------
        a, b : ndarray of int64
            Learned rows of both groups.
        apart : float
            Distance of their means.
        """
        shares = []
        for rows in (a, b):
            inside = np.zeros(self.n_learned, dtype=np.bool_)
            inside[rows] = True
            shares.append(inside[self.neighbors].mean(axis=1))
        border = (shares[0] >= _BOTH) & (shares[1] >= _BOTH)
        if np.count_nonzero(border) <= _FEW or float(np.median(self.radii[border])) >= _WIDE * apart:
            return math.inf
        sides = [self.densities[share >= _ALL] for share in shares]
        if min(len(side) for side in sides) == 0:
            return 0.0
        return min(float(np.median(side)) for side in sides) - float(np.median(self.densities[border]))
