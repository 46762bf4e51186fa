"""`--config run.toml`: options of a command from a file; what the command line says counts more."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gnomon._validation import message
from gnomon.cli.names import joined_names
from gnomon.cli.options import option_name

__all__ = ["with_config"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def with_config(command: _Command) -> _Command:
    """Add the option for a file of options."""
    text = "Options from a TOML file, such as n-neighbors = 30; those typed count more."
    return click.option("--config", metavar="FILE", is_eager=True, expose_value=False, callback=_read, help=text)(
        command
    )


def _read(ctx: click.Context, param: click.Parameter, path: str | None) -> None:
    """Make the entries of a file the defaults of a command."""
    if path is None:
        return
    who, what = f"gnomon {ctx.info_name}", f"--config={path!r}"
    try:
        with open(path, "rb") as file:
            entries = tomllib.load(file)
    except OSError as error:
        raise OSError(message(what, "a readable file", fact=error.strerror or str(error), who=who)) from error
    except ValueError as error:  # also of bytes that are no UTF-8
        raise ValueError(message(what, "a TOML file", fact=str(error), who=who)) from error
    names = {option_name(one): one for one in ctx.command.params if one is not param}
    found: dict[str, Any] = {}
    for key, value in entries.items():
        if key.replace("_", "-") not in names:
            fact = f"it has {key!r}; options: {', '.join(names)}"
            raise ValueError(message(what, "of options of the command alone", fact=fact, who=who))
        one = names[key.replace("_", "-")]
        found[str(one.name)] = _as_typed(value, several=one.multiple if isinstance(one, click.Option) else False)
    ctx.default_map = found


def _as_typed(value: Any, *, several: bool) -> Any:
    """Return an entry as one would type it: lists with commas, a table as NAME=VALUE for an option that is repeated."""
    if isinstance(value, dict):
        return [f"{name}={one!r}" for name, one in value.items()]
    if isinstance(value, list) and not several:
        return joined_names(value)
    return value
