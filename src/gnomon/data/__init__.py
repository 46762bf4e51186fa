"""Tables in: reading, checking and fetching data."""

from gnomon.data.blocks import Block, check_blocks, columns_of_blocks
from gnomon.data.columns import ColumnRule
from gnomon.data.dataset import Dataset, draw_rows
from gnomon.data.labels import check_labels
from gnomon.data.readers import open_dataset, read_table
from gnomon.data.representation import Reduction, Representation
from gnomon.data.rows import find_constant_columns, find_duplicate_rows
from gnomon.data.scaling import Scaling
from gnomon.data.table import (
    Table,
    check_feature_count,
    check_one_row,
    check_same_length,
    check_table,
    plain_row,
)
from gnomon.data.target import Target, check_target, check_target_length, check_unused_target
from gnomon.data.weights import check_sample_weight, relative_masses

__all__ = [
    "Block",
    "ColumnRule",
    "Dataset",
    "Reduction",
    "Representation",
    "Scaling",
    "Table",
    "Target",
    "check_blocks",
    "check_feature_count",
    "check_labels",
    "check_one_row",
    "check_same_length",
    "check_sample_weight",
    "check_table",
    "check_target",
    "check_target_length",
    "check_unused_target",
    "columns_of_blocks",
    "draw_rows",
    "find_constant_columns",
    "find_duplicate_rows",
    "open_dataset",
    "plain_row",
    "read_table",
    "relative_masses",
]
