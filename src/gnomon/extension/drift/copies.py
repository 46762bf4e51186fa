"""Which new rows are copies of rows of a map, and whether more of them than rows of the map repeat each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gnomon.data import find_duplicate_rows
from gnomon.extension.drift.chance import chance_of_more
from gnomon.linalg.table import float_rows
from gnomon.neighbors import (
    NeighborGraph,
    alike_by_chance,
    alike_in_columns,
    near_copies,
    near_sets,
    sets_alike_in_columns,
)

__all__ = ["Copies", "find_copies"]

_DOUBTFUL = 0.05  # above it nothing more is asked
Rows = npt.NDArray[np.int64]


class Copies(NamedTuple):
    """New rows that repeat rows of a map.

    Attributes
    ----------
    pairs : ndarray of shape (n_copies, 2), int64
        Number of the new row, and of the first row of the map that it equals or else the one that it nearly is.
    n_equal : int
        How many of them are equal in every value.
    n_repeated : int
        Rows of the map that repeat another of its rows in the same way.
    p_value : float in [0, 1]
        How likely it is that so many of the rows that repeat one of the map are new, of rows like those of the map.
        It is 1 where columns have so few values that rows are alike by chance.
    """

    pairs: Rows
    n_equal: int
    n_repeated: int
    p_value: float


def find_copies(old: Any, new: Any, graph: NeighborGraph, indices: npt.NDArray[Any], distances: Any) -> Copies:
    """Compare new rows with each row of a map.

    Parameters
    ----------
    old, new : ndarray or CSR of shape (n_old, n_features) and (n_new, n_features)
        One old and one new row at least, in which they are equal.
    graph : NeighborGraph of n_old rows
        In which they are near.
    indices, distances : ndarray of shape (n_new, n_neighbors)
        The nearest old rows of the new ones, as many as in the graph.

    Returns
    -------
    Copies
        Those nearly equal are counted beyond doubt alone, see `gnomon.neighbors.near_copies`.
    """
    n, m = int(old.shape[0]), int(new.shape[0])
    old = float_rows(old)
    new = float_rows(new).astype(old.dtype, copy=False)
    both = scipy.sparse.vstack([old, new], format="csr") if hasattr(old, "tocsr") else np.concatenate([old, new])
    first, inverse = find_duplicate_rows(both)
    stands = first[inverse]
    sets = near_sets(graph)
    nearly = _alike(near_copies(graph, indices, distances), sets, both)
    copied = np.where(stands[n:] < n, stands[n:], nearly)
    found = np.flatnonzero(copied >= 0)
    times = np.bincount(stands[:n], minlength=n)[stands[:n]]
    sets = sets_alike_in_columns(old, sets)
    repeated = (times > 1) | (np.bincount(sets, minlength=n)[sets] > 1)
    n_repeated = int(np.count_nonzero(repeated))
    p_value = chance_of_more(n_repeated, n, len(found), m) if len(found) else 1.0
    if p_value < _DOUBTFUL and alike_by_chance(both, n_repeated + len(found)):
        p_value = 1.0
    return Copies(
        np.stack([found, copied[found]], axis=1).astype(np.int64),
        int(np.count_nonzero(stands[n:] < n)),
        n_repeated,
        p_value,
    )


def _alike(nearly: Rows, sets: Rows, both: Any) -> Rows:
    """Return of which old row each new one is nearly a copy, of those that are near it in most columns."""
    asked, n = np.flatnonzero(nearly >= 0), len(sets)
    if not len(asked):
        return nearly
    own = n + np.arange(len(nearly))
    joined = np.concatenate([sets, np.where(nearly >= 0, sets[nearly], own)])
    kept = nearly.copy()
    kept[asked[~alike_in_columns(both, joined, n + asked, n)]] = -1
    return kept
