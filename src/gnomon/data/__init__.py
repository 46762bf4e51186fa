"""Tables in: reading, checking and fetching data."""

from gnomon.data.consistency import check_feature_count, check_labels, check_same_length
from gnomon.data.rows import find_constant_columns, find_duplicate_rows
from gnomon.data.table import Table, check_table

__all__ = [
    "Table",
    "check_feature_count",
    "check_labels",
    "check_same_length",
    "check_table",
    "find_constant_columns",
    "find_duplicate_rows",
]
