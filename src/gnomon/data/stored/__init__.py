"""Tables that are read in blocks, because they need not fit in memory."""

from gnomon.data.stored.arrays import ArrayTable
from gnomon.data.stored.table import RowBlock, StoredTable, row_blocks

__all__ = ["ArrayTable", "RowBlock", "StoredTable", "row_blocks"]
