"""What a search for neighbours takes: memory at its peak and after it, and time."""

from __future__ import annotations

from gnomon._costs import Cost, returned_late
from gnomon.neighbors import cells
from gnomon.neighbors.compute import by_cells
from gnomon.neighbors.euclidean import n_candidates
from gnomon.neighbors.measured_rows import PAIR_COST
from gnomon.neighbors.sparse_rows import SparseRows, direction_rows, pair_cost, projection_memory

__all__ = [
    "memory_after_search",
    "memory_taken_again",
    "pairs_seconds",
    "search_memory",
    "search_seconds",
    "sparse_search_memory",
    "sparse_search_seconds",
    "walked_seconds",
]

# Bytes: rows centred, and the sample of them that gives the centre.
_CENTRED = Cost(fixed=1e5, entry=4.0, sample=5.2)
_SAMPLE = Cost(sample=5.2)
_REUSED = 0.75  # share of the sample that keys take again
_KEPT, _MOST_KEPT = Cost(sample=10.0), 1.25e7
_BROKEN = 7e6  # of what is kept, in pieces too small to be taken again
# Sparse rows: as they are compared and by columns, and while these are sorted; a column; a neighbour as it is kept;
# and rows that are asked for at a time, with their candidates.
_STORED, _SORTED, _COLUMN, _FOUND = 36.0, 18.0, 24.0, 12.0
_ASKED = Cost(entry=20.0, neighbor=20.0)
# Nanoseconds of one core: of all pairs; of a pair of a row and one in its cells, and of each number that is compared of
# it; and of what is done once for each row.
_ALL_PAIRS = Cost(row=3210.0, neighbor=207.0, pair=0.238, product=0.0177)
_OF_CELLS, _OF_NUMBERS = 13.3, 8.73
# And of all pairs by metrics with a kernel of their own, of which those of differences look into cells of the rows.
_DIFFERENCES = Cost(row=3210.0, neighbor=207.0, pair=0.3, product=0.027)
_BITS = Cost(row=3210.0, neighbor=207.0, pair=1.2, product=0.0094)
_MEASURED = {
    **dict.fromkeys(("manhattan", "chebyshev", "hamming", "rogerstanimoto"), _DIFFERENCES),
    **dict.fromkeys(("jaccard", "dice", "sokalsneath"), _BITS),
    "ruzicka": Cost(row=3210.0, neighbor=207.0, pair=0.6, product=0.047),
    "periodic": Cost(row=3210.0, neighbor=207.0, product=0.108),
}
_NEAR_THEMSELVES = ("manhattan", "chebyshev", "periodic")
# Of sparse rows: of a pair, and of each column that it shares; of a number, which is sorted by columns; of a neighbour,
# and of each number of a row that is ranked as one; and of each number of both rows of a pair that is walked through.
_PAIR, _SHARED, _READ, _NEIGHBOR, _RANKED_NUMBER, _WALKED = 1.85, 0.8, 255.0, 72.0, 18.9, 9.0
# Candidates by directions: of each number of the rows that give these and direction, of each pair of directions in a
# row and in a column, and of each number of all rows, of which some are then compared with all.
_TURNED, _STRAIGHTENED, _TRIED = 6.0, 9.0, 1500.0
_RANKED = Cost(neighbor=271.0, entry=14.8)


def search_memory(
    n_samples: int, n_features: float, n_neighbors: int, *, n_columns: int = 0, n_shared: float | None = None
) -> float:
    """Return the bytes that a Euclidean search among rows takes at its peak, its result included.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.
    n_neighbors : int in [1, n_samples - 1]
        Neighbours of each row, those to be kept included.
    n_columns : int, default=0
        Those of a sparse table, of which a row stores n_features; of a dense one they do not count.
    n_shared : float or None, default=None
        Columns that two rows of a sparse table both store, in the mean; None for a dense one.

    Returns
    -------
    float
    """
    if n_shared is not None:
        return sparse_search_memory(n_samples, n_features, n_columns, n_shared, n_neighbors)
    if by_cells(n_samples, n_features):
        return cells.cells_memory(n_samples, n_features, n_neighbors)
    kept = n_candidates(n_neighbors, n_samples - 1)
    # Keys of 8 bytes, room for two per candidate and 64 more; candidates, cutoff, norm, and the rows centred.
    rows = float(n_samples * (8 * (2 * kept + 64) + 4 * kept + 16))
    again = _REUSED * min(rows, _SAMPLE.of(n_samples, n_features))
    return 1.06 * (rows + _CENTRED.of(n_samples, n_features) - again)


def sparse_search_memory(n_samples: int, n_stored: float, n_columns: int, n_shared: float, n_neighbors: int) -> float:
    """Return the bytes that a search among sparse rows takes at its peak, its result included: none are written out.

    Parameters
    ----------
    n_samples : int
        Rows.
    n_stored : float
        Numbers stored for a row.
    n_columns : int
        Those that no row stores included.
    n_shared : float
        Columns that two rows both store, in the mean.
    n_neighbors : int in [1, n_samples - 1]
        Neighbours of each row, those to be kept included.

    Returns
    -------
    float
    """
    rows = _STORED * n_samples * n_stored + _COLUMN * n_columns
    rows += _ASKED.of(min(n_samples, SparseRows.rows_at_once), n_stored, n_neighbors)
    needed = max(_SORTED * n_samples * n_stored, _FOUND * n_samples * n_neighbors)
    if by_cells(n_samples, pair_cost(n_shared)):
        width, projected, directions = projection_memory(n_samples, n_columns)
        needed = max(needed, directions, projected + cells.cells_memory(n_samples, width, n_neighbors))
    return rows + needed


