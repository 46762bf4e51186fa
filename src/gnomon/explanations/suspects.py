"""Rows whose label their neighbours in the data disagree with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp
from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters
from gnomon.data.labels import name_of, sort_into_classes
from gnomon.explanations.answer import Column
from gnomon.explanations.ranked import RankedRows, names_of_rows
from gnomon.neighbors import NeighborGraph

__all__ = ["Suspects", "find_suspects"]

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
_MARGINS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0 - 1e-9)  # of a vote over the row's own label, for counts of sure ones
_ONE_SIDED = 1.645  # deviations within which a count is at most, 95 of 100 times
_KNOWS_LITTLE = 0.5  # as many suspects as this share of those of labels at random,
_MANY = 1 / 3  # and as this share of all rows: the neighbours know little
_FEWEST_VOTES = 3  # for a label that few rows have to win over one that more have


@dataclass(frozen=True, kw_only=True)
class Suspects(RankedRows):
    """Rows whose neighbours in the data vote for another label than theirs, the most doubtful first.

    Attributes
    ----------
    labels : list of str
        The label of each row listed.
    votes : list of str
        The label that its neighbours vote for.
    share : ndarray of shape (n_listed,), float64, in (0, 1]
        Share of its neighbours that vote for this label, each counted once.
    score, scores : float64 in [0, 1]
        Share of the weight of its neighbours that vote which is not on its own label: 1 if none of them has it. NaN for
        a row without a label, alone with its label or without a labelled neighbour.
    n_suspects : int
        Rows in all whose neighbours vote for another label.
    n_alone : int
        Rows that alone have their label, which no neighbour can vote for: they are not judged.
    n_repeats : int
        Rows that repeat others as copies or repeated measurements do: rows of one set have no vote on each other, and
        one votes for all.
    n_by_chance : int or None
        How many would be, about, if the same labels were given to the rows at random; None if that is not known.
    n_wrong_at_most : int or None
        How many rows can have a wrong label, about, if wrong labels come to any rows with equal chance, by frequency of
        the labels: the suspects of sure votes, over the share of rows that would be such with another label, as an
        upper limit of 95 %. The other suspects then lie between classes, with labels that are right. Labels that are
        confused where classes meet are not bounded by it. None without a judged row.
    """

    _question: ClassVar[str] = "suspects"
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("label", "labels"),
        Column("neighbours say", "votes"),
        Column("their share", "share"),
        Column("score", "score"),
    )
    _per_row: ClassVar[tuple[str, ...]] = ("labels", "votes", "share")

    labels: list[str]
    votes: list[str]
    share: Array
    n_suspects: int
    n_alone: int = 0
    n_by_chance: int | None = None
    n_wrong_at_most: int | None = None
    n_repeats: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values, one record for each row listed."""
        document = super().to_dict()
        for record in document["rows"]:
            record["label"], record["vote"] = record.pop("labels"), record.pop("votes")
        counts = {name: getattr(self, name) for name in ("n_suspects", "n_by_chance", "n_wrong_at_most")}
        return {
            **document,
            **counts,
            "n_labelled": self._n_judged,
            "n_alone": self.n_alone,
            "n_repeats": self.n_repeats,
            "weakness": self.weakness,
        }

    @property
    def _n_judged(self) -> int:
        return int(np.isfinite(self.scores).sum())

    @property
    def bounds_wrong(self) -> bool:
        """Whether fewer can have a wrong label than are suspects, if wrong labels come at random."""
        return self.n_wrong_at_most is not None and self.n_wrong_at_most < self.n_suspects

    @property
    def weakness(self) -> str:
        """What is to be said where the neighbours know little of the labels; empty else."""
        if self.n_by_chance is None or self.n_suspects < max(_KNOWS_LITTLE * self.n_by_chance, _MANY * self._n_judged):
            return ""
        share = 1.0 - self.n_suspects / self._n_judged
        return (
            f"The neighbours vote for the label of only {share:.0%} of the rows, so they know little of these labels, "
            "and most of the suspects may be right."
        )

    def headline(self) -> str:
        """Return the line above the printed table, and the weakness on a second."""
        return f"{self.told}\n{self.weakness}" if self.weakness else self.told

    @property
    def told(self) -> str:
        """How many suspects there are, beside how many chance makes and how many can be wrong, on one line."""
        text = f"{self.n_suspects:,} of {self._n_judged:,} labelled rows"
        text += f" have another label than their {self.n_neighbors} neighbours in the data vote for"
        text += "" if self.n_by_chance is None else f"; of labels given at random about {self.n_by_chance:,} would"
        if self.bounds_wrong:
            text += f"; if wrong labels come at random, at most about {self.n_wrong_at_most:,} are wrong"
        if self.n_repeats:
            text += f"; {self.n_repeats:,} rows repeat others, or nearly, and have no vote on rows of their set"
        if self.n_alone:
            many = f"{self.n_alone:,} have theirs alone and are"
            alone = many if self.n_alone > 1 else "1 row has its label alone and is"
            text += f"; {alone} not judged"
        return text


