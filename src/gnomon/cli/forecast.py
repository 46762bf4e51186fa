"""`gnomon forecast`: what a map would take, before it is begun."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon._memory import available_memory, in_bytes
from gnomon._validation import message
from gnomon.cli.console import collect_warnings, json_text
from gnomon.cli.inputs import open_data
from gnomon.cli.options import with_json, with_method

__all__ = ["forecast"]


def _shape(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Turn ROWSxCOLUMNS into two numbers."""
    if value is None:
        return None
    sizes = value.lower().replace(",", "").replace("_", "").split("x")
    if len(sizes) != 2 or not all(size.isdecimal() for size in sizes):
        raise click.BadParameter(f"{value!r} must be ROWSxCOLUMNS, such as 1000000x50.")
    return tuple(map(int, sizes))


@click.command("forecast")
@click.argument("data", required=False)
@click.option("--shape", metavar="ROWSxCOLUMNS", callback=_shape, help="Of a table instead of DATA: 1000000x50.")
@click.option(
    "--then",
    multiple=True,
    type=click.Choice(["explanation", "evaluation", "page", "file"]),
    help="What is made of the map, such as page; may be repeated. The page needs explanation and evaluation.",
)
@with_method
@with_json
@entrance("gnomon forecast")
def forecast(
    data: str | None,
    shape: tuple[int, ...] | None,
    then: tuple[str, ...],
    method: str,
    extra: dict[str, Any],
    as_json: bool,
) -> None:
    """Say how much memory and time a fit of DATA would take, by stage; DATA are not fitted.

    DATA is read as by `gnomon map`; with --shape there need be no data. Memory is that beyond the table. Time is at the
    pace of this machine, which small fits of a third of a second measure.
    """
    from gnomon.maps.forecasting import forecast as foresee

    if (data is None) == (shape is None):
        raise ValueError(message("DATA and --shape", "given one without the other"))
    if shape is None:
        with collect_warnings([]):
            dataset = open_data(str(data), missing="keep")
        shape = (dataset.n_samples, dataset.n_features)
    found = foresee(shape, method, then=then, **extra)
    if as_json:
        time = {"seconds": found.seconds, "between": found.between, "elapsed": found.elapsed}
        told = {"method": method, "shape": shape, **asdict(found), **time, "free": available_memory()}
        click.echo(json_text(told))
        return
    click.echo(f"{method}, {shape[0]:,} rows of {shape[1]:,} numbers: {found}")
    click.echo(f"{in_bytes(available_memory())} are free.")
