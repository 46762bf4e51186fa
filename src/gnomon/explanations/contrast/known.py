"""Which values of a table were there before missing ones were filled in, cluster by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["check_known", "few_known"]

Mask = npt.NDArray[np.bool_]

_MOSTLY = 0.5  # share of the rows of a cluster that must have a value, else its mean is that of what was filled in


def check_known(known: Any, shape: tuple[int, ...], *, groups: bool) -> Mask | None:
    """Return which values were there; None if all were.

    Parameters
    ----------
    known : array-like of shape (n_samples, n_features), bool, or None
    shape : tuple of int
        That of the table.
    groups : bool
        Whether features are compared as groups or regions, which have no values of their own.

    Raises
    ------
    ValueError
        If it has another shape or is not of truth values, or features are grouped.
    """
    if known is None:
        return None
    found = np.asarray(known)
    if groups:
        raise ValueError(
            message("known", "left out with groups of features or pictures", remedy="Pass one of the two.")
        )
    if found.shape != tuple(shape) or found.dtype.kind != "b":
        fact = f"{found.dtype} of shape {found.shape}"
        remedy = "Pass ~numpy.isnan(X) of the table before it was filled in."
        raise ValueError(
            message("known", f"truth values of shape {tuple(shape)}, those of X", fact=fact, remedy=remedy)
        )
    return None if found.all() else found


def few_known(known: Mask, codes: npt.NDArray[np.integer[Any]], n_groups: int) -> Mask:
    """Return of which features fewer than half of the rows of each group have a value, (n_groups, n_features).

    Parameters
    ----------
    known : ndarray of shape (n_samples, n_features), bool
    codes : ndarray of shape (n_samples,), int
        The group of each row, -1 for none.
    n_groups : int
    """
    rows = [np.flatnonzero(codes == g) for g in range(n_groups)]
    return np.array([known[some].sum(axis=0) < _MOSTLY * len(some) for some in rows])
