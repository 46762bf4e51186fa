"""`gnomon forecast`: what a map would take, before it is begun."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon._memory import available_memory, check_budget, in_bytes
from gnomon._run import running
from gnomon._validation import message
from gnomon.cli.console import collect_warnings, given, json_text
from gnomon.cli.inputs import open_data
from gnomon.cli.large import is_stored, open_large, refuse_options, require_readable, why_in_blocks
from gnomon.cli.options import with_columns, with_data, with_json, with_method

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
    type=click.Choice(["explanation", "evaluation", "page", "report", "file"]),
    help="What is made of the map, such as page; may be repeated. Page and report need explanation and evaluation.",
)
@click.option("--n-fitted", type=click.IntRange(3), help="Of a map of which so many rows are fitted, others placed.")
@click.option("--metric", help="Distance between rows, as of gnomon map.")
@click.option("--memory", metavar="SIZE", help="Most memory that the map may take beyond the table, such as 4G.")
@click.option("--workers", type=click.IntRange(1), help="Workers of a cluster that share the blocks of such a map.")
@with_data
@with_columns
@with_method
@with_json
@entrance("gnomon forecast")
def forecast(
    data: str | None,
    shape: tuple[int, ...] | None,
    then: tuple[str, ...],
    n_fitted: int | None,
    metric: str | None,
    memory: str | None,
    workers: int | None,
    method: str,
    extra: dict[str, Any],
    as_json: bool,
    **reading: Any,
) -> None:
    """Say how much memory and time a fit of DATA would take, by stage; DATA are not fitted.

    DATA is read as by `gnomon map`; with --shape there need be no data. Memory is that beyond the table. Time is at the
    pace of this machine, which small fits of a third of a second measure. A table that `gnomon map` reads in blocks is
    not read; one that does not fit in memory is forecast with as many landmarks as the map would have. With --memory
    the exit code is 2 where the map would be refused for what it takes.
    """
    from gnomon.maps.forecasting import forecast as foresee

    if (data is None) == (shape is None):
        raise ValueError(message("DATA and --shape", "given one without the other"))
    table: Any = shape
    if shape is None:
        table, shape = _opened(str(data), asked=n_fitted is not None, **given(**reading))
    elif useless := given(**reading):
        raise click.UsageError(
            f"--{next(iter(useless)).replace('_', '-')} says what of DATA is used; --shape has the columns used."
        )
    named = given(metric=metric)
    with running(memory=check_budget(memory, "--memory")):
        found = foresee(table, method, then=then, n_fitted=n_fitted, n_workers=workers, **named, **extra)
        free = available_memory()
        if as_json:
            time = {"seconds": found.seconds, "between": found.between, "elapsed": found.elapsed}
            click.echo(json_text({"method": method, "shape": shape, **asdict(found), **time, "free": free}))
        else:
            click.echo(f"{method}, {shape[0]:,} rows of {shape[1]:,} numbers: {found}")
            click.echo(f"{in_bytes(free)} {'are free' if memory is None else 'may be taken'}.")
        if memory is not None:
            found.check(shape[0])


def _opened(
    data: str,
    *,
    asked: bool,
    features: list[str] | None = None,
    drop: list[str] | None = None,
    obsm: str | None = None,
    **reading: Any,
) -> tuple[Any, tuple[int, ...]]:
    """Return a table that is read in blocks, or the shape of the features of one that is read whole, and its shape."""
    from gnomon.data.columns import encode_dataset

    if is_stored(data, asked=asked):
        from gnomon.data.stored import columns_of
        from gnomon.maps.landmarks.columns import features_in_blocks
        from gnomon.maps.prepare import Reading

        labels = reading.pop("labels", None)
        require_readable(data)
        refuse_options(reading, why_in_blocks(data, asked=asked))
        stored, _ = open_large(data, None, obsm=obsm)
        column = None if labels is None or labels.lower().endswith(".npy") else labels
        if features or drop or column in columns_of(stored):
            with collect_warnings([]):
                stored, _, _ = features_in_blocks(stored, Reading(features=features, drop=drop, column=column))
        return stored, stored.shape
    with collect_warnings([]):
        dataset = encode_dataset(open_data(data, missing="keep", obsm=obsm, **reading), features, drop)
    shape = dataset.n_samples, dataset.n_features
    return shape, shape
