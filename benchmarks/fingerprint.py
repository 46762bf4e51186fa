"""Hash the maps that one build of gnomon makes, and what they answer, by numbers of threads; a child of determinism.py.

python -m benchmarks.fingerprint TABLE.npz '{"methods": ["umap"], "asked": ["pca"], "threads": [1, 2], "inside": null}'
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import load_table

__all__ = ["fingerprint", "fingerprints_of_answers", "fingerprints_of_maps", "main"]

Found = Iterator[tuple[str, str]]


def fingerprint(value: Any) -> str:
    """SHA-256 of the shape, type and bytes of an array, or of all numbers, texts and arrays that an answer holds."""
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """Yield the bytes of a value: of an object its public fields, in their order."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype == object:
            yield from _parts(array.tolist())
            return
        yield f"{array.dtype.str}{array.shape}".encode()
        yield np.ascontiguousarray(array).tobytes()
    elif value is None or isinstance(value, (bool, int, str)):
        yield repr(value).encode()
    elif isinstance(value, float):
        yield value.hex().encode()
    elif isinstance(value, Mapping):
        yield b"{"
        yield from _parts([part for item in value.items() for part in item])
    elif dataclasses.is_dataclass(value):
        yield type(value).__name__.encode()
        yield from _parts([getattr(value, field.name) for field in _public(value)])
    elif hasattr(value, "to_dict"):
        yield from _parts(value.to_dict())
    elif isinstance(value, Iterable):
        yield b"["
        for part in value:
            yield from _parts(part)
        yield b"]"
    else:
        raise TypeError(f"no fingerprint of a value of type {type(value).__name__}")


def _public(value: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(value) if not field.name.startswith("_")]


def fingerprints_of_maps(X: np.ndarray, methods: list[str], n_jobs: int, max_iter: int | None = None) -> Found:
    """Fit each method; yield its name and the hash of its map."""
    from benchmarks.subjects import SUBJECTS

    for method in methods:
        yield method, fingerprint(SUBJECTS[method](n_jobs, max_iter).fit_transform(X))


def fingerprints_of_answers(
    X: np.ndarray, labels: np.ndarray | None, methods: list[str], n_jobs: int, max_iter: int | None = None
) -> Found:
    """Ask the map of each method all questions; yield its name, each question and the hash of the answer."""
    from benchmarks.answers import QUESTIONS, map_of

    for method in methods:
        asked = map_of(X, labels, method, n_jobs, max_iter)
        for name, question in QUESTIONS.items():
            yield f"{method}: {name}", fingerprint(question(asked))


def main(arguments: list[str]) -> None:
    from gnomon import _core

    task = json.loads(arguments[1])
    if task["inside"] is not None and Path(task["inside"]).resolve() not in Path(_core.__file__).resolve().parents:
        sys.exit(f"the build that was imported is {_core.__file__}, not one in {task['inside']}")
    X, labels = load_table(arguments[0])
    found: dict[str, dict[str, str]] = {}
    warnings.simplefilter("ignore")  # of maps that are not finished after so few iterations
    for n_jobs in task["threads"]:
        made = fingerprints_of_maps(X, task["methods"], n_jobs, task["max_iter"])
        answered = fingerprints_of_answers(X, labels, task["asked"], n_jobs, task["max_iter"])
        for part in (made, answered):
            for name, digest in part:
                print(f"{name}, {n_jobs} threads: {digest}", file=sys.stderr, flush=True)
                found.setdefault(name, {})[str(n_jobs)] = digest
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
