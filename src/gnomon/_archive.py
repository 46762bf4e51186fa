"""Files that hold arrays and a description: a zip of .npy members and one JSON member, never a pickle.

Loading runs no code, and every size is checked before memory is taken.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write

__all__ = ["read_archive", "write_archive"]

_DESCRIPTION = "description.json"
_MAX_DESCRIPTION_BYTES = 64 * 2**20
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes


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
        Anything JSON can hold.
    """
    with (
        atomic_write(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        header = {"kind": kind, "version": version, **description}
        archive.writestr(_member(_DESCRIPTION), json.dumps(header, ensure_ascii=False))
        for name, array in arrays.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def read_archive(
    path: str | os.PathLike[str], *, kind: str, version: int
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Read a file written by `write_archive`.

    Parameters
    ----------
    path : path-like
        The file to read.
    kind, version : str, int
        What the file must hold; a newer version than `version` is refused.

    Returns
    -------
    arrays : dict of str to ndarray
    description : dict

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not of this kind, is newer than this library, is truncated or states impossible sizes.
    """
    where = Path(path)
    try:
        with zipfile.ZipFile(where) as archive:
            description = _read_description(archive, where)
            if description.get("kind") != kind:
                raise ValueError(f"{where} holds {description.get('kind')!r}, not {kind!r}.")
            if not isinstance(description.get("version"), int) or description["version"] > version:
                raise ValueError(
                    f"{where} was written by a newer gnomon (layout {description.get('version')}, this one reads up to "
                    f"{version}). Update gnomon to read it."
                )
            names = [n for n in archive.namelist() if n.endswith(".npy")]
            return {name[: -len(".npy")]: _read_array(archive, name, where) for name in names}, description
    except (zipfile.BadZipFile, EOFError, KeyError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{where} is not a complete {kind} file ({error}). Save it again.") from error


def _read_description(archive: zipfile.ZipFile, where: Path) -> dict[str, Any]:
    if archive.getinfo(_DESCRIPTION).file_size > _MAX_DESCRIPTION_BYTES:
        raise ValueError(f"{where} has a description larger than any gnomon writes; it is damaged or hostile.")
    description = json.loads(archive.read(_DESCRIPTION).decode())
    if not isinstance(description, dict):
        raise ValueError(f"{where} has a description that is not an object; it is damaged.")
    return description


def _read_array(archive: zipfile.ZipFile, name: str, where: Path) -> npt.NDArray[Any]:
    """Read one array after comparing the size its header claims with the size of the member."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as member:
        shape, dtype, offset = _read_header(member, where, name)
        if dtype.hasobject or any(extent < 0 for extent in shape):
            raise ValueError(f"{where}: {name} does not hold plain numbers or strings; refused.")
        expected = math.prod(shape) * dtype.itemsize
        if offset + expected != size:
            raise ValueError(f"{where}: {name} states {expected} bytes and has {size - offset}; the file is damaged.")
        data = bytearray(expected)
        if _read_into(member, memoryview(data)) != expected:
            raise ValueError(f"{where}: {name} ends early; the file is damaged.")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _read_header(member: IO[bytes], where: Path, name: str) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    head = io.BytesIO(member.read(10))
    try:
        version = np.lib.format.read_magic(head)
    except ValueError as error:
        raise ValueError(f"{where}: {name} is not an array ({error}); the file is damaged.") from error
    if version != (1, 0):
        raise ValueError(f"{where}: {name} has array format {version}, which gnomon never writes; refused.")
    length = int.from_bytes(head.getvalue()[8:10], "little")
    head = io.BytesIO(head.getvalue() + member.read(length))
    head.seek(8)
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(head)
    if fortran_order:
        raise ValueError(f"{where}: {name} is in column order, which gnomon never writes; refused.")
    return shape, dtype, head.tell()


def _read_into(member: IO[bytes], target: memoryview) -> int:
    filled = 0
    while filled < len(target):
        piece = member.read(min(len(target) - filled, 2**24))
        if not piece:
            break
        target[filled : filled + len(piece)] = piece
        filled += len(piece)
    return filled