@entrance("suspects")
def find_suspects(
    graph: NeighborGraph,
    labels: Any,
    n_top: int = 20,
    *,
    point_names: Any = None,
    representatives: npt.NDArray[np.integer[Any]] | None = None,
) -> Suspects:
    """Rank rows by how far the labels of their nearest rows in the data disagree with theirs.

    A wrong label is found where the data are, not where a map happens to put them. The neighbours of a row vote, the
    row itself does not; a neighbour at distance d has the weight exp(-(d / r)^2 / 2), where r is the distance of the
    farthest [1]_.

    A label that few rows have cannot win among many neighbours. So of a row that shares its label with fewer others
    than it has neighbours only as many vote, the nearest ones; and where the nearest one has another label that few
    rows have, as many as have it, three at least. A row alone with its label is not judged.

    Parameters
    ----------
    graph : NeighborGraph of n_samples rows
        Nearest neighbours in the data, among distinct rows if some repeat others: copies vouch for each other's label.
    labels : array-like of shape (n_samples,)
        Classes; a row without a label (None, NaN or an empty text) is no suspect and has no vote.
    n_top : int >= 1, default=20
        Rows listed at most: those whose neighbours vote for another label, by their score. Of labels with equal weight
        the one of the nearer neighbour is voted for.
    point_names : array-like of shape (n_samples,), default=None
        Names of the rows.
    representatives : ndarray of shape (n_samples,), int, default=None
        Which row stands for each in the graph, where rows repeat each other; labels have as many rows as these.

    Returns
    -------
    Suspects

    References
    ----------
    .. [1] Dudani, "The distance-weighted k-nearest-neighbor rule", IEEE Trans. SMC, 1976, for weights by distance.
    """
    n_top = check_parameters({"n_top": Integer(1)}, {"n_top": n_top})["n_top"]
    classes = sort_into_classes(labels)
    codes = classes.codes[graph.indices]
    weights = _weights(graph, codes >= 0)
    own_rows = np.arange(graph.n_samples)
    repeats = np.zeros(graph.n_samples, np.bool_) if representatives is None else representatives != own_rows
    sizes = _sizes(classes.codes, ~repeats)
    votes = _n_votes(sizes, classes.codes, codes, weights)
    weights = np.where(np.cumsum(weights > 0, axis=1) <= votes[:, None], weights, 0.0)
    total = weights.sum(axis=1)
    judged = classes.labelled & (total > 0)
    behind = _weight_behind(codes, weights)
    best = np.argmax(np.where(weights > 0, behind, -1.0), axis=1)[:, None]
    vote = np.take_along_axis(codes, best, axis=1).ravel()
    own = np.sum(weights * (codes == classes.codes[:, None]), axis=1)
    scores = np.full(graph.n_samples, np.nan)
    scores[judged] = np.maximum(1.0 - own[judged] / total[judged], 0.0)
    winning = np.take_along_axis(behind, best, axis=1).ravel()
    suspect = np.flatnonzero(judged & (vote != classes.codes) & (winning > own))
    rows = suspect[np.argsort(-scores[suspect], kind="stable")][:n_top].astype(np.int64)
    voters = weights[rows] > 0
    shares = np.bincount(classes.codes[classes.labelled], minlength=len(classes)) / max(classes.labelled.sum(), 1)
    sure = _Sureness(codes, weights, classes.codes, vote, behind, winning, total, shares)
    return Suspects(
        rows=rows,
        names=names_of_rows(point_names, rows),
        score=scores[rows],
        scores=scores,
        n_neighbors=graph.n_neighbors,
        labels=[name_of(classes.values[code]) for code in classes.codes[rows]],
        votes=[name_of(classes.values[code]) for code in vote[rows]],
        share=np.sum((codes[rows] == vote[rows, None]) & voters, axis=1) / voters.sum(axis=1),
        n_suspects=len(suspect),
        n_alone=int(np.count_nonzero(sizes == 1)),
        n_by_chance=round(float(np.sum(1.0 - shares[vote[judged]]))),
        n_wrong_at_most=sure.n_wrong_at_most(suspect, own, judged),
        n_repeats=int(np.count_nonzero(repeats)),
    )


