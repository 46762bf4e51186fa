"""Where work is done: three verbs, on this machine or on the workers of a Dask cluster, and what a cut run leaves."""

from gnomon.scale.dask import DaskExecutor
from gnomon.scale.executor import Executor, LocalExecutor, Shared, as_executor, current_executor
from gnomon.scale.journal import Journal
from gnomon.scale.neighbors import neighbors_by_blocks, query_by_blocks
from gnomon.scale.rounds import LocalRounds, RoundOf, Rounds, RoundsWork, Sent, Source
from gnomon.scale.who import rounds_of

__all__ = [
    "DaskExecutor",
    "Executor",
    "Journal",
    "LocalExecutor",
    "LocalRounds",
    "RoundOf",
    "Rounds",
    "RoundsWork",
    "Sent",
    "Shared",
    "Source",
    "as_executor",
    "current_executor",
    "neighbors_by_blocks",
    "query_by_blocks",
    "rounds_of",
]
