"""Functions of rows, such as `transform`, of a table that is read in blocks."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon._memory import require_memory
from gnomon._run import running
from gnomon._validation import message, pass_on
from gnomon.data import Table
from gnomon.data.cells import is_cells
from gnomon.scale.executor import current_executor

if TYPE_CHECKING:
    from gnomon.data.stored import RowBlock, StoredTable

__all__ = ["answers_of_blocks", "by_blocks", "require_answers", "several_blocks", "stored_of"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

Warned = list[tuple[str, type[Warning]]]

_NUMBER = re.compile(r"[\d,.]+")


def stored_of(X: Any) -> StoredTable | None:
    """Return a table that is read in blocks; None for one that is in memory, or a memory map of one block."""
    if type(X) is np.ndarray:
        return None
    from gnomon.data.stored import as_stored  # loaded for what may be one

    table = as_stored(X)
    return None if table is None or (isinstance(X, np.ndarray) and len(table.blocks()) == 1) else table


def several_blocks(X: Any) -> StoredTable | None:
    """Return a stored table that a fit reads in blocks; None for others, of two blocks at most or in memory."""
    table = stored_of(X)
    return table if table is not None and len(table.blocks()) > 2 else None


def by_blocks(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a method whose one argument are rows, each answered by itself, take a stored table too.

    The answers of its blocks are found by who works in the run, and returned as one array in memory.

    Parameters
    ----------
    method : callable
        Of an object that can be sent to other processes; takes rows to an array with an entry for each.

    Returns
    -------
    callable
        The decorator's result.
    """

    @functools.wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        given = [*args, *kwargs.values()]
        of_part = len(given) == 2 and getattr(given[0], "_reads_part", False) and is_cells(given[1])
        table = stored_of(given[1]) if len(given) == 2 and not of_part else None
        if table is None or (table is not given[1] and getattr(given[0], "_allows_missing", False)):
            return method(*args, **kwargs)
        if table is given[1] and hasattr(given[0], "_check_part"):
            given[0]._check_part(table.part)
        if hasattr(given[0], "_of_features"):
            table = given[0]._of_features(table)
        return _answers(given[0], method.__name__, table)  # type: ignore[return-value]

    return call


def answers_of_blocks(owner: Any, name: str, table: StoredTable) -> Iterator[npt.NDArray[Any]]:
    """Yield what a method of an object answers of the blocks of a stored table, in their order.

    Warnings of all blocks are given once, at the end.

    Parameters
    ----------
    owner : object
        Sent to the workers once; what it makes on first use is made before.
    name : str
        Of the method, which takes rows.
    table : StoredTable

    Yields
    ------
    ndarray of shape (rows of the block, ...)
    """
    workers = current_executor()
    heard: list[tuple[RowBlock, str, type[Warning]]] = []
    shared = workers.broadcast(table), workers.broadcast(owner)
    for block, (answer, warnings) in zip(
        table.blocks(), workers.map(partial(_answer, name), table.blocks(), *shared), strict=True
    ):
        heard += [(block, *one) for one in warnings]
        yield answer
    _tell(heard)


def require_answers(table: StoredTable, shape: tuple[int, ...], itemsize: int) -> None:
    """Raise MemoryError if answers of such a shape for each row of a table do not fit in memory."""
    needed = float(table.n_samples) * float(np.prod(shape)) * itemsize
    fact = f"answers of {' x '.join(f'{size}' for size in (table.n_samples, *shape))} numbers"
    remedy = "Fit first, then transform some rows at a time and write each part to a folder."
    require_memory(f"{table.name} of {table.n_samples:,} rows", needed, fact=fact, remedy=remedy)


def _answers(owner: Any, name: str, table: StoredTable) -> npt.NDArray[Any]:
    """Return the answers of all rows."""
    if table.is_sparse and getattr(owner, "_takes_distances", False):
        fact = "zeros that are stored, distances of 0, are not kept"
        raise ValueError(message("distances in blocks", "dense", fact=fact))
    with running(warned=[]):  # of a row that will be asked again
        first = np.asarray(getattr(owner, name)(_rows(table, 0, min(1, table.n_samples))))
    if table.n_samples < 2:
        return first
    require_answers(table, first.shape[1:], first.dtype.itemsize)
    answers = np.empty((table.n_samples, *first.shape[1:]), dtype=first.dtype)
    start = 0
    for part in answers_of_blocks(owner, name, table):
        answers[start : start + len(part)] = part
        start += len(part)
    return answers


def _rows(table: StoredTable, start: int, stop: int) -> Table:
    return Table(table.read(start, stop), table.feature_names, plain=True)


def _answer(name: str, block: RowBlock, table: StoredTable, owner: Any) -> tuple[npt.NDArray[Any], Warned]:
    warned: Warned = []
    with running(warned=warned):
        return np.asarray(getattr(owner, name)(_rows(table, block.start, block.stop))), warned


def _tell(heard: list[tuple[RowBlock, str, type[Warning]]]) -> None:
    """Warn once of what blocks warned of, if only numbers differ."""
    alike: dict[tuple[str, type[Warning]], list[tuple[RowBlock, str]]] = {}
    for block, text, category in heard:
        alike.setdefault((_NUMBER.sub("", text), category), []).append((block, text))
    for (_, category), ((block, text), *others) in alike.items():
        where = f" These are rows {block.start:,} to {block.stop - 1:,}; {len(others)} other blocks warn alike."
        pass_on(f"{text}{where if others else ''}", category)