@dataclass(frozen=True)
class _Sureness:
    """How sure the votes are, for how many rows can have a wrong label.

    The margin of a vote is the share of the weight behind it less that behind the row's own label. A row whose label is
    wrong by chance has the margin that its neighbours give to any other label; one between classes seldom a large one.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_neighbors), int
        Labels of the neighbours.
    weights, behind : ndarray of shape (n_samples, n_neighbors), float64
        Their votes, and the votes of all that have their label.
    own, vote : ndarray of shape (n_samples,), int
        Labels of the rows, and those voted for.
    winning, total : ndarray of shape (n_samples,), float64
        The weight behind the vote, and of all votes.
    shares : ndarray of shape (n_labels,), float64
        Of the rows that have each label.
    """

    codes: Codes
    weights: Array
    own: Codes
    vote: Codes
    behind: Array
    winning: Array
    total: Array
    shares: Array

    def n_wrong_at_most(self, suspect: npt.NDArray[np.intp], own: Array, judged: npt.NDArray[np.bool_]) -> int | None:
        """Return the least upper limit of 95 % that any margin gives; `own` is the weight behind the rows' own labels.

        If m rows have wrong labels, about m times the share of rows that have a margin with another label have it. So
        the number of suspects that have it, those included that lie between classes, over that share is no less than m.
        """
        if not judged.any():
            return None
        margins = (self.winning[suspect] - own[suspect]) / self.total[suspect]
        limits = [float(np.count_nonzero(judged))]
        for least in _MARGINS:
            share = float(self._chance_of(least, judged).mean())
            count = np.count_nonzero(margins >= least) + 1
            if share > 0.0:
                limits.append((count + _ONE_SIDED * np.sqrt(count)) / share)
        return int(np.ceil(min(limits)))

    def _chance_of(self, least: float, judged: npt.NDArray[np.bool_]) -> Array:
        """Return how likely the vote has at least a margin over a label drawn for a row instead of its own."""
        codes, own = self.codes[judged], self.own[judged]
        best, vote = (self.winning / np.where(self.total > 0, self.total, 1.0))[judged], self.vote[judged]
        votes = self.weights[judged] > 0
        behind = self.behind[judged] / self.total[judged, None]
        n_alike = np.maximum(_weight_behind(codes, votes.astype(np.float64)), 1.0)  # a label counts once
        near = votes & (codes != own[:, None]) & (codes != vote[:, None]) & (behind > best[:, None] - least)
        kept = 1.0 - self.shares[own] - np.where(vote == own, 0.0, self.shares[vote])
        kept -= np.sum(np.where(near, self.shares[codes] / n_alike, 0.0), axis=1)
        others = 1.0 - self.shares[own]
        chance: Array = np.where((best >= least) & (others > 0), kept / np.where(others > 0, others, 1.0), 0.0)
        return np.maximum(chance, 0.0)


def _sizes(codes: Codes, counted: npt.NDArray[np.bool_]) -> Codes:
    """Return how many of the rows that are counted have the label of each row; 0 of one without a label."""
    counts = np.bincount(codes[counted] + 1, minlength=int(codes.max(initial=-1)) + 2)
    return np.where(codes >= 0, counts[codes + 1], 0)


def _n_votes(sizes: Codes, own: Codes, codes: Codes, weights: Array) -> Codes:
    """Return how many of the neighbours of each row vote: no more than can be expected to have a label of few rows."""
    nearest = np.take_along_axis(codes, np.argmax(weights > 0, axis=1)[:, None], axis=1).ravel()
    of_label = np.zeros(int(own.max(initial=-1)) + 2, dtype=np.int64)
    of_label[own] = np.where(own >= 0, sizes, 0)
    votes = np.where(nearest == own, sizes - 1, np.minimum(sizes - 1, np.maximum(of_label[nearest], _FEWEST_VOTES)))
    found: Codes = np.maximum(votes, 0)
    return found


def _weights(graph: NeighborGraph, counted: npt.NDArray[np.bool_]) -> Array:
    """Return the weight of each neighbour's vote, (n_samples, n_neighbors); 0 where it has none."""
    present = np.ones(counted.shape, dtype=np.bool_) if graph.mask is None else graph.mask
    distances = np.where(present, graph.distances, 0.0).astype(np.float64)
    reach = distances.max(axis=1, keepdims=True)
    weights: Array = exp(-0.5 * (distances / np.where(reach > 0, reach, 1.0)) ** 2)
    return np.where(present & counted, weights, 0.0)


def _weight_behind(codes: npt.NDArray[np.int64], weights: Array) -> Array:
    """Return for each neighbour the weight of all that have its label, (n_samples, n_neighbors)."""
    mixed = np.flatnonzero((codes != codes[:, :1]).any(axis=1))  # where it is not the weight of all
    behind = np.repeat(weights.sum(axis=1, keepdims=True), weights.shape[1], axis=1)
    votes, of = weights[mixed], codes[mixed]
    parts = np.zeros_like(votes)
    for vote, label in zip(votes.T, of.T, strict=True):
        parts += vote[:, None] * (of == label[:, None])
    behind[mixed] = parts
    return behind
