"""Several objectives in turn, each begun where the one before ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon.optimizers.base import Optimizer
from gnomon.optimizers.solution import Solution

__all__ = ["minimize_in_stages"]


def minimize_in_stages(
    stages: Sequence[tuple[Callable[[], Any], Optimizer[Any, Any]]],
    Y0: npt.ArrayLike,
    *,
    reporter: Reporter | None = None,
    n_iter: int = 0,
) -> Solution:
    """Descend one objective after another.

    Parameters
    ----------
    stages : sequence of (make, optimizer), one at least
        `make()` returns the objective that the optimizer descends; it is let go before the next is made.
    Y0 : array-like of shape (n_samples, n_components)
        Where to start.
    reporter : Reporter, default=None
        Told about each stage; a wish to end early ends the running one.
    n_iter : int, default=0
        Iterations done before, to be counted.

    Returns
    -------
    Solution
        That of the last stage, with the iterations and the timings of all.
    """
    Y, timings = Y0, dict[str, float]()
    for make, optimizer in stages:
        solution = optimizer.minimize(make(), Y, reporter=reporter)
        Y, n_iter = solution.embedding, n_iter + solution.n_iter
        for name, seconds in solution.timings.items():
            timings[name] = timings.get(name, 0.0) + seconds
    return replace(solution, n_iter=n_iter, timings=timings)
