"""`gnomon why`: which features move a point."""

from __future__ import annotations

import click

from gnomon.cli.questions import as_json, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


@click.command("why", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point")
@n_top(5)
@threads
@as_json
def command(map_path: str, point: str, top: int, threads: int | None, as_json: bool) -> None:
    """Say which features move POINT in MAP, how far, and how sure that is.

    MAP is a file that `gnomon map --save` wrote. POINT is a row number, counted from 0, or a point's name.
    """
    result = open_map(map_path, threads)
    print_answer(lambda: result.why(result.find(point), top), as_json)
