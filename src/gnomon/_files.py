"""Files are written whole or not at all, and a writer that dies leaves nothing behind for long.

Where the system has files without a name (Linux, in most file systems), what is written has none until it is complete,
and vanishes with the process. Elsewhere it goes to a hidden part file beside the target, which the next writer of the
same target removes if its owner is dead. An owner holds a lock on its part file, which the system lifts at its death.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gnomon._validation import message

if sys.platform != "win32":
    import fcntl

__all__ = ["atomic_write", "check_writable", "file_checksum", "require_existing"]

# What a file system or a kernel without nameless files answers.
_NO_NAMELESS = {errno.EOPNOTSUPP, errno.ENOTSUP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS}
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}  # what a write meets on the way
_REMEDIES = {
    errno.EFBIG: ("within the limit on the size of files", "Raise the limit, ulimit -f, or write to another disk."),
    errno.ENOSPC: ("on a disk with room for it", "Make room, or write to another disk."),
}
_STALE_SECONDS = 3600.0  # where locks say nothing: a part file that was not touched for so long has no owner
_HOST = f"{zlib.crc32(platform.node().encode()):08x}"  # in a shared folder the locks of another machine may be unseen


def _part_prefix(target: Path) -> str:
    start = target.name.encode(errors="surrogateescape")[:200].decode(errors="ignore")  # a name has 255 bytes at most
    return f".{start}."


def _part_path(target: Path) -> Path:
    """Return a name that no other writer has, beside the target: a rename within a folder cannot be half done."""
    return target.with_name(f"{_part_prefix(target)}{_HOST}{secrets.token_hex(6)}.part")


def _is_old(status: os.stat_result) -> bool:
    return time.time() - status.st_mtime > _STALE_SECONDS


def _is_at(path: Path, descriptor: int) -> bool:
    """Say whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def _hold(part: Path, descriptor: int) -> bool:
        """Do nothing: an open file cannot be removed here."""
        return True

    def _remove_if_stale(part: Path, is_local: bool) -> None:
        """Remove a part file that no one has open, and that is too old to be on its way to its name."""
        if _is_old(part.stat()):
            part.unlink()

else:

    def _hold(part: Path, descriptor: int) -> bool:
        """Lock an open part file until it is closed; return False if another writer took it for stale before."""
        with contextlib.suppress(OSError):  # without locks no one can take it for stale
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        return _is_at(part, descriptor)

    def _remove_if_stale(part: Path, is_local: bool) -> None:
        """Remove a part file whose lock can be had: its owner is dead. Raise OSError where it cannot be had."""
        descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            status = os.fstat(descriptor)
            # Its owner may have renamed it to the target before the lock was had.
            if stat.S_ISREG(status.st_mode) and (is_local or _is_old(status)) and _is_at(part, descriptor):
                part.unlink()
        finally:
            os.close(descriptor)


def _remove_stale_parts(target: Path) -> None:
    """Remove the part files of writers of this target that are dead; those of others and of living ones stay."""
    name = re.compile(re.escape(_part_prefix(target)) + r"([0-9a-f]{8})[0-9a-f]{12}\.part")
    with contextlib.suppress(OSError):  # a folder that may not be listed
        for found in filter(None, map(name.fullmatch, os.listdir(target.parent))):
            with contextlib.suppress(OSError):  # a living writer holds it, or it is not ours to remove
                _remove_if_stale(target.with_name(found[0]), is_local=found[1] == _HOST)


def _open_nameless(folder: Path) -> int | None:
    """Open a new file of no name in a folder; None where the system has none."""
    if sys.platform != "linux":
        return None
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError as error:
        if error.errno in _NO_NAMELESS:
            return None
        raise
    if os.path.exists(f"/proc/self/fd/{descriptor}"):
        return descriptor
    os.close(descriptor)  # it could not be given a name
    return None


def _open_part(part: Path) -> int:
    """Open a new part file and lock it."""
    while True:
        # O_EXCL refuses to follow a link that someone else has put there.
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o666)
        if _hold(part, descriptor):
            return descriptor
        os.close(descriptor)


def _create_and_remove(part: Path) -> None:
    try:
        os.close(_open_part(part))
    finally:
        part.unlink(missing_ok=True)


