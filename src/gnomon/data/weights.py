"""The weights of rows in a fit: checked, and as the masses of distinct rows."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.data.arrays import unmasked
from gnomon.data.table import check_same_length
from gnomon.exceptions import DataWarning

__all__ = ["check_sample_weight", "relative_masses", "weights_that_count"]

Float64Array = npt.NDArray[np.float64]

_LEAST = float(np.finfo(np.float64).eps)
"""Of the largest weight: smaller ones are lost in a sum with it, and products of two are 0 in single precision."""


def check_sample_weight(sample_weight: Any, X: Any) -> Float64Array | None:
    """Check how many rows each row stands for.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,) or None
        Finite numbers >= 0, at least two of them positive. None for 1.
    X : table of n_samples rows
        Only its length counts.

    Returns
    -------
    ndarray of shape (n_samples,), float64, or None

    Raises
    ------
    TypeError
        If they are no numbers.
    ValueError
        If one is negative or not finite, fewer than two are positive, or there is not one for each row.
    """
    if sample_weight is None:
        return None
    given = np.asarray(unmasked(sample_weight, name="sample_weight"))
    if given.dtype.kind == "O":
        with contextlib.suppress(TypeError, ValueError):
            given = given.astype(np.float64)
    if given.dtype.kind not in "biuf":
        rule = "a number for each row, or None"
        raise TypeError(message("sample_weight", rule, fact=f"found {type(sample_weight).__name__} of {given.dtype}"))
    if given.ndim != 1:
        raise ValueError(message(f"sample_weight of shape {given.shape}", "of shape (n_samples,)"))
    check_same_length(X=X, sample_weight=given)
    weights = np.array(given, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        fact = f"{wrong.size} are not; first: row {wrong[0]} has {weights[wrong[0]]:g}"
        remedy = "Weigh a row 0 to leave it out of the fit."
        raise ValueError(message("sample_weight", "finite numbers >= 0", fact=fact, remedy=remedy))
    n_positive = int(np.count_nonzero(weights))
    if n_positive < 2:
        fact = f"{n_positive} of {len(weights)} weights are not zero"
        raise ValueError(message("sample_weight", "positive for at least 2 rows", fact=fact))
    return weights


def weights_that_count(weights: Float64Array | None) -> Float64Array | None:
    """Return weights with 0 for those that are too small beside the largest to count, with a warning.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), float64, or None
        As of `check_sample_weight`.

    Returns
    -------
    ndarray of shape (n_samples,), float64, or None
        The same array if none is too small.

    Raises
    ------
    ValueError
        If fewer than two are left.

    Warns
    -----
    DataWarning
        Says how many are too small.
    """
    if weights is None:
        return None
    largest = float(weights.max())
    small = (weights > 0.0) & (weights < _LEAST * largest)
    n_small, n_left = int(np.count_nonzero(small)), int(np.count_nonzero(weights)) - int(np.count_nonzero(small))
    if not n_small:
        return weights
    if n_left < 2:
        rule = f"at least {_LEAST:.2g} of the largest for 2 rows or more"
        fact = f"the largest is {largest:.3g}, and {n_small} others above 0 are smaller than that share of it"
        remedy = "Weights exp(-V / kT) of a smaller range, or of a higher temperature, count."
        raise ValueError(message("sample_weight", rule, fact=fact, remedy=remedy))
    warn(
        f"sample_weight: {n_small} of {len(weights)} weights are smaller than {_LEAST:.2g} of the largest, "
        f"{largest:.3g}, and count as 0: the sums of a fit lose them. Their rows take no part in it and are placed "
        "afterwards, as new ones. Weigh them 0, or leave them out, to have the same map without this warning.",
        DataWarning,
    )
    return np.where(small, 0.0, weights)


def relative_masses(
    weights: Float64Array | None, copies: npt.NDArray[np.intp] | None, n_distinct: int
) -> Float64Array | None:
    """Return how much each distinct row weighs, relative to their mean.

    Equal rows weigh together what they weigh each, so that a row of weight 3 is three rows to the last bit.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), float64, or None
        Of the rows, positive; None for 1.
    copies : ndarray of shape (n_samples,) or None
        Which distinct row each row is; None if all are distinct.
    n_distinct : int
        Number of distinct rows.

    Returns
    -------
    ndarray of shape (n_distinct,), float64, or None
        Of mean 1; None if all are equal.
    """
    if copies is not None:
        totals = np.bincount(copies, weights, minlength=n_distinct).astype(np.float64)
    elif weights is not None:
        totals = weights
    else:
        return None
    if (totals == totals[0]).all():
        return None
    largest = float(np.ldexp(1.0, np.frexp(totals.max())[1] - 1))  # a power of two: sums stay in range
    totals = totals / largest
    return np.asarray(totals * n_distinct / totals.sum())
