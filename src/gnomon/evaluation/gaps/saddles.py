"""How far density falls between parts of a table: peaks and saddles of the density that neighbours tell.

The density at a row is k / (n V r^d), r the distance to its k-th neighbour and d the intrinsic dimension. Along a path
from row to row it is the least of the rows' densities and of those that steps longer than r tell. The saddle of two
parts is the largest such least density of all paths, found by single linkage of mutual reachability distances [1]_.

.. [1] Campello, Moulavi & Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.
.. [2] Chazal, Guibas, Oudot & Skraba, "Persistence-based clustering in Riemannian manifolds", J. ACM 60, 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._threads import in_order
from gnomon.evaluation.wide_rows import n_varying
from gnomon.geometry.dimension_estimators import mackay_ghahramani
from gnomon.linalg import inner_products, row_products, symmetric_eigen

__all__ = ["FEW_NEIGHBORS", "N_NEIGHBORS", "Landscape", "NullDips"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Dips = tuple[npt.NDArray[np.int64], Floats]

N_NEIGHBORS = 15
"""Neighbours that the density at a row rests on: its logarithm has the standard deviation 0.26."""
FEW_NEIGHBORS = 5
"""Neighbours that a density rests on where the others reach over a gap: a standard deviation of 0.47."""

_REST = 1e-3  # of the mean squared distance: noise of the axes of a cloud that are not drawn


@dataclass(frozen=True)
class Landscape:
    """Peaks and saddles of the density of some rows.

    Attributes
    ----------
    radii : ndarray of shape (n,), float64
        Distance of each row to its k-th neighbour; 0 is raised to the least positive one.
    tree : ndarray of shape (n - 1, 4), float64
        Merges of parts in the order in which density falls, as SciPy writes them: part, part, radius and rows. Rows are
        the parts 0 ... n - 1, a merge makes the next part.
    dimension : float >= 1
        Intrinsic dimension, which turns a ratio of radii into one of densities; at most the columns that vary.
    """

    radii: Floats
    tree: Floats
    dimension: float

    @classmethod
    def of(cls, X: npt.NDArray[Any], k: int = N_NEIGHBORS, *, rest: float = 0.0, most: int | None = None) -> Landscape:
        """Build it from the rows of a table, `rest` added to all squared distances; quadratic in time and memory.

        Distances are as precise as the table: single precision is enough for what is drawn at random. Where neighbours
        are tied, as those of zeros and ones, they tell any number of dimensions: there are as many as columns vary, or
        `most` of a table of which not all are drawn.
        """
        products = row_products(X)
        squares = products.diagonal() + X.dtype.type(0.5 * rest)
        nearest, radii, tree = _core.reachability_tree(products, squares, k, 1)
        found = mackay_ghahramani(nearest, range(k, k + 1)).value
        bound = float(max(1, n_varying(X) if most is None else most))
        if math.isnan(found):  # all neighbours of a row are tied, or equal to it
            found = bound if nearest.any() else 1.0
        return cls(radii, tree, min(max(1.0, found), bound))

    @cached_property
    def merges(self) -> list[tuple[int, int, float]]:
        """The merges of the tree: part, part and radius."""
        return [(int(i), int(j), float(radius)) for i, j, radius, _ in self.tree]

    def dips(self) -> Dips:
        """Return of every merge the rows of the smaller part and by how much density falls before it.

        The fall is the logarithm of the lower of the two peaks over the saddle: the persistence of the lower peak.
        """
        smaller, falls = _core.density_dips(self.radii, self.tree, self.dimension, 1)
        return smaller, falls

    def members(self, part: int) -> npt.NDArray[np.int64]:
        """Return the rows of a part: a row, or what the merge of that number, less n, made."""
        n = len(self.radii)
        rows, open_parts = [], [part]
        while open_parts:
            one = open_parts.pop()
            if one < n:
                rows.append(one)
            else:
                open_parts += self.merges[one - n][:2]
        return np.sort(np.array(rows, dtype=np.int64))

    def islands(self, fall: float, fewest: int) -> npt.NDArray[np.int64]:
        """Return the island of each row, counted from 0 in the order of their first rows, -1 for rows of none.

        Islands are the sides of merges before which density falls by `fall` at least, as `dips` tells it, and of which
        each has `fewest` rows; of such a side that has such merges within itself, the sides of these.
        """
        n = len(self.radii)
        smaller, falls = self.dips()
        holds = np.zeros(2 * n - 1, dtype=np.bool_)  # whether a part has such a merge within itself
        sides: list[int] = []
        for at, (i, j, _) in enumerate(self.merges):
            deep = bool(smaller[at] >= fewest and falls[at] >= fall)
            holds[n + at] = deep or holds[i] or holds[j]
            sides += [i, j] if deep else []
        members = sorted((self.members(part) for part in sides if not holds[part]), key=lambda rows: int(rows[0]))
        found = np.full(n, -1, dtype=np.int64)
        for island, rows in enumerate(members):
            found[rows] = island
        return found

    def between(self, a: Mask, b: Mask, enough: tuple[int, int], floors: tuple[float, float] = (0.0, 0.0)) -> float:
        """Return by how much the logarithm of density falls between two sets of rows.

        The saddle is where a part with `enough` rows of `a` and another with enough rows of `b` become one; the peaks
        are those of their rows, whose radii are raised to `floors`. 0 if no two parts hold them separately. Not above
        the largest of `dips` of parts with as many rows, however the sets were chosen.
        """
        counts = [[int(one) for one in rows] for rows in (a, b)]
        peaks = [
            np.where(rows, np.maximum(self.radii, floor), np.inf).tolist()
            for rows, floor in zip((a, b), floors, strict=True)
        ]
        for i, j, radius in self.merges:
            for which in (0, 1):
                counts[which].append(counts[which][i] + counts[which][j])
                peaks[which].append(min(peaks[which][i], peaks[which][j]))
            if counts[0][-1] >= enough[0] and counts[1][-1] >= enough[1]:
                for one, other in ((i, j), (j, i)):
                    if counts[0][one] >= enough[0] and counts[1][other] >= enough[1]:
                        return max(0.0, self.dimension * math.log(radius / max(peaks[0][one], peaks[1][other])))
                return 0.0
        return 0.0


@lru_cache(maxsize=8)
def _of_uniform(n: int, dimension: int, n_nulls: int, seed: int, k: int) -> list[Dips]:
    """Return the dips of tables of even density in a cube: of all densities of one peak, it has the deepest."""

    def one(number: int) -> Dips:
        drawn = np.random.default_rng((seed, 1, number)).uniform(size=(n, dimension))
        return Landscape.of(drawn.astype(np.float32), k).dips()

    return list(in_order(one, range(n_nulls)))


@lru_cache(maxsize=4)
def _of_clouds(table: _Bytes, n_nulls: int, seed: int, k: int) -> list[Dips]:
    """Return the dips of normal clouds with the covariance of a table."""
    variances, rest = _principal_variances(table.X)
    unit = float(variances.max(initial=0.0)) or 1.0  # single precision holds squares of a table of any unit then
    deviations, most = np.sqrt(variances / unit), n_varying(table.X)

    def one(number: int) -> Dips:
        drawn = np.random.default_rng((seed, 0, number)).normal(size=(len(table.X), len(variances)))
        return Landscape.of((drawn * deviations).astype(np.float32), k, rest=rest / unit, most=most).dips()

    return list(in_order(one, range(n_nulls)))


def _principal_variances(X: Floats) -> tuple[Floats, float]:
    """Return the variances of a table along its principal axes, falling, and what the axes left out add to distances.

    Distances of normal rows need no more of their covariance. The last axes, of which many add little each, add nearly
    the same to the squared distances of all pairs, their mean: as many are left out as let the standard deviation of
    what they add be at most a thousandth of the mean squared distance. That is a hundredth and less of the noise of a
    density.
    """
    centred = X - X.mean(axis=0)
    scatter = inner_products(centred if X.shape[0] >= X.shape[1] else centred.T)
    variances = np.maximum(symmetric_eigen(scatter, 0)[0], 0.0) / len(X)
    noise = np.sqrt(8.0 * np.cumsum(np.square(variances)[::-1])[::-1])  # of the axes from each on
    kept = int(np.count_nonzero(noise > _REST * 2.0 * variances.sum()))
    return variances[:kept], 2.0 * float(variances[kept:].sum())


class _Bytes:
    """A table that equals another of the same bytes."""

    def __init__(self, X: Floats) -> None:
        self.X = X
        self._digest = (X.shape, blake2b(np.ascontiguousarray(X).data).digest())

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes) and self._digest == other._digest


@dataclass(frozen=True)
class NullDips:
    """The dips of tables that have none but by chance, beside which a dip of the data is judged.

    The tables are kept for the next question about the same rows.

    Attributes
    ----------
    clouds, uniform : list of Dips
        Of normal clouds with the covariance of the data, and of tables of even density in as many dimensions as the
        data have locally.
    """

    clouds: list[Dips]
    uniform: list[Dips]

    @classmethod
    def of(cls, X: Floats, dimension: float, n_nulls: int, seed: int, k: int = N_NEIGHBORS) -> NullDips:
        """Draw `n_nulls` tables of each of both kinds, whose densities k neighbours tell."""
        clouds = _of_clouds(_Bytes(X), n_nulls, seed, k)
        return cls(clouds, _of_uniform(len(X), round(dimension), n_nulls, seed, k))

    def deepest(self, min_rows: int) -> tuple[Floats, Floats]:
        """Return the deepest dip of each table between parts of at least so many rows, for both kinds."""
        clouds, uniform = (
            np.array([falls[smaller >= min_rows].max(initial=0.0) for smaller, falls in kind])
            for kind in (self.clouds, self.uniform)
        )
        return clouds, uniform
