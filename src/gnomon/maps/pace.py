"""How fast this machine is, beside the one on which the times of methods were measured."""

from __future__ import annotations

import functools
import time

import numpy as np

from gnomon._run import running

__all__ = ["machine_pace"]

_REFERENCE_SECONDS = 0.030  # of one core of the reference machine
_ROWS, _FEATURES, _ITERATIONS = 1500, 24, 60
_REPEATS = 3  # the least counts: others are disturbed, and the first loads libraries


@functools.cache
def machine_pace() -> float:
    """Return how many times as long as the reference machine one core of this one takes.

    A small UMAP map is made thrice, and the least processor time taken: about a third of a second. Kept for the
    process.

    Returns
    -------
    float
        Below 1 where this machine is faster.
    """
    from gnomon.methods import UMAP  # loaded when first asked for

    X = np.random.default_rng(0).standard_normal((_ROWS, _FEATURES), dtype=np.float32)
    least = np.inf
    for _ in range(_REPEATS):
        began = time.process_time()
        with running(n_threads=1):
            UMAP(max_iter=_ITERATIONS, evaluation="sampled", random_state=0).fit(X)
        least = min(least, time.process_time() - began)
    return float(least) / _REFERENCE_SECONDS
