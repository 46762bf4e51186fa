"""What a command prints: JSON for programs, lines for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["data_document", "file_line", "json_text"]


def _plain(value: Any) -> Any:
    """Turn NumPy values, paths and non-finite numbers into what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, bool, int)) else str(value)


def json_text(document: Mapping[str, Any]) -> str:
    """Write a document as standard JSON; NaN and infinity become null."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def data_document(dataset: Any) -> dict[str, Any]:
    """Describe a data set for programs."""
    return {
        "source": dataset.source,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "label_name": dataset.label_name,
        "n_labels": None if dataset.labels is None else len({str(label) for label in dataset.labels.tolist()}),
        "notes": dataset.notes,
    }


def file_line(path: str, size: int) -> str:
    """Say that a file was written."""
    amount = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, size // 1000)} kB"
    return f"Wrote {path} ({amount})"
