"""Names of columns as an option has them: with commas between, one that holds a comma or ends in a space in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

__all__ = ["joined_names", "split_names"]

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|$)')


def split_names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """Split names at commas; one in quotes may hold a comma, and keeps the spaces around it."""
    if value is None or not value.strip():
        return None if value is None else []
    names = []
    for found in _NAME.finditer(value):
        names.append(found[2].strip() if found[1] is None else found[1].replace('""', '"'))
        if not found[3]:  # the end
            break
    return names


def joined_names(names: Iterable[str]) -> str:
    """Write names as `split_names` reads them."""
    return ",".join(map(_quoted, names))


def _quoted(name: str) -> str:
    if name and name == name.strip() and not any(sign in name for sign in ',"\n\r'):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
