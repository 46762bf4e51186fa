"""`gnomon explain` and `gnomon evaluate`: maps whose positions were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gnomon._entrance import entrance
from gnomon.cli.config import with_config
from gnomon.cli.console import collect_warnings, data_document, given, json_text
from gnomon.cli.inputs import empty_cells, open_data, read_positions
from gnomon.cli.options import with_columns, with_data, with_json, with_missing, with_threads
from gnomon.cli.outputs import check_outputs, destination, tell, tell_files, tell_notes, write_map
from gnomon.cli.record import write_records

__all__ = ["evaluate", "explain"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _given_map(command: _Command) -> _Command:
    """Add the arguments X and Y and the options that make a map of them."""
    for option in (
        with_json,
        with_config,
        with_threads,
        click.option("--metric", default="euclidean", show_default=True, help="Distance between rows of X."),
        with_missing,
        with_columns,
        with_data,
        click.argument("positions", metavar="Y"),
        click.argument("data", metavar="X"),
    ):
        command = option(command)
    return command


def _make(
    data: str,
    positions: str,
    metric: str,
    threads: int | None,
    missing: str | None,
    features: list[str] | None,
    drop: list[str] | None,
    **reading: Any,
) -> tuple[Any, Any]:
    """Return the data set and the map of it."""
    import numpy as np

    from gnomon.data.columns import encode_dataset
    from gnomon.maps import Map
    from gnomon.maps.prepare import Reading, prepare
    from gnomon.maps.representation import resolve, told_of_coordinates

    given_rows = encode_dataset(open_data(data, **reading, missing=empty_cells(missing)), features, drop)
    prepared = prepare(given_rows, Reading(missing=missing or "distance", metric=metric))
    found, table, places = prepared.data, prepared.table, read_positions(positions)
    if found.n_samples < given_rows.n_samples == len(places):  # rows that lack a value are left out
        places = places[~np.isnan(np.asarray(given_rows.X)).any(axis=1)]
    coordinates = resolve(found.representation, table.values, table.values, metric=metric, seed=0)
    parts = given(
        feature_names=table.feature_names,
        images=found.images if found.image_shape is None else None,  # pixels are drawn from the features
        label_name=found.label_name,
    )
    return found, Map(
        table,
        places,
        labels=found.labels,
        image_shape=found.image_shape,
        metadata=found.metadata,
        point_names=found.point_names,
        metric=metric,
        columns=found.columns,
        representation=coordinates,
        completion=prepared.completion,
        notes=[*found.notes, *prepared.told, *told_of_coordinates(found.representation, coordinates)],
        name=found.name,
        n_jobs=threads,
        **parts,
    )


@click.command("explain")
@_given_map
@click.option("-o", "--output", metavar="FILE", help="Write the interactive map, one HTML file that opens offline.")
@click.option("--png", metavar="FILE", help="Write a picture of the map.")
@click.option("--save", metavar="FILE", help="Write the map itself, for the questions.")
@click.option("--title", help="Title of the HTML page.")
@entrance("gnomon explain")
def explain(
    data: str,
    positions: str,
    output: str | None,
    png: str | None,
    save: str | None,
    title: str | None,
    metric: str,
    threads: int | None,
    missing: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Explain the positions Y of the rows of X by the features of X, and say how far to trust them.

    X is as DATA of `gnomon map`. Y is a file (.npy, .csv, ...) with one row for each row of X, in the same order: its
    columns x, y and z if it has them, else two or three columns.
    """
    paths = given(html=output, png=png, map=save)
    check_outputs(paths, as_json=as_json)
    found: list[str] = []
    with collect_warnings(found):
        dataset, result = _make(data, positions, metric, threads, missing, **reading)
        for kind, path in paths.items():
            write_map(result, kind, path, title=title)
        write_records(paths, data=dataset, made=result)
        answer = result.to_dict() if as_json else result.report(notes=False)
    if as_json:
        click.echo(json_text({"data": data_document(dataset), "map": answer, "warnings": found, "files": paths}))
    else:
        tell(answer, paths)
        tell_notes(result.notes, paths, warned=found)
        tell_files(paths)


@click.command("evaluate")
@_given_map
@click.option("--all", "every", is_flag=True, help="Every measure, by the four qualities of a map, with intervals.")
@click.option("--png", metavar="FILE", help="Write a figure of every measure (png, pdf, svg, jpg); implies --all.")
@entrance("gnomon evaluate")
def evaluate(
    data: str,
    positions: str,
    every: bool,
    png: str | None,
    metric: str,
    threads: int | None,
    missing: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Say how far to trust the positions Y of the rows of X, beside a map that knows nothing of X.

    X and Y are as for `gnomon explain`.
    """
    paths = given(png=png)
    check_outputs(paths, as_json=as_json)
    found: list[str] = []
    with collect_warnings(found):
        dataset, result = _make(data, positions, metric, threads, missing, **reading)
        evaluation = result.scorecard() if every or png else result.evaluate()
        for kind, path in paths.items():
            with destination(kind, path) as file:
                _save_scorecard(file, evaluation, result.name)
        write_records(paths, data=dataset, made=result)
    if as_json:
        document = {"data": data_document(dataset), "evaluation": evaluation.to_dict(), "warnings": found}
        click.echo(json_text(document if not paths else {**document, "files": paths}))
    else:
        tell(evaluation.summary(), paths)
        tell_files(paths)


def _save_scorecard(path: str, evaluation: Any, name: str) -> None:
    from gnomon.plot import save_scorecard

    save_scorecard(path, evaluation, title=name or None)
