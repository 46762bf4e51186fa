"""Tables that are read in blocks, because they need not fit in memory."""

from gnomon.data.stored.arrays import ArrayTable
from gnomon.data.stored.sources import as_stored, open_stored, open_table
from gnomon.data.stored.table import RowBlock, StoredTable, row_blocks
from gnomon.data.stored.transformed import ScaledTable, TransformedTable, digest

__all__ = [
    "ArrayTable",
    "RowBlock",
    "ScaledTable",
    "StoredTable",
    "TransformedTable",
    "as_stored",
    "digest",
    "open_stored",
    "open_table",
    "row_blocks",
]
