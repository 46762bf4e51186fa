"""`gnomon extend`: a saved map with new rows added, and how these differ from the old ones."""

from __future__ import annotations

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, data_document, given, json_text
from gnomon.cli.inputs import open_new_rows
from gnomon.cli.options import map_file, open_map, with_filling, with_json, with_threads
from gnomon.cli.outputs import check_outputs, tell, tell_files, write_map
from gnomon.cli.record import write_records

__all__ = ["extend"]

_TOLD = ("n_new", "n_blank", "unusual", "out_of_range", "shift", "refit", "reasons", "differences", "group", "labels")


@click.command("extend")
@map_file
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Write the page of the larger map.")
@click.option("--save", metavar="FILE", help="Write the larger map itself.")
@click.option("--labels", metavar="COL|FILE", help="Column of DATA that holds labels, or a file of one (.npy, .csv).")
@with_filling
@with_threads
@with_json
@entrance("gnomon extend")
def extend(
    map_path: str,
    data: str,
    output: str | None,
    save: str | None,
    labels: str | None,
    missing: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Add the rows of DATA to MAP, whose points stay where they are, and say whether they differ from the old ones.

    MAP is a file that `gnomon map --save` wrote, DATA a file as for `gnomon transform`, and --missing as there. What is
    said tells whether the map should be fitted again.
    """
    paths = given(html=output, map=save)
    check_outputs(paths, as_json=as_json)
    result = open_map(map_path, threads)
    if missing is not None:
        result = result.filling(missing)
    found: list[str] = []
    with collect_warnings(found):
        dataset = open_new_rows(result, data, labels=labels)
        grown, drift = result.extend(dataset)
        for kind, path in paths.items():
            write_map(grown, kind, path)
    write_records(paths, data=dataset, made=grown, source=map_path)
    if as_json:
        told = {name: getattr(drift, name) for name in _TOLD} | {"text": drift.summary()}
        document = {"data": data_document(dataset), "drift": told}
        click.echo(json_text({**document, "warnings": found, "files": paths}))
    else:
        tell(drift.summary(), paths)
        tell_files(paths)
