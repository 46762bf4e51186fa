"""What the commands that ask questions of a saved map share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gnomon.cli.options import collect_warnings

__all__ = ["as_json", "coordinates", "map_file", "n_top", "open_map", "print_answer", "threads"]

Command = TypeVar("Command", bound=Callable[..., Any])


def map_file(command: Command) -> Command:
    """Add the argument MAP."""
    return click.argument("map_path", metavar="MAP")(command)


def n_top(default: int) -> Callable[[Command], Command]:
    """Add the option for the number of features."""
    text = "Features to list."
    return click.option("-n", "--top", type=click.IntRange(1), default=default, show_default=True, help=text)


def as_json(command: Command) -> Command:
    """Add the option for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command)


def threads(command: Command) -> Command:
    """Add the option for threads."""
    text = "Threads to use, all by default; the answer does not depend on it."
    return click.option("--threads", type=int, help=text)(command)


def coordinates(text: str) -> list[float]:
    """Turn X,Y into numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} must be numbers with commas between them, such as -1.5,2.") from None


def open_map(path: str, n_jobs: int | None = None) -> Any:
    """Read a map that `gnomon map --save` wrote."""
    from gnomon.maps import Map

    result = Map.load(path)
    result.n_jobs = n_jobs
    return result


def print_answer(ask: Callable[[], Any], json: bool) -> Any:
    """Ask, and print the answer: an object with ``to_dict`` and ``__str__``, or a dict of label to such objects."""
    from gnomon.cli.document import json_text

    with collect_warnings([]):
        answer = ask()
    several = isinstance(answer, dict)
    if json:
        document = {str(label): one and one.to_dict() for label, one in answer.items()} if several else answer.to_dict()
        click.echo(json_text(document))
    elif several:
        click.echo("\n\n".join(f"{label}\n{one}" for label, one in answer.items()))
    else:
        click.echo(str(answer))
    return answer
