"""What the answers to a map take: its explanation, its scores, its page and its report.

They are foreseen before a fit begins, and none of the rooms that answer is loaded for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._costs import Cost

__all__ = [
    "answer_takes",
    "columns_take",
    "evaluation_keeps",
    "evaluation_takes",
    "explanation_takes",
    "page_takes",
    "report_takes",
    "sparse_columns",
]

# Bytes, bytes of the blocks worked on at a time and their limit, and nanoseconds on one core of the reference machine.
_EXPLANATION = Cost(fixed=1e6, row=900.0)
_FEATURE_FITS = Cost(row=8e3)  # of features fitted to the place in the map, where they are noisy
_MOST_FITTED = 3e7
_FEW = 15  # features up to which they seldom are
_EXPLANATION_TIME = Cost(
    fixed=1e8, row=3.5e4, entry=1e3
)  # noisy features take up to three times as long, others a third
_ALL_BELOW = 5000  # rows up to which all are compared with all
_COMPARED = Cost(row=1.3e4)  # of some of them with all others
_ORDERED, _WIDE = 1.6e7, 2e4  # of these, and for each column in double
_COMPARED_OF_MANY = Cost(row=2e3)
_MOST_COMPARED = 7e7
_KEPT_OF_FEW, _KEPT = Cost(row=700.0, pair=0.7), Cost(row=1.2e3)  # bytes of scores and neighbours, which stay
_MOST_KEPT = 1e8
_EVALUATION_TIME = Cost(fixed=1e8, row=2.5e4, entry=150.0)
_PAGE = Cost(fixed=2e6, row=800.0)
_REPORT, _REPORT_OF_FEW = Cost(fixed=2e7), Cost(row=4.5e4)  # figures, and ranks where all rows are compared
_REPORT_TIME, _REPORT_TIME_OF_FEW = Cost(fixed=3.5e9, row=3.3e5, entry=500.0), Cost(row=1.5e6)
_SAMPLED = 2000  # rows by whose distances dimension is estimated
_OF_PAIRS, _PAIR = 12.0, 4.0  # for each pair of these at first, and while neighbours are looked at
_OF_NUMBERS, _MOST_NUMBERS, _LOCAL = 15.0, 1 << 21, 20 * 256  # for each number of neighbours looked at together
_ALIKE_TABLES = Cost(entry=8.0)  # of groups of features, before and after they are found again
_ALIKE_NUMBER = 4.0  # for each number looked at
_ALIKE_PAIR = 16.0  # for each pair of columns, of so many with all at a time
_ALIKE_TOGETHER = 4096
_LEARNED = 20_000  # rows that clusters are learned from
_CLUSTERS = Cost(row=2.6e3, entry=8.0)  # of these
_LEFT = 4.0  # for each number of the table: that of groups stays
_PAGE_TIME = Cost(fixed=6e8, row=1.1e5, entry=300.0)
_ALIKE = 0.3  # nanoseconds for a product of two columns in a row, where groups of features are looked for
# Of sparse tables, beside what as many numbers of a dense one take: nanoseconds of a number in an explanation, of a
# column there and in a page, and of one that some row stores in a page; and bytes of the latter in tables of pairs.
_STORED_TIME, _COLUMN_TIME, _PAGE_COLUMN_TIME, _USED_TIME = 1.8e4, 6e4, 2e5, 1.4e6
_EMPTY_TIME, _COLUMN = 40.0, 2.5e3  # nanoseconds of a column in a row, and bytes of a column, in an explanation
_USED = 8.0 * _ALIKE_TOGETHER / 4
_DEVIATION = 8.0  # bytes of a number that is looked at
_MOST_ALIKE, _FEWEST_ALIKE = 1 << 24, 256  # numbers and rows that are looked at


def explanation_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what an explanation takes at most: whether it fits features to positions or the reverse, the data decide.

    Parameters
    ----------
    n_samples : int
    n_features : float
        Numbers stored for a row.

    Returns
    -------
    n_bytes, seconds : float
        Beyond what is there already; of one core of the reference machine.
    """
    blocks = min(_MOST_FITTED, _FEATURE_FITS.of(n_samples, n_features)) if n_features > _FEW else 0.0
    return _EXPLANATION.of(n_samples, n_features) + blocks, 1e-9 * _EXPLANATION_TIME.of(n_samples, n_features)


