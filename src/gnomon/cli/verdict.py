"""`gnomon verdict`: questions that a map cannot answer by itself, judged in the data."""

from __future__ import annotations

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, json_text
from gnomon.cli.options import map_file, open_map, with_json, with_threads
from gnomon.cli.outputs import tell

__all__ = ["verdict"]

_QUESTIONS = {  # name of each, the method of the map that answers it, and how many groups it is about
    "apart": ("are_apart", 2),
    "continuum": ("is_continuum", 2),
    "real": ("is_real", 1),
    "denser": ("is_denser", 2),
    "nearer": ("is_nearer", 3),
    "gaps": ("verdicts", 0),
    "illusions": ("illusions", 0),
}


@click.command("verdict")
@map_file
@click.argument("question", type=click.Choice(list(_QUESTIONS)))
@click.argument("groups", nargs=-1)
@click.option("--max-rows", type=int, metavar="N", help="Rows looked at, at most; 1000 to tell gaps.")
@with_threads
@with_json
@entrance("gnomon verdict")
def verdict(
    map_path: str, question: str, groups: tuple[str, ...], max_rows: int | None, threads: int | None, as_json: bool
) -> None:
    """Judge in the data what MAP seems to show about GROUPS.

    Are A and B "apart", or one "continuum"? Is A "real", a group of its own? Is A "denser" than B, or "nearer" to B
    than to C? Without groups: which "gaps" that the map shows are in the data, and which of its sizes, densities and
    distances of labels are "illusions"? MAP is a file that `gnomon map --save` wrote. Groups are labels, or conditions
    such as "age>40" or "rows=0:100".
    """
    method, count = _QUESTIONS[question]
    if len(groups) != count:
        raise click.UsageError(f"{question} asks about {count} group{'s' * (count != 1)}, not {len(groups)}.")
    result = open_map(map_path, threads)
    options = {} if max_rows is None else {"max_rows": max_rows}
    with collect_warnings([]):
        found = getattr(result, method)(*groups, **options)
    tell(json_text(found.to_dict()) if as_json else str(found), {})
