"""Which splits of a tree of density hold in rows that had no part in it, and the groups that remain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon._threads import in_order
from gnomon.clusters.border import Border
from gnomon.clusters.thinning import Thinning, thinning
from gnomon.clusters.tree import DensityTree
from gnomon.evaluation.lines import THIN
from gnomon.neighbors import RowSearch

__all__ = ["Group", "Split", "shown_splits"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_COMPARED = 0.5  # of the smaller side: parts of fewer rows are no group when a split is judged
_FALL = math.log(3.0)  # of the density on a border: four standard deviations of that at a single place
_NEARER = (0.5, 0.3)  # shares of two groups that lie nearest to each other, between which rows must be few as well
_N_NEIGHBORS = 15  # of the other group tell how near to it a row lies
_NEAREST = 6  # pairs of groups by their means, of which the ones that touch are sought
_TOUCHING = 0.02  # quantile of the distances from one group to the other that says how near they come


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
    """What splits are judged by: the tree and its points, the same rows in the data, those held out, neighbours."""

    tree: DensityTree
    points: Floats
    learned: Floats
    held_out: Floats
    border: Border

    def touching(self, ones: list[Rows], others: list[Rows]) -> tuple[int, int]:
        """Return which two of two lists of groups of rows come nearest to each other among the points."""
        from scipy.spatial import cKDTree

        def reach(pair: tuple[int, int]) -> float:
            here, there = (self.points[groups[k]] for groups, k in zip((ones, others), pair, strict=True))
            return float(np.quantile(cKDTree(here).query(there)[0], _TOUCHING))

        means = [np.stack([self.learned[rows].mean(axis=0) for rows in groups]) for groups in (ones, others)]
        pairs = list(product(range(len(ones)), range(len(others))))
        pairs.sort(key=lambda pair: length(means[0][pair[0]] - means[1][pair[1]]))
        return min(pairs[:_NEAREST], key=reach) if len(pairs) > 1 else pairs[0]

    @cached_property
    def _leaf_means(self) -> dict[int, Floats]:
        """Means of the peaks in the data, by their numbers."""
        parts = enumerate(self.tree.parts)
        return {leaf: self.learned[part.rows].mean(axis=0) for leaf, part in parts if part.children is None}

    def judge(self, number: int) -> tuple[Thinning, float]:
        """Judge a split by the groups, large enough to be compared, that come nearest; and the fall on its border."""
        children = self.tree.parts[number].children
        assert children is not None
        fewest = math.ceil(_COMPARED * min(len(self.tree.parts[child]) for child in children))
        sides = [self.tree.parts_of(child, fewest) for child in children]
        i, j = self.touching(*([part.rows for part in side] for side in sides))
        a, b = sides[0][i], sides[1][j]
        others = [mean for leaf, mean in self._leaf_means.items() if leaf not in a.leaves | b.leaves]
        stacked = np.stack(others) if others else np.empty((0, self.learned.shape[1]))
        both = self.learned[a.rows], self.learned[b.rows]
        found = thinning(*both, stacked, self.held_out)
        if found.share <= THIN:
            for parts in _nearer_parts(*both):
                share = thinning(*parts, stacked, self.held_out).share
                found = replace(found, share=max(found.share, share))
                if share > THIN:  # no gap, whatever the rest shows
                    break
        apart = length(both[0].mean(axis=0) - both[1].mean(axis=0))
        left, right = (self.tree.parts[child].rows for child in children)
        return found, self.border.fall(left, right, apart)


def shown_splits(
    tree: DensityTree, points: Floats, learned: Floats, held_out: Floats, *, alpha: float
) -> tuple[list[Group], list[Split]]:
    """Return the groups that remain when splits that do not hold are undone, and the splits that do.

    A split holds if held-out rows thin out there, see `thinning`, at a p-value of at most alpha after Bonferroni's
    correction for all splits of the tree with weights [1]_: the rows of the smaller side times the logarithm by which
    density falls there, which are known before any held-out row is looked at; if the density falls to 60 % of the
    sparser side's at most, also between those halves of both sides that lie nearest to each other, and between the
    nearest 30 %; and if on the border, see `Border`, it is not above a third of that inside. Where a split
    does not hold, the two groups that touch there become one.

    Parameters
    ----------
    tree : DensityTree
    points : ndarray of shape (n_learned, d), float64
        What the tree was made of.
    learned : ndarray of shape (n_learned, n_features), float64
        The same rows in the data.
    held_out : ndarray of shape (n_held_out, n_features), float64
    alpha : float in (0, 1)
        Chance that any split holds where the data are one cloud.

    References
    ----------
    .. [1] Genovese, Roeder & Wasserman, "False discovery control with p-value weighting", Biometrika 93, 2006.
    """
    ground = _Ground(tree, points, learned, held_out, Border.of(learned, held_out))
    splits = tree.splits()
    weights = {
        number: min(len(tree.parts[child]) for child in tree.parts[number].children or ()) * tree.fall(number)
        for number in splits
    }
    total = sum(weights.values())
    judged = in_order(ground.judge, splits)
    shown: list[Split] = []
    remaining: dict[int, list[Group]] = {}
    for number, part in enumerate(tree.parts):
        if part.children is None:
            remaining[number] = [Group(part.rows, part.leaves, part.start)]
            continue
        ones, others = (remaining.pop(child) for child in part.children)
        found, fall = next(judged)
        p_value = min(1.0, found.p_value * total / weights[number]) if weights[number] > 0 else 1.0
        i, j = ground.touching(*([group.rows for group in groups] for groups in (ones, others)))
        if p_value <= alpha and found.share <= THIN and fall >= _FALL:
            shown.append(Split((ones[i].leaves, others[j].leaves), p_value, found.share, part.start))
            remaining[number] = ones + others
        else:
            rest = [group for groups, k in ((ones, i), (others, j)) for at, group in enumerate(groups) if at != k]
            remaining[number] = [ones[i].joined(others[j]), *rest]
    groups = next(iter(remaining.values()), [])
    return sorted(groups, key=lambda group: -len(group.rows)), shown
