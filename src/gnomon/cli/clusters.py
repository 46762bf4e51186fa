"""`gnomon clusters`: clusters of data or of a saved map, named by features."""

from __future__ import annotations

from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, given, json_text
from gnomon.cli.inputs import empty_cells, open_data
from gnomon.cli.options import (
    open_map,
    scale_given,
    with_columns,
    with_data,
    with_json,
    with_missing,
    with_scale,
    with_table,
    with_threads,
)
from gnomon.cli.outputs import tell

__all__ = ["clusters"]

_MAP = ".gnomon"


@click.command("clusters")
@click.argument("source", metavar="DATA|MAP")
@with_table
@with_data
@with_columns
@with_scale
@with_missing
@click.option(
    "--min-size", type=click.IntRange(20), help="Fewest rows of a cluster; by default it follows their number."
)
@click.option("--alpha", type=float, help="How often clusters may be claimed where there are none, 0.05 by default.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Chooses the rows held out.")
@with_threads
@with_json
@entrance("gnomon clusters")
def clusters(
    source: str,
    features: list[str] | None,
    drop: list[str] | None,
    scale: str | None,
    missing: str | None,
    min_size: int | None,
    alpha: float | None,
    seed: int,
    threads: int | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find clusters of DATA or MAP at nested levels, shown in rows held out, and name them by features.

    MAP is a file that `gnomon map --save` wrote, its name ends in .gnomon; anything else is DATA, read and standardised
    as by `gnomon map`. Clusters are of the data: a map's positions play no part.
    """
    notes: list[str] = []
    with collect_warnings(notes):
        if source.endswith(_MAP):
            stated = given(**reading, features=features, drop=drop, scale=scale, missing=missing)
            if stated:
                raise click.UsageError(
                    f"--{next(iter(stated)).replace('_', '-')} is for DATA; a map has its rows and labels."
                )
            result = open_map(source, threads)
        else:
            from gnomon import map as make_map

            table = open_data(source, **given(**reading), missing=empty_cells(missing))
            how = given(features=features, drop=drop, missing=missing) | scale_given(scale)
            result = make_map(table, "pca", n_jobs=threads, **how)
        found = result.clusters(**given(min_size=min_size, alpha=alpha), random_state=seed)
    tell(json_text(found.to_dict()) if as_json else found.summary(), {})
