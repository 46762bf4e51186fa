"""`gnomon methods`: what makes each method."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest

import click

from gnomon.cli.console import json_text

__all__ = ["methods"]

_NARROWEST, _WIDEST = 80, 140  # columns of a table; narrower ones would break words
_GAP = 2


@click.command("methods")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def methods(as_json: bool) -> None:
    """List the methods: the four choices that make each, its class in Python, its paper and its limits.

    d is the distance in the map.
    """
    from gnomon.methods.registry import METHODS

    if as_json:
        click.echo(json_text({"methods": [asdict(card) for card in METHODS]}))
        return
    width = min(max(shutil.get_terminal_size((100, 24)).columns, _NARROWEST), _WIDEST)
    for names in (("affinity", "kernel", "loss", "optimizer"), ("estimator", "paper"), ("limits",)):
        if names[0] != "affinity":
            click.echo()
        rows = [["method", *names], *([getattr(card, name) for name in ("name", *names)] for card in METHODS)]
        click.echo("\n".join(_table(rows, width)))


def _table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the lines of a table no wider than `width`, its cells wrapped, never inside a word."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    least = [max(len(word) for row in rows for word in row[j].split()) for j in range(len(rows[0]))]
    while sum(widths) + _GAP * (len(widths) - 1) > width:
        j = max(range(len(widths)), key=lambda j: (widths[j] > least[j], widths[j]))
        if widths[j] <= least[j]:
            break
        widths[j] -= 1
    lines = []
    for row in rows:
        cells = [
            textwrap.wrap(cell, w, break_long_words=False, break_on_hyphens=False)
            for cell, w in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (part.ljust(w) for part, w in zip(parts, widths, strict=True))
            lines.append((" " * _GAP).join(padded).rstrip())
    return lines
