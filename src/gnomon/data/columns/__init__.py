"""Columns of a table as people have them: numbers, categories, dates and identifiers, and the features they become."""

from gnomon.data.columns.copies import warn_of_copies, warn_of_repeated_names
from gnomon.data.columns.encode import encode_dataset, encode_rows, unknown_categories
from gnomon.data.columns.find import (
    MOST_CATEGORIES,
    NOT_ASKED,
    Lists,
    Ordered,
    check_lists,
    check_ordered,
    find_rules,
)
from gnomon.data.columns.personal import personal_columns
from gnomon.data.columns.raw import asked_columns, raw_columns
from gnomon.data.columns.rule import (
    ColumnRule,
    columns_of_features,
    features_of,
    first_features,
    mixed_columns,
    mixed_spreads,
    rules_fault,
    spreads_of,
    unit_ranges,
)
from gnomon.data.columns.scales import n_steps_first, with_order
from gnomon.data.columns.times import named_as_time

__all__ = [
    "MOST_CATEGORIES",
    "NOT_ASKED",
    "ColumnRule",
    "Lists",
    "Ordered",
    "asked_columns",
    "check_lists",
    "check_ordered",
    "columns_of_features",
    "encode_dataset",
    "encode_rows",
    "features_of",
    "find_rules",
    "first_features",
    "mixed_columns",
    "mixed_spreads",
    "n_steps_first",
    "named_as_time",
    "personal_columns",
    "raw_columns",
    "rules_fault",
    "spreads_of",
    "unit_ranges",
    "unknown_categories",
    "warn_of_copies",
    "warn_of_repeated_names",
    "with_order",
]
