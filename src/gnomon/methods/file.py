"""A fitted method in a file of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gnomon._archive import damaged_file, read_archive, write_archive
from gnomon._validation import message
from gnomon.methods.state import pack_method, unpack_method
from gnomon.storage import NotStorableError, check_names

if TYPE_CHECKING:
    from gnomon.methods.base import Embedder

__all__ = ["KIND", "load_method", "save_method"]

KIND = "gnomon-method"
_VERSION = 1


def save_method(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted method to a file; see `Embedder.save`."""
    try:
        arrays, about = pack_method(estimator)
    except NotStorableError as error:
        fact, remedy = (
            f"{error}, and a file holds no code",
            "Give parts by name or as objects of gnomon, callback=None.",
        )
        raise TypeError(message("the estimator", "one that a file can hold", fact=fact, remedy=remedy)) from None
    write_archive(path, kind=KIND, version=_VERSION, arrays=arrays, description=about)


def load_method(path: str | os.PathLike[str]) -> Embedder:
    """Read a fitted method that `save_method` wrote; raise ValueError if the file is anything else."""
    arrays, description = read_archive(path, kind=KIND, version=_VERSION, check=check_names)
    about = {name: value for name, value in description.items() if name not in ("kind", "version")}
    try:
        return unpack_method(about, arrays)
    except (TypeError, ValueError, OverflowError) as error:
        raise damaged_file(path, str(error).rstrip("."), kind=KIND) from error