def memory_after_search(n_samples: int, n_features: float, n_neighbors: int) -> float:
    """Return the bytes that the allocator keeps after a search, its result not included.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.
    n_neighbors : int
        As for `search_memory`.

    Returns
    -------
    float
    """
    if by_cells(n_samples, n_features):
        return returned_late(8.0 * n_samples * n_neighbors + cells.basis_memory(n_samples, n_features))
    return min(_KEPT.of(n_samples, n_features), _MOST_KEPT)


def memory_taken_again(n_samples: int, n_features: float, n_neighbors: int) -> float:
    """Return how much of what the allocator keeps after a search the next stages take, up to their first large array.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.
    n_neighbors : int
        As for `search_memory`.

    Returns
    -------
    float
        Bytes.
    """
    kept = memory_after_search(n_samples, n_features, n_neighbors)
    if by_cells(n_samples, n_features):
        return kept - returned_late(8.0 * n_samples * n_neighbors)
    return max(0.0, kept - _BROKEN)


def pairs_seconds(n_samples: int, n_features: float, n_neighbors: int) -> float:
    """Return the seconds of one core that comparing all pairs of rows takes on the reference machine.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.
    n_neighbors : int
        As for `search_memory`.

    Returns
    -------
    float
    """
    return 1e-9 * _ALL_PAIRS.of(n_samples, n_features, n_neighbors)


def search_seconds(n_samples: int, n_features: float, n_neighbors: int, *, metric: str = "euclidean") -> float:
    """Return the seconds of one core that a search among dense rows takes on the reference machine.

    Parameters
    ----------
    n_samples, n_features : int, float
        Shape of the table.
    n_neighbors : int
        As for `search_memory`.
    metric : str, default="euclidean"
        As a graph carries it. Of sets, categories and amounts all pairs are compared unless fewer take less, which data
        decide: it takes so long at most. Tables of 0 and 1 take a fifth of it under "ruzicka". A metric that is not
        known here counts as Euclidean.

    Returns
    -------
    float
    """
    name = metric.partition("(")[0]
    if name in _MEASURED:
        pairs = 1e-9 * _MEASURED[name].of(n_samples, n_features, n_neighbors)
        if name in _NEAR_THEMSELVES and by_cells(n_samples, PAIR_COST * n_features):
            return min(pairs, _cell_seconds(n_samples, n_features, n_neighbors))
        return pairs
    if not by_cells(n_samples, n_features):
        return pairs_seconds(n_samples, n_features, n_neighbors)
    return _cell_seconds(n_samples, n_features, n_neighbors)


def _cell_seconds(n_samples: int, n_features: float, n_neighbors: int) -> float:
    compared: float = float(n_samples) ** (4 / 3) * (_OF_CELLS + _OF_NUMBERS * cells.n_coordinates(n_features))
    return 1e-9 * (compared + _RANKED.of(n_samples, n_features, n_neighbors))


def sparse_search_seconds(
    n_samples: int,
    n_stored: float,
    n_shared: float,
    n_neighbors: int,
    *,
    n_columns: int = 0,
    n_asked: float | None = None,
) -> float:
    """Return the seconds of one core that a search among sparse rows takes at most on the reference machine.

    All pairs are compared unless fewer take less, which data decide; of many rows that is tried first.

    Parameters
    ----------
    n_samples, n_stored, n_shared, n_neighbors : int, float, float, int
        As for `sparse_search_memory`.
    n_columns : int, default=0
        Those that no row stores included.
    n_asked : float or None, default=None
        Rows whose neighbours are sought among all; None for every row by its neighbours in the table.

    Returns
    -------
    float
    """
    asked = float(n_samples if n_asked is None else n_asked)
    compared = asked * n_samples * (_PAIR + _SHARED * n_shared) + _READ * n_samples * n_stored
    ranked = asked * n_neighbors * (_NEIGHBOR + _RANKED_NUMBER * n_stored)
    tried = 0.0
    if n_asked is None and by_cells(n_samples, pair_cost(n_shared)):
        n_rows, width = direction_rows(n_samples), projection_memory(n_samples, n_columns)[0]
        tried = width * (_TURNED * n_rows * n_stored + _STRAIGHTENED * width * (n_rows + n_columns))
        tried += _TRIED * n_samples * n_stored
    return 1e-9 * (compared + ranked + tried)


def walked_seconds(n_pairs: float, n_stored: float) -> float:
    """Return the seconds of one core in which pairs of sparse rows are measured one by one on the reference machine.

    Parameters
    ----------
    n_pairs : float
        Pairs in all.
    n_stored : float
        Numbers stored for a row.

    Returns
    -------
    float
    """
    return 1e-9 * 2.0 * _WALKED * n_pairs * n_stored
