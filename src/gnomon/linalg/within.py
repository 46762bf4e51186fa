"""How rows vary within two groups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.products import inner_products

__all__ = ["variation_within"]

Float64Array = npt.NDArray[np.float64]


def variation_within(a: Float64Array, b: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the variances within two groups along the axes of their common covariance, and these axes, in columns.

    The covariance is shrunk towards a multiple of the identity by n_features / n_rows.

    Parameters
    ----------
    a, b : ndarray of shape (n_rows, n_features), float64
        Rows of the groups, whose numbers may differ.

    Returns
    -------
    variances : ndarray of shape (n_features,), float64
    axes : ndarray of shape (n_features, n_features), float64
    """
    residuals = np.concatenate([a - a.mean(axis=0), b - b.mean(axis=0)])
    n, d = residuals.shape
    covariance = inner_products(residuals) / n
    level, shrunk = max(float(np.trace(covariance)) / d, np.finfo(np.float64).tiny), min(1.0, d / n)
    return symmetric_eigen((1.0 - shrunk) * covariance + max(shrunk, 1e-9) * level * np.eye(d))
