"""The file beside a page, with what the page leaves out: opened in the page on request, never fetched.

A line says what the file is; then each part of the payload follows, its header first, after a line of JSON with the
group and the number of bytes. Mirrored by static/data/sidefile.js.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write
from gnomon.viewer.payload import Payload

__all__ = ["SIGNATURE", "identity_of", "side_path", "write_side_file"]

SIGNATURE = "gnomon page data 1"
"""First line of the file."""


def side_path(page: str | os.PathLike[str]) -> Path:
    """Return the file beside a page: ``map.data`` for ``map.html``."""
    return Path(page).with_suffix(".data")


def identity_of(embedding: npt.NDArray[np.float32], names: list[str]) -> str:
    """Return what a page and its side file share: 16 hexadecimal digits of positions and names of features."""
    found = hashlib.sha256(np.ascontiguousarray(embedding).tobytes())
    found.update(json.dumps(names).encode())
    return found.hexdigest()[:16]


def write_side_file(path: str | os.PathLike[str], payload: Payload) -> None:
    """Write a payload as a file of its own, whole or not at all."""
    with atomic_write(path, "wb") as file:
        file.write(f"{SIGNATURE}\n".encode())
        for group, packed in payload.packed():
            file.write(_line({"group": group, "bytes": len(packed)}))
            file.write(packed)


def _line(entry: dict[str, Any]) -> bytes:
    return (json.dumps(entry) + "\n").encode()
