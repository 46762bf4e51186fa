"""`gnomon export`: the points of a saved map for other programs."""

from __future__ import annotations

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings
from gnomon.cli.options import map_file, open_map, with_forgetting, with_threads, without_forgotten
from gnomon.cli.outputs import check_outputs, destination, tell_files
from gnomon.cli.record import write_records

__all__ = ["export"]


@click.command("export")
@map_file
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="A file (.csv, .parquet, .h5ad) or a folder, ending in /."
)
@with_forgetting
@with_threads
@entrance("gnomon export")
def export(map_path: str, output: str, forget: list[str] | None, no_metadata: bool | None, threads: int | None) -> None:
    """Write the points of MAP: name, place, label, metadata, scores of each point and r2.

    MAP is a file that `gnomon map --save` wrote. An .h5ad file holds the data too, a folder the files of TensorBoard's
    projector; - is a .csv file on standard output.
    """
    from gnomon.maps.export import is_folder

    kind = "folder" if is_folder(output) else "table"
    check_outputs({kind: output})
    result = without_forgotten(open_map(map_path, threads), forget, no_metadata)
    with collect_warnings([]), destination(kind, output) as file:
        written = result.export(file)
    write_records({kind: output}, made=result, source=map_path)
    tell_files({path: path for path in written} if output != "-" else {})
