"""What the numbers of a table show of how it was written: bits packed into bytes, or shares of a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["seem_packed", "total_of_shares"]

_TRIED = 1000  # rows looked at
_FEWEST_COLUMNS = 16  # of packed bits
_BYTE = 255
_BITS = (1, 2, 4, 8, 16, 32, 64, 128)
_ALONE = _BITS[3:]  # beside numbers that are several bits
_ABOVE = 3.0  # times that these are as frequent as the numbers next to them
_FEWEST = 20  # of each
_LEAST_SHARES = 3  # columns of shares
_APART = 5e-3  # how far totals may lie from their median, of it: shares are rounded
_LEFT = 0.01  # of the variance of their totals that independent columns would have


def _some(X: Any) -> Any:
    n = int(X.shape[0])
    return X if n <= _TRIED else X[np.linspace(0, n - 1, _TRIED).astype(np.intp)]


def seem_packed(X: Any) -> bool:
    """Return whether a table looks like bits that were packed into bytes, as `numpy.packbits` does with fingerprints.

    Of 16 columns and more of whole numbers up to 255 all single bits occur, and each of 8, 16, 32, 64 and 128 is three
    times as frequent as the number before and after it, as where up to a fifth of the bits are set. Of counts and
    pixels numbers next to each other are about alike. At most 1,000 rows are looked at.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_columns)

    Returns
    -------
    bool
    """
    if not isinstance(X, np.ndarray) or X.shape[1] < _FEWEST_COLUMNS or X.dtype.kind not in "uif":
        return False
    some = _some(X)
    if not some.size or some.min() < 0 or some.max() > _BYTE or not (some == np.rint(some)).all():
        return False
    counts = np.bincount(some.astype(np.intp).reshape(-1), minlength=_BYTE + 2)
    occur = all(counts[bit] >= _FEWEST for bit in _BITS)
    return occur and all(counts[bit] >= _ABOVE * max(counts[bit - 1], counts[bit + 1]) for bit in _ALONE)


def total_of_shares(X: Any) -> float | None:
    """Return what the rows of a table of shares sum to, such as 1 or 100; None of a table of anything else.

    Shares are numbers from 0 in three columns and more of which the rows have one total, up to half a per cent and to a
    hundredth of the variance that independent columns would give it. Rows of the same numbers in other orders, as ranks
    and categories of zeros and ones are, are none.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_columns)

    Returns
    -------
    float or None
    """
    if X.shape[1] < _LEAST_SHARES or int(X.shape[0]) < _LEAST_SHARES:
        return None
    if _total(_some(X)) is None:
        return None
    return _total(X)


def _total(X: Any) -> float | None:
    values: npt.NDArray[Any] = X if isinstance(X, np.ndarray) else X.data
    if (
        not values.size
        or values.dtype.kind not in "uif"
        or not values.min() >= 0
        or ((values == 0) | (values == 1)).all()
    ):
        return None
    totals = np.asarray(X.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1)
    total = float(np.median(totals))
    if not total > 0.0 or not (np.abs(totals - total) <= _APART * total).all():
        return None
    if isinstance(X, np.ndarray):
        if (np.sort(X, axis=1) == np.sort(X[:1], axis=1)).all():
            return None
        spread = float(X.var(axis=0, dtype=np.float64).sum())
    else:
        means = np.asarray(X.mean(axis=0, dtype=np.float64)).reshape(-1)
        squares = np.asarray(X.multiply(X).mean(axis=0, dtype=np.float64)).reshape(-1)
        spread = float((squares - means**2).sum())
    return total if float(totals.var()) <= _LEFT * spread else None
