"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["map_file", "open_map", "with_json", "with_threads"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def map_file(command: _Command) -> _Command:
    """Add the argument MAP."""
    return click.argument("map_path", metavar="MAP")(command)


def with_json(command: _Command) -> _Command:
    """Add the option for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command)


def with_threads(command: _Command) -> _Command:
    """Add the option for threads."""
    text = "Threads to use, all by default; the answer does not depend on it."
    return click.option("--threads", type=int, help=text)(command)


def open_map(path: str, n_jobs: int | None = None) -> Any:
    """Read a map that `gnomon map --save` wrote."""
    from gnomon.maps import Map

    result = Map.load(path)
    result.n_jobs = n_jobs
    return result
