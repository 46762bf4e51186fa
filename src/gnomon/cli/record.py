"""`run.json` beside each output: by which command, parameters, seed, data and versions it came about."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Any

import click

from gnomon import __version__
from gnomon._files import atomic_write
from gnomon.cli.console import data_document, json_text
from gnomon.cli.options import option_name
from gnomon.cli.outputs import STDOUT

__all__ = ["write_records"]

# Where things go, how fast and how it is told says nothing about what comes out.
_APART = {
    "output",
    "png",
    "report",
    "save",
    "coordinates",
    "threads",
    "as_json",
    "no_verdicts",
    "quiet",
    "data",
    "map_path",
    "side_file",
    "cluster",
    "folder",
}


def write_records(paths: Mapping[str, str], *, data: Any = None, made: Any = None, source: str | None = None) -> None:
    """Write how outputs came about, as FILE.run.json beside each FILE, or run.json in a folder.

    It has neither times nor places, so that equal runs of equal versions write equal records.

    Parameters
    ----------
    paths : mapping of str to str
        The outputs by kind.
    data : Dataset or None, default=None
        What was read.
    made : Map or None, default=None
        The map that was made or loaded.
    source : str or None, default=None
        The file that the map was loaded from.
    """
    import numpy as np
    import scipy

    ctx = click.get_current_context()
    named = {param.name: option_name(param) for param in ctx.command.params if param.name not in _APART}
    given = {name: value for name, value in ctx.params.items() if name in named and value is not None}
    options = {named[name]: value for name, value in given.items()}
    document: dict[str, Any] = {"command": ctx.info_name, "options": options}
    if data is not None:
        document["data"] = data_document(data)
    if made is not None:
        document["map"] = {
            **({} if source is None else {"file": source}),
            "method": made.method,
            "parameters": made.parameters,
            "n_samples": made.n_samples,
            "n_features": made.n_features,
        }
    document["versions"] = {
        "gnomon": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
    for path in paths.values():
        if path != STDOUT:
            where = os.path.join(path, "run.json") if os.path.isdir(path) else f"{path}.run.json"
            with atomic_write(where, "w") as file:
                file.write(json_text(document) + "\n")
