"""What the machine can do at most, and how near to it the stages of a fit come."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

__all__ = ["Limits", "least_seconds", "measure_limits"]

_SIDE = 2048  # of the matrices that are multiplied
_BYTES = 2**28  # of the array that is read, larger than a cache
_DRAWS = 16  # rows that UMAP's layout pushes a row away from in a pass
_UMAP_PAIR = 45  # arithmetic of a pair's force: difference, square, logarithm, power, quotient, clipping, sum
_TSNE_PAIR = 12
_NEIGHBOR_BYTES = 8  # index and weight of a pair that attracts


@dataclass(frozen=True)
class Limits:
    """Measured limits of a machine.

    Attributes
    ----------
    operations : float
        Multiplications and additions of 32 bits a second in a product of matrices, all cores.
    bytes_read : float
        Bytes a second read from memory, all cores.
    """

    operations: float
    bytes_read: float


def _best(run: Callable[[], object], repeats: int = 5) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure_limits(n_threads: int) -> Limits:
    """Time a product of matrices by NumPy's library and the sum of an array larger than the caches."""
    A = np.random.default_rng(0).random((_SIDE, _SIDE), dtype=np.float32)
    product = np.empty_like(A)
    operations = 2.0 * _SIDE**3 / _best(lambda: np.matmul(A, A, out=product))
    parts = np.array_split(np.ones(_BYTES // 4, dtype=np.float32), n_threads)
    with ThreadPoolExecutor(n_threads) as pool:
        bytes_read = _BYTES / _best(lambda: list(pool.map(np.max, parts)))
    return Limits(operations, bytes_read)


def least_seconds(
    method: str, stage: str, shape: tuple[int, int], work: Mapping[str, int], limits: Limits
) -> float | None:
    """Return the seconds that the arithmetic or the reading of a stage takes at the machine's limit.

    Parameters
    ----------
    method, stage : str
        Known are the neighbours of "umap" and "tsne", an exact search of all pairs, each once; the layout of "umap",
        every pass of which evaluates all attracting pairs and 16 draws a row; and what attracts in that of "tsne".
    shape : tuple of int
        Rows and columns.
    work : mapping of str to int
        "passes" and "edges", as the tools tell them.

    Returns
    -------
    float or None
        The larger of both; None for a stage that is not known.
    """
    n, columns = shape
    if stage == "neighbors":
        return float(n) * n * columns / limits.operations
    if stage != "layout" or not {"passes", "edges"} <= set(work):
        return None
    passes, edges = work["passes"], work["edges"]
    if method == "umap":
        operations = passes * (edges + _DRAWS * n) * _UMAP_PAIR
    elif method == "tsne":
        operations = passes * edges * _TSNE_PAIR
    else:
        return None
    return max(operations / limits.operations, passes * edges * _NEIGHBOR_BYTES / limits.bytes_read)
