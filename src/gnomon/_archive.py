"""Files that hold arrays and a description: a zip of .npy members and one JSON member, never a pickle.

Loading runs no code, and every size is checked before memory is taken. Whatever is wrong with a file, the reader says
it in one form, see `damaged_file`.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write, require_existing
from gnomon._validation import message

__all__ = ["DAMAGE", "damaged_file", "read_archive", "read_kind", "write_archive"]

_DESCRIPTION = "description.json"
_MAX_DESCRIPTION_BYTES = 32 * 2**20
_MAX_CONTAINERS = 10_000  # lists and objects in a description: each takes many times the bytes of its brackets
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")  # escaped: gnomon writes characters as they are
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"')
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
_MOST_INFLATED = 1032  # bytes that deflate can make of one: two bits stand for at most 258
_ENCRYPTED = 0x1
_END_BYTES = 22  # of the record that ends a zip without a comment

_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_HEADER_BYTES = 1024
# The text that NumPy writes for an array of plain numbers or of text of fixed width, in row order.
_HEADER = re.compile(
    r"\{'descr': '([<>|][biufcSUMm]\d{1,10}(?:\[\d{0,10}[A-Za-z]{1,2}\])?)', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,19}, ?)*(?:\d{1,19})?)\), \} *\n"
)
# What zipfile, zlib, json and NumPy raise on bytes that are not what they should be.
DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    MemoryError,
    OverflowError,
    RuntimeError,  # also RecursionError and NotImplementedError
    TypeError,
    ValueError,  # also of json and of Unicode
)


def damaged_file(path: str | os.PathLike[str], fact: str, *, kind: str) -> ValueError:
    """Return the error about a file that is not what it should be, to be raised.

    Parameters
    ----------
    path : path-like
        The file.
    fact : str
        What is wrong with it, without a full stop.
    kind : str
        What it should hold, such as "gnomon-map".
    """
    return ValueError(
        message(f"file {os.fspath(path)!r}", f"a complete {kind} file", fact=fact, remedy="Save it again.")
    )


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_FIXED_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def write_archive(
    path: str | os.PathLike[str],
    *,
    kind: str,
    version: int,
    arrays: Mapping[str, npt.NDArray[Any]],
    description: Mapping[str, Any],
) -> None:
    """Write arrays and a description to one file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file to write.
    kind : str
        What the file holds, such as "gnomon-map"; checked on reading.
    version : int
        Version of the kind's layout.
    arrays : mapping of str to ndarray
        Arrays of numbers, booleans or fixed-width strings.
    description : mapping
        Anything JSON can hold, up to 32 MiB and 10,000 lists and objects.

    Raises
    ------
    ValueError
        If the description is larger or holds text that is no Unicode.
    OSError
        If the file cannot be written.
    """
    try:
        header = json.dumps({"kind": kind, "version": version, **description}, ensure_ascii=False).encode()
        _check_description(header)
    except ValueError as error:
        raise ValueError(message(f"a {kind}", "one that a file can hold", fact=str(error))) from error
    with (
        atomic_write(path) as temporary,
        zipfile.ZipFile(temporary, "w") as archive,
    ):
        archive.writestr(_member(_DESCRIPTION), header)
        for name, array in arrays.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)


def read_archive(
    path: str | os.PathLike[str],
    *,
    kind: str,
    version: int,
    check: Callable[[dict[str, Any], dict[str, tuple[int, ...]]], None] | None = None,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Read a file written by `write_archive`.

    Parameters
    ----------
    path : path-like
        The file to read.
    kind, version : str, int
        What the file must hold; a newer version than `version` is refused.
    check : callable, default=None
        Called with the description and the shapes of all arrays by name before any array is read; raises ValueError
        with a bare fact as text to refuse the file.

    Returns
    -------
    arrays : dict of str to ndarray
    description : dict

    Raises
    ------
    OSError
        If there is no such file or it cannot be read.
    ValueError
        If the file is not of this kind, is newer than this library, is damaged in any way or claims more bytes than it
        can hold.
    """
    require_existing(path, folders=False)
    with open(path, "rb") as file, _in_form(path, kind):
        return _read(file, kind, version, check)


