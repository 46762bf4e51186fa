"""`gnomon profile`: what tells the labels of a map apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gnomon.cli.questions import as_json, map_file, n_top, open_map, print_answer, threads

if TYPE_CHECKING:
    from gnomon.explanations import Caption

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
    if captions and as_json:
        print_answer(result.captions, as_json)
    elif captions:
        print_answer(lambda: _caption_table(result.captions()), False)
    else:
        print_answer(lambda: {label: profile.head(top) for label, profile in result.profiles().items()}, as_json)


def _caption_table(captions: dict[Any, Caption]) -> str:
    """Return one line a label: its caption, and the labels that it does not tell it from, if there are any."""
    from gnomon.explanations.table import format_table

    texts = {str(label): caption.text for label, caption in captions.items()}
    width = max(len(text) for text in texts.values())
    rows = [
        [label, text.ljust(width), ", ".join(map(str, caption.unseparated))]
        for (label, text), caption in zip(texts.items(), captions.values(), strict=True)
    ]
    if any(row[2] for row in rows):
        longest = max(len(row[2]) for row in rows)
        header = ["label", "caption".ljust(width), "hardly apart from".ljust(longest)]
        return format_table(header, [[*row[:2], row[2].ljust(max(longest, len(header[2])))] for row in rows])
    return format_table(["label", "caption".ljust(width)], [row[:2] for row in rows])
