"""Which rows of several tables are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message, warn
from gnomon.data.arrays import is_missing
from gnomon.exceptions import DataWarning
from gnomon.linalg import connected_components

__all__ = ["appearances", "identities"]

Identities = list[npt.NDArray[np.int64]]
_FEW = 5  # ids named in an error


def identities(sizes: Sequence[int], relations: Any, ids: Any, indices: Sequence[Any]) -> Identities:
    """Return which row each row of each table is, rows that are the same having the same number.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each table.
    relations : see `AlignedMaps.fit`
    ids : sequence of array-like, one for each table, or None
    indices : sequence of array-like or None
        The index of each table, None of what has none.

    Returns
    -------
    list of ndarray of shape (n_rows,), int64
        Numbers from 0 without gaps over all tables, each at most once in a table.
    """
    if relations is not None and ids is not None:
        raise ValueError(message("relations and ids", "given one without the other"))
    if ids is not None:
        found = _by_id(sizes, ids, "ids")
    elif isinstance(relations, str):
        found = _by_number(sizes, relations)
    elif relations is not None:
        found = _by_pairs(sizes, relations)
    else:
        found = _by_index(sizes, indices)
    _tell_of_islands(found)
    return found


def _by_number(sizes: Sequence[int], relations: str) -> Identities:
    if relations != "rows":
        rule = "'rows', or one dict or array of pairs for each two consecutive tables"
        raise ValueError(message(f"relations={relations!r:.40}", rule))
    if len(set(sizes)) > 1:
        shown = ", ".join(map(str, sizes))
        raise ValueError(message("relations='rows'", "of tables of one length", fact=f"they have {shown} rows"))
    return [np.arange(n) for n in sizes]


def _by_index(sizes: Sequence[int], indices: Sequence[Any]) -> Identities:
    counted = [type(index).__name__ == "RangeIndex" for index in indices]
    parts = any(one.start != 0 or one.step != 1 for one, counts in zip(indices, counted, strict=True) if counts)
    known = [one is not None and (parts or not counts) for one, counts in zip(indices, counted, strict=True)]
    if not all(known):
        which = known.index(False)
        fact = f"table {which} has no index that names its rows"
        remedy = "Pass relations='rows' if row i of each table is the same."
        raise ValueError(message("relations or ids", "given", fact=fact, remedy=remedy))
    names = [np.asarray(index) for index in indices]
    found = _by_id(sizes, names, "the index")
    _tell_of_counts(names, found)
    return found


def _tell_of_counts(names: Sequence[npt.NDArray[Any]], found: Identities) -> None:
    """Warn of rows that are tied by whole numbers: counts of unrelated tables, of which rows were left out, agree."""
    if not all(_are_whole_numbers(own) for own in names):
        return
    n_tied = int((np.bincount(np.concatenate(found)) > 1).sum())
    if n_tied:
        rows = "1 row of different tables is" if n_tied == 1 else f"{n_tied:,} rows of different tables are"
        warn(
            f"{rows} taken for the same because the indices hold the same whole numbers, as those of unrelated tables "
            "do where each is counted by itself. Pass as ids the indices if they name the rows, or else names that "
            "differ between tables.",
            DataWarning,
        )


def _are_whole_numbers(names: npt.NDArray[Any]) -> bool:
    """Say whether all names are whole numbers, or texts of digits alone."""
    if names.dtype.kind in "iu":
        return True
    return all(isinstance(name, int | np.integer | str) and str(name).isdecimal() for name in names.tolist())


def _by_id(sizes: Sequence[int], ids: Any, name: str) -> Identities:
    if isinstance(ids, str | Mapping) or len(ids) != len(sizes):
        what = type(ids).__name__ if isinstance(ids, str | Mapping) else f"{name} of {len(ids)} tables"
        raise ValueError(message(what, f"a list with the ids of the rows of each of {len(sizes)} tables"))
    numbers: dict[Any, int] = {}
    found_all = []
    for t, (own, n) in enumerate(zip(ids, sizes, strict=True)):
        values = np.asarray(own, dtype=object).ravel().tolist()
        if len(values) != n:
            raise ValueError(message(f"{name} of table {t} of length {len(values)}", f"one for each of {n:,} rows"))
        found = np.fromiter((_number(value, numbers) for value in values), dtype=np.int64, count=n)
        _refuse_twins(found, t, lambda row, values=values: f"{name} {values[row]!r}")
        found_all.append(found)
    return found_all


def _number(value: Any, numbers: dict[Any, int]) -> int:
    """Return the number of an id; a missing one is a row of its own."""
    if is_missing(value):
        value = object()
    try:
        return numbers.setdefault(value, len(numbers))
    except TypeError:
        raise TypeError(message(f"ids with {value!r:.40}", "values such as text or whole numbers")) from None


def _refuse_twins(found: npt.NDArray[np.int64], table: int, describe: Any) -> None:
    _, first, count = np.unique(found, return_index=True, return_counts=True)
    twice = first[count > 1]
    if twice.size:
        shown = ", ".join(describe(int(row)) for row in twice[:_FEW])
        fact = f"{twice.size} occur more than once, such as {shown}"
        raise ValueError(message(f"the rows of table {table}", "of different ids or relations", fact=fact))


def _by_pairs(sizes: Sequence[int], relations: Any) -> Identities:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    firsts, seconds = [], []
    for (s, t), given in _named(relations, len(sizes)):
        pairs = _pairs(given, sizes[s], (s, t))
        for side, table in ((0, s), (1, t)):
            wrong = np.flatnonzero((pairs[:, side] < 0) | (pairs[:, side] >= sizes[table]))
            if wrong.size:
                fact = f"found {pairs[wrong[0], side]}"
                rule = f"numbers of rows of table {table}, from 0 to {sizes[table] - 1}"
                raise ValueError(message(f"the relation of tables {s} and {t}", rule, fact=fact))
        firsts.append(pairs[:, 0] + offsets[s])
        seconds.append(pairs[:, 1] + offsets[t])
    i, j, n = np.concatenate(firsts), np.concatenate(seconds), int(offsets[-1])
    links = scipy.sparse.csr_array((np.ones(len(i), dtype=np.float32), (i, j)), shape=(n, n))
    labels = connected_components(scipy.sparse.csr_array(links + links.T)).astype(np.int64)
    found = np.split(labels, offsets[1:-1])
    for t, own in enumerate(found):
        _refuse_twins(own, t, lambda row: f"row {row}")
    return found


def _named(relations: Any, n_tables: int) -> list[tuple[tuple[int, int], Any]]:
    """Return the two tables of each relation, and the relation."""
    if isinstance(relations, Mapping):
        for key in relations:
            fits = isinstance(key, tuple) and len(key) == 2 and all(isinstance(one, int | np.integer) for one in key)
            if not fits or not all(0 <= one < n_tables for one in key) or key[0] == key[1]:
                rule = f"a dict whose keys are two numbers of tables, from 0 to {n_tables - 1}"
                raise ValueError(message(f"relations with the key {key!r:.40}", rule))
        return list(relations.items())
    if not isinstance(relations, Sequence) or len(relations) != n_tables - 1:
        count = f" of length {len(relations)}" if isinstance(relations, Sequence) else ""
        rule = f"{n_tables - 1} of them, one for each two consecutive tables"
        raise ValueError(message(f"relations, a {type(relations).__name__}{count},", rule))
    return [((t, t + 1), given) for t, given in enumerate(relations)]


def _pairs(given: Any, n: int, tables: tuple[int, int]) -> npt.NDArray[np.int64]:
    """Return pairs of rows, (n_pairs, 2)."""
    name = f"the relation of tables {tables[0]} and {tables[1]}"
    rule = f"a dict of row numbers, pairs of shape (n_pairs, 2), or {n} row numbers with -1 for none"
    values = np.array(list(given.items()) if isinstance(given, Mapping) else given)
    if values.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if values.dtype.kind not in "iu":
        raise TypeError(message(name, rule, fact=f"found {values.dtype}"))
    if values.ndim == 2 and values.shape[1] == 2:
        return values.astype(np.int64)
    if values.shape != (n,):
        raise ValueError(message(name, rule, fact=f"found shape {values.shape}"))
    rows = np.flatnonzero(values >= 0)
    return np.stack([rows, values[rows]], axis=1).astype(np.int64)


def _tell_of_islands(found: Identities) -> None:
    """Warn of tables that share no row with the others, directly or through further ones."""
    tables = np.repeat(np.arange(len(found)), [len(own) for own in found])
    occurs = scipy.sparse.csr_array((np.ones(len(tables), dtype=np.float32), (tables, np.concatenate(found))))
    groups = connected_components(scipy.sparse.csr_array(occurs @ occurs.T))
    if groups.max() > 0:
        names = "; ".join(", ".join(map(str, np.flatnonzero(groups == g))) for g in range(int(groups.max()) + 1))
        warn(
            f"tables fall into groups that share no row: {names}. Maps of different groups are not aligned.",
            DataWarning,
        )


def appearances(found: Identities, window: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return pairs of the same row in two tables, at most `window` of its appearances apart.

    Parameters
    ----------
    found : list of ndarray of shape (n_rows,)
        Of `identities`.
    window : int >= 1
        1 pairs each appearance of a row with the next.

    Returns
    -------
    first, second : ndarray of shape (n_pairs,)
        Numbers of rows over all tables, one table after another.
    """
    who = np.concatenate(found)
    order = np.argsort(who, kind="stable")  # appearances of a row follow each other, in the order of the tables
    firsts, seconds = [], []
    for lag in range(1, min(window, len(found) - 1) + 1):
        same = np.flatnonzero(who[order[:-lag]] == who[order[lag:]])
        firsts.append(order[same])
        seconds.append(order[same + lag])
    return np.concatenate(firsts), np.concatenate(seconds)
