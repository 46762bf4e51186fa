"""The path of a descent, recorded as it goes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._progress import Progress, Reporter
from gnomon._threads import single_threaded_blas
from gnomon.initialization import strain_start
from gnomon.objectives import Strain
from gnomon.optimizers import SafeDescent, Solution

__all__ = ["BABYLONIAN_RATE", "descend"]

Float64Array = npt.NDArray[np.float64]

BABYLONIAN_RATE = 0.125
"""Factor of the gradient in the preconditioned step Y + 1/2 (T Yc - Yc Yc'Yc) (Yc'Yc)^-1."""


def descend(
    objective: Strain,
    n_components: int,
    *,
    step: str = "safe",
    max_iter: int,
    tol: float,
    every: int = 1,
    seed: int = 0,
) -> tuple[Solution, list[int], list[Float64Array]]:
    """Descend a strain from a small random start and keep the embedding after each `every` iterations.

    Returns
    -------
    solution : Solution
    iterations : list of int
        0 for the start, then those at which an embedding was kept; the last one always.
    embeddings : list of ndarray of shape (n_samples, n_components), float64
    """
    start = strain_start(objective.gram, n_components, seed)
    safe = objective.safe_bound(start)
    iterations, embeddings = [0], [start]

    def keep(progress: Progress) -> None:
        if progress.embedding is not None and progress.done > iterations[-1]:
            iterations.append(progress.done)
            embeddings.append(np.array(progress.embedding, dtype=np.float64))

    preconditioned = step == "babylonian"
    optimizer = SafeDescent(
        BABYLONIAN_RATE if preconditioned else safe.learning_rate,
        preconditioned=preconditioned,
        tol=None,
        n_iter_without_progress=None,
        max_iter=max_iter,
        min_grad_norm=safe.gradient_tolerance(tol),
        block=every,
    )
    with single_threaded_blas():  # once: each entry takes a millisecond
        solution = optimizer.minimize(objective, start, reporter=Reporter(keep))
    return solution, iterations, embeddings
