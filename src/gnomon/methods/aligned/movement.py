"""How far rows move from one map to the next, against how far they would by chance alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._false_discoveries import adjusted_p_values

__all__ = ["Movement", "movement_of"]

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Movement:
    """How far the rows that two consecutive tables share move between their maps.

    Attributes
    ----------
    tables : (int, int)
        Numbers of the two tables.
    rows : ndarray of shape (n_shared, 2), int64
        The number of each shared row in the one and in the other.
    distances : ndarray of shape (n_shared,)
        How far each moves, in units of the maps.
    null : ndarray of shape (n_maps, n_shared)
        How far each moves between two aligned maps of the same table, that differ by their seeds and by noise in their
        starts alone.
    p_values : ndarray of shape (n_shared,)
        Share of the movements in `null`, of all rows, that are at least as far, each row's own counted as one of them.
    moved : ndarray of shape (n_shared,), bool
        Rows that move farther than by chance, chosen such that about `rate` of them are chosen wrongly.
    rate : float
        That share (Benjamini and Hochberg).
    """

    tables: tuple[int, int]
    rows: npt.NDArray[np.int64]
    distances: Float64Array
    null: Float64Array
    p_values: Float64Array
    moved: npt.NDArray[np.bool_]
    rate: float

    def summary(self) -> str:
        """Return a sentence with the median movement, that by chance and the number of rows that moved farther."""
        s, t = self.tables
        if not len(self.distances):
            return f"Tables {s} and {t} share no row: nothing can be told of movements from the one to the other."
        return (
            f"From table {s} to table {t}, {len(self.distances):,} shared rows move {np.median(self.distances):.3g} in "
            f"the median, {np.median(self.null):.3g} by chance; {int(self.moved.sum()):,} move farther than by chance."
            f"{self._too_few()}"
        )

    @property
    def fewest(self) -> int:
        """How many rows must move farther than all movements by chance before any of them can be said to have moved."""
        n, by_chance = len(self.distances), self.null.size
        return int(np.ceil(n / (self.rate * (by_chance + 1.0)))) if n else 0

    def _too_few(self) -> str:
        """Say, behind another sentence, that rows moved farthest which are too few to be told from chance."""
        farther = int((self.distances > self.null.max(initial=0.0)).sum())
        if self.moved.any() or not farther:
            return ""
        verb = "moves" if farther == 1 else "move"
        return (
            f" {farther:,} {verb} farther than all {self.null.size:,} movements by chance, "
            f"but fewer than {self.fewest:,} cannot be told from it with so many: use a larger n_repeats."
        )


def movement_of(
    tables: tuple[int, int], rows: npt.NDArray[np.int64], distances: Float64Array, null: Float64Array, rate: float
) -> Movement:
    """Compare movements with those by chance.

    Parameters
    ----------
    tables, rows, distances, null, rate : as in `Movement`

    Returns
    -------
    Movement
    """
    by_chance = np.sort(null, axis=None)
    above = by_chance.size - np.searchsorted(by_chance, distances, side="left")
    p: Float64Array = np.asarray((1.0 + above) / (1.0 + by_chance.size), dtype=np.float64)
    return Movement(tables, rows, distances, null, p, adjusted_p_values(p) <= rate, rate)
