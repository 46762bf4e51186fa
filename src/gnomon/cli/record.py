"""`run.json` beside each output: by which command, parameters, seed, data and versions it came about."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Any

import click

from gnomon import __version__
from gnomon._files import atomic_write, file_checksum
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
_UNTOLD = {"callback", "n_jobs", "verbose"}  # they change no map


def write_records(paths: Mapping[str, str], *, data: Any = None, made: Any = None, source: str | None = None) -> None:
    """Write how outputs came about, as FILE.run.json beside each FILE, or run.json in a folder.

    It has neither times nor places of outputs, so that equal runs of equal versions write equal records.

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

    if all(path == STDOUT for path in paths.values()):
        return
    ctx = click.get_current_context()
    named = {param.name: option_name(param) for param in ctx.command.params if param.name not in _APART}
    given = {name: value for name, value in ctx.params.items() if name in named and value is not None}
    options = {named[name]: value for name, value in given.items()}
    document: dict[str, Any] = {"command": ctx.info_name, "options": options}
    if data is not None or made is not None:  # else the table is read in blocks, and may be larger than is read twice
        document["inputs"] = [_input(path) for path in _inputs(ctx)]
    if data is not None:
        document["data"] = data_document(data)
    if made is not None:
        document["map"] = {
            **({} if source is None else {"file": source}),
            "method": made.method,
            "parameters": made.parameters,
            "n_samples": made.n_samples,
            "n_features": made.n_features,
            **_about(made),
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


def _inputs(ctx: click.Context) -> list[str]:
    """Return the files that a command was given to read, in the order of its arguments and options."""
    named = [ctx.params.get(param.name) for param in ctx.command.params if param.name and _is_input(param)]
    each = [path for value in named for path in (value if isinstance(value, tuple) else (value,))]
    return [path for path in each if isinstance(path, str) and os.path.isfile(path)]


def _is_input(param: click.Parameter) -> bool:
    return isinstance(param, click.Argument) or param.name in ("data", "metadata", "labels")


def _input(path: str) -> dict[str, Any]:
    return {"file": path, "bytes": os.path.getsize(path), "sha256": file_checksum(path)}


def _about(made: Any) -> dict[str, Any]:
    """Return what was in force when a map was made, and what became of its columns."""
    columns = [
        {"name": rule.name, "became": rule.kind, "features": list(rule.features), "because": rule.reason}
        for rule in made.columns or ()
    ]
    missing = made.completion
    return {
        "parameters_in_force": _in_force(made._estimator),
        "metric": made.metric,
        "scale": None if made.scale is None else made.scale.name,
        "made_in": None if made.representation is None else str(made.representation),
        "columns": columns,
        "metadata": list(made.metadata),
        "missing": None
        if missing is None
        else {
            "filled_in_by": missing.how,
            "values": {
                str(name): int(count)
                for name, count in zip(made.feature_names, missing.missing.sum(axis=0), strict=True)
                if count
            },
        },
        "notes": made.notes,
        "fingerprint": made.fingerprint(),
    }


def _in_force(estimator: Any) -> dict[str, Any]:
    """Return all parameters of a fitted method by what they came to: those with which it was called, or decided on."""
    if not hasattr(estimator, "get_params"):
        return {}
    given = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _UNTOLD}
    return {name: _told(getattr(estimator, f"{name}_", value), value) for name, value in sorted(given.items())}


def _told(found: Any, given: Any) -> Any:
    """Return a parameter as a number, a text or a dict of them; of an array its shape, of another object its class."""
    for value in (found, given):
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, dict) and all(isinstance(one, (bool, int, float, str)) for one in value.values()):
            return value
        if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
            return value.item()
    shape = getattr(given, "shape", None)
    return type(given).__name__ if shape is None else f"{type(given).__name__} of shape {tuple(shape)}"
