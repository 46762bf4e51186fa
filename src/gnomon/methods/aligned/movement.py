"""How far rows move from one map to the next, against how far they would by chance alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log
from gnomon._false_discoveries import adjusted_p_values
from gnomon._printed import ShortRepr
from gnomon.methods.aligned.neighbors_kept import shares_kept

__all__ = ["Movement", "movement_of"]

Float64Array = npt.NDArray[np.float64]
_ROUNDS = 10  # of leaving out rows that moved as neighbours
_SPREAD = (0.1, 0.75)  # quantiles by which distances spread, below those of rows that moved
_FEW_KEPT, _USUAL = 0.5, 15  # neighbours that a usual row keeps; compared where it keeps more


@dataclass(frozen=True)
class Movement(ShortRepr):
    """How far the rows that two consecutive tables share move between their maps.

    A row's place also changes because the maps have other neighbours in the sequence, whose springs pull, and because
    rows around it come, go and move; and springs may hold a row whose values have changed. Whether a row moved is
    therefore said by the tables: if it has other values, and keeps fewer of its neighbours in the data than by chance
    or lies farther from them.
    Chance is other seeds and noise: a copy of a table in which each row lies anew near its place, so far that rows
    usually keep as many of their neighbours as they do from the one table to the other. That presumes that at least
    half of the rows moved by noise alone.

    Attributes
    ----------
    tables : (int, int)
        Numbers of the two tables.
    rows : ndarray of shape (n_shared, 2), int64
        The number of each shared row in the one and in the other.
    distances : ndarray of shape (n_shared,)
        How far each moves, in units of the maps.
    null : ndarray of shape (n_maps, n_shared)
        How far each moves between two aligned maps, of one of the tables and of its copy, that differ by their seeds
        and by noise in their starts as well.
    kept : ndarray of shape (n_shared,)
        Share of the `n_neighbors` nearest shared rows in the one table that are among as many in the other; NaN where
        fewer than three rows are shared. Rows that moved are not counted where five others are left at least and the
        share is larger without them: a row has not moved because others left it.
    null_kept : ndarray of shape (n_maps, n_shared)
        The same share between the tables and copies of `null`.
    farther : ndarray of shape (n_shared,)
        How much farther each lies in the one table than in the other from the neighbours that it has in either, against
        how far these lie from their own: the larger of both directions, over the median row's. So rows are told that
        go where nobody is, whose nearest rows stay the same. NaN where fewer than five neighbours are known.
    null_farther : ndarray of shape (n_maps, n_shared)
        The same between the tables and copies of `null`; at each rank the lesser of both tables', as rows thrown apart
        in one of them are no noise, and spread at least as much as usual rows are from table to table.
    n_neighbors : int
        15; 45 or 135 where a usual row keeps less than half of fewer; at most half of the shared rows.
    unchanged : ndarray of shape (n_shared,), bool
        Rows of the same values in both tables; none where these have other features or hold distances.
    p_values : ndarray of shape (n_shared,)
        The share of all rows that keep as few neighbours or go as far by chance, whichever is rarer, among those by
        chance of which the rarer is as rare; the row itself is counted as one. 1 for unchanged rows.
    moved : ndarray of shape (n_shared,), bool
        Rows that keep fewer neighbours or go farther from them than by chance, chosen such that at most about `rate` of
        them do so by noise alone; never those unchanged.
    held : ndarray of shape (n_shared,), bool
        Those of them that go no farther in the maps than the farthest share `rate` does by chance.
    rate : float
        That share (Benjamini and Hochberg).
    """

    tables: tuple[int, int]
    rows: npt.NDArray[np.int64]
    distances: Float64Array
    null: Float64Array
    kept: Float64Array
    null_kept: Float64Array
    farther: Float64Array
    null_farther: Float64Array
    n_neighbors: int
    unchanged: npt.NDArray[np.bool_]
    p_values: Float64Array
    moved: npt.NDArray[np.bool_]
    held: npt.NDArray[np.bool_]
    rate: float

    def summary(self) -> str:
        """Return a sentence with the median movement, that by chance and the number of rows that moved."""
        s, t = self.tables
        if not len(self.distances):
            return f"Tables {s} and {t} share no row: nothing can be told of movements from the one to the other."
        return (
            f"From table {s} to table {t}, {len(self.distances):,} shared rows move {np.median(self.distances):.3g} in "
            f"the median, {np.median(self.null):.3g} by chance; {int(self.moved.sum()):,} moved: away from more of "
            f"their {self.n_neighbors:,} nearest in the data than by chance, or farther.{self._held()}"
            f"{self._same()}{self._noisy()}{self._too_few()}"
        )

    @property
    def fewest(self) -> int:
        """How many rows must go beyond all chance before any of them can be said to have moved."""
        n, by_chance = int((~self.unchanged).sum()), self.null_kept.size
        return int(np.ceil(n / (self.rate * (by_chance + 1.0)))) if n else 0

    def _same(self) -> str:
        n = int(self.unchanged.sum())
        if not n:
            return ""
        has, goes, it = ("has", "goes", "it") if n == 1 else ("have", "go", "them")
        return f" {n:,} {has} the same values in both tables and {goes} only where springs and neighbours pull {it}."

    def _held(self) -> str:
        """Say how many of the rows that moved the maps do not show to do so."""
        n = int(self.held.sum())
        if not n:
            return ""
        goes, those = ("goes", "it") if n == 1 else ("go", "them")
        return (
            f" {n:,} of {those if n == int(self.moved.sum()) else 'those'} {goes} no farther in the maps than rows do "
            "by chance: a smaller alignment_weight holds rows less."
        )

    def _noisy(self) -> str:
        """Say, where a usual row keeps few neighbours, that noise and a movement of most rows look alike."""
        known = np.isfinite(self.kept).any()
        if not known or (np.nanmedian(self.kept) >= _FEW_KEPT and self.n_neighbors <= _USUAL):
            return ""
        return (
            f" Rows keep {np.nanmedian(self.kept):.0%} of them in the median, which is taken for noise: were most rows "
            "to move, they would do the same."
        )

    def _too_few(self) -> str:
        """Say, behind another sentence, that rows moved farthest which are too few to be told from chance."""
        fewer = int((self.p_values <= 1.0 / (1.0 + self.null_kept.size)).sum())
        if self.moved.any() or not fewer:
            return ""
        verb, goes = ("keeps", "goes") if fewer == 1 else ("keep", "go")
        return (
            f" {fewer:,} {verb} fewer than all {self.null_kept.size:,} rows did by chance, or {goes} farther, but "
            f"fewer than {self.fewest:,} cannot be told from it with so many: use a larger n_repeats."
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
    farther: Callable[[npt.NDArray[np.bool_]], Float64Array],
    null_farther: Float64Array,
    n_neighbors: int,
    unchanged: npt.NDArray[np.bool_],
) -> Movement:
    """Compare movements, the neighbours that rows keep and how far they go from them with those by chance.

    Parameters
    ----------
    tables, rows, distances, null, rate, null_kept, n_neighbors, unchanged : as in `Movement`
    null_farther : ndarray
        As in `Movement`, not spread.
    kept : callable
        Returns the shares of neighbours kept if the rows that are True in its argument are not counted.
    farther : callable
        Returns how much farther they lie, likewise.

    Returns
    -------
    Movement
    """
    moved = np.zeros(len(rows), dtype=np.bool_)
    shares = shares_kept(kept, len(rows))
    away = farther(np.zeros(len(rows), dtype=np.bool_))
    null_farther = _as_spread(null_farther, away)
    null_extreme = _more_extreme(null_kept, null_farther, null_kept, null_farther)
    for _ in range(_ROUNDS):  # shares only rise and rows only come nearer, so fewer rows move from round to round
        used, left = shares, away
        extreme = _more_extreme(used, left, null_kept, null_farther)
        p = np.where(unchanged, 1.0, _share_as_large(-extreme, -null_extreme))
        before, moved = moved, adjusted_p_values(np.where(unchanged, np.nan, p)) <= rate  # NaN is not
        if np.array_equal(before, moved):
            break
        shares, away = np.fmax(shares, kept(moved)), np.fmin(away, farther(moved))
    held = moved & (_share_as_large(distances, null) > rate)
    told = (used, null_kept, left, null_farther, n_neighbors, unchanged)
    return Movement(tables, rows, distances, null, *told, p, moved, held, rate)


def _as_spread(null: Float64Array, found: Float64Array) -> Float64Array:
    """Return what goes farther by chance, spread at least as much as what usual rows of the tables do.

    Rows that keep as many of their neighbours as those of the copies may lie much farther among them.
    """
    known, by_chance = found[np.isfinite(found)], null[np.isfinite(null)]
    if not known.size or not by_chance.size:
        return null
    spread, usual = (np.abs(log(np.quantile(values, _SPREAD))) for values in (known, by_chance))
    larger = float(np.max(np.divide(spread, usual, out=np.ones(len(_SPREAD)), where=usual > 0)))
    return np.where(np.isfinite(null), exp(max(larger, 1.0) * log(np.where(np.isfinite(null), null, 1.0))), np.nan)


def _more_extreme(
    kept: Float64Array, farther: Float64Array, null_kept: Float64Array, null_farther: Float64Array
) -> Float64Array:
    """Return the lesser of the shares of chance that keep as few or go as far; NaN where neither is known."""
    lesser = np.minimum(_share_as_large(-kept, -null_kept), _share_as_large(farther, null_farther))
    found: Float64Array = np.where(np.isfinite(kept) | np.isfinite(farther), lesser, np.nan)
    return found


def _share_as_large(values: Float64Array, null: Float64Array) -> Float64Array:
    """Return the share of what came by chance that is at least as large, the value itself counted; 1 of NaN."""
    by_chance = np.sort(null[np.isfinite(null)])
    above = by_chance.size - np.searchsorted(by_chance, values, side="left")
    p: Float64Array = np.where(np.isfinite(values), (1.0 + above) / (1.0 + by_chance.size), 1.0)
    return p
