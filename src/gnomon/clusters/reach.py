"""How near groups of rows come to each other, whatever lies between their means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import squared_lengths
from gnomon._run import current_run
from gnomon.neighbors import RowSearch

__all__ = ["are_neighbors", "reaches"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_TOUCHING = 0.02  # quantile of the distances from one group to the other that says how near they come
_SAMPLED = 200  # rows of a group, evenly over it, that tell
_NEAREST = 6  # groups by their means, of which it is looked how near they come


def reaches(places: Floats, groups: Sequence[Rows]) -> Floats:
    """Return how near each two groups come to each other.

    The lower quantile of the distances from rows of the one to the nearest of the other, in the direction in which it
    is the less; of groups whose means are not among each other's 6 nearest the distance of these.

    Parameters
    ----------
    places : ndarray of shape (n_rows, n_features), float64
    groups : sequence of ndarray of int64
        The rows of each.

    Returns
    -------
    ndarray of shape (n_groups, n_groups), float64
        Symmetric, 0 on the diagonal and positive elsewhere.
    """
    parts = [places[rows[:: max(1, len(rows) // _SAMPLED)]] for rows in groups]
    means = np.stack([places[rows].mean(axis=0) for rows in groups])
    found: Floats = np.sqrt(np.stack([squared_lengths(means - mean) for mean in means]))
    order = np.argsort(found, axis=1, kind="stable")[:, : _NEAREST + 1]
    looked = {(min(i, j), max(i, j)) for i, row in enumerate(order.tolist()) for j in row if i != j}
    searches = [RowSearch.of(part, 1, method="exact", seed=current_run().seed) for part in parts]
    for i, j in looked:
        there = (searches[b].find(parts[a])[1][:, 0] for a, b in ((i, j), (j, i)))
        nearest = min(float(np.quantile(one.astype(np.float64), _TOUCHING)) for one in there)
        found[i, j] = found[j, i] = max(nearest, float(np.finfo(np.float32).tiny))
    return found


def are_neighbors(near: Floats) -> npt.NDArray[np.bool_]:
    """Return which two groups come nearer to each other than any third comes to both.

    They are those of the relative neighbourhood graph [1]_, in which all groups hang together.

    Parameters
    ----------
    near : ndarray of shape (n_groups, n_groups), float64
        How near they come.

    References
    ----------
    .. [1] Toussaint, "The relative neighbourhood graph of a finite planar set", Pattern Recognition 12, 1980.
    """
    through = np.maximum(near[:, None, :], near[None, :, :])  # the longer way to each one
    found: npt.NDArray[np.bool_] = through.min(axis=2) >= near  # that to either of both is as long as between them
    np.fill_diagonal(found, False)
    return found
