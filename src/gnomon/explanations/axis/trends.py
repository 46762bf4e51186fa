"""Features along a coordinate: slopes with robust errors, ranks, smooth curves, and how well they predict it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.explanations.rows import dense_rows_of
from gnomon.linalg import dense_rows

__all__ = ["blocks_of_columns", "held_out_r2", "rank_correlations", "slopes", "smooth"]

Array = npt.NDArray[np.float64]

_BLOCK = 1 << 21  # numbers made dense at a time
_RIDGES = np.logspace(-3, 3, 13)


def blocks_of_columns(X: Any, rows: npt.NDArray[np.int64]) -> Iterator[tuple[slice, Array]]:
    """Yield the columns of some rows as dense blocks."""
    n_features = int(X.shape[1])
    step = max(1, _BLOCK // max(len(rows), 1))
    part = X[rows]
    part = part.tocsc() if hasattr(part, "tocsc") else part
    for start in range(0, n_features, step):
        columns = slice(start, min(start + step, n_features))
        yield columns, dense_rows(part[:, columns])


def slopes(t: Array, values: Array) -> tuple[Array, Array]:
    """Return the least-squares slope of each column on t and its standard error, robust to unequal spread (HC3).

    References
    ----------
    .. [1] MacKinnon & White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite
       sample properties", Journal of Econometrics 29, 1985.
    """
    s = t - t.mean()
    total = float(s @ s)
    centred = values - values[0]  # exact zeros for a constant column
    centred -= centred.mean(axis=0)
    slope = np.sum(s[:, None] * centred, axis=0) / total
    leverage = 1.0 / len(t) + s**2 / total
    misses = (centred - s[:, None] * slope) / np.maximum(1.0 - leverage, 1e-6)[:, None]
    return slope, np.sqrt(np.sum((s[:, None] * misses) ** 2, axis=0)) / total


def rank_correlations(t: Array, values: Array) -> Array:
    """Return Spearman's correlation of each column with t; 0 for a constant column."""
    from scipy.stats import rankdata

    order, ranks = rankdata(t), rankdata(values, axis=0)
    a, b = order - order.mean(), ranks - ranks.mean(axis=0)
    scale = np.sqrt(np.sum(a**2) * np.sum(b**2, axis=0))
    return np.asarray(np.divide(np.sum(a[:, None] * b, axis=0), scale, out=np.zeros(len(scale)), where=scale > 0))


def smooth(t: Array, values: Array, at: Array, bandwidth: float) -> tuple[Array, Array, Array]:
    """Return local linear means of one column at places on t, their standard errors and the effective counts.

    Weights are Gaussian; the standard error is that of a weighted mean with independent rows. NaN where fewer than
    two rows lie near.
    """
    mean, error, count = (np.full(len(at), np.nan) for _ in range(3))
    for number, place in enumerate(at):
        s = (t - place) / bandwidth
        w = np.exp(-0.5 * s**2)
        w[np.abs(s) > 3.0] = 0.0
        zero, one, two = w.sum(), float(w @ s), float(w @ s**2)
        count[number] = zero**2 / max(float(w @ w), np.finfo(float).tiny)
        determinant = zero * two - one**2
        if count[number] < 2.0 or determinant <= 1e-9 * zero**2:
            continue
        pull = w * (two - one * s) / determinant  # weights of the local line at the place; they sum to 1
        fit_slope = (zero * float(w @ (s * values)) - one * float(w @ values)) / determinant
        mean[number] = float(pull @ values)
        misses = values - mean[number] - fit_slope * s
        error[number] = np.sqrt(float(pull**2 @ misses**2) * count[number] / (count[number] - 1.0))
    return mean, error, count


def held_out_r2(X: Any, rows: npt.NDArray[np.int64], t: Array, n_most: int = 1000) -> float:
    """Return the share of the variance of t that all features predict together for a row left out.

    Ridge regression on the features, each divided by its standard deviation in these rows; leaving one out in closed
    form, the damping chosen so that it is largest. At most `n_most` rows, evenly spaced along t, are used.
    """
    if len(rows) > n_most:
        chosen = np.argsort(t, kind="stable")[np.linspace(0, len(rows) - 1, n_most).astype(np.intp)]
        rows, t = rows[chosen], t[chosen]
    values = dense_rows_of(X, rows)
    values = values[:, values.min(axis=0) < values.max(axis=0)]
    if not values.shape[1]:
        return 0.0
    values -= values.mean(axis=0)
    scaled = values / values.std(axis=0)
    target = t - t.mean()
    with single_threaded_blas():
        gram = scaled @ scaled.T / scaled.shape[1]
        eigenvalues, vectors = np.linalg.eigh(gram)
        moments = vectors.T @ target
        scores = []
        for ridge in _RIDGES:
            shrink = np.maximum(eigenvalues, 0.0) / (np.maximum(eigenvalues, 0.0) + ridge)
            fitted = vectors @ (shrink * moments)
            own = np.sum(vectors**2 * shrink, axis=1) + 1.0 / len(t)  # the mean is fitted too
            misses = (target - fitted) / np.maximum(1.0 - own, 1e-9)
            scores.append(1.0 - float(misses @ misses) / float(target @ target))
    return max(0.0, *scores)
