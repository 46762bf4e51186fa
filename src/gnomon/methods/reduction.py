"""What PaCMAP and TriMap share: fewer features before neighbours are searched, and no more neighbours than others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gnomon.exceptions import NeighborsWarning
from gnomon.linalg import principal_components

__all__ = ["at_most_half", "principal_rows"]


def principal_rows(metric: Any, limit: int = 100) -> Callable[[Any, int, int], Any] | None:
    """Return what turns rows into their scores on the leading principal components.

    Parameters
    ----------
    metric : str or callable
        Only Euclidean distances are those of the scores, nearly; other metrics get None: rows as they are.
    limit : int, default=100
        Components kept; tables of no more rows or features stay as they are.

    Returns
    -------
    callable (rows, seed, n_threads) -> rows, or None
    """
    if metric not in ("euclidean", "l2"):
        return None

    def reduce(X: Any, seed: int, n_threads: int) -> Any:
        if min(X.shape) <= limit:
            return X
        found = principal_components(X, limit, seed=seed, n_threads=n_threads)
        return found.transform(X, n_threads=n_threads)

    return reduce


def at_most_half(who: str, n_neighbors: int, n_samples: int) -> int:
    """Return n_neighbors, or half of the other rows if that is less, with a warning: the others must be far ones."""
    possible = max(1, (n_samples - 1) // 2)
    if n_neighbors > possible:
        warnings.warn(
            f"{who}: {n_neighbors} neighbours were asked for and a row has only {n_samples - 1} others; {possible} are "
            "used, so that as many rows are none.",
            NeighborsWarning,
            stacklevel=5,
        )
    return min(n_neighbors, possible)
