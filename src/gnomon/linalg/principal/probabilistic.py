"""Principal components as a normal distribution: variance along each, and equal noise along all other directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.linalg.draws import normal_matrix
from gnomon.linalg.principal.components import PrincipalComponents, project_rows
from gnomon.linalg.table import dense_rows

__all__ = ["draw_rows_of_model", "log_likelihood", "model_covariance", "model_precision"]

Float64Array = npt.NDArray[np.float64]

_STREAM_SCORES, _STREAM_NOISE = 103, 104
_ROWS = 2048


def _variances(model: PrincipalComponents) -> tuple[Float64Array, float]:
    """Return the variances along the components, not below that of the noise, and the latter."""
    noise = model.noise_variance
    return np.maximum(model.explained_variance, noise), noise


def model_covariance(model: PrincipalComponents) -> Float64Array:
    """Return the covariance C' (L - s I) C + s I of shape (n_features, n_features), with the noise variance s."""
    variances, noise = _variances(model)
    with single_threaded_blas():
        covariance: Float64Array = (model.components.T * (variances - noise)) @ model.components
    covariance.flat[:: len(covariance) + 1] += noise
    return covariance


def _require_spread(model: PrincipalComponents) -> tuple[Float64Array, float]:
    """Return the variances, or raise ValueError if a direction has none, so that there is no density."""
    variances, noise = _variances(model)
    full = model.components.shape[0] == model.mean.size
    least = float(variances[-1]) if full else noise
    if not least > np.finfo(np.float64).eps * float(variances[0]):
        fact = f"the least variance is {least:.3g}"
        remedy = "Keep fewer components, so that some variance is left for the noise."
        raise ValueError(message("the model", "one with variance in all directions", fact=fact, remedy=remedy))
    return variances, noise


@part("model_precision")
def model_precision(model: PrincipalComponents) -> Float64Array:
    """Return the inverse of the covariance, by the matrix inversion lemma: nothing of n_features rows is inverted."""
    variances, noise = _require_spread(model)
    with single_threaded_blas():
        if model.components.shape[0] == model.mean.size:
            return np.asarray((model.components.T / variances) @ model.components)
        precision: Float64Array = -(model.components.T * ((1.0 - noise / variances) / noise)) @ model.components
    precision.flat[:: len(precision) + 1] += 1.0 / noise
    return precision


@part("log_likelihood")
def log_likelihood(model: PrincipalComponents, X: Any) -> Float64Array:
    """Return the log-likelihood of each row.

    Parameters
    ----------
    model : PrincipalComponents
    X : ndarray of float32 or float64, or CSR, of shape (n_rows, n_features)
        CSR is written out 2048 rows at a time.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        In nats.

    References
    ----------
    .. [1] Tipping & Bishop, "Probabilistic principal component analysis", JRSS B 61, 1999.
    """
    variances, noise = _require_spread(model)
    n_components, n_features = model.components.shape
    n_left = n_features - n_components
    constant = n_features * np.log(2.0 * np.pi) + float(np.log(variances).sum())
    constant += n_left * float(np.log(noise)) if n_left else 0.0
    found = np.empty(X.shape[0])
    for begin in range(0, X.shape[0], _ROWS):
        rows = dense_rows(X[begin : begin + _ROWS])
        scores = project_rows(rows, model.mean, model.components)
        distance = np.sum(scores**2 / variances, axis=1)
        if n_left:
            outside = np.sum((rows - model.mean) ** 2, axis=1) - np.sum(scores**2, axis=1)
            distance += np.maximum(outside, 0.0) / noise
        found[begin : begin + len(rows)] = -0.5 * (constant + distance)
    return found


def draw_rows_of_model(model: PrincipalComponents, n_rows: int, *, seed: int) -> Float64Array:
    """Draw rows: mean + W z + noise.

    Parameters
    ----------
    model : PrincipalComponents
    n_rows : int >= 0
    seed : int in [0, 2**63)

    Returns
    -------
    ndarray of shape (n_rows, n_features), float64
        The first rows are the same for any `n_rows`, up to rounding.
    """
    variances, noise = _variances(model)
    n_components, n_features = model.components.shape
    scores = normal_matrix(seed, _STREAM_SCORES, (n_rows, n_components))
    rows = model.inverse_transform(scores * np.sqrt(variances - noise))
    if noise > 0.0:
        rows += np.sqrt(noise) * normal_matrix(seed, _STREAM_NOISE, (n_rows, n_features))
    return rows
