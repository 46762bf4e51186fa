"""Which splits of a tree of density hold in rows that had no part in it, and the groups that remain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon._threads import in_order
from gnomon.clusters.border import FALL, HeldOutNeighbors
from gnomon.clusters.path import falls_on_every_path
from gnomon.clusters.reach import are_neighbors, reaches
from gnomon.clusters.thinning import Thinning, thinning
from gnomon.clusters.thread import thinning_along_thread
from gnomon.clusters.tree import DensityTree, Part
from gnomon.evaluation.gaps.lines import THIN
from gnomon.neighbors import RowSearch

__all__ = ["Group", "Split", "shown_splits"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_NEARER = (0.5, 0.3)  # shares of two groups that lie nearest to each other, between which rows must be few as well
_SURE = 1e-3  # p-value of a gap along a thread at most: there are many places for one
_NEAREST = 5  # learned rows tell which group a row held out belongs to
_N_NEIGHBORS = 15  # of the other group tell how near to it a row lies


@dataclass(frozen=True)
class Split:
    """A split that holds.

    Attributes
    ----------
    sides : tuple of two frozenset of int
        Peaks of the two groups that touch there.
    p_value : float
        Adjusted for all splits looked at.
    share : float
        Density between the groups over that at the sparser of the two, in held-out rows: the largest found between all
        rows of both and between their nearest ones.
    start : float
        Distance of neighbours at which the two sides join.
    """

    sides: tuple[frozenset[int], frozenset[int]]
    p_value: float
    share: float
    start: float


@dataclass(frozen=True)
class Group:
    """Rows that no split that holds divides.

    Attributes
    ----------
    rows : ndarray of int64
    leaves : frozenset of int
        Peaks of the density in it.
    start : float
        Distance of neighbours at which the highest of them begins.
    """

    rows: Rows
    leaves: frozenset[int]
    start: float

    def joined(self, other: Group) -> Group:
        """Return the rows of both."""
        rows = np.concatenate([self.rows, other.rows])
        return Group(rows, self.leaves | other.leaves, min(self.start, other.start))


def _nearer_parts(a: Floats, b: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield those rows of two groups that lie nearest to the other, ever fewer of them.

    Of a path that winds through many dimensions any step along it is seen in some direction, such as that of features
    which switch there: its halves seem parted though no row is missing. Near the step the same direction shows them
    joined, while a gap stays one however near to it the rows are.
    """
    seed, orders = current_run().seed, []
    for rows, others in ((a, b), (b, a)):
        k = min(_N_NEIGHBORS, len(others))
        far = RowSearch.of(others, k, many=True, seed=seed).find(rows)[1].mean(axis=1, dtype=np.float64)
        orders.append(np.argsort(far, kind="stable"))
    for share in _NEARER:
        sizes = (max(min(_N_NEIGHBORS, len(order)), math.ceil(share * len(order))) for order in orders)
        first, second = (order[:size] for order, size in zip(orders, sizes, strict=True))
        yield a[first], b[second]


