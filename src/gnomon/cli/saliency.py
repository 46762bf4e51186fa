"""`gnomon saliency`: which pixels move a picture's point."""

from __future__ import annotations

import os

import click

from gnomon.cli.questions import as_json, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


@click.command("saliency", context_settings={"ignore_unknown_options": True})
@map_file
@click.argument("point", required=False)
@click.option("--select", metavar="CONDITION", help="Instead of POINT: the mean over these rows, such as label=3.")
@click.option("--toward", metavar="CONDITION", help="Give effects a sign: towards these rows, such as label=8.")
@click.option("-o", "--output", metavar="FILE", help="Write the figure (png, pdf, svg).")
@n_top(10)
@threads
@as_json
def command(
    map_path: str,
    point: str | None,
    select: str | None,
    toward: str | None,
    output: str | None,
    top: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say which pixels move POINT in MAP, and draw them as a picture.

    MAP is a file that `gnomon map --save` wrote of data whose rows are pictures.
    """
    from gnomon._files import check_writable
    from gnomon.cli.document import file_line

    if (point is None) == (select is None):
        raise click.UsageError("give POINT or --select, one of the two.")
    if output is not None:
        check_writable(output, who="gnomon saliency")
    result = open_map(map_path, threads)
    of = result.find(point) if point is not None else result.select(select)
    target = None if toward is None else result.select(toward)
    found = result.saliency(of, toward=target)
    if output is not None:
        result.plot_saliency(output, found, of)
    print_answer(lambda: found.head(top), as_json)
    if output is not None and not as_json:
        click.echo(file_line(output, os.path.getsize(output)))
