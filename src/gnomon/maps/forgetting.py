"""Columns that a map does not keep: those that are forgotten when it is made, and those left out of what is written."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._validation import message, warn
from gnomon.data import Dataset
from gnomon.data.columns import NOT_ASKED, asked_columns, personal_columns
from gnomon.data.dataset import TEXT_NOTE, listed, require_name
from gnomon.exceptions import DataWarning
from gnomon.maps.blocks import column_names
from gnomon.maps.votes import told_of_votes

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = [
    "PERSONAL",
    "check_forgotten",
    "forget",
    "retold",
    "shared",
    "warn_of_personal",
    "warn_of_personal_names",
    "with_metadata",
    "without_metadata",
]

PERSONAL = "columns that seem to tell who people are stay with the map as metadata"
"""How it is warned of such columns."""

_ANSWERS = (  # that speak of the table and of labels alone
    "graph",
    "_explanation",
    "_evaluation",
    "_dimension",
    "_groups",
    "_points",
    "_bare_clusters",
    "_parted",
    "_gaps",
    "_illusions",
    "_order",
    "_join",
    "_found",
    "_beside",
)
_KEPT = ("columns left out and kept as metadata", PERSONAL, TEXT_NOTE)  # what notes say that name metadata


def check_forgotten(data: Dataset, names: Sequence[Any] | None, **serving: Any) -> list[str]:
    """Return the columns and metadata that are to be forgotten, by their names.

    Parameters
    ----------
    data : Dataset
        With its columns as they came.
    names : sequence of str or None
    **serving : object
        Arguments that may name a column too, or be mappings by such names; it is needed then.
    """
    if names is None:
        return []
    others = [name for name in data.metadata if name not in (data.text_columns or ())]
    own = [] if data.label_name is None or data.labels is None else [data.label_name]
    found = asked_columns("forget", names, dict.fromkeys([*column_names(data), *others, *own])) or []
    for argument, named in serving.items():
        where, needed = ("is in", [*named]) if isinstance(named, Mapping) else ("is", [named])
        for name in needed:
            if isinstance(name, str) and name in found:
                rule = f"left out of forget where it {where} {argument}"
                raise ValueError(message(f"column {name!r:.60}", rule, remedy="Leave it out of one of them."))
    return found


def forget(data: Dataset, names: Collection[str]) -> Dataset:
    """Return a data set, whose columns are features, without some metadata and labels, of which no note tells."""
    if not names:
        return data
    metadata = {name: column for name, column in data.metadata.items() if name not in names}
    own = data.label_name in names
    return replace(
        data,
        metadata=metadata,
        integers={name: column for name, column in data.integers.items() if name not in names},
        labels=None if own else data.labels,
        label_name=None if own else data.label_name,
        notes=retold(data.notes, names),
    )


def warn_of_personal(data: Dataset, stated: Collection[str]) -> None:
    """Name metadata that nobody stated and that seem to tell who people are: they will be in pages and files."""
    used = {rule.name for rule in data.columns or () if rule.features}
    kept = {name: np.asarray(column) for name, column in data.metadata.items() if name not in used}
    beside = dict.fromkeys([*data.metadata, *(() if data.feature_names is None else data.feature_names)])
    names = [name for name in personal_columns(kept, beside) if name not in stated]
    if names:
        warn(
            f"{PERSONAL}, and are in every page and file of it: {listed(names)}. Pass forget={names!r} to leave them "
            "out of all; metadata=False leaves all metadata out of what is written.",
            DataWarning,
        )


def warn_of_personal_names(data: Dataset, called: str) -> None:
    """Warn if names of rows that nobody stated, of an index or a file, seem to tell who people are."""
    if data.point_names is None:
        return
    beside = [called, *data.metadata, *(() if data.feature_names is None else data.feature_names)]
    if personal_columns({called: np.asarray(data.point_names, dtype=object)}, beside):
        warn(
            f"the names of the rows{f' ({called!r})' * bool(called)} seem to tell who people are, and are in every "
            "page and file of the map. Pass X.reset_index(drop=True) of a data frame to have none; metadata=False "
            "leaves them out of what is written.",
            DataWarning,
        )


def without_metadata(result: Map, columns: Sequence[str] | None) -> Map:
    """Return a map without some metadata, or without all and names of rows. See `Map.without_metadata`."""
    if isinstance(columns, str):
        raise TypeError(message(f"columns={columns!r:.60}", "a sequence of names", remedy=f"Pass [{columns!r:.60}]."))
    for name in columns or ():
        _require_metadata(result, name, "columns")
    gone = {*(result.metadata if columns is None else columns)}
    made = copy.copy(result)
    made.metadata = {name: column for name, column in result.metadata.items() if name not in gone}
    if columns is None:
        made.point_names = None
    if result.columns is not None:  # what is told of texts that were left out may quote them
        made.columns = [
            replace(rule, reason=NOT_ASKED) if rule.name in gone and not rule.features else rule
            for rule in result.columns
        ]
    made.parameters, made.timings = dict(result.parameters), dict(result.timings)
    made.notes = retold(result.notes, gone)
    if gone:
        of_them = "columns of metadata that the map was made with are" if len(gone) > 1 else "column of metadata is"
        made.notes.append(f"{len(gone)} {of_them} not in this copy of the map")
    made._forget_metadata()
    if (result.point_names is None or made.point_names is not None) and not told_of_votes(result):
        made._doubted = result._doubted
    if result._clusters is not None and result._bare_clusters is not None:
        known = result._clusters
        made._clusters = made._with_columns_told(result._bare_clusters) if known.told else known
    made._bare_profiles = dict(result._bare_profiles)
    return made


@contextmanager
def shared(result: Map, metadata: bool | Sequence[str]) -> Iterator[Map]:
    """Give what of a map is written: all of it, or the metadata that are named, or none and no names of rows.

    What was answered meanwhile the map knows from then on, but what may speak of metadata.

    Parameters
    ----------
    result : Map
    metadata : bool or sequence of str
    """
    if metadata is True:
        yield result
        return
    made = with_metadata(result, metadata)
    yield made
    for name in _ANSWERS:
        if getattr(result, name) is None:
            setattr(result, name, getattr(made, name))
    result._bare_profiles = {**made._bare_profiles, **result._bare_profiles}


def with_metadata(result: Map, metadata: bool | Sequence[str]) -> Map:
    """Return a map with all its metadata, or with those that are named, or with none, and then without names of rows.

    Parameters
    ----------
    result : Map
    metadata : bool or sequence of str
    """
    if metadata is True:
        return result
    if isinstance(metadata, str):
        rule, remedy = "True, False or a sequence of names", f"Pass metadata=[{metadata!r:.60}]."
        raise TypeError(message(f"metadata={metadata!r:.60}", rule, remedy=remedy))
    kept = [] if metadata is False else list(metadata)
    for name in kept:
        _require_metadata(result, name, "metadata")
    made = without_metadata(result, [name for name in result.metadata if name not in kept])
    made.point_names = made._doubted = None  # a list of doubted labels names its rows
    return made


def _require_metadata(result: Map, name: str, what: str) -> None:
    """Raise ValueError unless a map has metadata of this name; of features and labels the text says how they go."""
    if name not in result.metadata and (name in result.feature_names or name == result.label_name):
        kind = "a feature" if name in result.feature_names else "the labels"
        fact, remedy = f"it is {kind}, of which the map was made", f"Make the map anew with forget=[{name!r:.60}]."
        raise ValueError(message(f"{what}={name!r:.60}", "the name of metadata", fact=fact, remedy=remedy))
    require_name(name, list(result.metadata), what=what, where="in the metadata of the map")


def retold(notes: Sequence[str], gone: Collection[str]) -> list[str]:
    """Return notes without those that say that columns are kept, and may quote them, if one of them is gone."""
    texts = [repr(name) for name in gone]
    return [note for note in notes if not (any(said in note for said in _KEPT) and any(text in note for text in texts))]
