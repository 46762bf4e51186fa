"""`gnomon show`: from a saved map to a page."""

from __future__ import annotations

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, given
from gnomon.cli.options import map_file, open_map, with_forgetting, with_page, with_threads, without_forgotten
from gnomon.cli.outputs import check_outputs, page_options, tell_files, write_map
from gnomon.cli.record import write_records

__all__ = ["show"]


@click.command("show")
@map_file
@click.option("-o", "--output", metavar="FILE", help="Write the interactive map, one HTML file that opens offline.")
@click.option("--png", metavar="FILE", help="Write a picture of the map (png, pdf, svg, jpg).")
@click.option("--title", help="Title; by default the name of the map.")
@with_page
@with_forgetting
@with_threads
@entrance("gnomon show")
def show(
    map_path: str,
    output: str | None,
    png: str | None,
    title: str | None,
    byte_budget: int | None,
    side_file: bool,
    forget: list[str] | None,
    no_metadata: bool | None,
    threads: int | None,
) -> None:
    """Write the page or the picture of MAP, a file that `gnomon map --save` wrote."""
    paths = given(html=output, png=png)
    if not paths:
        raise click.UsageError("give -o FILE or --png FILE, or both.")
    check_outputs(paths)
    page = page_options(paths, byte_budget, side_file=side_file)
    result = without_forgotten(open_map(map_path, threads), forget, no_metadata)
    with collect_warnings([]):
        for kind, path in paths.items():
            write_map(result, kind, path, title=title, **page)
    write_records(paths, made=result, source=map_path)
    tell_files(paths)
