"""Who does the rounds of some work."""

from __future__ import annotations

from gnomon.scale.executor import Executor, LocalExecutor
from gnomon.scale.rounds import LocalRounds, Rounds, RoundsWork

__all__ = ["rounds_of"]


def rounds_of(work: RoundsWork, executor: Executor) -> Rounds:
    """Return who does the rounds of some work.

    Parameters
    ----------
    work : RoundsWork
    executor : Executor
        A `LocalExecutor`, or a `DaskExecutor`, whose workers do them.

    Returns
    -------
    Rounds
    """
    if isinstance(executor, LocalExecutor):
        return LocalRounds(work)
    from gnomon.scale.cluster_rounds import ClusterRounds  # needs distributed
    from gnomon.scale.dask import DaskExecutor

    assert isinstance(executor, DaskExecutor)
    return ClusterRounds(work, executor.client)
