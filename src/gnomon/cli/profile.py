"""`gnomon profile`: what tells the labels of a map apart."""

from __future__ import annotations

import click

from gnomon.cli.questions import as_json, map_file, n_top, open_map, print_answer, threads

__all__ = ["command"]


@click.command("profile")
@map_file
@click.option("--captions", is_flag=True, help="Only a caption for each label.")
@n_top(5)
@threads
@as_json
def command(map_path: str, captions: bool, top: int, threads: int | None, as_json: bool) -> None:
    """Say for each label of MAP what sets its rows apart.

    The features compare a label with all other rows; a caption tells it from each other label. MAP is a file that
    `gnomon map --save` wrote.
    """
    result = open_map(map_path, threads)
    if captions:
        print_answer(result.captions, as_json)
    else:
        print_answer(lambda: {label: profile.head(top) for label, profile in result.profiles().items()}, as_json)
