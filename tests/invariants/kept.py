"""What holds for which method, and up to what: the one list of exceptions to the invariants, each with its reason."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, settings
from scipy.spatial.distance import pdist
from sklearn.base import clone

from gnomon.exceptions import GnomonWarning
from quick import ESTIMATORS

__all__ = [
    "ALIKE_UP_TO",
    "ALL",
    "BOTH_OF_TWO",
    "IN_UNITS",
    "LINEAR",
    "PERMUTED",
    "PLACED_UP_TO",
    "SHARED_UP_TO",
    "begun",
    "brief",
    "examples",
    "fit",
    "shape_error",
]

ALL = list(ESTIMATORS)

_DRAWN_BY_ROW = "draws pairs or samples by the numbers of rows"
_RANDOM_START = "starts from numbers drawn for each row"

BOTH_OF_TWO = {"lle", "laplacian_eigenmaps"}
"""Refuse a table of two distinct rows: two eigenvectors beside the constant one need three."""

SHARED_UP_TO = {
    # PCA and its kin place each row by the row alone, up to the rounding of a product of many rows.
    "kernel_pca": 1e-12,
    "robust_pca": 1e-12,
    # descends to its tolerance, each row by itself
    "gradient_pca": 1e-6,
}
"""How far equal rows may lie apart, as a share of the map: nothing where they are merged before the fit.

graph_robust_pca keeps them apart: it draws each row towards its own neighbours, which differ for equal rows where these
are more than neighbours or where others are as near.
"""

PLACED_UP_TO = {"kernel_pca": 1e-12, "robust_pca": 1e-12}
"""How far the place of a row may move with the rows that are placed with it: matrix products round by their shape."""

LINEAR = {
    "pca",
    "random_projection",
    "stiefel_pca",
    "robust_pca",
    "graph_robust_pca",
    "huber_pca",
    "gradient_pca",
}
"""Maps in the units of the features, linear in the rows."""

IN_UNITS = LINEAR | {"classical_mds", "landmark_mds", "mds", "isomap", "sketch_map"}
"""Maps in the units of the distances: twice the table has a map twice as large. All others are as large as before."""

PERMUTED: dict[str, float | str] = {
    # closed forms and descents to a minimum: rounding
    "pca": 1e-8,
    "random_projection": 1e-12,
    "stiefel_pca": 1e-8,
    "robust_pca": 1e-6,
    "huber_pca": 2e-2,
    "kernel_pca": 1e-6,
    "classical_mds": 1e-6,
    "landmark_mds": 1e-6,
    "gradient_pca": 1e-3,
    "graph_robust_pca": 1e-2,
    "isomap": 1e-5,
    "phate": 1e-4,
    "mds": 1e-4,
    "lle": 1e-5,
    "laplacian_eigenmaps": 1e-5,
    # the first steps of a descent of float32
    "tsne": 1e-3,
    "sne": 1e-3,
    "symmetric_sne": 1e-3,
    "dreams": 1e-3,
    "two_kernel_pca": 1e-3,
    "two_kernel_lle": 1e-2,
    "neighbor_embedding": 1e-3,
    "sketch_map": "its landmarks begin at the row of a drawn number",
    "umap": _DRAWN_BY_ROW,
    "largevis": _DRAWN_BY_ROW,
    "neg_tsne": _DRAWN_BY_ROW,
    "info_nce_tsne": _DRAWN_BY_ROW,
    "pacmap": _DRAWN_BY_ROW,
    "local_map": _DRAWN_BY_ROW,
    "trimap": _DRAWN_BY_ROW,
    "densmap": _DRAWN_BY_ROW,
    "featmap": _DRAWN_BY_ROW,
    "star_map": _DRAWN_BY_ROW,
    "scale_map": _DRAWN_BY_ROW,
    "force_atlas2": _RANDOM_START,
}
"""Up to what a map of permuted rows is the permuted map, or why it is another one.

Of a map that is another one, the neighbours and the affinities permute, and its loss does not know the order of rows.
"""

ALIKE_UP_TO = dict.fromkeys(ALL, 1e-3) | {
    "huber_pca": 2e-2,  # 100 steps of the quick settings end before its tolerance
    "sketch_map": 2e-2,  # its advice rounds what the steps begin with
    "pacmap": "what a pair is drawn from depends on the last bits of distances",
    "local_map": "what a pair is drawn from depends on the last bits of distances",
    "trimap": "what a triplet is drawn from depends on the last bits of distances",
    "star_map": "its clusters begin at rows drawn by the last bits of distances",
}
"""Up to what a map of the same numbers that were rounded otherwise is the same after a few steps, or why it is another.

So are the maps of sparse rows and of rows off the origin. All distances here are apart by more than rounding.
"""


def examples(few: int) -> settings:
    """Return how many tables hypothesis draws: `few`, the same in every run, or as many as GNOMON_INVARIANTS says."""
    many = os.environ.get("GNOMON_INVARIANTS")
    return settings(
        max_examples=few if many is None else int(many),
        derandomize=many is None,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def brief(name: str) -> dict[str, Any]:
    """Return parameters that leave a descent its first steps, before rounding has grown to another map."""
    few = {"max_iter": 3, "early_exaggeration_iter": 1}
    return {key: value for key, value in few.items() if key in ESTIMATORS[name].get_params() and name not in LINEAR}


def begun(name: str, **parameters: Any) -> Any:
    """Return the estimator of a method with quick settings, and others."""
    return clone(ESTIMATORS[name]).set_params(**parameters)


def fit(name: str, X: Any, **parameters: Any) -> Any:
    """Fit a method to a table; warnings of the library about hard tables are silent, all others are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return begun(name, **parameters).fit(X)


def shape_error(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return the largest difference of two maps' distances, each divided by the map's size, over the largest one."""
    one, other = pdist(first.astype(np.float64)), pdist(second.astype(np.float64))
    sizes = float(np.linalg.norm(one)), float(np.linalg.norm(other))
    if min(sizes) == 0.0:
        return float(max(sizes) > 0.0)
    one, other = one / sizes[0], other / sizes[1]
    return float(np.abs(one - other).max() / one.max())
