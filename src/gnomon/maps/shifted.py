"""Positions made elsewhere that fit the rows of the data better some rows further on, as where one row was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.linalg.table import evenly_spaced

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["shift_of_rows", "told_of_shift"]

_FURTHEST = 3  # rows
_FEWEST, _ASKED = 30, 500  # rows
_N_NEIGHBORS = 15
_BETTER = 1.5  # times as many neighbours in common
_ERRORS = 5.0  # standard errors of the difference


def shift_of_rows(nearest: npt.NDArray[np.integer[Any]], places: npt.NDArray[np.floating]) -> int | None:
    """Return by how many rows positions fit the data better than as they stand; None if they do so by none.

    Of at most 500 rows the neighbours on the map are looked for, and it is counted how many of them are neighbours in
    the data of the row that stands so many further on. Rows that follow each other may be alike: at no shift have
    right positions more in common with the data than as they stand.

    Parameters
    ----------
    nearest : ndarray of shape (n_samples, n_neighbors), int
        Neighbours in the data, the nearest first; the first 15 count.
    places : ndarray of shape (n_samples, n_components)

    Returns
    -------
    int or None
        From -3 to 3: the position in row i is that of row i + shift.
    """
    n = len(places)
    if n < _FEWEST or not np.isfinite(places).all():
        return None
    nearest = nearest[:, : min(_N_NEIGHBORS, n // 4)]
    rows = _FURTHEST + evenly_spaced(n - 2 * _FURTHEST, _ASKED)
    squares = np.zeros((len(rows), n))
    for column in places.astype(np.float64).T:
        squares += np.square(column[rows, None] - column)
    squares[np.arange(len(rows)), rows] = np.inf
    on_map = np.argsort(squares, axis=1, kind="stable")[:, : nearest.shape[1]]
    common = {}
    for shift in range(-_FURTHEST, _FURTHEST + 1):
        both = on_map[:, :, None] + shift == nearest[rows + shift][:, None, :]
        common[shift] = both.any(axis=2).mean(axis=1)
    best = max(common, key=lambda shift: float(common[shift].mean()))
    more = common[best] - common[0]
    error = float(more.std()) / np.sqrt(len(rows))
    is_better = more.mean() > _ERRORS * error and common[best].mean() > _BETTER * common[0].mean()
    return best if best and is_better else None


def told_of_shift(result: Map) -> str:
    """Say by how many rows given positions fit the data better than as they stand; empty if they do not."""
    graph = result.neighbors() if result._estimator is None and result.surface is None else None
    shift = None if graph is None else shift_of_rows(graph.indices, result.embedding)
    if shift is None:
        return ""
    rows = f"{abs(shift)} row{'' if abs(shift) == 1 else 's'} {'later' if shift > 0 else 'earlier'}"
    return (
        f"The positions fit the data better {rows} than as they stand: each seems to be that of the row {rows}. See "
        "whether a row was lost or a heading read as one, and give positions in the order of the rows."
    )
