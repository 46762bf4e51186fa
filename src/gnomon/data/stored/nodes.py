"""Arrays and groups in HDF5 files and Zarr stores: found by key, opened anew in every process."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.dataset import require_name
from gnomon.data.limits import refuse_unreadable

__all__ = ["HDF5Node", "Node", "ZarrNode", "find_key", "is_array"]

_TABLE = "X"  # its key, where there are several


class Node(ABC):
    """An array or a group.

    Attributes
    ----------
    name : str
        For people: where it lies.
    key : str
        Its path within the file or store, without a leading slash.
    """

    name: str
    key: str

    @abstractmethod
    def get(self) -> Any:
        """Return it, as h5py or zarr read it."""

    @abstractmethod
    def root(self) -> Any:
        """Return the group that holds everything."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Text that changes when what is stored changes."""

    def around(self) -> Any:
        """Return the group that it lies in; None if it is the root itself."""
        if not self.key:
            return None
        above = self.key.rpartition("/")[0]
        return self.root()[above] if above else self.root()


class HDF5Node(Node):
    """A dataset or group of an HDF5 file; each process opens the file for itself.

    h5py lets one thread at a time into the HDF5 library, so that the threads of a process may share the file.
    """

    def __init__(self, path: str, key: str, opened: Any = None) -> None:
        self.path = os.path.abspath(path)
        self.key = key.strip("/")
        self.name = f"{path}:{self.key}"
        self._opened = opened

    def root(self) -> Any:
        """Return the file, which is opened if it is not open here."""
        if self._opened is None or not self._opened:
            h5py = import_optional("h5py", package="h5py", extra="scale")
            remedy = "If it is open for writing elsewhere, close it there."
            with refuse_unreadable(f"file {self.path!r}", "a complete HDF5 file", errors=(Exception,), remedy=remedy):
                self._opened = h5py.File(self.path, "r")
        return self._opened

    def get(self) -> Any:
        """Return the dataset or group."""
        return self.root()[self.key] if self.key else self.root()

    @property
    def fingerprint(self) -> str:
        """Path, size and time of the file, and the key; of a file in memory a checksum of the numbers."""
        if not os.path.isfile(self.path):  # a file in memory
            return f"{self.key} {_checksum(*(array[...].tobytes() for array in _arrays(self.get())))}"
        status = os.stat(self.path)
        return f"{self.path} {status.st_size} {status.st_mtime_ns} {self.key}"

    def __getstate__(self) -> dict[str, Any]:
        if not os.path.isfile(self.path):
            fact, remedy = "it is in memory alone", "Write it to a file first."
            raise ValueError(message(self.name, "in a file that workers can open", fact=fact, remedy=remedy))
        return {**self.__dict__, "_opened": None}


class ZarrNode(Node):
    """An array or group of a Zarr store, which each process reads for itself; version 2 or 3 of the format."""

    def __init__(self, node: Any, name: str) -> None:
        self._node = _absolute(node)
        self.key = str(node.path).strip("/")
        self.name = name

    def get(self) -> Any:
        """Return the array or group."""
        return self._node

    def root(self) -> Any:
        """Return what the store holds at its top; the array itself where that is no group."""
        return self._group("") or self._node

    def around(self) -> Any:
        """Return the group that it lies in; None if it is alone."""
        return self._group(self.key.rpartition("/")[0])

    def _group(self, path: str) -> Any:
        if not self.key:
            return None
        zarr = import_optional("zarr", package="zarr", extra="scale")
        try:
            return zarr.open_group(self._node.store, path=path, mode="r")
        except (FileNotFoundError, KeyError):  # an array that lies in a plain folder
            return None

    @property
    def fingerprint(self) -> str:
        """Of a folder or an archive sizes and times of its files, of a store in memory a checksum of its numbers.

        Of a store that is reached through a network the description of its arrays alone.
        """
        place = getattr(self._node.store, "root", getattr(self._node.store, "path", None))
        found = f"{place} {self.key} {_checksum(repr(_described(self._node)))}"
        if type(self._node.store).__name__ == "MemoryStore":
            return f"{found} {_checksum(*(array[...].tobytes() for array in _arrays(self._node)))}"
        where = Path(str(place))
        if where.is_file():
            return f"{found} {where.stat().st_size} {where.stat().st_mtime_ns}"
        files = sorted(entry for entry in (where / self.key).rglob("*") if entry.is_file()) if where.is_dir() else []
        return f"{found} {_checksum(*(f'{file} {file.stat().st_size} {file.stat().st_mtime_ns}' for file in files))}"


def _absolute(node: Any) -> Any:
    """Return a node with the full path of its folder: a worker may have another working folder."""
    place = getattr(node.store, "root", None) if type(node.store).__name__ == "LocalStore" else None
    if place is None or os.path.isabs(place):
        return node
    zarr = import_optional("zarr", package="zarr", extra="scale")
    return zarr.open(os.path.abspath(place), path=node.path, mode="r")


def _checksum(*parts: str | bytes) -> str:
    total = 0
    for part in parts:
        total = zlib.crc32(part if isinstance(part, bytes) else part.encode(), total)
    return f"{total:08x}"


def is_array(node: Any) -> bool:
    """Return whether a node of h5py or zarr is an array, and no group."""
    return hasattr(node, "shape") and hasattr(node, "dtype")


def _arrays(node: Any) -> Iterator[Any]:
    if is_array(node):
        yield node
    else:
        for key in sorted(node):
            yield from _arrays(node[key])


def _described(node: Any) -> list[Any]:
    return [(array.path, array.shape, str(array.dtype), array.chunks) for array in _arrays(node)]


def _keys(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    for key in sorted(group):
        node = group[key]
        yield above + key, node
        if not is_array(node):
            yield from _keys(node, f"{above}{key}/")


def _is_table(node: Any) -> bool:
    if is_array(node):
        return len(node.shape or ()) == 2 and np.dtype(node.dtype).kind in "biuf"
    return str(node.attrs.get("encoding-type", "")) in ("csr_matrix", "csc_matrix")


def find_key(root: Any, key: str | None, name: str) -> str:
    """Return the key of the table in a group: the one given, else "X" or the only table there is.

    Raises
    ------
    ValueError
        If there is no such key, or if none is given and there are several tables, or none.
    """
    if is_array(root):
        if key:
            raise ValueError(message(f"key={key!r}", "left out", fact=f"{name} is one array"))
        return ""
    with refuse_unreadable(name, "a complete file or store", errors=(Exception,)):
        nodes = dict(_keys(root))
        tables = [one for one, node in nodes.items() if _is_table(node)]
    if key is not None:
        wanted = key.strip("/")
        if wanted not in nodes:
            require_name(wanted, tables, what="key")
        return wanted
    if _TABLE in tables or len(tables) == 1:
        return _TABLE if _TABLE in tables else tables[0]
    fact = f"tables of numbers: {', '.join(map(repr, tables[:10])) or 'none'}"
    raise ValueError(message("key=None", f"the key of a table in {name}", fact=fact))
