"""`gnomon info`: what a saved map holds."""

from __future__ import annotations

import os
from typing import Any

import click

from gnomon._entrance import entrance
from gnomon.cli.console import collect_warnings, json_text
from gnomon.cli.options import map_file, open_map

__all__ = ["info"]

_SHOWN = 8  # names listed for people


@click.command("info")
@map_file
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all names.")
@entrance("gnomon info")
def info(map_path: str, as_json: bool) -> None:
    """Say what MAP holds, a file that `gnomon map --save` wrote. Nothing is computed."""
    with collect_warnings([]):
        result = open_map(map_path)
    document = {"file": map_path, "bytes": os.path.getsize(map_path), **_describe(result)}
    if as_json:
        click.echo(json_text(document))
        return
    width = max(len(key) for key in document)
    for key, value in document.items():
        click.echo(f"{key.replace('_', ' '):{width}}  {_in_words(value)}")


def _describe(result: Any) -> dict[str, Any]:
    classes = result._classes()
    return {
        "name": result.name,
        "method": result.method,
        "parameters": result.parameters,
        "n_samples": result.n_samples,
        "n_features": result.n_features,
        "n_components": int(result.embedding.shape[1]),
        "features": result.feature_names,
        "labels": None if result.labels is None else result.label_name,
        "classes": [str(one) for one in classes],
        "metadata": list(result.metadata),
        "point_names": result.point_names is not None,
        "picture": None if result.image_shape is None else " x ".join(map(str, result.image_shape)),
        "metric": result.metric,
        "scale": None if result.scale is None else result.scale.name,
        "made_in": None if result.representation is None else str(result.representation),
        "neighbors": None if result.graph is None else result.graph.n_neighbors,
        "function": result.extension_kind,
        "fingerprint": result.fingerprint(),
        "notes": result.notes,
    }


def _in_words(value: Any) -> str:
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}={one}" for key, one in value.items())
    if isinstance(value, list):
        from gnomon.data.dataset import first_few

        return first_few(map(str, value), _SHOWN)
    return f"{value:,}" if isinstance(value, int) else str(value)
