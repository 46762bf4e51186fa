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
    n_repeats: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values, one record for each row listed."""
        document = super().to_dict()
        for record in document["rows"]:
            record["label"], record["vote"] = record.pop("labels"), record.pop("votes")
        counts = {"n_suspects": self.n_suspects, "n_by_chance": self.n_by_chance}
        return {
            **document,
            **counts,
            "n_labelled": self._n_judged,
            "n_alone": self.n_alone,
            "n_repeats": self.n_repeats,
        }

    @property
    def _n_judged(self) -> int:
        return int(np.isfinite(self.scores).sum())

    def headline(self) -> str:
        """Return the line above the printed table."""
        text = f"{self.n_suspects:,} of {self._n_judged:,} labelled rows"
        text += f" have another label than their {self.n_neighbors} neighbours in the data vote for"
        text += "" if self.n_by_chance is None else f"; of labels given at random about {self.n_by_chance:,} would"
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
        n_repeats=int(np.count_nonzero(repeats)),
    )


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
