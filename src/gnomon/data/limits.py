"""What reading a file may take, and the one form of error for files that cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gnomon._memory import available_memory
from gnomon._validation import message

__all__ = ["allowed_memory", "allowed_seconds", "refuse_unreadable"]


def allowed_memory(path: str | os.PathLike[str]) -> int:
    """Return how many bytes reading a file may take: 1 GB and 40 times its size, at most what there is.

    Compression of real tables seldom saves more than nine tenths, and a table is held up to four times while it is
    read. What claims more is far more often damaged than honest.
    """
    return int(min(10**9 + 40 * os.path.getsize(path), available_memory()))


def allowed_seconds(path: str | os.PathLike[str]) -> int:
    """Return the processor time that reading a file may take, in seconds: 5 and one for each megabyte."""
    return 5 + os.path.getsize(path) // 10**6


@contextmanager
def refuse_unreadable(what: str, rule: str, *, errors: tuple[type[Exception], ...], remedy: str = "") -> Iterator[None]:
    """Turn what a library raises while it reads into the form of gnomon's errors.

    Parameters
    ----------
    what : str
        The file, such as ``"file 'table.npz'"``.
    rule : str
        What it must be.
    errors : tuple of exception types
        What the library raises; errors that are already in the form must be raised outside of the block.
    remedy : str, default=""
        One sentence.
    """
    try:
        yield
    except MemoryError as error:
        fact = "it needs more memory than there is"
        raise ValueError(message(what, rule, fact=fact, remedy=remedy)) from error
    except errors as error:
        lines = str(error).strip().splitlines()
        fact = lines[0].rstrip(". ") if lines else type(error).__name__
        raise ValueError(message(what, rule, fact=fact, remedy=remedy)) from error
