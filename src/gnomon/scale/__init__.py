"""Where work is done: three verbs, on this machine or on the workers of a Dask cluster, and what a cut run leaves."""

from gnomon.scale.dask import DaskExecutor
from gnomon.scale.executor import Executor, LocalExecutor, Shared, as_executor, current_executor
from gnomon.scale.journal import Journal
from gnomon.scale.moments import ColumnMoments, column_moments
from gnomon.scale.neighbors import neighbors_by_blocks, query_by_blocks
from gnomon.scale.principal import ProjectedTable, stored_principal_components
from gnomon.scale.results import ResultColumn, ResultsWriter, StoredResults, open_results, read_results
from gnomon.scale.rounds import LocalRounds, RoundOf, Rounds, RoundsWork, Sent, Source
from gnomon.scale.rows import answers_of_blocks, by_blocks, require_answers, several_blocks, stored_of
from gnomon.scale.scaling import choose_stored_scaling
from gnomon.scale.who import rounds_of

__all__ = [
    "ColumnMoments",
    "DaskExecutor",
    "Executor",
    "Journal",
    "LocalExecutor",
    "LocalRounds",
    "ProjectedTable",
    "ResultColumn",
    "ResultsWriter",
    "RoundOf",
    "Rounds",
    "RoundsWork",
    "Sent",
    "Shared",
    "Source",
    "StoredResults",
    "answers_of_blocks",
    "as_executor",
    "by_blocks",
    "choose_stored_scaling",
    "column_moments",
    "current_executor",
    "neighbors_by_blocks",
    "open_results",
    "query_by_blocks",
    "read_results",
    "require_answers",
    "rounds_of",
    "several_blocks",
    "stored_of",
    "stored_principal_components",
]
