"""Whether new rows that are unlike the old ones lie together, as a group does that the map has not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special

from gnomon.extension.drift.judgement import OUTSIDE
from gnomon.extension.drift.together import BothTables
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import RowSearch, compute_neighbors, without_own

__all__ = ["rows_of_new_kind", "rows_together"]

Rows = npt.NDArray[np.int64]

_FEWEST = 5  # rows of a group
_BY_CHANCE = 0.001
_PARTS = (0.5, 0.25, 0.125)  # of rows that are unusual by chance, the most unusual, which are looked at beside all
_AMONG_FARTHEST = 0.00025  # how often at most each of these has so many
_RARE = 0.1  # how often at most a row has so many new ones nearer than any old one
_LEAST_NEAR = 2
_FAVOUR = 2.0  # odds of a new row to be nearest where a row is known to lie far from the old ones
_SAMPLE = 1000
_MOST_APART = 32  # rows of a group that is told by the room about it; of more their number tells
_APART = 1.5  # how many times as far all other rows are, at least, as is needed to link the group
_EMPTY = 0.75  # and of what links as many old rows where the group comes nearest to them
_ALL_NEW = 15  # nearest rows of one of a new kind, in components of old and new rows
_AMID = 0.5  # of the nearest of an old row that are of the group: it lies in its midst
_MOST_AMID = 0.02  # old rows in the midst of a group, of its number
_DRAWN_APART = 0.1  # how often at most such a group of either table's rows would be of new ones alone


def rows_together(X: Any, X_new: Any, unusual: Rows, level: npt.NDArray[np.float64] | None = None) -> Rows:
    """Return those of the unusual rows that lie together, farther from any old row than from one another.

    Among rows of one distribution the nearest row of any is an old one as often as their share says, wherever it lies.
    Rows count that have several new ones nearer than the nearest old one, more than that share gives; of these the most
    that are linked to each other. They are counted among all unusual rows and among the most unusual, of whom few come
    by chance. What is not beyond that chance, as of few among very many new rows, is told by the room about it: all
    other rows, old and new, are at least 1.5 times as far as links within it reach, and 0.75 times what links as many
    old rows nearest to it. Rows of one distribution hardly ever lie so, and those that do are mostly of both tables: if
    so many drawn of both would be new alone in more than one draw of ten, nothing is told.

    Parameters
    ----------
    X, X_new : ndarray or CSR of shape (n_old, n_columns) and (n_new, n_columns)
        In coordinates that were not learned from the old rows, to which new ones would lie otherwise.
    unusual : ndarray of int64
        New rows that are unlike the old ones. Of more than 1000 evenly spaced ones are looked at.
    level : ndarray of shape (n_unusual,), float64, in [0, 1], default=None
        Share of the old rows that are less novel than each of these. None takes all of them as equally unusual.

    Returns
    -------
    ndarray of int64
        Rows of X_new in ascending order, at least 5; empty if there is nothing beyond chance.
    """
    none = np.empty(0, dtype=np.int64)
    if len(unusual) < _FEWEST or int(X.shape[0]) < 1:
        return none
    group = _beyond_their_share(X, X_new, unusual, level)
    return group if len(group) else _set_apart(X, X_new, unusual)


def _beyond_their_share(X: Any, X_new: Any, unusual: Rows, level: npt.NDArray[np.float64] | None = None) -> Rows:
    """Return the rows that have new ones nearer than any old one, if there are more than chance gives.

    So many of all of these, or of those beyond the levels of half, a quarter and an eighth of the old rows beyond the
    least: 0.975, 0.9875 and 0.99375. A group that is farther out than all is diluted the less the fewer rows of one
    distribution with the old ones it is counted among. Among so few one clump, of whose rows each has k others near as
    soon as one has, would be enough: more rows than two such have nearest are asked for.
    """
    none = np.empty(0, dtype=np.int64)
    n_old, n_new = int(X.shape[0]), int(X_new.shape[0])
    odds = _FAVOUR * (n_new - 1) / n_old
    share = odds / (1.0 + odds)
    k = max(_LEAST_NEAR, math.ceil(math.log(_RARE) / math.log(share)))
    if k > n_new - 1:
        return none
    looked_at = evenly_spaced(len(unusual), _SAMPLE)
    rows = unusual[looked_at]
    chosen = X_new[rows]
    near, distances = without_own(*RowSearch.of(X_new, k + 1).find(chosen), rows)
    linked = distances[:, k - 1] < RowSearch.of(X, 1).find(chosen)[1][:, 0]
    looks = [(np.ones(len(rows), dtype=np.bool_), _FEWEST, _BY_CHANCE)]
    if level is not None:
        fewest = max(_FEWEST, 2 * k + 1)
        looks += [(level[looked_at] > 1.0 - part * (1.0 - OUTSIDE), fewest, _AMONG_FARTHEST) for part in _PARTS]
    best = none
    for some, fewest, by_chance in looks:
        of_some = linked & some
        group = np.intersect1d(_largest_piece(rows[of_some], near[of_some]), unusual)
        count = int(np.count_nonzero(np.isin(rows[of_some], group)))
        if count < fewest or len(group) <= len(best):
            continue
        if scipy.special.bdtrc(count - 1, int(some.sum()), share**k) <= by_chance:
            best = group
    return best.astype(np.int64)


def _set_apart(X: Any, X_new: Any, unusual: Rows) -> Rows:
    """Return the largest group of unusual rows with room about it, if there is one that is of new rows by no chance."""
    n_old, n_new = int(X.shape[0]), int(X_new.shape[0])
    nearest, away = RowSearch.of(X, 1).find(X_new[unusual])
    far = np.sort(np.argsort(-away[:, 0], kind="stable")[:_SAMPLE])
    rows, nearest, to_old = unusual[far], nearest[far, 0], away[far, 0].astype(np.float64)
    among_old = RowSearch.of(X, min(_FEWEST, n_old)).find(X[nearest])[1][:, -1]
    k = min(_MOST_APART, n_new - 1)
    near, distances = without_own(*RowSearch.of(X_new, k + 1).find(X_new[rows]), rows)
    best = np.empty(0, dtype=np.int64)
    for piece, reach, room in _pieces(rows, near, distances.astype(np.float64), to_old):
        there = float(np.median(among_old[piece]))
        links = reach if reach > 0.0 else there  # of equal rows: what equal old ones there are apart
        is_apart = links > 0.0 and room >= _APART * links and room >= _EMPTY * there
        if is_apart and len(piece) > len(best) and _all_new(len(piece), n_new, n_old) <= _DRAWN_APART:
            best = rows[piece]
    return np.sort(best).astype(np.int64)


def _all_new(count: int, n_new: int, n_old: int) -> float:
    """Return how likely so many rows that are drawn of both tables are all new."""
    among = np.arange(count)
    return float(np.prod((n_new - among) / (n_new + n_old - among)))


def _pieces(
    rows: Rows, near: npt.NDArray[Any], distances: npt.NDArray[np.float64], to_old: npt.NDArray[np.float64]
) -> Iterator[tuple[Rows, float, float]]:
    """Yield pieces of rows: their numbers, how far links within reach, and how far the nearest row outside is.

    Pieces are those of single linkage. All rows that are not among `rows`, old and new, are one piece from the start,
    and no piece that meets it is yielded.
    """
    n, n_near = near.shape
    order = np.argsort(rows)
    at = np.minimum(np.searchsorted(rows, near, sorter=order), n - 1)
    at = np.where(rows[order[at]] == near, order[at], n)  # n is the piece of all others
    ends = np.concatenate([np.column_stack([np.repeat(np.arange(n), n_near), at.ravel()]), [(i, n) for i in range(n)]])
    lengths = np.concatenate([distances.ravel(), to_old])
    of_row, members, reach = list(range(n + 1)), {i: [i] for i in range(n + 1)}, [0.0] * (n + 1)
    for edge in np.argsort(lengths, kind="stable"):
        one, other = sorted((of_row[ends[edge, 0]], of_row[ends[edge, 1]]), key=lambda piece: len(members[piece]))
        if one == other:
            continue
        length = float(lengths[edge])
        for piece in (one, other):
            if piece != of_row[n] and _FEWEST <= len(members[piece]) <= _MOST_APART:
                yield np.array(members[piece], dtype=np.int64), reach[piece], length
        for row in members[one]:
            of_row[row] = other
        members[other] += members.pop(one)
        reach[other] = length


def _largest_piece(rows: Rows, near: npt.NDArray[Any]) -> Rows:
    """Return the rows of the largest connected piece of the graph from each row to those near it."""
    whose = {int(row): at for at, row in enumerate(rows)}
    left, best = set(whose), set[int]()
    while left:
        found, open_rows = set[int](), [min(left)]
        while open_rows:
            row = open_rows.pop()
            if row in found:
                continue
            found.add(row)
            if row in whose:
                open_rows += [int(other) for other in near[whose[row]]]
            open_rows += [int(rows[at]) for at in np.flatnonzero((near == row).any(axis=1))]
        left -= found
        best = found if len(found) > len(best) else best
    return np.array(sorted(best), dtype=np.int64)


def rows_of_new_kind(both: BothTables) -> Rows:
    """Return new rows that lie among new ones alone, in principal components of old and new rows together.

    Components that were learned from the old rows hold little of what only new ones have, so that a kind of rows that
    the old ones lack comes to lie among them. Components of all rows take both tables alike: among rows of one
    distribution the nearest rows of any are old as often as their share says. Rows count whose 15 nearest are all new;
    of these the most that are linked to each other, if they are more than that share gives. Old rows that lie in their
    midst, as those of a kind that is only commoner now do, speak against it: they may be one in fifty.

    Parameters
    ----------
    both : BothTables
        Of rows as they were before any components. Of more than 8,000 old or 4,000 new ones some are looked at.

    Returns
    -------
    ndarray of int64
        Rows of X_new in ascending order, at least 5; empty if there is nothing beyond chance.
    """
    none = np.empty(0, dtype=np.int64)
    n_old, n_new = len(both.old), len(both.new)
    odds = _FAVOUR * (n_new - 1) / n_old
    share = odds / (1.0 + odds)
    if n_new <= _ALL_NEW or share**_ALL_NEW > _RARE:
        return none
    near = compute_neighbors(both.points, _ALL_NEW).indices
    rows = np.flatnonzero((near[n_old:] >= n_old).all(axis=1))
    group = _largest_piece(rows, near[n_old + rows] - n_old)
    count = int(np.count_nonzero(np.isin(rows, group)))
    if count < _FEWEST or scipy.special.bdtrc(count - 1, n_new, share**_ALL_NEW) > _BY_CHANCE:
        return none
    amid = np.isin(near[:n_old], n_old + group).mean(axis=1) > _AMID
    if np.count_nonzero(amid) > _MOST_AMID * len(group):
        return none
    return both.new[group].astype(np.int64)
