# Where the names of this room live: `__init__.py` reads it, and imports each when it is first used.
from .arrays import ArrayTable as ArrayTable
from .narrowed import NarrowedTable as NarrowedTable
from .narrowed import columns_of as columns_of
from .narrowed import narrow as narrow
from .narrowed import with_features as with_features
from .sources import as_stored as as_stored
from .sources import coordinates_in_file as coordinates_in_file
from .sources import open_stored as open_stored
from .sources import open_table as open_table
from .table import RowBlock as RowBlock
from .table import StoredTable as StoredTable
from .table import row_blocks as row_blocks
from .transformed import ScaledTable as ScaledTable
from .transformed import TransformedTable as TransformedTable
from .transformed import digest as digest
