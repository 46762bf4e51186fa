"""Positions of all rows: those of landmarks as they were fitted, of every other row by the map of the landmarks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon._run import current_run, running
from gnomon.data.stored import RowBlock, StoredTable
from gnomon.exceptions import DataWarning
from gnomon.extension import hearing_far
from gnomon.maps.result import Map
from gnomon.scale import Journal, current_executor

__all__ = ["STAGE", "place_all", "way_of"]

STAGE = "positions"
_TOGETHER = 16_384  # rows placed at a time: an interrupt waits for no more
_COPIES, _ROW = 2.5, 1500.0  # of rows on their way through the map, and bytes of each: candidates, neighbours, weights

Rows = npt.NDArray[np.int64]


def way_of(fitted: Map) -> str:
    """Return how a map places rows, in words that follow "placed"."""
    if fitted._way_to_place is None:
        return "by the smooth atlas of the landmarks"
    if fitted.extension_kind == "method" or not hasattr(fitted._estimator, "place"):
        return "by the formula of the method"
    return "where their own part of the loss is least"


def place_all(
    table: StoredTable, rows: Rows, fitted: Map, journal: Journal, reporter: Reporter
) -> tuple[npt.NDArray[Any], Rows]:
    """Return the positions of all rows of a table, and which of them lie out of range of the landmarks.

    Parameters
    ----------
    table : StoredTable of shape (n_samples, n_features)
    rows : ndarray of shape (n_landmarks,), int64
        Of the landmarks, ascending.
    fitted : Map
        Of the landmarks, in this order.
    journal : Journal
        Where blocks are kept.
    reporter : Reporter
        Told about the rows done: some thousand at a time by a task of this process, else block by block. A wish to end
        is heard at the end of a block.

    Returns
    -------
    places : ndarray of shape (n_samples, n_components), float32
        NaN for rows whose blocks were not reached because the callback ended the stage.
    far : ndarray of int64
        Numbers of the placed rows that lie out of range, ascending; none of a method that looks for no neighbours.
    """
    n, found = table.n_samples, fitted.embedding
    reporter.begin(STAGE, n)
    if len(rows) == n:
        reporter.update(n, n)
        reporter.end()
        return found, np.empty(0, dtype=np.int64)
    places, far = np.full((n, found.shape[1]), np.nan, dtype=np.float32), [np.empty(0, dtype=np.int64)]
    places[rows] = found
    workers, blocks = current_executor(), table.blocks()
    shared = workers.broadcast(table), workers.broadcast(rows), workers.broadcast(fitted)
    with running(reporter=reporter):  # blocks are placed here as they are asked for, unless others work
        placed = journal.blocks(STAGE, workers, _place_block, blocks, *shared, needed=_needed(table, fitted))
        for block, arrays in zip(blocks, placed, strict=False):  # what is left when the stage is ended is not asked for
            places[block.start : block.stop] = arrays["places"]
            far.append(arrays["far"])
            reporter.update(block.stop, n)
            if reporter.is_asked_to_end:
                break
    reporter.end()
    return places, np.concatenate(far)


def _needed(table: StoredTable, fitted: Map) -> float:
    """Return the bytes that a task takes: a block, what is made ready at the first row, or rows on their way."""
    placement = getattr(fitted._estimator, "placement_", None)
    row = _COPIES * float(table.n_features) * np.dtype(table.dtype).itemsize
    ready = float(getattr(placement, "ready_bytes", row * fitted.n_samples))
    together = min(_TOGETHER, max(len(block) for block in table.blocks()))
    return table.reading_bytes + max(ready, together * (row + _ROW))


def _place_block(block: RowBlock, table: StoredTable, rows: Rows, fitted: Map) -> dict[str, npt.NDArray[Any]]:
    values = table.read(block.start, block.stop)
    first, last = np.searchsorted(rows, [block.start, block.stop]).tolist()
    places = np.empty((len(block), fitted.embedding.shape[1]), dtype=np.float32)
    landmarks = rows[first:last] - block.start
    places[landmarks] = fitted.embedding[first:last]
    others = np.setdiff1d(np.arange(len(block)), landmarks, assume_unique=True)
    place = fitted.transform if fitted._way_to_place is None else fitted.place
    reporter, far = current_run().reporter, np.zeros(len(block), dtype=np.bool_)
    with warnings.catch_warnings(), running(reporter=Reporter()):  # what places rows has stages of its own
        warnings.simplefilter("ignore", DataWarning)  # of the map; rows out of range are told of all blocks together
        if block.start == 0 and len(others):  # all that the map makes ready is made for its first row
            place(values[others[:1]])
            reporter.expect(0)
        for start in range(0, len(others), _TOGETHER):
            some = others[start : start + _TOGETHER]
            with hearing_far() as heard:
                places[some] = place(values[some])
            if heard:
                far[some] = np.concatenate(heard)
            if start + _TOGETHER < len(others):
                reporter.update(block.start + int(some[-1]) + 1, table.n_samples)
    return {"places": places, "far": block.start + np.flatnonzero(far)}