def read_kind(path: str | os.PathLike[str], kinds: Collection[str]) -> str:
    """Return what a file written by `write_archive` holds, one of `kinds`; raise as `read_archive` does."""
    require_existing(path, folders=False)
    with open(path, "rb") as file, _in_form(path, " or ".join(kinds)), zipfile.ZipFile(file) as archive:
        kind = _read_description(archive, file)[0].get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise ValueError(f"it holds {kind!r:.60}")
        return kind


@contextmanager
def _in_form(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Raise whatever is wrong with a file as the one error that says so."""
    try:
        yield
    except _NewerLayoutError as error:
        what = f"file {os.fspath(path)!r}"
        rule = f"of layout {error.version} at most"
        raise ValueError(message(what, rule, fact=str(error), remedy="Update gnomon to read it.")) from None
    except _OtherKindError as error:
        what, remedy = f"file {os.fspath(path)!r}", "Read it with gnomon.load."
        raise ValueError(message(what, f"a {kind} file", fact=str(error), remedy=remedy)) from None
    except DAMAGE as error:
        fact = str(error).strip().rstrip(".") or type(error).__name__
        raise damaged_file(path, f"{fact:.300}", kind=kind) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the start of the file, from a damaged directory
            raise
        raise damaged_file(path, "an offset leads out of the file", kind=kind) from error


class _OtherKindError(Exception):
    """The file holds something else that gnomon saves."""


class _NewerLayoutError(Exception):
    """The file was written by a newer gnomon than this one, which reads layouts up to `version`."""

    def __init__(self, found: int, version: int) -> None:
        super().__init__(f"a newer gnomon wrote layout {found!r:.60}")
        self.version = version


def _read(
    file: IO[bytes],
    kind: str,
    version: int,
    check: Callable[[dict[str, Any], dict[str, tuple[int, ...]]], None] | None,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Return what `read_archive` does; raise any of the errors above with the bare fact as text."""
    with zipfile.ZipFile(file) as archive:
        description, members = _read_description(archive, file)
        holds = description.get("kind")
        if holds != kind:
            is_ours = isinstance(holds, str) and holds.startswith("gnomon-")
            raise (_OtherKindError if is_ours else ValueError)(f"it holds {holds!r:.60}")
        found = description.get("version")
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise ValueError(f"its version is {found!r:.60}")
        if found > version:
            raise _NewerLayoutError(found, version)
        infos = {name.removesuffix(".npy"): info for name, info in members.items() if name != _DESCRIPTION}
        if check is not None:
            check(description, {name: _shape(archive, info) for name, info in infos.items()})
        return {name: _read_array(archive, info) for name, info in infos.items()}, description


def _read_description(archive: zipfile.ZipFile, file: IO[bytes]) -> tuple[dict[str, Any], dict[str, zipfile.ZipInfo]]:
    """Return the description and all members by name."""
    size = file.seek(-_END_BYTES, os.SEEK_END) + _END_BYTES
    members = _check_members(archive, size, file.read(_END_BYTES))
    header = archive.read(_DESCRIPTION)
    _check_description(header)
    if b"\\ud" in header.lower() and _SURROGATE.search(header):
        raise ValueError("its description holds surrogates, which may be half a character")
    description = json.loads(header.decode())
    if not isinstance(description, dict):
        raise ValueError("its description is not an object")
    return description, members


def _check_members(archive: zipfile.ZipFile, size: int, end: bytes) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name; refuse what `write_archive` does not write and sizes that cannot be.

    `size` is that of the file and `end` its last bytes, which tell the number of members: zipfile does not compare it
    with those that it finds.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    if not end.startswith(b"PK\x05\x06") or int.from_bytes(end[10:12], "little") != len(archive.infolist()):
        raise ValueError("its directory is not complete")
    for info in archive.infolist():
        name = info.filename
        if name in members:
            raise ValueError(f"member {name!r:.60} occurs twice")
        if name != _DESCRIPTION and not name.endswith(".npy"):
            raise ValueError(f"member {name!r:.60} is no array")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"member {name!r:.60} is encrypted or compressed in another way than deflate")
        most = info.compress_size * (_MOST_INFLATED if info.compress_type == zipfile.ZIP_DEFLATED else 1)
        if info.file_size > most:
            raise ValueError(f"member {name!r:.60} claims {info.file_size} bytes and can hold {most} at most")
        members[name] = info
    if _DESCRIPTION not in members:
        raise ValueError("it has no description")
    if members[_DESCRIPTION].file_size > _MAX_DESCRIPTION_BYTES:
        raise ValueError("its description is too large")
    if sum(info.compress_size for info in members.values()) > size:
        raise ValueError("its members claim more bytes than the file has")
    return members


