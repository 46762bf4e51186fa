"""Rows laid so that straight distances order them as a metric does, where a metric has such places.

=========== ======================================= ==========================
metric      place of a row x                        distance of a chord c
=========== ======================================= ==========================
euclidean   x                                       c
cosine      x / |x|                                 c^2 / 2
correlation (x - mean x) / |x - mean x|             c^2 / 2
hellinger   the roots of x / sum x                  c / sqrt(2)
periodic    columns with a period as circles        c of near rows
haversine   on a unit sphere                        2 arcsin(c / 2)
=========== ======================================= ==========================

Of other metrics there is none: sets, and amounts under "ruzicka", have places in spaces of far more dimensions than
columns; the others are no straight distances at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import squared_lengths
from gnomon.linalg import dense_rows
from gnomon.neighbors.circles import on_circles
from gnomon.neighbors.metrics import metric_name, native_metric, refuse_negative

__all__ = ["DIRECTIONS", "STRAIGHT", "direction_lengths", "has_straight_rows", "squared_chords", "straight_rows"]

Floats = npt.NDArray[np.float64]

DIRECTIONS = ("cosine", "correlation", "hellinger")
"""Metrics that take a row for its direction: what it is multiplied by makes no difference."""
STRAIGHT = ("euclidean", *DIRECTIONS, "haversine", "periodic")
"""Metrics of rows that can be so laid."""


def has_straight_rows(metric: str) -> bool:
    """Return whether rows can be so laid under a metric, by its name; "periodic" with its periods in brackets."""
    return metric.strip().partition("(")[0] in STRAIGHT and metric_name(metric) is not None


def straight_rows(X: Any, metric: str, *, dtype: npt.DTypeLike = np.float64, written_out: bool = True) -> Any:
    """Return rows whose straight distances order pairs as a metric does, or, of several angles, nearly so.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    metric : str
        One of `STRAIGHT`; "periodic" with its periods in brackets. Under "cosine" and "hellinger" a row of zeros, which
        has no direction, is a place of zeros.
    dtype : dtype, default=float64
        Of what is returned, except of circles and spheres.
    written_out : bool, default=True
        Whether rows of a sparse table are written out under "correlation". Else they are x / |x - mean x|, not centred:
        along directions whose entries sum to 0 they have the same places.

    Returns
    -------
    ndarray or CSR of shape (n_rows, n_coordinates)
        Rows of a sparse table stay sparse, but for those of angles and of correlations.

    Raises
    ------
    ValueError
        If a row has no place: values below 0 under "hellinger", equal values under "correlation".
    """
    if metric == "hellinger":
        refuse_negative(metric, X)
        return _unit_rows(np.sqrt(X.astype(dtype)) if isinstance(X, np.ndarray) else X.astype(dtype).sqrt())
    if metric == "correlation":
        native = native_metric(metric)
        assert native is not None
        given = X.toarray() if written_out and not isinstance(X, np.ndarray) else X
        return native.rows(given.astype(dtype, copy=False))[:, : X.shape[1]].astype(dtype, copy=False)
    if metric == "cosine":
        return _unit_rows(X.astype(dtype))
    if metric == "euclidean":
        return X.astype(dtype, copy=False)
    return np.asarray(on_circles(dense_rows(X), metric), dtype=np.float64)


def direction_lengths(X: Any, metric: str) -> Floats:
    """Return by what rows are divided to lie where a metric of `DIRECTIONS` has them; 1 where that is 0.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
    metric : str

    Returns
    -------
    ndarray of shape (n_rows,), float64
    """
    if metric == "hellinger":
        squares = np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1)
    elif metric == "correlation" and isinstance(X, np.ndarray):
        squares = squared_lengths(X - X.mean(axis=1, keepdims=True, dtype=np.float64), np.float64)
    else:
        squares = squared_lengths(X, np.float64)
        if metric == "correlation":
            squares -= np.square(np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1)) / X.shape[1]
    lengths: Floats = np.sqrt(np.maximum(squares, 0.0))
    return np.where(lengths > 0.0, lengths, 1.0)


def squared_chords(distances: npt.NDArray[Any], metric: str) -> Floats:
    """Return squared straight distances of rows so laid from their distances; of angles, those of near rows.

    Parameters
    ----------
    distances : ndarray
        By the metric.
    metric : str
        One of `STRAIGHT`.
    """
    given = distances.astype(np.float64)
    if metric in ("cosine", "correlation"):
        return 2.0 * given
    squares: Floats = np.square(given)
    return 2.0 * squares if metric == "hellinger" else squares


def _unit_rows(rows: Any) -> Any:
    """Divide rows of a new table by their lengths, in place; those of zeros stay."""
    lengths = np.sqrt(squared_lengths(rows, np.float64))
    lengths[lengths == 0.0] = 1.0
    if isinstance(rows, np.ndarray):
        rows /= lengths[:, None]
    else:
        rows.data /= np.repeat(lengths, np.diff(rows.indptr))
    return rows
