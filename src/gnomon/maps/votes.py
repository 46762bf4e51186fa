"""Labels that neighbours tell because they are rows of the same donor, plate or speaker: how well others tell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.linalg.table import evenly_spaced
from gnomon.maps.alike import UNIT_NAMES, Codes, codes_of_units, plain_name
from gnomon.neighbors import row_distances

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["VotesOfUnits", "told_of_votes", "votes_of_units"]

_NAMES = frozenset(
    [*UNIT_NAMES, "person", "speaker", "writer", "household", "litter", "cage", "recording", "video", "slide", "plate"]
)
_N_NEIGHBORS = 10  # as many as vote for `knn_accuracy`
_ASKED, _AMONG = 500, 5000  # rows
_WHOLE = 0.95  # share of the rows of a unit that have one label
_OF_WHOLE = 0.9  # share of the rows that are of whole units
_LEAST_SAME = 2.0  # share of neighbours of the same unit, to that of the unit among the rows of its label
_LEAST_FALL = 0.1  # of the share of labels told


@dataclass(frozen=True)
class VotesOfUnits:
    """How well neighbours tell labels, with and without rows of the same unit.

    Attributes
    ----------
    same, by_chance : float in [0, 1]
        Share of the first ten neighbours that are of the same unit, and that of the unit among the rows of its label.
    told, told_by_others : float in [0, 1]
        Share of the rows whose label most of ten neighbours have, of all and of those of other units.
    """

    same: float
    by_chance: float
    told: float
    told_by_others: float


def votes_of_units(X: Any, labels: Codes, units: Codes, metric: Any = "euclidean") -> VotesOfUnits | None:
    """Return how well neighbours tell labels, if mostly those of the same unit do; None if they do not.

    Units have one label each, and labels at least two units. Among at most 5,000 rows at even steps neighbours are
    looked for, of at most 500.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    labels, units : ndarray of shape (n_samples,), int
        The label and the unit of each row, -1 for none.
    metric : str or callable, default="euclidean"

    Returns
    -------
    VotesOfUnits or None
        None unless neighbours are of the same unit twice as often as the rows of their label are, and others tell the
        label of a tenth of the rows less.
    """
    known = np.flatnonzero((labels >= 0) & (units >= 0))
    if not len(known):
        return None
    counts = np.zeros((int(units.max()) + 1, int(labels.max()) + 1), dtype=np.intp)
    np.add.at(counts, (units[known], labels[known]), 1)
    sizes = counts.sum(axis=1)
    whole = (sizes > 0) & (counts.max(axis=1) >= _WHOLE * sizes)
    several = np.bincount(counts.argmax(axis=1)[whole], minlength=counts.shape[1]) >= 2
    if sizes[whole].sum() < _OF_WHOLE * len(known) or np.count_nonzero(several) < 2:
        return None
    rows = known[whole[units[known]] & several[labels[known]]]
    rows = rows[evenly_spaced(len(rows), _AMONG)]
    found = _count(X[rows], labels[rows], units[rows], metric)
    is_of_unit = found.same >= _LEAST_SAME * found.by_chance
    return found if is_of_unit and found.told - found.told_by_others >= _LEAST_FALL else None


def _count(X: Any, labels: Codes, units: Codes, metric: Any) -> VotesOfUnits:
    asked = evenly_spaced(len(labels), _ASKED)
    distances = row_distances(X, metric=metric)(asked)
    distances[np.arange(len(asked)), asked] = np.inf
    own = units[asked][:, None] == units
    nearest, others = _nearest(distances), _nearest(np.where(own, np.inf, distances))
    n_of_unit, n_of_label = np.bincount(units), np.bincount(labels)
    by_chance = (n_of_unit[units] - 1) / np.maximum(n_of_label[labels] - 1, 1)
    told, by_others = (float(np.mean(_majority(labels[near]) == labels[asked])) for near in (nearest, others))
    same = np.take_along_axis(own, nearest, axis=1)
    return VotesOfUnits(float(same.mean()), float(by_chance.mean()), told, by_others)


def _nearest(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    k = min(_N_NEIGHBORS, distances.shape[1] - 1)
    found: npt.NDArray[np.intp] = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return found


def _majority(votes: Codes) -> npt.NDArray[np.intp]:
    """Return the label that most of each row have; of several the first."""
    counts = np.zeros((len(votes), int(votes.max()) + 1), dtype=np.intp)
    np.add.at(counts, (np.arange(len(votes))[:, None], votes), 1)
    return np.asarray(counts.argmax(axis=1))


def told_of_votes(result: Map) -> str:
    """Say how well neighbours of other units tell the labels of a map, if those of the same do; empty if not.

    Units are what metadata name so, such as "donor" or "plate". Of a table that is read in blocks nothing is said.
    """
    if result.labels is None or measured_labels(result.labels) is not None:
        return ""
    units = [name for name in result.metadata if plain_name(name) in _NAMES and name != result.label_name]
    known = [result.labels, *(result.metadata[name] for name in units)]
    if not units:
        return ""
    if result._votes is None or not _are_same(result._votes[0], known):
        result._votes = known, _told(result, units)
    return result._votes[1]


def _are_same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def _told(result: Map, names: list[str]) -> str:
    labels, values = sort_into_classes(result.labels).codes, result._mapped().values
    if not (isinstance(values, np.ndarray) or scipy.sparse.issparse(values)):
        return ""
    for name in names:
        units = codes_of_units(result.metadata[name])
        found = None if units is None else votes_of_units(values, labels, units, result.metric)
        if found is not None:
            return (
                f"Neighbours in the data tell the {result.label_name} of {found.told:.0%} of rows, but of "
                f"{found.told_by_others:.0%} without those of the same {name}: {found.same:.0%} of neighbours are of "
                f"the same, {found.by_chance:.0%} by chance. The second number is what to expect of another {name}."
            )
    return ""
