"""Files of maps, methods and atlases taken apart, changed and put together again, to see what loading refuses."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.storage import checksum

Parts = tuple[dict[str, np.ndarray], dict[str, Any]]


def read_parts(path: Path) -> Parts:
    """Return the arrays and the description of a file."""
    with zipfile.ZipFile(path) as archive:
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
        return arrays, json.loads(archive.read("description.json"))


def write_parts(path: Path, arrays: dict[str, np.ndarray], description: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("description.json", json.dumps(description))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def write_changed(path: Path, parts: Parts, change: Callable[..., Any], *, sealed: bool = False) -> None:
    """Write parts of which `change` altered a copy, `sealed` with the checksum that then fits."""
    arrays, description = {name: array.copy() for name, array in parts[0].items()}, json.loads(json.dumps(parts[1]))
    change(arrays, description)
    if sealed:
        rest = {name: one for name, one in description.items() if name not in ("kind", "version", "sha256")}
        description["sha256"] = checksum(arrays, rest)
    write_parts(path, arrays, description)


def described(*keys: Any, value: Any) -> Callable[..., None]:
    """Set an entry of the description."""

    def change(arrays: Any, description: Any) -> None:
        inner = description
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value

    return change
