"""`gnomon axis`: what changes along a line through a map."""

from __future__ import annotations

import click

from gnomon.cli.options import given
from gnomon.cli.questions import as_json, coordinates, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


def _places(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[list[float]]:
    """Turn X,Y texts into places."""
    places = [coordinates(text) for text in values]
    if len({len(place) for place in places}) != 1:
        raise click.BadParameter("all places must have the same number of coordinates.")
    return places


@click.command("axis", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("places", metavar="X1,Y1 X2,Y2 ...", nargs=-1, required=True, callback=_places)
@click.option("--width", type=float, help="How far from the line points count; by default it follows their density.")
@click.option("--sort", "sort_by", type=click.Choice(["change", "push", "rho"]), help="What to sort by.")
@n_top(10)
@threads
@as_json
def command(
    map_path: str,
    places: list[list[float]],
    width: float | None,
    sort_by: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say what changes along the line through the places X1,Y1 X2,Y2 ... of MAP.

    MAP is a file that `gnomon map --save` wrote; the places are in its coordinates.
    """
    result = open_map(map_path, threads)
    print_answer(lambda: result.axis(places, **given(width=width, sort_by=sort_by)).head(top), as_json)
