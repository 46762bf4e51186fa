"""Trust of some rows of a map, such as of those that were placed in it and of those that made it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon.evaluation.anchors import score_anchors
from gnomon.evaluation.layout import places_of
from gnomon.evaluation.scores import rank_penalty_scale
from gnomon.neighbors.graph import ANSWER_NEIGHBORS
from gnomon.surfaces import Surface

__all__ = ["trust_of_rows"]


def trust_of_rows(
    X: Any, Y: npt.NDArray[Any], rows: npt.NDArray[np.int64], *, metric: str, surface: Surface | None = None
) -> npt.NDArray[np.float64]:
    """Return the trustworthiness of some rows, each ranked among all.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Checked.
    Y : ndarray of shape (n_samples, n_components)
        Finite places, or coordinates on the surface.
    rows : ndarray of shape (m,), int64
        Ascending.
    metric : str
    surface : Surface or None, default=None

    Returns
    -------
    ndarray of shape (m,), float64
        Of neighbourhoods of 15 rows, or as many as less than half of the rows are; their mean over all rows is the
        trustworthiness of the map.
    """
    n = len(Y)
    k = max(1, min(ANSWER_NEIGHBORS, (n - 1) // 2))
    layout = places_of(np.asarray(Y, dtype=np.float64), surface)
    seed = current_run().seed
    found = score_anchors(X, layout, rows, metric=metric, n_neighbors=k, n_nearest=k, n_triplets=1, seed=seed)
    return np.asarray(1.0 - rank_penalty_scale(n, k) * found.intruders, dtype=np.float64)
