"""`gnomon transform`: new rows in a saved map."""

from __future__ import annotations

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, data_document, json_text
from gnomon.cli.inputs import open_new_rows
from gnomon.cli.options import OF_LANDMARKS, open_map, with_filling, with_json, with_threads
from gnomon.cli.outputs import check_outputs, tell, tell_files, write_coordinates
from gnomon.cli.record import write_records

__all__ = ["transform"]


@click.command("transform")
@click.argument("map_path", metavar="MAP")
@click.argument("data")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the places (.csv or .npy); - is standard output, the default."
)
@with_filling
@click.option(
    "--place",
    "as_placed",
    is_flag=True,
    help="Place rows as the method does, and as a map of landmarks placed its other rows.",
)
@with_threads
@with_json
@entrance("gnomon transform")
def transform(
    map_path: str,
    data: str,
    output: str | None,
    as_placed: bool,
    missing: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Place the rows of DATA in MAP, a file that `gnomon map --save` wrote.

    DATA is a file as for `gnomon map`, with the columns of the map's table; further columns are left out. Each row gets
    its place by itself, whatever else is in the file. Missing values are filled in as in the map if that had any, else
    as --missing says. Of an h5ad file the layer is read, or raw, of which the map was made.
    The table has those columns of DATA, such as an identifier, that the map keeps though they are no features.

    Places are smooth functions of the rows. A map of landmarks placed its other rows in the way of its method:
    --place does the same with new ones.
    """
    paths = {"coordinates": output or "-"} if output or not as_json else {}
    check_outputs(paths, as_json=as_json)
    result = open_map(map_path, threads, of_landmarks=True)
    if missing is not None:
        result = result.filling(missing)
    from gnomon.maps.growing import columns_of_rows

    found: list[str] = []
    with collect_warnings(found):
        dataset = open_new_rows(result, data)
        places = result.place(dataset) if as_placed else result.transform(dataset)
        for path in paths.values():
            brought = columns_of_rows(result, dataset)
            used = {rule.name for rule in result.columns or () if rule.features}
            beside = {name: brought[name] for name in result.metadata if name in brought and name not in used}
            write_coordinates(path, places, dataset.point_names, beside)
    write_records(paths, data=dataset, made=result, source=map_path)
    if as_json:
        document = {"data": data_document(dataset), "points": dataset.point_names, "coordinates": places}
        click.echo(json_text({**document, "warnings": found, "files": paths}))
    else:
        of_landmarks = click.get_current_context().meta.get(OF_LANDMARKS, False)
        if of_landmarks and result.extension_kind == "atlas" and not as_placed:
            said = "Rows have smooth places, beside those that the map gave to rows that are no landmarks"
            tell(f"{said}; --place gives the latter.", paths)
        tell_files(paths)
