"""`gnomon recommend`: which method and parameters for a table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.config import with_config
from gnomon.cli.console import ProgressBar, collect_warnings, data_document, given, json_text
from gnomon.cli.inputs import prepare_data
from gnomon.cli.names import joined_names
from gnomon.cli.options import (
    scale_given,
    with_columns,
    with_data,
    with_json,
    with_missing,
    with_scale,
    with_threads,
)
from gnomon.cli.outputs import check_outputs, destination, tell, tell_files, tell_notes
from gnomon.cli.record import write_records

__all__ = ["recommend"]


def _reading(source: Mapping[str, Any], **more: str | None) -> str:
    """Return the options that read the same columns as they are written on the command line."""
    written = dict(source)
    for columns in ("features", "drop"):
        if source[columns] is not None:
            written[columns] = joined_names(source[columns])
    if source["images"] is not None:
        height, width, *colours = source["images"]
        written["images"] = "x".join(map(str, (width, height, *colours)))
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in given(**written, **more).items())


@click.command("recommend")
@click.argument("data")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Methods to choose from, the simplest first.")
@click.option(
    "--criterion", metavar="NAME", help="What the map is to be good at, neighborhood_preservation by default."
)
@click.option("--n-components", type=int, help="Dimensions of the map, 2 by default.")
@click.option("--n-seeds", type=int, help="Fits of each map that may be taken, 2 by default.")
@click.option(
    "--max-rows", type=int, help="Rows of the random sample of a longer table that is mapped, 5000 by default."
)
@click.option("--metric", help="Distance between rows, such as cosine or 'periodic(360)'; euclidean by default.")
@click.option("--png", metavar="FILE", help="Write a picture of the curves and the map.")
@with_data
@with_columns
@with_scale
@with_missing
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same answer.")
@with_threads
@with_config
@with_json
@click.option("--quiet", is_flag=True, help="Show no progress and no report.")
@entrance("gnomon recommend")
def recommend(
    data: str,
    methods: tuple[str, ...],
    criterion: str | None,
    n_components: int | None,
    n_seeds: int | None,
    max_rows: int | None,
    metric: str | None,
    png: str | None,
    scale: str | None,
    missing: str | None,
    seed: int,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **source: Any,
) -> None:
    """Choose method and parameters for DATA, without its labels, and say why.

    DATA is a file or the name of a data set, as for `gnomon map`. Maps by each method and over its parameters are
    compared; the simplest that is about as good as the best is taken. Labels colour the picture alone.
    """
    from gnomon.comparison import recommend as choose
    from gnomon.maps.fitting import rows_to_map

    paths = given(png=png)
    check_outputs(paths, as_json=as_json)
    found: list[str] = []
    with collect_warnings(found):
        prepared = prepare_data(data, missing, seed=seed, **given(**source))
        rows, notes = rows_to_map(prepared, **scale_given(scale), metric=metric or "euclidean", seed=seed)
        with ProgressBar(sys.stderr, enabled=sys.stderr.isatty() and not quiet) as bar:
            recommendation = choose(
                rows,
                labels=prepared.labels,
                scale=None,
                random_state=seed,
                n_jobs=threads,
                callback=bar,
                **given(
                    methods=methods or None,
                    criterion=criterion,
                    n_components=n_components,
                    n_seeds=n_seeds,
                    max_rows=max_rows,
                    metric=metric,
                ),
            )
        for kind, path in paths.items():
            with destination(kind, path) as file:
                recommendation.plot().save(file, dpi=150)
        write_records(paths, data=prepared.data)
    if as_json:
        about = {**data_document(prepared.data), "notes": notes}
        document = {"data": about, "recommendation": recommendation.to_dict()}
        click.echo(json_text({**document, "warnings": found, "files": paths}))
    elif not quiet:
        chosen = recommendation
        own = {name: value for name, value in chosen.parameters.items() if name != "metric"}
        written = "".join(f" -p {name}={value}" for name, value in own.items())
        command = (
            f"gnomon map {data} -o map.html --method {chosen.method} --n-components {chosen.n_components}{written}"
        )
        if "metric" in chosen.parameters:
            command += f" --metric {shlex.quote(chosen.parameters['metric'])}"
        command += _reading(source, scale=scale, missing=missing)
        tell(f"{recommendation.summary()}\n\n{command}", paths)
        tell_notes(notes, paths, warned=found)
        tell_files(paths)
