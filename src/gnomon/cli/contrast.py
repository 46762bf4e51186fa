"""`gnomon contrast`: what sets a selection apart."""

from __future__ import annotations

import click

from gnomon.cli.questions import as_json, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


@click.command("contrast")
@map_file
@click.option("--select", metavar="CONDITION", required=True, help="The rows, such as label=3, age>40 or rows=0:100.")
@click.option("--rest", metavar="CONDITION", help="The rows to compare with, all others by default.")
@n_top(10)
@threads
@as_json
def command(map_path: str, select: str, rest: str | None, top: int, threads: int | None, as_json: bool) -> None:
    """Say what sets some rows of MAP apart from the rest.

    MAP is a file that `gnomon map --save` wrote. A CONDITION compares the label, a column of metadata or a feature by
    =, !=, <, <=, > or >=, or lists rows; " & " joins several.
    """
    result = open_map(map_path, threads)
    chosen = result.select(select)
    others = None if rest is None else result.select(rest)
    print_answer(lambda: result.contrast(chosen, others).head(top), as_json)
