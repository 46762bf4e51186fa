"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gnomon._validation import message

__all__ = ["atomic_write", "check_writable"]


def _create_beside(target: Path, mode: str, **options: Any) -> tuple[IO[Any], Path]:
    # A name of its own for each writer; "x" refuses to follow a link that someone else has put there.
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    return open(part, mode.replace("w", "x"), **options), part


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb", *, encoding: str | None = None) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete.

    What is written goes to a new file in the same folder, which replaces `path` when the block ends without an
    exception. On any exception, also an interrupt, the new file is removed and what was at `path` stays.

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
    """
    if mode not in ("w", "wb"):
        raise ValueError(message("atomic_write", f"mode={mode!r}", "'w' or 'wb'"))
    target = Path(os.path.realpath(path))
    options = {} if "b" in mode else {"encoding": encoding or "utf-8", "newline": "\n"}
    file, part = _create_beside(target, mode, **options)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a crash of the machine could leave the new name with no content
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def check_writable(path: str | os.PathLike[str], *, who: str = "gnomon") -> None:
    """Raise OSError if a file cannot be written; call it before a long computation.

    Parameters
    ----------
    path : str or path-like
        The file to be written later; nothing is left there.
    who : str, default="gnomon"
        Opens the error text.

    Raises
    ------
    FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError or OSError
        If the folder does not exist, is none, refuses new files, or if `path` is a folder.
    """
    target = Path(os.path.realpath(path))
    what = f"output file {str(path)!r}"
    if target.is_dir():
        raise IsADirectoryError(message(who, what, "a file", fact="it is a folder", remedy="Add a file name."))
    folder = target.parent
    if not folder.exists():
        raise FileNotFoundError(
            message(who, what, "in an existing folder", fact=f"no folder {str(folder)!r}", remedy="Create it first.")
        )
    if not folder.is_dir():
        raise NotADirectoryError(message(who, what, "in a folder", fact=f"{str(folder)!r} is a file"))
    try:
        file, part = _create_beside(target, "wb")
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(message(who, what, "writable", fact=reason, remedy="Choose another folder.")) from error
    file.close()
    part.unlink()