def _name(descriptor: int, part: Path) -> None:
    """Lock a file of no name and give it one."""
    assert sys.platform == "linux"
    with contextlib.suppress(OSError):  # without locks no one can take it for stale
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    folder = os.open(part.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        # Only with the descriptor of a folder does Python let the system follow the link in /proc.
        os.link(f"/proc/self/fd/{descriptor}", part.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb", *, encoding: str | None = None) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete.

    What is written goes to a new file in the same folder, which replaces `path` when the block ends without an
    exception. On any exception, also an interrupt, the new file is removed and what was at `path` stays. If the process
    is killed, the new file vanishes with it where the system has files without a name; elsewhere, or where the kill
    falls on the moment in which it gets its name, a hidden file ``.NAME.*.part`` stays, which the next `atomic_write`
    of the same path removes.

    Parameters
    ----------
    path : str or path-like
        Where the file goes. A symbolic link stays a link; its target is replaced.
    mode : {"wb", "w"}, default="wb"
        Bytes or text.
    encoding : str, default=None
        Encoding of text; None is UTF-8.

    Yields
    ------
    file object
        Open for writing.

    Raises
    ------
    FileNotFoundError, NotADirectoryError or IsADirectoryError
        If there is no place for the file, before anything is written.
    OSError
        With the name of the file, also where the disk is full.
    """
    if mode not in ("w", "wb"):
        raise ValueError(message(f"mode={mode!r}", "'w' or 'wb'"))
    target = _target(path)
    options: dict[str, Any] = {} if "b" in mode else {"encoding": encoding or "utf-8", "newline": "\n"}
    _remove_stale_parts(target)
    part = _part_path(target)
    try:
        nameless = _open_nameless(target.parent)
        with open(_open_part(part) if nameless is None else nameless, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a crash of the machine could leave the new name with no content
            if nameless is not None:
                _name(file.fileno(), part)
            if target.exists():
                os.chmod(part, stat.S_IMODE(target.stat().st_mode))
            if sys.platform != "win32":  # while it is locked, so that no other writer takes it for stale
                os.replace(part, target)
        if sys.platform == "win32":  # an open file cannot be renamed
            os.replace(part, target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            error.filename = os.fspath(path)  # a write knows its descriptor alone
            if error.errno in _REMEDIES:
                rule, remedy = _REMEDIES[error.errno]
                told = message(f"output file {os.fspath(path)!r}", rule, fact=error.strerror or "", remedy=remedy)
                raise OSError(error.errno, told) from error
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if a file cannot be written; call it before a long computation.

    Parameters
    ----------
    path : str or path-like
        The file to be written later; nothing is left there.

    Raises
    ------
    FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError or OSError
        If the folder does not exist, is none, refuses new files, or if `path` is a folder.
    """
    target = _target(path)
    try:
        nameless = _open_nameless(target.parent)
        if nameless is not None:
            os.close(nameless)
        else:
            _create_and_remove(_part_path(target))
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(message(_named(path), "writable", fact=reason, remedy="Choose another folder.")) from error


def _named(path: str | os.PathLike[str]) -> str:
    return f"output file {os.fspath(path)!r}"


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to, or raise OSError if there is no place for one."""
    target, what = Path(os.path.realpath(path)), _named(path)
    if target.is_dir():
        raise IsADirectoryError(message(what, "a file", fact="it is a folder", remedy="Add a file name."))
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(
            message(what, "in an existing folder", fact=f"no folder {str(folder)!r}", remedy="Create it first.")
        )
    if not folder.is_dir():
        raise NotADirectoryError(message(what, "in a folder", fact=f"{str(folder)!r} is a file"))
    return target


def require_existing(path: str | os.PathLike[str], *, folders: bool = True) -> None:
    """Raise unless a file, or where `folders` are taken a folder, is there and can be read.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError or OSError
        Naming what is wrong, and files in the same folder whose names are near.
    """
    found = Path(path)
    what = f"file {str(found)!r}"
    if found.is_dir():
        if folders:
            return
        raise IsADirectoryError(message(what, "a file", fact="it is a folder"))
    if found.is_file():
        try:
            found.open("rb").close()
        except OSError as error:
            raise type(error)(message(what, "readable", fact=error.strerror or str(error))) from error
        return
    if found.exists():
        raise OSError(message(what, "a file or a folder" if folders else "a file", fact="it is a device or a pipe"))
    folder = found.parent
    if not folder.is_dir():
        raise FileNotFoundError(message(what, "there", fact=f"no folder {str(folder)!r}"))
    import difflib

    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    near = difflib.get_close_matches(found.name, names, 3, 0.6)
    remedy = f"Did you mean {' or '.join(repr(str(folder / name)) for name in near)}?" if near else ""
    fact = "no such file or folder" if folders else "no such file"
    raise FileNotFoundError(message(what, "there", fact=fact, remedy=remedy))


def file_checksum(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
