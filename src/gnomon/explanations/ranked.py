"""Answers that rank rows by a score that all rows have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.explanations.answer import Column, format_table

__all__ = ["RankedRows", "names_of_rows"]


def names_of_rows(point_names: Any, rows: npt.NDArray[np.int64]) -> list[str] | None:
    """Return the names of some rows as text, None if rows have none."""
    return None if point_names is None else [str(point_names[row]) for row in rows.tolist()]


@dataclass(frozen=True, kw_only=True)
class RankedRows(ABC, Printed):
    """Rows by a score, highest first.

    Attributes
    ----------
    rows : ndarray of shape (n_listed,), int64
        Row numbers.
    names : list of str or None
        Their names, if the points of the map have names.
    score : ndarray of shape (n_listed,), float64
        Their scores, descending; of equal ones the lower row number comes first.
    scores : ndarray of shape (n_samples,), float64
        The score of every row; NaN where it has none.
    n_neighbors : int
        Neighbours in the data that were looked at.
    caution : str, default=""
        What the answer leaves out, such as weights of rows that made the map, and what the order of the rows says
        against it; empty if nothing.
    """

    _question: ClassVar[str] = ""
    _columns: ClassVar[tuple[Column, ...]] = ()  # of the printed table, after row and name
    _per_row: ClassVar[tuple[str, ...]] = ()  # fields with one entry for each row listed, after the score

    rows: npt.NDArray[np.int64]
    names: list[str] | None
    score: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    n_neighbors: int
    caution: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def head(self, n_top: int) -> Self:
        """Return the first `n_top` rows; `scores` stay those of all rows."""
        listed = {name: getattr(self, name)[:n_top] for name in ("rows", "score", *self._per_row)}
        return replace(self, names=None if self.names is None else self.names[:n_top], **listed)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it."""
        names = {} if self.names is None else {"name": list(self.names)}
        listed = {name: np.asarray(getattr(self, name)).tolist() for name in ("score", *self._per_row)}
        return {"row": self.rows.tolist(), **names, **listed}

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values, one record for each row listed."""
        columns = self.columns()
        records = [dict(zip(columns, entry, strict=True)) for entry in zip(*columns.values(), strict=True)]
        told = {"caution": self.caution} if self.caution else {}
        return {"question": self._question, "n_neighbors": self.n_neighbors, "rows": records, **told}

    @abstractmethod
    def headline(self) -> str:
        """Return the line above the printed table."""

    def __str__(self) -> str:
        above = "\n".join([self.headline(), *filter(None, [self.caution])])
        if not len(self):
            return above
        named = [] if self.names is None else [("name", self.names)]
        printed = [*named, *((column.header, column.cells(self)) for column in self._columns)]
        lines = list(zip(map(str, self.rows.tolist()), *(cells for _, cells in printed), strict=True))
        return f"{above}\n{format_table(['row', *(header for header, _ in printed)], lines)}"