def evaluation_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what `gnomon.evaluate` takes by default.

    Parameters
    ----------
    n_samples : int
    n_features : float
        Numbers stored for a row.

    Returns
    -------
    n_bytes, seconds : float
        Beyond what is there already; of one core of the reference machine.
    """
    if n_samples <= _ALL_BELOW:
        needed = _COMPARED.of(n_samples) + (_ORDERED + _WIDE * n_features) * min(1.0, n_samples / 1024)
    else:
        needed = min(_MOST_COMPARED, _COMPARED_OF_MANY.of(n_samples))
    return needed, 1e-9 * _EVALUATION_TIME.of(n_samples, n_features)


def evaluation_keeps(n_samples: int) -> float:
    """Return the bytes that stay with the process when a map was scored.

    Parameters
    ----------
    n_samples : int

    Returns
    -------
    float
    """
    return min(_MOST_KEPT, (_KEPT_OF_FEW if n_samples <= _ALL_BELOW else _KEPT).of(n_samples))


def page_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what a page takes to be written, the scores that it shows aside.

    Parameters
    ----------
    n_samples : int
    n_features : float
        Numbers stored for a row.

    Returns
    -------
    n_bytes, seconds : float
        Beyond what is there already; of one core of the reference machine.
    """
    shape = n_samples, n_features
    looked_at = min(n_samples, max(_FEWEST_ALIKE, _MOST_ALIKE / n_features)) if n_features else 0.0
    seconds = 1e-9 * (_PAGE_TIME.of(*shape) + _ALIKE * looked_at * n_features**2)
    sampled = min(n_samples, _SAMPLED)
    near = _OF_NUMBERS * min(_MOST_NUMBERS, _LOCAL * n_features)
    dimension = max(_OF_PAIRS * sampled**2, _PAIR * sampled**2 + near)
    alike = _ALIKE_TABLES.of(*shape) + _ALIKE_NUMBER * looked_at * n_features
    alike += _ALIKE_PAIR * n_features * min(n_features, _ALIKE_TOGETHER)
    learned = min(n_samples // 2, _LEARNED)
    clusters = _LEFT * n_samples * n_features + _CLUSTERS.of(learned, n_features)
    return _PAGE.of(*shape) + max(dimension, alike, clusters), seconds


def report_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what `Map.write_report` takes, the explanation and the scores of `Map.evaluate` aside.

    Its verdicts, scores and figures look at so many rows at most, so that it grows slowly beyond 5,000 rows.

    Parameters
    ----------
    n_samples : int
    n_features : float
        Numbers stored for a row.

    Returns
    -------
    n_bytes, seconds : float
        Beyond what is there already; of one core of the reference machine.
    """
    few = min(n_samples, _ALL_BELOW)
    seconds = _REPORT_TIME.of(n_samples, n_features) + _REPORT_TIME_OF_FEW.of(few)
    return _REPORT.of(n_samples) + _REPORT_OF_FEW.of(few), 1e-9 * seconds


def columns_take(name: str, n_samples: int, n_stored: float, n_columns: int, n_used: int) -> tuple[float, float]:
    """Return what a sparse table takes beside what a dense one of as many numbers does, to be explained or shown.

    Parameters
    ----------
    name : {"explanation", "evaluation", "page", "report"}
    n_samples : int
    n_stored : float
        Numbers stored for a row.
    n_columns, n_used : int
        All columns, and those that some row stores.

    Returns
    -------
    n_bytes, seconds : float
    """
    if name == "explanation":
        seconds = _STORED_TIME * n_samples * n_stored + (_COLUMN_TIME + _EMPTY_TIME * n_samples) * n_columns
        return _COLUMN * n_columns, 1e-9 * seconds
    if name in ("evaluation", "report"):
        return 0.0, 0.0
    looked_at = min(n_samples, max(_FEWEST_ALIKE, _MOST_ALIKE / max(n_columns, 1)))
    needed = _DEVIATION * looked_at * n_columns + _USED * n_used
    return needed, 1e-9 * (_PAGE_COLUMN_TIME * n_columns + _USED_TIME * n_used)


def sparse_columns(X: Any) -> tuple[int, int] | None:
    """Return how many columns a sparse matrix has, and how many some row stores; None of any other table."""
    if getattr(X, "nnz", None) is None:
        return None
    return int(X.shape[1]), int(np.unique(X.tocsr().indices).size)


def answer_takes(name: str, n_samples: int, n_features: float, columns: tuple[int, int] | None) -> tuple[float, float]:
    """Return what an answer to a map of a dense or a sparse table takes.

    Parameters
    ----------
    name : {"explanation", "evaluation", "page", "report"}
    n_samples : int
    n_features : float
        Numbers stored for a row.
    columns : (int, int) or None
        What `sparse_columns` returns of the table.

    Returns
    -------
    n_bytes, seconds : float
    """
    takes = {"evaluation": evaluation_takes, "explanation": explanation_takes, "page": page_takes}
    needed, seconds = takes.get(name, report_takes)(n_samples, n_features)
    more, longer = (0.0, 0.0) if columns is None else columns_take(name, n_samples, n_features, *columns)
    return needed + more, seconds + longer
