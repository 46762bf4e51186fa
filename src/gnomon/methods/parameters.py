"""Rules of parameters that several methods share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon._validation import Either, Instance, Options, message

__all__ = ["INIT", "METRIC", "check_perplexity"]

INIT = Either(
    Options("pca", "spectral", "random"),
    Instance((np.ndarray, list, tuple), "an array of shape (n_samples, n_components)"),
)
METRIC = Instance((str, Callable), "the name of a metric or a callable")  # type: ignore[arg-type]


def check_perplexity(who: str, parameters: dict[str, Any], n_samples: int) -> tuple[float, int]:
    """Return perplexity and neighbours to search for n_samples distinct rows, or raise ValueError.

    Without n_neighbors three for each unit of perplexity are taken; a perplexity above their number, possible below 3
    only through rounding, is brought down to it.
    """
    perplexity, n_neighbors = parameters["perplexity"], parameters.get("n_neighbors")
    if perplexity >= n_samples:
        raise ValueError(
            message(
                who,
                f"perplexity={perplexity}",
                f"less than the number of distinct rows, n_samples={n_samples}",
                remedy=f"Try perplexity={max(1.5, (n_samples - 1) / 3):.3g}.",
            )
        )
    if n_neighbors is None:
        n_neighbors = min(n_samples - 1, math.floor(3 * perplexity))
        return min(perplexity, float(n_neighbors)), n_neighbors
    if perplexity > min(n_neighbors, n_samples - 1):
        rule = f"at most the number of neighbours, {min(n_neighbors, n_samples - 1)}"
        raise ValueError(message(who, f"perplexity={perplexity}", rule, remedy="Raise n_neighbors."))
    return perplexity, n_neighbors
