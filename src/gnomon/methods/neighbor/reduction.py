"""What PaCMAP and TriMap share: fewer features before neighbours are searched, and no more neighbours than others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon._validation import warn
from gnomon.exceptions import NeighborsWarning
from gnomon.linalg import principal_components

__all__ = ["at_most_half", "principal_rows", "reduced_width"]

_COMPONENTS = 100


def principal_rows(metric: Any, n_samples: int, n_features: int) -> Callable[[Any, int], Any] | None:
    """Return what turns rows into their scores on the first 100 principal components.

    Parameters
    ----------
    metric : str or callable
        Distances of the scores are nearly the Euclidean ones; with another metric rows stay as they are.
    n_samples, n_features : int
        Shape of the table; one of at most 100 rows or features stays as it is.

    Returns
    -------
    callable (rows, seed) -> rows, or None
    """
    if reduced_width(metric, n_samples, n_features) == n_features:
        return None

    def reduce(X: Any, seed: int) -> Any:
        found = principal_components(X, _COMPONENTS, seed=seed)
        return found.transform(X)

    return reduce


def reduced_width(metric: Any, n_samples: int, n_features: float) -> float:
    """Return the features of the rows that `principal_rows` returns."""
    if metric not in ("euclidean", "l2") or min(n_samples, n_features) <= _COMPONENTS:
        return n_features
    return _COMPONENTS


def at_most_half(n_neighbors: int, n_samples: int) -> int:
    """Return n_neighbors, or half of the other rows if that is less, with a warning: the others must be far ones."""
    possible = max(1, (n_samples - 1) // 2)
    if n_neighbors > possible:
        warn(
            f"{n_neighbors} neighbours were asked for and a row has only {n_samples - 1} others; {possible} are "
            "used, so that as many rows are none.",
            NeighborsWarning,
        )
    return min(n_neighbors, possible)
