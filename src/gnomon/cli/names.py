"""Names of columns as an option has them: with commas between, one that holds a comma in quotes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import click

__all__ = ["joined_names", "split_names"]


def split_names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """Split names at commas; one that holds a comma is in quotes."""
    return None if value is None else [name.strip() for name in next(csv.reader([value], skipinitialspace=True))]


def joined_names(names: Iterable[str]) -> str:
    """Write names as `split_names` reads them."""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(names)
    return written.getvalue()
