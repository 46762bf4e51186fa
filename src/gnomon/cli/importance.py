"""`gnomon importance`: which features move the points most."""

from __future__ import annotations

import click

from gnomon.cli.questions import as_json, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


@click.command("importance")
@map_file
@click.option("--select", metavar="CONDITION", help="Only these rows, such as label=3.")
@click.option("--by-label", is_flag=True, help="For each label by itself.")
@n_top(10)
@threads
@as_json
def command(map_path: str, select: str | None, by_label: bool, top: int, threads: int | None, as_json: bool) -> None:
    """Say which features move the points of MAP most, on average.

    MAP is a file that `gnomon map --save` wrote.
    """
    if select is not None and by_label:
        raise click.UsageError("--select and --by-label cannot be used together.")
    result = open_map(map_path, threads)
    if by_label:
        answers = result.importance_by_label()
        print_answer(lambda: {label: answer and answer.head(top) for label, answer in answers.items()}, as_json)
    else:
        rows = None if select is None else result.select(select)
        print_answer(lambda: result.importance(rows).head(top), as_json)
