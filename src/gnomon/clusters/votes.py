"""Which group every row of a table goes with: where it was learned, else by a vote of its nearest learned rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from gnomon._arithmetic import log, sparse_product, squared_lengths
from gnomon._run import current_run
from gnomon.clusters.halves import MOST_ROWS
from gnomon.clusters.splits import Group
from gnomon.neighbors import RowSearch
from gnomon.neighbors.straight import DIRECTIONS, squared_chords, straight_rows

__all__ = ["Assigned", "assign", "rows_apart", "without_tails"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_N_NEIGHBORS = 15
_RECALL = 0.995  # of the nearest learned rows, among which rows of a sampled table look for most votes
_CANDIDATES = 150  # nearest learned rows, of which those vote that are nearest beyond their own noise
_AT_ONCE = 1 << 22  # numbers of neighbours' rows held together
_FENCE = 3.0  # times the range of the middle half: Tukey's outer fence
_INNER_FENCE = 1.5
_MATES = 5  # nearest learned rows of one in a small group, which are of that group
_GAP = 1.2  # times as far as its mates all others lie from a row of a group apart
_MOST_LONELY = 2000  # rows apart; more are no few


@dataclass(frozen=True)
class Assigned:
    """Votes for the groups of each row.

    Attributes
    ----------
    votes : ndarray of shape (n_samples, n_groups), float64
        Shares that sum to 1: of its neighbours and, of a row that was learned in a group, more than half for that.
    far : ndarray of shape (n_samples,), float64
        Logarithm of the mean distance to these neighbours.
    apart : ndarray of shape (n_samples,), bool, or None
        Rows in small groups of their own, see `rows_apart`; None before they are looked for.
    """

    votes: Floats
    far: Floats
    apart: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of_one(cls, n: int) -> Assigned:
        """Return the votes of rows that are all in one group."""
        return cls(np.ones((n, 1)), np.zeros(n))

    def best(self, of_group: Labels) -> tuple[Labels, Floats]:
        """Return the cluster with most votes for each row, and its margin, where groups are joined to clusters."""
        votes = self._joined(of_group)
        ranked = np.sort(votes, axis=1)
        return votes.argmax(axis=1), np.round(ranked[:, -1] - ranked[:, -2], 12)

    def labels(self, of_group: Labels) -> Labels:
        """Return the clusters of the rows, -1 where neighbours disagree or are far away or a small group apart.

        No cluster is empty: one all of whose rows would be apart keeps them.
        """
        votes = self._joined(of_group)
        labels = np.where(votes.max(axis=1) >= 0.5, votes.argmax(axis=1), -1)
        for cluster in range(votes.shape[1]):
            inside = np.flatnonzero(labels == cluster)
            apart = np.zeros(len(inside), dtype=np.bool_) if self.apart is None else self.apart[inside]
            if apart.all():
                continue
            labels[inside[apart]] = -1
            inside = inside[~apart]
            labels[inside[self.far[inside] > _fence(self.far[inside], _FENCE)]] = -1
        return labels

    def _joined(self, of_group: Labels) -> Floats:
        joined = np.zeros((len(self.votes), int(of_group.max()) + 1))
        for group, cluster in enumerate(of_group.tolist()):
            joined[:, cluster] += self.votes[:, group]
        return joined


def assign(X: Any, learned: Labels, groups: Sequence[Group], metric: str) -> Assigned:
    """Let the nearest learned rows in groups, the row itself apart, vote; a learned row stays in its group.

    Nearest are those whose squared distance exceeds their own noise least. In many columns a row is as far from all
    others as its noise makes it: the square of a distance is the sum of the noise of both rows and of what parts their
    groups. Rows of less noise than the rest are then nearest to those of every group, and would outvote them. The noise
    of a row is its squared distance to the mean of its nearest rows in its group, and no more than that to the nearest
    row; in few columns it hardly counts. So it is by Euclidean distances and those of directions, such as the cosine,
    where at most 40,000 rows ask, but for correlations of sparse rows; by others the nearest vote.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    learned : ndarray of int64
        Numbers of the rows that were learned from, ascending.
    groups : sequence of Group
        Of learned rows, by their positions among them.
    metric : str
    """
    of_row = np.full(len(learned), -1, dtype=np.int64)
    for number, group in enumerate(groups):
        of_row[group.rows] = number
    known = np.flatnonzero(of_row >= 0)
    rows, k = np.arange(X.shape[0]), min(_N_NEIGHBORS, len(known) - 1)
    if _knows_noise(X, metric) and len(rows) <= 2 * MOST_ROWS:
        found, distances = _nearest(X, rows, learned[known], min(_CANDIDATES, len(known) - 1), metric)
        noise = np.zeros(len(learned))
        for group in groups:
            noise[group.rows] = _noise(X, learned[group.rows], metric)
        beyond = squared_chords(distances, metric) - noise[known][found]
        chosen = np.argsort(beyond, axis=1, kind="stable")[:, :k]
        found, distances = (np.take_along_axis(one, chosen, axis=1) for one in (found, distances))
    else:
        found, distances = _nearest(X, rows, learned[known], k, metric)
    voters = of_row[known][found]
    votes = np.stack([np.sum(voters == number, axis=1) for number in range(len(groups))], axis=1).astype(np.float64)
    votes[learned[known], of_row[known]] += k + 1.0
    votes /= votes.sum(axis=1, keepdims=True)
    return Assigned(votes, _log(distances.mean(axis=1, dtype=np.float64)))


def _noise(X: Any, rows: Labels, metric: str) -> Floats:
    """Return the squared distance of each row of a group from the mean of its nearest ones, at most to the nearest."""
    if len(rows) < 2:
        return np.zeros(len(rows))
    found, distances = _nearest(X, rows, rows, min(_N_NEIGHBORS, len(rows) - 1), metric)
    places = X[rows]
    if metric in DIRECTIONS:
        places = straight_rows(places, metric, dtype=np.result_type(places.dtype, np.float32))
    k, step = found.shape[1], max(1, _AT_ONCE // max(1, found.shape[1] * X.shape[1]))
    noise = np.empty(len(rows))
    for begin in range(0, len(rows), step):
        some, near = places[begin : begin + step], found[begin : begin + step]
        if isinstance(places, np.ndarray):
            means = places[near].mean(axis=1, dtype=np.float64)
        else:
            shape = (len(near), len(rows))
            means = sparse_product(
                csr_array((np.full(near.size, 1.0 / k), near.ravel(), np.arange(len(near) + 1) * k), shape=shape),
                places,
            )
        noise[begin : begin + step] = squared_lengths(some - means, np.float64)
    return np.minimum(noise, squared_chords(distances[:, 0], metric))


def _knows_noise(X: Any, metric: str) -> bool:
    """Return whether means of rows are asked for where a metric has them; not of those that would be written out."""
    if metric == "correlation":
        return isinstance(X, np.ndarray)
    return metric == "euclidean" or metric in DIRECTIONS


def _nearest(X: Any, rows: Labels, learned: Labels, k: int, metric: str) -> tuple[Labels, Any]:
    """Return the nearest `k` of some learned rows for some rows, the row itself apart, and their distances."""
    how: dict[str, Any] = {}
    if len(rows) > 2 * MOST_ROWS:  # more rows ask than are asked: by cells
        how = {"method": "approximate", "target_recall": _RECALL}
    search = RowSearch.of(X[learned], k + 1, metric=metric, seed=current_run().seed, **how)
    found, distances = search.find(X if len(rows) == X.shape[0] else X[rows])
    own = learned[found] == rows[:, None]
    own[~own.any(axis=1), -1] = True  # of a row that is not among them the last one is left out
    shape = (len(rows), k)
    return found[~own].reshape(shape).astype(np.int64), distances[~own].reshape(shape)


def _log(distances: Floats) -> Floats:
    logarithms: Floats = log(np.maximum(distances, np.finfo(np.float64).tiny))
    return logarithms


def rows_apart(
    X: Any, learned: Labels, groups: Sequence[Group], metric: str, assigned: Assigned, few: int
) -> npt.NDArray[np.bool_]:
    """Find rows that lie with a few others apart from the group that most of their neighbours are in.

    Of a type of few rows the nearest ones are its own, and were learned as part of a group, so that nothing looks far.
    But the `few`-th nearest row of the group is beyond them. Rows lie apart if it is farther than the inner fence of
    its distances in the group, and farther by a larger factor than a mate, the fifth nearest learned row, than the
    outer fence of these factors: sparse rows at the rim have sparse mates. Learned rows are looked at in this way; a
    row lies apart, too, if most of its mates do.
    """
    mates, distances = _nearest(X, np.arange(X.shape[0]), learned, _MATES, metric)  # in no group, some of them
    near = _log(distances[:, -1].astype(np.float64))
    apart = np.zeros(len(near), dtype=np.bool_)
    best = assigned.votes[learned].argmax(axis=1)
    for number, group in enumerate(groups):
        rows, k = learned[best == number], min(few, len(group.rows) // 2)
        if k <= _MATES or len(rows) == 0:
            continue
        distances = _nearest(X, rows, learned[group.rows], k, metric)[1]
        far = _log(distances[:, -1].astype(np.float64))
        step = far - near[rows]
        apart[rows[(far > _fence(far, _INNER_FENCE)) & (step > _fence(step, _FENCE))]] = True
    found: npt.NDArray[np.bool_] = apart | (apart[learned[mates]].mean(axis=1) > 0.5)
    return found


def without_tails(X: Any, learned: Labels, lonely: Labels, metric: str) -> Labels:
    """Return those of rows that lie apart which a gap parts from all others, and not only ever longer steps.

    At the end of a skewed continuum rows lie apart from most, and yet each is near to one that is a little farther in.
    A row stays if its nearest row beyond those that stay is farther than its fifth nearest among them, 1.2 times; what
    goes is beyond from then on, until no more goes. So the end of a continuum goes row by row.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The table.
    learned : ndarray of int64
        Numbers of the rows that were learned from, ascending.
    lonely : ndarray of int64
        Numbers of the rows that lie apart, ascending.
    metric : str
        In which they do.
    """
    n, others = len(lonely), np.setdiff1d(learned, lonely)
    if n <= _MATES or n > _MOST_LONELY or not len(others):
        return lonely[:0]
    found, distances = _nearest(X, lonely, lonely, n - 1, metric)
    within = np.full((n, n), np.inf)
    np.put_along_axis(within, np.searchsorted(lonely, lonely[found]), distances.astype(np.float64), axis=1)
    beyond = _nearest(X, lonely, others, 1, metric)[1][:, 0].astype(np.float64)
    inside = np.arange(n)
    while len(inside) > _MATES:
        mate = np.partition(within[np.ix_(inside, inside)], _MATES - 1, axis=1)[:, _MATES - 1]
        stays = beyond[inside] > _GAP * mate
        if stays.all():
            return lonely[inside]
        gone, inside = inside[~stays], inside[stays]
        beyond = np.minimum(beyond, within[:, gone].min(axis=1))
    return lonely[:0]


def _fence(values: Floats, times: float) -> float:
    """Return the third quartile and so many times the range of the middle half."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high + times * (high - low))
