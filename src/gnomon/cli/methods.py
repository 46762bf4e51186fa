"""`gnomon methods`: what makes each method."""

from __future__ import annotations

from dataclasses import asdict, fields

import click

__all__ = ["command"]


@click.command("methods")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the methods, the four choices that make each, and its paper.

    d is the squared distance in the map.
    """
    from gnomon.cli.document import json_text
    from gnomon.methods.catalogue import METHODS, MethodCard

    if as_json:
        click.echo(json_text({"methods": [asdict(card) for card in METHODS]}))
        return
    names = [field.name for field in fields(MethodCard)]
    rows = [["method", *names[1:]], *([getattr(card, name) for name in names] for card in METHODS)]
    widths = [max(len(row[j]) for row in rows) for j in range(len(names))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
