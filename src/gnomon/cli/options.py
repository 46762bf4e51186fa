"""What several commands do with their options and with the warnings of gnomon."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from gnomon.exceptions import GnomonWarning

__all__ = ["collect_warnings", "given", "picture_shape"]


def picture_shape(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Turn WIDTHxHEIGHT or WIDTHxHEIGHTx3 into (height, width) or (height, width, 3)."""
    if value is None:
        return None
    parts = value.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{value!r} must be WIDTHxHEIGHT, such as 28x28, or WIDTHxHEIGHTx3 for colours.")
    width, height, *colours = (int(part) for part in parts)
    return (height, width, *colours)


@contextmanager
def collect_warnings(found: list[str]) -> Iterator[None]:
    """Gather the warnings of gnomon, each once, and print them when the block ends, also by an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", GnomonWarning)
        try:
            yield
        finally:
            found += dict.fromkeys(" ".join(str(entry.message).split()) for entry in caught)
            for text in found:
                click.echo(f"Warning: {text}", err=True)


def given(**parameters: Any) -> dict[str, Any]:
    """Keep the parameters that the user gave, so that the defaults stay in one place, the library."""
    return {name: value for name, value in parameters.items() if value is not None}
