"""`gnomon compare`: how alike two maps of the same rows are."""

from __future__ import annotations

from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, given, json_text
from gnomon.cli.inputs import read_positions
from gnomon.cli.options import open_map, with_json, with_threads

__all__ = ["compare"]


def _positions(path: str) -> Any:
    return open_map(path).embedding if path.lower().endswith(".gnomon") else read_positions(path)


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--n-neighbors", type=int, help="Neighbours that two measures look at, 10 by default.")
@click.option("--whiten", is_flag=True, help="Bring the axes of each map to the same length first.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of samples and permutations.")
@with_threads
@with_json
@entrance("gnomon compare")
def compare(
    a: str, b: str, n_neighbors: int | None, whiten: bool, seed: int, threads: int | None, as_json: bool
) -> None:
    """Say how alike A and B are, two maps of the same rows, by several measures beside what chance gives.

    Each is a file that `gnomon map --save` wrote, or positions as for `gnomon explain`. No measure depends on shifts,
    turns and scale.
    """
    from gnomon.evaluation import compare_embeddings

    with collect_warnings([]):
        one, other = _positions(a), _positions(b)
        found = compare_embeddings(
            one, other, whiten=whiten, random_state=seed, n_jobs=threads, **given(n_neighbors=n_neighbors)
        )
    click.echo(json_text(found.to_dict()) if as_json else str(found))
