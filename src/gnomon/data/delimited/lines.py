"""Lines of a text file, compressed or not, in whatever encoding."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from gnomon._validation import message

__all__ = ["UTF_8", "WINDOWS", "KeptLines", "in_its_encoding", "open_text"]

UTF_8, WINDOWS = "utf-8-sig", "cp1252"
_LONGEST_LINE = 2**25  # characters
_CHUNK = 2**18  # characters split into lines together
# A table of text seldom shrinks to less than a hundredth; a file that grows far more is made to fill the memory.
_MOST_UNPACKED = 100
_ALWAYS_UNPACKED = 2**22  # characters
_BEGIN = 2**16  # bytes looked at
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")  # which no table in Windows-1252 has


@contextmanager
def open_text(path: str | os.PathLike[str], encoding: str) -> Iterator[Iterator[str]]:
    """Open the lines of a text file, compressed or not, with or without a byte-order mark; errors say what is wrong.

    Parameters
    ----------
    path : str or path-like
    encoding : str

    Yields
    ------
    iterator of str
        The lines.

    Raises
    ------
    ValueError
        Where reading shows that the file is no text of this encoding, or goes on for longer than a table.
    """
    name = os.fspath(path)
    packed = name.lower().endswith(".gz")
    try:
        opener = gzip.open if packed else open
        with opener(name, "rt", encoding=encoding, newline="") as file:
            most = _ALWAYS_UNPACKED + _MOST_UNPACKED * os.path.getsize(name) if packed else None
            yield _lines(file, most)
    except _EndlessError as error:
        rule, fact, remedy = error.args
        raise ValueError(message(f"file {name!r}", rule, fact=fact, remedy=remedy)) from None
    except UnicodeError as error:
        if not isinstance(error, UnicodeDecodeError) or encoding != UTF_8:
            rule = "a text file in UTF-8, UTF-16 or Windows-1252"
            raise _EncodingError(message(f"file {name!r}", rule, fact=str(error))) from error
        fact = f"byte {error.object[error.start]:#04x} is no UTF-8"
        remedy = "Save it as UTF-8, or check that it is a table and not another kind of file."
        raise _EncodingError(message(f"file {name!r}", "a text file in UTF-8", fact=fact, remedy=remedy)) from error
    except (csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(message(f"file {name!r}", "a readable table", fact=str(error))) from error


def in_its_encoding(path: str, read: Callable[[str], Any]) -> Any:
    """Read a file in the first of its possible encodings that fits; where none does the error is that of the first.

    Parameters
    ----------
    path : str
    read : callable
        Takes an encoding.

    Returns
    -------
    object
        What `read` returns.

    Raises
    ------
    ValueError
        If the file is in none.
    """
    first: _EncodingError | None = None
    for encoding in _encodings(path):
        try:
            return read(encoding)
        except _EncodingError as error:
            first = first or error
    assert first is not None
    raise first


def _encodings(path: str) -> list[str]:
    """Return the encodings that a text file may have: that of its byte-order mark, else UTF-8 or that of Excel."""
    opener = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            begin = bytes(file.read(_BEGIN))
    except (OSError, EOFError, zlib.error):  # told where it is read
        return [UTF_8]
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ["utf-16"]
    return [UTF_8] if _CONTROLS.search(begin) else [UTF_8, WINDOWS]


def _lines(file: IO[str], most: int | None) -> Iterator[str]:
    """Yield lines; raise _EndlessError at one too long to be a row, or when more than `most` characters came out."""
    total = 0
    while characters := file.read(_CHUNK):
        characters += file.readline(_LONGEST_LINE)  # the rest of the last line
        total += len(characters)
        lines = io.StringIO(characters, newline="").readlines()
        if len(characters) >= _LONGEST_LINE and len(max(lines, key=len).rstrip("\r\n")) >= _LONGEST_LINE:
            rule = f"a table with lines of fewer than {_LONGEST_LINE:,} characters"
            raise _EndlessError(rule, f"one has {_LONGEST_LINE:,} or more", "Is it a table?")
        if most is not None and total > most:
            fact = f"more than {most:,} characters come out of it"
            rule = f"one that holds at most {_MOST_UNPACKED} times as many characters as it has bytes"
            raise _EndlessError(rule, fact, "Unpack it with gunzip, and read what comes out.")
        yield from lines


class KeptLines:
    """Lines of which the last one that was read is kept.

    Parameters
    ----------
    lines : iterable of str

    Attributes
    ----------
    last : str
        The line read last; empty before the first.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line
            yield line


class _EndlessError(Exception):  # no ValueError, which means "not all numbers" to those who read the lines
    """A file goes on for longer than a table does: rule, fact and remedy for the error."""


class _EncodingError(ValueError):
    """A file is not in the encoding that it was taken to be in."""