@dataclass(frozen=True)
class _Ground:
    """What splits are judged by: the tree, its rows in the data, those held out and neighbours of these."""

    tree: DensityTree
    learned: Floats
    held_out: Floats
    border: HeldOutNeighbors
    _thinnings: dict[tuple[frozenset[int], frozenset[int]], Thinning] = field(default_factory=dict)
    _shown: dict[tuple[frozenset[int], frozenset[int]], tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def _leaf_means(self) -> dict[int, Floats]:
        """Means of the peaks in the data, by their numbers."""
        parts = enumerate(self.tree.parts)
        return {leaf: self.learned[part.rows].mean(axis=0) for leaf, part in parts if part.children is None}

    def touching(self, ones: list[Group], others: list[Group]) -> list[tuple[int, int]]:
        """Return the pairs of groups, one of each list, between which none of the others lies in the data."""
        if len(ones) == len(others) == 1:
            return [(0, 0)]
        near = reaches(self.learned, [group.rows for group in ones + others])
        pairs = np.argwhere(are_neighbors(near)[: len(ones), len(ones) :])
        return [(int(i), int(j)) for i, j in pairs]

    @cached_property
    def _leaf(self) -> Rows:
        """The peak that each row belongs to; of rows in none, such as a few between two, that of the nearest row."""
        leaf = np.full(len(self.learned), -1, dtype=np.int64)
        for number in self._leaf_means:
            leaf[self.tree.parts[number].rows] = number
        known, loose = np.flatnonzero(leaf >= 0), np.flatnonzero(leaf < 0)
        if len(loose):
            search = RowSearch.of(self.learned[known], 1, many=True, seed=current_run().seed)
            leaf[loose] = leaf[known[search.find(self.learned[loose])[0][:, 0]]]
        return leaf

    def _around(self, group: Group) -> Rows:
        """Return the rows of a group and the loose ones nearest to them."""
        of_group = np.zeros(len(self.tree.parts) + 1, dtype=np.bool_)  # the last stands for rows of no peak
        of_group[list(group.leaves)] = True
        return np.flatnonzero(of_group[self._leaf])

    def _nearest_parts(self, a: Group, b: Group) -> tuple[Part, Part]:
        """Return the parts of two groups, of as many rows as the smaller has, that come nearest to each other."""
        fewest = min(len(a.rows), len(b.rows))
        ones, others = (self.tree.parts_within(group.leaves, fewest) for group in (a, b))
        if len(ones) == len(others) == 1:
            return ones[0], others[0]
        near = reaches(self.learned, [part.rows for part in ones + others])[: len(ones), len(ones) :]
        i, j = divmod(int(near.argmin()), len(others))
        return ones[i], others[j]

    def judge(self, asked: tuple[Group, Group, float]) -> tuple[float, float] | None:
        """Return the p-value and the share of the split of two groups, None if it does not hold.

        By the rows held out, at a p-value of some level at most. What nearly no split fails is looked at last.
        """
        one, other, level = asked
        pair = one.leaves, other.leaves
        if pair not in self._thinnings:
            self._thinnings[pair] = self._thin(one, other)
        found = self._thinnings[pair]
        if found.p_value > level or found.share > THIN:
            return None
        if pair not in self._shown:
            share = self._share(one, other, found)
            self._shown[pair] = self._along_thread(one, other, found.p_value, share)
        p_value, share = self._shown[pair]
        return None if p_value > level or share > THIN else (p_value, share)

    def _thin(self, one: Group, other: Group) -> Thinning:
        a, b = self._nearest_parts(one, other)
        return thinning(self.learned[a.rows], self.learned[b.rows], self._others(a, b), self.held_out)

    def _others(self, a: Part, b: Part) -> Floats:
        """Return the means of the peaks in neither of two parts."""
        others = [mean for leaf, mean in self._leaf_means.items() if leaf not in a.leaves | b.leaves]
        return np.stack(others) if others else np.empty((0, self.learned.shape[1]))

    def _share(self, one: Group, other: Group, found: Thinning) -> float:
        """Return the largest share, also between the nearest rows of both; infinity where they join around a bend."""
        a, b = self._nearest_parts(one, other)
        both = self.learned[a.rows], self.learned[b.rows]
        apart = length(both[0].mean(axis=0) - both[1].mean(axis=0))
        if not self.border.is_open(self._around(one), self._around(other), apart, found.p_value):
            return math.inf
        share = found.share
        for parts in _nearer_parts(*both):
            share = max(share, thinning(*parts, self._others(a, b), self.held_out).share)
            if share > THIN:  # no gap, whatever the rest shows
                return share
        if self.border.is_smoothed(self._around(one), self._around(other), apart):
            rows, is_second, _ = self._rows_of(one, other)
            return share if falls_on_every_path(rows, is_second, FALL) else math.inf
        return share

    def _rows_of(self, one: Group, other: Group) -> tuple[Floats, Mask, Mask]:
        """Return the rows of two groups, learned and held out, which are of the second, and which were held out."""
        groups = [np.zeros(len(self.learned), dtype=np.bool_) for _ in range(2)]
        for inside, group in zip(groups, (one, other), strict=True):
            inside[self._around(group)] = True
        near = [inside[self.border.neighbors[:, :_NEAREST]].sum(axis=1) for inside in groups]
        learned, held_out = np.flatnonzero(groups[0] | groups[1]), np.flatnonzero(2 * (near[0] + near[1]) > _NEAREST)
        return (
            np.concatenate([self.learned[learned], self.held_out[held_out]]),
            np.concatenate([groups[1][learned], near[1][held_out] > near[0][held_out]]),
            np.arange(len(learned) + len(held_out)) >= len(learned),
        )

    def _along_thread(self, one: Group, other: Group, p_value: float, share: float) -> tuple[float, float]:
        """Return the p-value and share of a split that holds otherwise, no less than along a thread of both groups.

        Seen from outside, in any one direction, a step along a thread that bends parts its ends.
        """
        if share > THIN:
            return p_value, share
        found = thinning_along_thread(*self._rows_of(one, other))
        if found is None:
            return p_value, share
        return (max(p_value, found.p_value), max(share, found.share)) if found.p_value <= _SURE else (1.0, math.inf)


def shown_splits(
    tree: DensityTree, learned: Floats, held_out: Floats, *, alpha: float
) -> tuple[list[Group], list[Split]]:
    """Return the groups that remain when splits that do not hold are undone, and the splits that do.

    Where two parts of the tree join, each two groups are judged, one of each part, between which no third one lies. The
    split of the two holds if held-out rows thin out there, see `thinning`, at a p-value of at most alpha after Holm's
    correction for all splits of the tree with weights [1]_: first for all of them, then again for those of which none
    was shown before, until no more are. The weights are the rows of the smaller side times the logarithm by which
    density falls there, which are known before any held-out row is looked at. It also takes that density falls to 60 %
    of the sparser side's at most, also between those halves of both sides that lie nearest to each other, and between
    the nearest 30 %, and that the border is open, see `HeldOutNeighbors`. Where neighbourhoods are too wide to show the
    border, density must fall on every path, see `falls_on_every_path`. Where the split does not hold, the two groups
    become one.

    Parameters
    ----------
    tree : DensityTree
    learned : ndarray of shape (n_learned, n_features), float64
        The rows that it was made of, in the data.
    held_out : ndarray of shape (n_held_out, n_features), float64
    alpha : float in (0, 1)
        Chance that any split holds where the data are one cloud.

    References
    ----------
    .. [1] Genovese, Roeder & Wasserman, "False discovery control with p-value weighting", Biometrika 93, 2006.
    """
    weights = {
        number: min(len(tree.parts[child]) for child in tree.parts[number].children or ()) * tree.fall(number)
        for number in tree.splits()
    }
    ground = _Ground(tree, learned, held_out, HeldOutNeighbors.of(learned, held_out))
    totals = dict.fromkeys(weights, sum(weights.values()))
    claimed: set[int] = set()
    while True:
        levels = {
            number: alpha * weight / max(totals[number], weight) if weight > 0.0 else -1.0
            for number, weight in weights.items()
        }
        groups, shown = _joined_where_not_shown(tree, ground, levels)
        more = {number for number, _ in shown} - claimed
        if not more:
            break
        claimed |= more
        left = sum(weight for number, weight in weights.items() if number not in claimed)
        totals = {number: total if number in claimed else left for number, total in totals.items()}
    splits = [replace(split, p_value=min(1.0, split.p_value * alpha / levels[number])) for number, split in shown]
    return groups, [split for split in splits if not any(split.sides[0] | split.sides[1] <= g.leaves for g in groups)]


def _joined_where_not_shown(
    tree: DensityTree, ground: _Ground, levels: dict[int, float]
) -> tuple[list[Group], list[tuple[int, Split]]]:
    """Return the groups that remain, and the splits that hold at the level of their part, with its number."""
    shown: list[tuple[int, Split]] = []
    remaining = {
        number: [Group(part.rows, part.leaves, part.start)]
        for number, part in enumerate(tree.parts)
        if part.children is None
    }
    for numbers in tree.generations():
        sides = [[remaining.pop(child) for child in tree.parts[number].children or ()] for number in numbers]
        pairs = [ground.touching(ones, others) for ones, others in sides]
        met = [
            (ones[i], others[j], levels[number])
            for number, (ones, others), some in zip(numbers, sides, pairs, strict=True)
            for i, j in some
        ]
        judged = in_order(ground.judge, met)
        for number, (ones, others), some in zip(numbers, sides, pairs, strict=True):
            groups = ones + others
            home = list(range(len(groups)))
            for i, j in some:
                found = next(judged)
                if found is not None:
                    split = Split((ones[i].leaves, others[j].leaves), *found, tree.parts[number].start)
                    shown.append((number, split))
                else:
                    before, after = home[len(ones) + j], home[i]
                    home = [after if at == before else at for at in home]
            remaining[number] = [_joined([groups[k] for k, at in enumerate(home) if at == one]) for one in set(home)]
    groups = sorted(next(iter(remaining.values()), []), key=lambda group: (-len(group.rows), min(group.leaves)))
    return groups, shown


def _joined(groups: list[Group]) -> Group:
    """Return the rows of some groups as one."""
    one = groups[0]
    for other in groups[1:]:
        one = one.joined(other)
    return one
