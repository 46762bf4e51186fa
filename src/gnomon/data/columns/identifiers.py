"""Columns that name rows or count them, and tell nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from gnomon.data.arrays import FloatArray

__all__ = ["id_reason", "named_as_id"]

Ints = npt.NDArray[np.int64]

_ID_NAME = re.compile(
    r"(?i:(^|[\s_\-.])(id|ids|uuid|guid|zip|zip_?code|post_?code|postal_?code|plz)($|[\s_\-.]))|[a-z](Id|ID)$"
)
_ROW_NAME = re.compile(r"(?i:(^|[\s_\-.])(idx|index|key|row|serial)($|[\s_\-.]))|[a-z](Idx|Index|Key)$")
_ID_ROWS = 50  # fewer rows do not show that a column of different integers goes with no other
_STEP_ERROR = 0.02  # of a step, where times are written with few decimals
_ID_CORRELATION = 4.0  # standard errors of a rank correlation


def named_as_id(name: str, different: bool) -> bool:
    """Return whether a name says that it is of an identifier; a refractive index is one only if all values differ."""
    return bool(_ID_NAME.search(name) or (different and _ROW_NAME.search(name)))


def id_reason(name: str, numbers: Mapping[str, FloatArray], others: list[str], ranks: Callable[[str], Ints]) -> str:
    """Say why a column of numbers is an identifier; empty if it is none.

    A column that counts is none where all others count too: a grid was measured. Missing values say nothing: the others
    decide, where at least half are there to count the rows. `ranks` gives those of a column by its name; they are asked
    for only if need be.
    """
    values = numbers[name]
    places = np.flatnonzero(np.isfinite(values))
    known, n = values[places], len(values)
    if not len(known):
        return ""
    stretches = _counted_stretches(values)
    if stretches == 1 and not all(_rises_by_equal_steps(numbers[other]) for other in others):
        return "it counts the rows"
    if stretches > 1 and not all(_is_of_grid(numbers[other], n // stretches) for other in others):
        return f"it counts the rows of each of {stretches:,} equal stretches"
    if not (known == np.floor(known)).all():
        return ""
    different = len(np.unique(known)) == len(known)
    if len(known) > 1 and 2 * len(known) >= n and bool((np.diff(known) == np.diff(places)).all()):
        return "it counts the rows"
    if named_as_id(name, different):
        return "an identifier by its name"
    if not different or len(known) < _ID_ROWS:
        return ""
    shared = {other: np.isfinite(values) & np.isfinite(numbers[other]) for other in others}
    enough = {other: rows for other, rows in shared.items() if np.count_nonzero(rows) >= _ID_ROWS}
    if (others and not enough) or any(_go_together(ranks(name), ranks(other), rows) for other, rows in enough.items()):
        return ""
    return "whole numbers that all differ and go with no other column"


def _go_together(own: Ints, ranks: Ints, rows: npt.NDArray[np.bool_]) -> bool:
    """Return whether the ranks of two columns are correlated beyond chance over some rows."""
    correlation = float(np.corrcoef(own[rows], ranks[rows])[0, 1])
    return bool(abs(correlation) > _ID_CORRELATION / np.sqrt(np.count_nonzero(rows)))


def _counted_stretches(values: FloatArray) -> int:
    """Return in how many equal stretches of the rows values rise by the same equal steps, as times of replicas do.

    1 where they rise over all rows, 0 where they do not rise so or the stretches are short: hours and months come again
    and again too, and mean something. Where a value is missing they must rise over all rows.
    """
    if not np.isfinite(values).all():
        return int(len(values) >= _ID_ROWS and _rises_by_equal_steps(values))
    falls = values[1:] < values[:-1]
    length = 1 + int(falls.argmax()) if falls.any() else len(values)
    if length < _ID_ROWS or len(values) % length or not _rises_by_equal_steps(values[:length]):
        return 0
    stretches = values.reshape(-1, length).astype(np.float64) / 2.0
    first = stretches[0]
    rounding = 4.0 * float(np.finfo(values.dtype).eps) * float(np.abs(first).max())
    allowed = max(_STEP_ERROR * float(first[1] - first[0]), rounding)
    return len(stretches) if bool((np.abs(stretches - first) <= allowed).all()) else 0


def _is_of_grid(values: FloatArray, length: int) -> bool:
    """Return whether values count the rows, or stretches of so many rows, as the coordinates of a grid do."""
    stretches = values.reshape(-1, length)
    if bool((stretches == stretches[:, :1]).all()) and (len(stretches) == 2 or _rises_by_equal_steps(stretches[:, 0])):
        return True
    return _counted_stretches(values) > 0


def _rises_by_equal_steps(values: FloatArray) -> bool:
    """Return whether each value lies above the one before by one step, up to a fiftieth of it and to rounding.

    Up to half of the values may be missing.
    """
    places = np.flatnonzero(np.isfinite(values))
    if len(places) < 2 or 2 * len(places) < len(values):
        return False
    known = values[places].astype(np.float64) / 2.0  # differences of halves are in range
    step = (known[-1] - known[0]) / (places[-1] - places[0])
    rounding = 4.0 * float(np.finfo(values.dtype).eps) * float(np.abs(known[[0, -1]]).max())
    allowed = max(_STEP_ERROR * step, rounding)
    if not 4.0 * allowed < step:
        return False
    return bool(np.abs(known - (known[0] + step * (places - places[0]))).max() <= allowed)