def _check_description(header: bytes) -> None:
    """Raise ValueError if a description is larger than a file may have."""
    if len(header) > _MAX_DESCRIPTION_BYTES or (
        _count_brackets(header) > _MAX_CONTAINERS and _count_brackets(_TEXTS.sub(b"", header)) > _MAX_CONTAINERS
    ):
        raise ValueError("its description is too large")


def _count_brackets(header: bytes) -> int:
    return header.count(b"[") + header.count(b"{")


def _shape(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[int, ...]:
    with archive.open(info) as member:
        return _read_header(member, info.filename)[0]


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Read one array after comparing the size its header claims with the size of the member."""
    name = info.filename
    with archive.open(info) as member:
        shape, dtype, offset = _read_header(member, name)
        expected = math.prod(shape) * dtype.itemsize
        if offset + expected != info.file_size:
            raise ValueError(f"{name} states {expected} bytes and has {info.file_size - offset}")
        data = bytearray(expected)
        if _read_into(member, memoryview(data)) != expected:
            raise ValueError(f"{name} ends early")
    if dtype.kind == "b" and np.frombuffer(data, dtype=np.uint8).max(initial=0) > 1:
        raise ValueError(f"{name} holds truth values other than 0 and 1")
    if dtype.kind == "U" and np.frombuffer(data, dtype=f"{dtype.byteorder}u4").max(initial=0) > sys.maxunicode:
        raise ValueError(f"{name} holds text that is no Unicode")
    return np.ndarray(shape, dtype, data)


def _read_header(member: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return shape, dtype and length of a header; it is matched with the one text that NumPy writes, not evaluated."""
    head = member.read(len(_MAGIC) + 2)
    if not head.startswith(_MAGIC):
        raise ValueError(f"{name} is not an array in the format that gnomon writes")
    length = int.from_bytes(head[len(_MAGIC) :], "little")
    if length > _MAX_HEADER_BYTES:
        raise ValueError(f"{name} has a header of {length} bytes, more than any that gnomon writes")
    found = _HEADER.fullmatch(member.read(length).decode("latin1"))
    if found is None:
        raise ValueError(f"{name} does not hold plain numbers or text")
    if found[2] == "True":
        raise ValueError(f"{name} is in column order, which gnomon never writes")
    shape = tuple(int(extent) for extent in found[3].replace(",", " ").split())
    dtype = np.dtype(found[1])
    if dtype.itemsize == 0:
        raise ValueError(f"{name} has entries of no size")
    return shape, dtype, len(head) + length


def _read_into(member: IO[bytes], target: memoryview) -> int:
    filled = 0
    while filled < len(target):
        piece = member.read(min(len(target) - filled, 2**24))
        if not piece:
            break
        target[filled : filled + len(piece)] = piece
        filled += len(piece)
    return filled
