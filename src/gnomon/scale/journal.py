"""What the stages of a long run leave in a folder, so that a run that was cut goes on."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from gnomon._archive import DAMAGE
from gnomon._files import atomic_write
from gnomon._validation import message, warn
from gnomon.data.stored import RowBlock
from gnomon.exceptions import GnomonWarning
from gnomon.scale.verbs import Executor

if sys.platform != "win32":
    import fcntl

__all__ = ["Journal", "first_difference"]

Arrays = dict[str, npt.NDArray[Any]]

_RUN, _MARK, _LOCK = "run.json", "mark", "lock"
_CHECKSUM = re.compile("[0-9a-f]{8}")
_OF_HEADERS = (SyntaxError, TokenError)  # what NumPy raises besides, where it parses the header of an array
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)  # a folder that a worker may read alone
_LATE = 60.0  # seconds that folders in a network remember what is not there


class Journal:
    """Results of stages by name; without a folder nothing is kept.

    A file appears when it is complete. One that is damaged is computed again, with a warning. Workers write their
    blocks themselves where they see the folder; what those on other machines find is sent here and written here.

    Parameters
    ----------
    folder : path-like or None
        Made if it is not there; it is the user's to remove.
    run : mapping of str to str, int, float, bool or None
        What decides the results: the table's fingerprint, the parameters, the seed, the version of gnomon.

    Raises
    ------
    ValueError
        If the folder holds stages of another run; the text names what differs.
    BlockingIOError
        If another process uses the folder now.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, run: Mapping[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder).absolute()
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _Lock.of(self.folder)
        _check_same_run(self.folder, run)
        if not (self.folder / _MARK).exists():
            with atomic_write(self.folder / _MARK, "w") as file:
                file.write(secrets.token_hex(16))
        self._mark = (self.folder / _MARK).read_text()

    def stage(self, name: str, compute: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a stage, read if an earlier run left them, else computed and kept."""
        if self.folder is None:
            return compute()
        path = self.folder / f"{name}.npz"
        found = _read(path) if path.exists() else None
        if found is None:
            found = compute()
            _write(path, found)
        return found

    def blocks(
        self,
        name: str,
        executor: Executor,
        function: Callable[..., Arrays],
        blocks: Sequence[RowBlock],
        *shared: Any,
        needed: float = 0.0,
    ) -> Iterator[Arrays]:
        """Yield the arrays of each block, in order; those that an earlier run left are only read.

        The others are computed as they are asked for, some ahead; `needed` is that of `Executor.map`.
        """
        if self.folder is None:
            yield from executor.map(function, blocks, *shared, needed=needed)
            return
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        items = [_Item(block, folder / f"{block.number:06d}.npz", self._mark) for block in blocks]
        missing = [item for item in items if not item.path.exists()]
        made = executor.map(partial(_compute_and_write, function), missing, *shared, needed=needed)
        absent = {item.path for item in missing}
        for item in items:
            found = _keep(item, next(made)) if item.path in absent else _read(item.path)
            if found is None:
                (again,) = executor.map(partial(_compute_and_write, function), [item], *shared, needed=needed)
                found = _keep(item, again)
            if found is None:
                raise OSError(message(f"the file {str(item.path)!r}", "one that can be read back after it is written"))
            yield found


@dataclass(frozen=True)
class _Item:
    """A block, where its arrays go, and what the folder there is known by."""

    block: RowBlock
    path: Path
    mark: str

    def is_here(self) -> bool:
        """Whether this process sees the folder, and not another of the same name on another machine."""
        try:
            return (self.path.parents[1] / _MARK).read_text() == self.mark and self.path.parent.is_dir()
        except OSError:
            return False


def _compute_and_write(function: Callable[..., Arrays], item: _Item, *shared: Any) -> Arrays | None:
    """Return the arrays only where they cannot be written."""
    found = function(item.block, *shared)
    if not item.is_here():
        return found
    try:
        _write(item.path, found)
    except OSError as error:
        if error.errno in _NOT_OURS:
            return found
        raise
    return None


def _keep(item: _Item, found: Arrays | None) -> Arrays | None:
    """Return the arrays of a block that a worker has written, or write what it has sent."""
    if found is None:
        return _read(item.path) if _appears(item.path) else None
    _write(item.path, found)
    return found


def _appears(path: Path) -> bool:
    """Wait for a file that another machine has written: a folder in a network may show it some time later."""
    end = time.monotonic() + _LATE
    while not path.exists() and time.monotonic() < end:
        os.listdir(path.parent)  # asks the server again
        time.sleep(0.05)
    return path.exists()


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
        raise TypeError(message(f"the stage {path.stem!r}", "arrays of numbers"))
    try:
        with atomic_write(path) as file:
            np.savez(file, **arrays)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        what, rule = f"folder {str(path.parent)!r}", "on a disk with room for the results"
        remedy = "Make room and start the same call again: it goes on with what is there."
        raise OSError(error.errno, message(what, rule, fact=os.strerror(error.errno or 0), remedy=remedy)) from error


def _read(path: Path) -> Arrays | None:
    """Return the arrays of a file; None, with a warning, if it is damaged: its checksums are compared."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
            if not all(isinstance(array, np.ndarray) for array in found.values()):
                raise ValueError("it holds more than arrays")
            return found
    except (*DAMAGE, *_OF_HEADERS, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a place before the start of the file
            raise
        warn(f"the file {str(path)!r} is damaged ({error}) and computed again.", GnomonWarning)
        return None


def _check_same_run(folder: Path, run: Mapping[str, Any]) -> None:
    written, known = folder / _RUN, json.loads(json.dumps(dict(run)))
    if not written.exists():
        with atomic_write(written, "w") as file:
            json.dump(known, file, indent=1)
        return
    what, rule, remedy = f"folder {str(folder)!r}", "empty or of this run", "Choose another folder, or remove it."
    try:
        before = dict(json.loads(written.read_text()))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(message(what, rule, fact=f"{_RUN} there is no record of a run", remedy=remedy)) from error
    if fact := first_difference(before, known):
        raise ValueError(message(what, rule, fact=fact, remedy=remedy))


def first_difference(before: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Return a clause on what of a run is not what was written down of an earlier one; empty where all is the same."""
    other = sorted(name for name in before.keys() | known.keys() if before.get(name) != known.get(name))
    if not other:
        return ""
    old, new = before.get(other[0]), known.get(other[0])
    first = str(new).split(" ")[0]
    if str(old).split(" ")[0] == first != str(new):  # what the table is, then its size and checksums
        anew = f": {first} has been written anew since" if os.path.isabs(first) else " there"
        return f"{other[0]} was another{anew}"
    if any(isinstance(one, str) and _CHECKSUM.fullmatch(one) for one in (old, new)):  # of what was given
        name = other[0].removeprefix("given ")
        if old is None:
            return f"{name} was not given there and is now"
        return f"{name} was given there and is not now" if new is None else f"{name} was another there"
    return f"{other[0]} was {old!r:.80} there and is {new!r:.80} now"


class _Lock:
    """A folder that is this process's own until its last journal is gone; the system lifts the lock of the dead."""

    _held: ClassVar[WeakValueDictionary[Path, _Lock]] = WeakValueDictionary()

    @classmethod
    def of(cls, folder: Path) -> _Lock:
        """Return the lock of a folder: one for all journals of the process."""
        known = folder.resolve()
        lock = cls._held.get(known)
        if lock is None:
            lock = cls._held[known] = cls(known)
        return lock

    def __init__(self, folder: Path) -> None:
        self._file: IO[str] = open(folder / _LOCK, "a+")  # noqa: SIM115 # held open as long as the lock
        try:
            _hold(self._file)
        except BlockingIOError:
            self._file.seek(0)
            owner = self._file.read().strip()
            self._file.close()
            fact, remedy = f"process {owner or 'unknown'} uses it", "Wait for it, or choose another folder."
            raise BlockingIOError(
                message(f"folder {str(folder)!r}", "used by one run at a time", fact=fact, remedy=remedy)
            ) from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # it was not opened
            self._file.close()


def _hold(file: IO[str]) -> None:
    """Lock an open file, unless another process has; without locks on its disk two runs write the same bytes twice."""
    if sys.platform == "win32":
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BlockingIOError from error
