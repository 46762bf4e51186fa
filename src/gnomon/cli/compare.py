"""`gnomon compare`: how alike two maps of the same rows are, and a page of both beside each other."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, given, json_text
from gnomon.cli.inputs import read_positions
from gnomon.cli.options import open_map, with_json, with_table, with_threads
from gnomon.cli.outputs import check_outputs, destination, tell, tell_files

__all__ = ["compare"]


def _open(path: str) -> Any:
    return open_map(path) if path.lower().endswith(".gnomon") else read_positions(path)


def _names(a: str, b: str) -> list[str]:
    """Return what the page calls the maps: their files, in as few words as tell them apart."""
    stems = [PurePath(path).stem for path in (a, b)]
    paths = [os.path.splitext(path)[0] for path in (a, b)]
    return next((names for names in (stems, paths, [a, b]) if names[0] != names[1]), [f"{a} (1)", f"{b} (2)"])


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("-o", "--output", metavar="FILE", help="Write a page of both beside each other, with what moved most.")
@click.option("--title", help="Heading of the page.")
@click.option("--n-neighbors", type=int, help="Neighbours that are looked at, by default 10 and on the page 15.")
@click.option("--whiten", is_flag=True, help="Bring the axes of each map to the same length first.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of samples and permutations.")
@with_table
@with_threads
@with_json
@entrance("gnomon compare")
def compare(
    a: str,
    b: str,
    output: str | None,
    title: str | None,
    n_neighbors: int | None,
    whiten: bool,
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Say how alike A and B are, two maps of the same rows, by several measures beside what chance gives.

    Each is a file that `gnomon map --save` wrote, or positions as for `gnomon explain`. No measure depends on shifts,
    turns and scale. The page (-o) shows both maps, linked, and lists the points that changed most.
    """
    from gnomon.evaluation import compare_embeddings
    from gnomon.viewer import write_side_by_side

    paths = given(html=output)
    check_outputs(paths, as_json=as_json)
    with collect_warnings([]):
        maps = [_open(a), _open(b)]
        found = compare_embeddings(
            *(getattr(one, "embedding", one) for one in maps),
            whiten=whiten,
            random_state=seed,
            n_jobs=threads,
            **given(n_neighbors=n_neighbors),
        )
        for kind, path in paths.items():
            with destination(kind, path) as file:
                named = dict(zip(_names(a, b), maps, strict=True))
                write_side_by_side(file, named, n_neighbors=n_neighbors, n_jobs=threads, **given(title=title))
    if as_json:
        click.echo(json_text(found.to_dict() | ({"files": paths} if paths else {})))
    else:
        tell(str(found), paths)
        tell_files(paths)
