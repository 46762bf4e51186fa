"""In how many lists of neighbours rows are: hubs in very many, and rows that are in none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["MANY_IN_NONE", "hubs_told", "neighbor_lists"]

MANY_IN_NONE = 0.1
"""Share of rows in no list from which on it is told: of round clouds of up to twenty dimensions no more than half."""


def neighbor_lists(result: Map) -> dict[str, float]:
    """Return in how many lists of nearest neighbours in the data rows are: quantiles, the most, those in none."""
    graph = result._nearest()
    counts = graph.in_lists
    low, median, high = np.quantile(counts, [0.05, 0.5, 0.95]).tolist()
    return {
        "n_neighbors": graph.n_neighbors,
        "low": low,
        "median": median,
        "high": high,
        "largest": int(counts.max()),
        "row": int(counts.argmax()),
        "in_none": int(np.count_nonzero(counts == 0)),
        "share_in_none": float(np.mean(counts == 0)),
    }


def hubs_told(facts: dict[str, float]) -> str:
    """Say in how many lists of neighbours rows are, and what to do where many are in none.

    Parameters
    ----------
    facts : dict
        What `neighbor_lists` returned.
    """
    told = (
        f"Of the lists of {facts['n_neighbors']} nearest neighbours the median row is in {facts['median']:.0f} "
        f"(5 to 95 % of the rows: {facts['low']:.0f} to {facts['high']:.0f}), row {facts['row']} in "
        f"{facts['largest']:,}, and {facts['in_none']:,} rows in none."
    )
    if facts["share_in_none"] < MANY_IN_NONE:
        return told
    return (
        f"{told} A few rows, hubs, are near to all others, so that neighbours say little of what is alike: try "
        'metric="cosine" or fewer dimensions (n_pcs).'
    )
