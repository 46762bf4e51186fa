"""What a command reads: data from a file, by name or from standard input, columns beside them, and positions."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from gnomon._files import require_existing
from gnomon._validation import message

__all__ = ["STDIN", "empty_cells", "open_data", "open_new_rows", "prepare_data", "read_positions", "with_all_rows"]

STDIN = "-"
_NAME = "stdin.csv"
_TABLES = (".csv", ".tsv", ".txt", ".dat")


def open_data(
    data: str,
    *,
    metadata: str | None = None,
    labels: str | None = None,
    feature_names: str | list[str] | None = None,
    **options: Any,
) -> Any:
    """Open the data of a command.

    Parameters
    ----------
    data : str
        A file, a folder, the name of a data set, or - for text as in a .csv file on standard input.
    metadata : str or None, default=None
        A text table with a header and a row for each row of `data`, whose columns become metadata; or a .npy file of
        one column, which is called as the file is.
    labels : str or None, default=None
        The column of labels, in `metadata` if it is there, else in `data`; or a file of one column, .npy or a text
        table.
    feature_names : str, list of str or None, default=None
        A column of ``var`` of an h5ad file, or names of which the column is taken that has them all; else a text file
        with the name of a column on each line, for data whose columns have none.
    **options
        As of `gnomon.data.open_dataset`.

    Returns
    -------
    Dataset
    """
    from gnomon.data import open_dataset

    columns = {} if metadata is None else _columns_beside("--metadata", metadata)
    classes = None
    if labels is not None and labels not in columns and _is_table(labels) and os.path.isfile(labels):
        classes, labels = _labels_in_file(labels), None
    if _is_h5ad(data):
        options, feature_names = {**options, "feature_names": feature_names}, None
    with _as_file(data) as path:
        found = open_dataset(path, labels=None if labels in columns else labels, **options)
    if data == STDIN:
        found = replace(found, source="stdin")
    if feature_names is not None:
        found = _with_names(found, str(feature_names))
    if metadata is not None:
        found = _with_columns(found, columns, metadata, labels)
    return found if classes is None else _with_labels(found, *classes)


def open_new_rows(result: Any, data: str, *, labels: str | None = None) -> Any:
    """Open rows that a map places: of an h5ad file the part of which the map was made.

    Parameters
    ----------
    result : Map
    data, labels : str
        As of `open_data`.

    Returns
    -------
    Dataset
    """
    if not _is_h5ad(data):
        return _told_of_map(open_data(data, labels=labels, missing="keep"), result)
    part = {"key": result._part} if result._reads_part else {}
    return open_data(data, labels=labels, missing="keep", feature_names=result.feature_names, **part)


def _told_of_map(dataset: Any, result: Any) -> Any:
    """Return a data set whose notes name as metadata only columns of texts that are no features of a map."""
    from gnomon.data.dataset import TEXT_NOTE, listed

    used = {rule.name for rule in getattr(result, "columns", None) or () if rule.features}
    if not used.intersection(dataset.text_columns or ()):
        return dataset
    others = [name for name in dataset.text_columns if name not in used]
    notes = [note for note in dataset.notes if not note.startswith(TEXT_NOTE)]
    return replace(dataset, notes=[*notes, *([f"{TEXT_NOTE}: {listed(others)}"] if others else [])])


def _is_h5ad(data: str) -> bool:
    return data.lower().endswith(".h5ad")


def empty_cells(missing: str | None) -> str:
    """Return what `open_data` is to do about missing values where a map would do `missing` about them."""
    return "error" if missing == "error" else "keep"


def prepare_data(
    data: str,
    missing: str | None,
    *,
    seed: int,
    features: list[str] | None = None,
    drop: list[str] | None = None,
    **options: Any,
) -> Any:
    """Open the data of a command and make features of all columns, complete, as `gnomon.map` does.

    Parameters
    ----------
    data : str
    missing : str or None
        As of `gnomon.map`; None for its default.
    seed : int
    features, drop : list of str or None, default=None
        As of `gnomon.map`.
    **options
        As of `open_data`.

    Returns
    -------
    Prepared
    """
    from gnomon.maps.prepare import Reading, prepare

    opened = open_data(data, **options, missing=empty_cells(missing))
    how = Reading(missing=missing or "distance", features=features, drop=drop, random_state=seed)
    return prepare(opened, how)


@contextmanager
def _as_file(data: str) -> Iterator[str]:
    """Give a file to read, also for standard input, which is read once and looked at several times."""
    if data != STDIN:
        yield data
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, _NAME)
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield path
        except ValueError as error:  # of a file that nobody has named so
            raise ValueError(str(error).replace(repr(path), "on standard input")) from error


def _columns_beside(option: str, path: str) -> dict[str, npt.NDArray[Any]]:
    from gnomon.data.delimited import read_columns
    from gnomon.data.numpy_files import read_npy_column

    if path.lower().endswith(".npy"):
        require_existing(path, folders=False)
        return {os.path.basename(path).partition(".")[0]: read_npy_column(path)}
    if not _is_table(path):
        raise ValueError(
            message(f"{option}={path!r}", f"a text table, one of {', '.join(_TABLES)}, or a column as .npy")
        )
    return read_columns(path)


def _is_table(path: str) -> bool:
    return path.lower().endswith(".npy") or path.lower().removesuffix(".gz").endswith(_TABLES)


def _labels_in_file(path: str) -> tuple[str, str, npt.NDArray[Any]]:
    """Return a file of labels, and the name and the values of its one column."""
    from gnomon.data.dataset import as_dates, first_few

    columns = _columns_beside("--labels", path)
    if len(columns) != 1:
        remedy = f"Pass --metadata {path} --labels COL, where COL is one of its columns: {first_few(list(columns), 3)}."
        fact = f"it has {len(columns):,}"
        raise ValueError(message(f"--labels={path!r}", "a column, or a file of one", fact=fact, remedy=remedy))
    name, values = next(iter(columns.items()))
    return path, name, as_dates(values)


def _with_names(data: Any, path: str) -> Any:
    from gnomon.data.limits import refuse_unreadable
    from gnomon.data.names import clean_names

    option = f"--feature-names={path!r}"
    if data.feature_names is not None:
        remedy = "Leave it out."
        raise ValueError(message(option, "left out where the columns of DATA have names", remedy=remedy))
    require_existing(path, folders=False)
    with (
        refuse_unreadable(option, "a text file in UTF-8", errors=(UnicodeDecodeError,)),
        open(path, encoding="utf-8-sig") as file,
    ):
        names = file.read().splitlines()
    if len(names) != data.n_features:
        fact = f"it has {len(names):,} lines, DATA {data.n_features:,} columns"
        raise ValueError(message(option, "a file with a name for each column of DATA, one a line", fact=fact))
    return replace(data, feature_names=clean_names(names))


def _with_columns(data: Any, columns: dict[str, npt.NDArray[Any]], path: str, labels: str | None) -> Any:
    from gnomon.data.dataset import as_dates
    from gnomon.maps.matching import refuse_other_order_of_names

    _require_rows(f"--metadata={path!r}", len(next(iter(columns.values()))), data)
    for names in [data.point_names, *(data.metadata[name] for name in data.text_columns or ())]:
        if names is not None:
            refuse_other_order_of_names(names, columns)
    columns = {name: as_dates(values) for name, values in columns.items()}
    chosen = columns.pop(labels) if labels is not None and labels in columns else None
    parts = {} if chosen is None else {"labels": chosen, "label_name": labels}
    return replace(data, metadata={**data.metadata, **columns}, **parts)


def _with_labels(data: Any, path: str, name: str, values: npt.NDArray[Any]) -> Any:
    _require_rows(f"--labels={path!r}", len(values), data)
    return replace(data, labels=values, label_name=name)


def _require_rows(option: str, n_rows: int, data: Any) -> None:
    if n_rows != data.n_samples:
        rule = f"a table of {data.n_samples:,} rows, one for each of the data"
        raise ValueError(message(option, rule, fact=f"it has {n_rows:,} rows"))


def read_positions(path: str) -> Any:
    """Read positions made elsewhere: the columns x, y and z of a table that has them, else all of its columns.

    Of what `gnomon map --embedding` writes by blocks, a folder of .parquet files or a .zarr store, the columns y1, y2.
    """
    from gnomon.cli.large import is_stored, open_large

    if is_stored(path, asked=False):
        table, _ = open_large(path, None)
        names, values = list(table.feature_names or []), table.read(0, table.n_samples)
    else:
        data = open_data(path)
        names, values = data.feature_names or [], data.X
    known = [[name for name in some if name in names] for some in (("x", "y", "z"), ("y1", "y2", "y3"))]
    chosen = next((some for some in known if len(some) > 1), None)
    positions = values if chosen is None else values[:, [names.index(name) for name in chosen]]
    if positions.shape[1] not in (2, 3):
        fact = f"it has {positions.shape[1]:,}"
        remedy = "Name the columns x and y, or leave the others out."
        raise ValueError(message(f"file {path!r}", "positions in 2 or 3 columns", fact=fact, remedy=remedy))
    return positions


def with_all_rows(result: Any, path: str) -> Any:
    """Return an ordinary map of all rows of a map of landmarks, with its table from a file.

    Parameters
    ----------
    result : LandmarkMap
    path : str
        The file that was mapped, or one of the same numbers.

    Returns
    -------
    Map
    """
    from gnomon.cli.large import is_stored, open_large
    from gnomon.maps.growing import check_rows

    if is_stored(path, asked=True):
        table, _ = open_large(path, None)
        if table.fingerprint == result.fingerprint or is_stored(path, asked=False):
            return result.attach(table).as_map()
    return result.attach(check_rows(result.landmark_map, open_data(path, missing="keep"))).as_map()
