"""How far rows move from one map to the next, against how far they would by chance alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._false_discoveries import adjusted_p_values

__all__ = ["Movement", "movement_of"]

Float64Array = npt.NDArray[np.float64]
_ROUNDS = 10  # of leaving out rows that moved as neighbours


@dataclass(frozen=True)
class Movement:
    """How far the rows that two consecutive tables share move between their maps.

    A row's place also changes because the maps have other neighbours in the sequence, whose springs pull, and because
    rows around it come, go and move. A row is therefore said to have moved only if the tables say so too: if it has
    other values, moves farther than by chance, and keeps fewer of its neighbours in the data than by chance. Chance is
    that of seeds: it does not know the noise of measuring.

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
    kept : ndarray of shape (n_shared,)
        Share of the 15 nearest shared rows in the one table, or of fewer where few are shared, that are among as many
        in the other; NaN where fewer than three rows are shared. Rows that moved are not counted where five others are
        left at least and the share is larger without them: a row has not moved because others left it.
    null_kept : ndarray of shape (n_maps, n_shared)
        The same share between the pairs of maps of `null`.
    unchanged : ndarray of shape (n_shared,), bool
        Rows of the same values in both tables; none where these have other features or hold distances.
    p_values : ndarray of shape (n_shared,)
        The larger of two shares, each row's own counted as one: of the movements in `null`, of all rows, that are at
        least as far, and of the shares in `null_kept` that are at most as large. 1 for unchanged rows.
    moved : ndarray of shape (n_shared,), bool
        Rows that move farther, and keep fewer neighbours, than by chance, chosen such that at most about `rate` of
        them do so by other seeds alone; never those unchanged.
    rate : float
        That share (Benjamini and Hochberg).
    """

    tables: tuple[int, int]
    rows: npt.NDArray[np.int64]
    distances: Float64Array
    null: Float64Array
    kept: Float64Array
    null_kept: Float64Array
    unchanged: npt.NDArray[np.bool_]
    p_values: Float64Array
    moved: npt.NDArray[np.bool_]
    rate: float

    def summary(self) -> str:
        """Return a sentence with the median movement, that by chance and the number of rows that moved."""
        s, t = self.tables
        if not len(self.distances):
            return f"Tables {s} and {t} share no row: nothing can be told of movements from the one to the other."
        return (
            f"From table {s} to table {t}, {len(self.distances):,} shared rows move {np.median(self.distances):.3g} in "
            f"the median, {np.median(self.null):.3g} by other seeds alone; {int(self.moved.sum()):,} moved: farther, "
            f"and away from more of their neighbours in the data, than by other seeds.{self._same()}{self._most()}"
            f"{self._too_few()}"
        )

    @property
    def fewest(self) -> int:
        """How many rows must go beyond all chance before any of them can be said to have moved."""
        n, by_chance = int((~self.unchanged).sum()), self.null.size
        return int(np.ceil(n / (self.rate * (by_chance + 1.0)))) if n else 0

    def _same(self) -> str:
        n = int(self.unchanged.sum())
        if not n:
            return ""
        has, goes, it = ("has", "goes", "it") if n == 1 else ("have", "go", "them")
        return f" {n:,} {has} the same values in both tables and {goes} only where springs and neighbours pull {it}."

    def _most(self) -> str:
        """Say, where most rows moved, how few neighbours they keep, which is what noise does as well."""
        if 2 * int(self.moved.sum()) <= len(self.moved):
            return ""
        return (
            f" Rows keep {np.median(self.kept):.0%} of their neighbours in the data in the median: values measured "
            "anew with much noise would do the same."
        )

    def _too_few(self) -> str:
        """Say, behind another sentence, that rows moved farthest which are too few to be told from chance."""
        farther = int((self.p_values <= 1.0 / (1.0 + self.null.size)).sum())
        if self.moved.any() or not farther:
            return ""
        verb = "moves" if farther == 1 else "move"
        return (
            f" {farther:,} {verb} farther than all {self.null.size:,} movements by chance, "
            f"but fewer than {self.fewest:,} cannot be told from it with so many: use a larger n_repeats."
        )


def movement_of(
    tables: tuple[int, int],
    rows: npt.NDArray[np.int64],
    distances: Float64Array,
    null: Float64Array,
    rate: float,
    *,
    kept: Callable[[npt.NDArray[np.bool_]], Float64Array],
    null_kept: Float64Array,
    unchanged: npt.NDArray[np.bool_],
) -> Movement:
    """Compare movements with those by chance.

    Parameters
    ----------
    tables, rows, distances, null, rate, null_kept, unchanged : as in `Movement`
    kept : callable
        Returns the shares of neighbours kept if the rows that are True in its argument are not counted.

    Returns
    -------
    Movement
    """
    by_distance, moved = _share_as_large(distances, null), np.zeros(len(rows), dtype=np.bool_)
    shares = kept(moved)
    for _ in range(_ROUNDS):  # shares only rise, so fewer rows move from round to round
        used = shares
        by_neighbors = _share_as_large(-used, -null_kept)
        p = np.where(unchanged, 1.0, np.maximum(by_distance, by_neighbors))  # both must be beyond chance
        before, moved = moved, adjusted_p_values(np.where(unchanged, np.nan, p)) <= rate  # NaN is not
        if np.array_equal(before, moved):
            break
        shares = np.fmax(shares, kept(moved))
    return Movement(tables, rows, distances, null, used, null_kept, unchanged, p, moved, rate)


def _share_as_large(values: Float64Array, null: Float64Array) -> Float64Array:
    """Return the share of what came by chance that is at least as large, the value itself counted; 1 of NaN."""
    by_chance = np.sort(null[np.isfinite(null)])
    above = by_chance.size - np.searchsorted(by_chance, values, side="left")
    p: Float64Array = np.where(np.isfinite(values), (1.0 + above) / (1.0 + by_chance.size), 1.0)
    return p
