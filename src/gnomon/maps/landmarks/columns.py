"""Which columns of a table that is read in blocks are features of its map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message, warn
from gnomon.data.columns import MOST_CATEGORIES, ColumnRule, asked_columns, find_rules, raw_columns
from gnomon.data.dataset import listed
from gnomon.data.stored import StoredTable, columns_of, narrow
from gnomon.exceptions import DataWarning
from gnomon.maps.prepare import Reading

__all__ = ["features_in_blocks"]

Numbers = dict[str, npt.NDArray[Any]]

_FIRST = 32_768  # rows that are looked at together; a table of no more is judged as it is in memory
_SPREAD = 4_096  # rows among which columns that go together are looked for
_MOST = 2_000_000  # values of a column that are looked at
_FEWEST_COUNTED = 50  # rows over which a column that counts rises


def features_in_blocks(stored: StoredTable, reading: Reading) -> tuple[StoredTable, Reading, list[str]]:
    """Return a table with the columns that are features, how it is read, and what is told of those left out.

    Those are features that are asked for, or all that are not identifiers by the rules for tables in memory; columns of
    labels or a target are none.

    Parameters
    ----------
    stored : StoredTable
    reading : Reading

    Returns
    -------
    stored : StoredTable
        The columns that are left out are stored beside its features.
    reading : Reading
        Without `features` and `forget`, as nothing of what is left out is kept; `drop` are the columns that were.
    told : list of str

    Warns
    -----
    DataWarning
        Names identifiers that are left out.

    Raises
    ------
    ValueError
        If a column is asked for that is not there or holds no numbers, or none is left.
    """
    held, beside = columns_of(stored), stored.columns
    asked = asked_columns("features", reading.features, [*held, *beside])
    drop = [
        name
        for argument, names in (("drop", reading.drop), ("forget", reading.forget))
        for name in asked_columns(argument, names, [*held, *beside]) or ()
    ]
    for name in asked or ():
        if name not in held:
            rule, fact = "columns of numbers of a table that is read in blocks", f"{name!r} holds none"
            remedy = "Leave it out, or read the whole table with gnomon.read_table, which makes features of texts."
            raise ValueError(message("features", rule, fact=fact, remedy=remedy))
    gone = {*drop, *(name for name in (reading.column, reading.target) if isinstance(name, str))}
    chosen = [name for name in dict.fromkeys(held if asked is None else asked) if name not in gone]
    if not chosen:
        raise ValueError(message("drop", "such that a feature is left", fact=listed([*held])))
    left: list[ColumnRule] = []
    if asked is None and stored.has_columns:
        left = _identifiers(narrow(stored, chosen))
        named = {rule.name for rule in left}
        chosen = [name for name in chosen if name not in named]
    if not chosen:
        fact = "; ".join(rule.told() for rule in left[:5])
        remedy = "Pass features=[...] with those to use all the same."
        raise ValueError(message("X", "a table with a column that can become a feature", fact=fact, remedy=remedy))
    told = []
    if left:
        told = [
            f"{', '.join(rule.told() for rule in left)} left out. Pass features=[...] with these names, beside the "
            "others, to use them."
        ]
        warn(told[0], DataWarning)
    out = [name for name in (*held, *beside) if name not in chosen and (name in held or name in gone)]
    return narrow(stored, chosen), replace(reading, features=None, drop=out or None, forget=None), told


def _identifiers(table: StoredTable) -> list[ColumnRule]:
    """Return the rules of columns that are left out as identifiers.

    Of a table of more rows than are looked at together, columns that may be identifiers by the first rows are judged by
    all of theirs, beside the one that they go with most and one that does not count the rows.
    """
    names = [name for name, features in columns_of(table).items() if features == [name]]
    if not names or table.is_sparse:
        return []
    first = _columns(table, names, (table.read(0, _FIRST),))
    found = _rules(first)
    if table.n_samples <= _FIRST:
        return [rule for rule in found if not rule.features]
    rising = [name for name in names if bool((np.diff(first[name][:_FEWEST_COUNTED]) > 0).all())]
    doubtful = [*dict.fromkeys([*(rule.name for rule in found if rule.reason), *rising])]
    if not doubtful:
        return []
    spread = _columns(table, names, _every(table, _SPREAD))
    ranks = {name: scipy.stats.rankdata(values) for name, values in spread.items()}
    still = next((name for name in names if name not in doubtful), None)
    judged = []
    for name in doubtful:
        beside = dict.fromkeys([*_nearest(name, ranks), *([still] if still else [])])
        part = narrow(table, [name, *beside])
        rules = _rules(_columns(part, [name, *beside], _every(part, _MOST)))
        judged += [rule for rule in rules if rule.name == name and not rule.features]
    return sorted(judged, key=lambda rule: names.index(rule.name))


def _rules(columns: Numbers) -> list[ColumnRule]:
    return find_rules(raw_columns(columns), None, None, MOST_CATEGORIES, allow_none=True)


def _nearest(name: str, ranks: Numbers) -> list[str]:
    """Return the other column whose ranks go most with those of one; none if no other varies."""
    own = ranks[name] - ranks[name].mean()
    shares = {}
    for other, values in ranks.items():
        apart = values - values.mean()
        if other != name and apart.any():
            shares[other] = abs(float(own @ apart)) / float(np.sqrt(apart @ apart))
    return [max(shares, key=lambda other: shares[other])] if shares else []


def _every(table: StoredTable, most: int) -> Iterator[Any]:
    """Yield rows at equal steps, block by block, at most so many."""
    step = -(-table.n_samples // most)
    for block in table.blocks():
        yield table.read(block.start, block.stop)[-block.start % step :: step]


def _columns(table: StoredTable, names: Sequence[str], parts: Any) -> Numbers:
    """Return columns of the rows of some parts of a table."""
    places = [list(table.feature_names or columns_of(table)).index(name) for name in names]
    rows = np.concatenate([part[:, places] for part in parts])
    return {name: rows[:, j] for j, name in enumerate(names)}
