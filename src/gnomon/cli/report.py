"""`gnomon report`: from a saved map to a report that prints."""

from __future__ import annotations

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, given
from gnomon.cli.options import map_file, open_map, with_forgetting, with_threads, without_forgotten
from gnomon.cli.outputs import check_outputs, destination, tell_files
from gnomon.cli.record import write_records

__all__ = ["report"]


@click.command("report")
@map_file
@click.option("-o", "--output", metavar="FILE", required=True, help="The report, one HTML file that opens offline.")
@click.option("--data", metavar="FILE", multiple=True, help="A file to name with its checksum; may be repeated.")
@click.option("--runs", type=click.IntRange(2), help="Make the map so many times more, and say what of it stays.")
@click.option("--title", help="Title; by default the name of the map.")
@with_forgetting
@with_threads
@entrance("gnomon report")
def report(
    map_path: str,
    output: str,
    data: tuple[str, ...],
    runs: int | None,
    title: str | None,
    forget: list[str] | None,
    no_metadata: bool | None,
    threads: int | None,
) -> None:
    """Write all that is known of MAP as a report to read, to print and to hand to a reviewer.

    MAP is a file that `gnomon map --save` wrote. The report says what was mapped and how, how far to believe the map by
    every measure, what can be read in it and what not, what its classes and axes mean, and how to make it again.
    """
    paths = {"report": output}
    check_outputs(paths)
    result = without_forgotten(open_map(map_path, threads), forget, no_metadata)
    with collect_warnings([]), destination("report", output) as file:
        options = given(stability=None if runs is None else result.stability(runs))
        result.write_report(file, title=title, files=[map_path, *data], **options)
    write_records(paths, made=result, source=map_path)
    tell_files(paths)
