"""Files that a command writes: checked before the work, written whole, told afterwards; - is standard output."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gnomon._files import atomic_write, check_writable
from gnomon._printed import harmless
from gnomon._validation import message
from gnomon.cli.console import as_options

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "STDOUT",
    "check_outputs",
    "destination",
    "page_options",
    "tell",
    "tell_files",
    "tell_notes",
    "write_coordinates",
    "write_map",
]

STDOUT = "-"
_SUFFIXES = {  # by kind of output, the usual one first
    "html": (".html", ".htm"),
    "report": (".html", ".htm"),
    "png": (".png", ".pdf", ".svg", ".jpg"),
    "map": (".gnomon",),
    "coordinates": (".csv", ".npy", ".parquet", ".zarr"),
    "table": (".csv", ".parquet", ".h5ad"),
    "columns": (".csv", ".parquet"),
}


def check_outputs(paths: Mapping[str, str], *, as_json: bool = False) -> None:
    """Raise an error unless each file can be written and has a name that says what it is.

    Parameters
    ----------
    paths : mapping of str to str
        Kind of output, a key of `_SUFFIXES`, to its file; - is standard output.
    as_json : bool, default=False
        Whether standard output is taken by the report for programs.
    """
    taken = sum(path == STDOUT for path in paths.values()) + as_json
    if STDOUT in paths.values() and taken > 1:
        raise ValueError(message("output -", "the only thing written to standard output", remedy="Name a file."))
    files = [os.path.realpath(path) for path in paths.values() if path != STDOUT]
    twice = [path for path in paths.values() if path != STDOUT and files.count(os.path.realpath(path)) > 1]
    if twice:
        fact = f"named by {len(twice)} options"
        raise ValueError(message(f"output file {twice[0]!r}", "of one output", fact=fact, remedy="Name two files."))
    for kind, path in paths.items():
        if path == STDOUT or kind == "folder":
            continue
        _check_suffix(path, _SUFFIXES[kind])
        check_writable(path)


def _check_suffix(path: str, suffixes: tuple[str, ...]) -> None:
    stem, suffix = os.path.splitext(path)
    if suffix.lower() not in suffixes:
        fact = f"it ends in {suffix!r}" if suffix else "its name has no ending"
        rule = f"one that ends in {' or '.join([', '.join(suffixes[:-1]), suffixes[-1]] if suffixes[1:] else suffixes)}"
        raise ValueError(message(f"output file {path!r}", rule, fact=fact, remedy=f"Name it {stem + suffixes[0]!r}."))


@contextmanager
def destination(kind: str, path: str) -> Iterator[str]:
    """Give the file to write; what was written for - goes to standard output when the block ends without an error."""
    if path != STDOUT:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, f"output{_SUFFIXES[kind][0]}")
        yield file
        with open(file, "rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def page_options(paths: Mapping[str, str], byte_budget: int | None, *, side_file: bool) -> dict[str, Any]:
    """Return what was asked of a page, for `write_map`; an error where there is no page, or none to stand beside."""
    asked: dict[str, Any] = {} if byte_budget is None else {"byte_budget": byte_budget}
    asked |= {"side_file": True} if side_file else {}
    if asked and "html" not in paths:
        option = "--" + next(iter(asked)).replace("_", "-")
        raise ValueError(message(option, "given with a page", remedy="Name one with -o FILE."))
    if side_file and paths["html"] == STDOUT:
        raise ValueError(message("--side-file", "given with a page in a file", fact="-o - has no file beside it"))
    return asked


def write_map(result: Any, kind: str, path: str, *, title: str | None = None, source: str = "", **page: Any) -> None:
    """Write a map as a page, a report, a picture, a file of its own or its positions.

    Parameters
    ----------
    result : Map
    kind : str
        A key of `_SUFFIXES`.
    path : str
        Where to; - is standard output.
    title : str or None, default=None
        Heading of a page, report or picture.
    source : str, default=""
        What the data were read from; a report names the checksum of a file.
    **page
        Further arguments of `Map.to_html`, for a page.
    """
    if kind == "coordinates":
        write_coordinates(path, result.embedding, result.point_names)
        return
    with destination(kind, path) as file:
        if kind == "html":
            result.to_html(file, title=title, **page)
        elif kind == "report":
            files = [source] if os.path.isfile(source) else []
            result.write_report(file, title=title, files=files, command=shlex.join(["gnomon", *sys.argv[1:]]))
        elif kind == "png":
            result.to_png(file, title=title)
        else:
            result.save(file)


def write_coordinates(
    path: str,
    places: npt.NDArray[Any],
    point_names: npt.NDArray[Any] | None,
    beside: Mapping[str, npt.NDArray[Any]] | None = None,
) -> None:
    """Write positions as an array (.npy), or as text: the name or number of each row, x, y and z, and what is beside.

    A column beside them that is called as one of theirs is left out.
    """
    if path.lower().endswith((".parquet", ".zarr")):
        fact, remedy = "the map has no landmarks", "Name it .csv or .npy, or give --n-fitted."
        raise ValueError(message(f"output file {path!r}", "one that ends in .csv or .npy", fact=fact, remedy=remedy))
    import numpy as np

    from gnomon.data.writers import write_columns
    from gnomon.maps.export import position_columns

    with destination("coordinates", path) as file:
        if file.lower().endswith(".npy"):
            with atomic_write(file) as stream:
                np.save(stream, places, allow_pickle=False)
        else:
            own = dict(position_columns(places, point_names))
            more = {name: column for name, column in (beside or {}).items() if name not in own}
            write_columns(file, {**own, **more})


def tell(text: str, paths: Mapping[str, str]) -> None:
    """Print a report; on standard error if an output has taken standard output."""
    click.echo(harmless(text), err=STDOUT in paths.values())


def tell_notes(notes: Sequence[str], paths: Mapping[str, str], *, warned: Sequence[str]) -> None:
    """Print what a reader should know of the data, but for what was told as a warning, which begins with a name."""
    known = {*warned, *(text.partition(": ")[2] for text in warned)}
    notes = [note for note in notes if " ".join(note.split()) not in known]
    if notes:
        tell("\n".join(["", "Notes", *(f"  {as_options(note)}" for note in notes)]), paths)


def tell_files(paths: Mapping[str, str]) -> None:
    """Say which files were written."""
    for path in paths.values():
        if path != STDOUT:
            size = _size(path)
            amount = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, size // 1000)} kB"
            tell(f"Wrote {path} ({amount})", paths)


def _size(path: str) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)
