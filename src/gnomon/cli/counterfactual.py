"""`gnomon counterfactual`: what would have to change for a point to lie elsewhere."""

from __future__ import annotations

import click

from gnomon.cli.questions import as_json, coordinates, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


@click.command("counterfactual", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point")
@click.option("--target", metavar="CONDITION", help="Where it should lie: among these rows, such as label=3.")
@click.option("--position", metavar="X,Y", help="Where it should lie: at this place of the map.")
@n_top(10)
@threads
@as_json
def command(
    map_path: str,
    point: str,
    target: str | None,
    position: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what would have to change in POINT for it to lie elsewhere in MAP, and where the changed row truly lands.

    MAP is a file that `gnomon map --save` wrote. POINT is a row number, counted from 0, or a point's name.
    """
    if (target is None) == (position is None):
        raise click.UsageError("give --target or --position, one of the two.")
    result = open_map(map_path, threads)
    rows = None if target is None else result.select(target)
    place = None if position is None else coordinates(position)
    print_answer(lambda: result.counterfactual(result.find(point), rows, position=place).head(top), as_json)
