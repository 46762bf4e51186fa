"""New rows that say nothing to a map whose metric compares directions, such as texts without any of its words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.extension.atlas.forward import untold_far
from gnomon.neighbors import native_metric, untold_zeros

__all__ = ["blank_rows", "known_columns", "told_blank", "untold_blank"]


def known_columns(X: Any, metric: str) -> npt.NDArray[np.bool_] | None:
    """Return in which columns the rows of a map hold values other than 0; None if its metric places rows of zeros.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_old, n_columns)
    metric : str
        Under "cosine" and "hellinger" a row of zeros is equally far from all others, as is one that has values only
        where no row of the map has any.
    """
    native = native_metric(metric)
    if native is None or not native.needs_direction:
        return None
    if isinstance(X, np.ndarray):
        return np.asarray(X.any(axis=0), dtype=np.bool_)
    found = np.zeros(int(X.shape[1]), dtype=np.bool_)
    found[X.indices[X.data != 0]] = True
    return found


def blank_rows(X_new: Any, known: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.int64]:
    """Return the numbers of the rows that are 0 in all known columns, none if there are no such columns to speak of."""
    n = int(X_new.shape[0])
    if known is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(X_new, np.ndarray):
        return np.flatnonzero(~X_new[:, known].any(axis=1))
    counted = np.repeat(np.arange(n), np.diff(X_new.indptr))[known[X_new.indices] & (X_new.data != 0)]
    return np.flatnonzero(np.bincount(counted, minlength=n) == 0)


def told_blank(count: int, n_rows: int, metric: str) -> str:
    """Say of rows that they say nothing to the map, without a full stop."""
    which = f"{count:,} of {n_rows:,} new rows {'is' if count == 1 else 'are'} all zeros"
    return f"{which} in the columns where rows of the map are not, and metric={metric!r} gives such rows no direction"


@contextmanager
def untold_blank(blank: npt.NDArray[np.int64], n_rows: int) -> Iterator[None]:
    """Leave blank rows, of which the caller has told, without other warnings where they are placed inside a block.

    Parameters
    ----------
    blank : ndarray of int64
        Their numbers among the rows that are placed.
    n_rows : int

    Yields
    ------
    None
        To the block.
    """
    rows = np.zeros(n_rows, dtype=np.bool_)
    rows[blank] = True
    with untold_zeros(), untold_far(rows):
        yield
