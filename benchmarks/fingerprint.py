"""Hash the maps that one build of gnomon makes with several numbers of threads; a child of determinism.py.

python -m benchmarks.fingerprint TABLE.npy '{"methods": ["umap"], "threads": [1, 2], "inside": "/folder/of/the/build"}'
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["fingerprint", "fingerprints", "main"]


def fingerprint(array: np.ndarray) -> str:
    """SHA-256 of the shape, type and bytes of an array."""
    header = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(header + np.ascontiguousarray(array).tobytes()).hexdigest()


def fingerprints(
    X: np.ndarray, methods: list[str], threads: list[int], max_iter: int | None = None
) -> dict[str, dict[str, str]]:
    """Fit each method with each number of threads; hashes by method and number of threads."""
    from benchmarks.subjects import SUBJECTS

    def fitted(method: str, n_jobs: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of maps that are not finished after so few iterations
            return SUBJECTS[method](n_jobs, max_iter).fit_transform(X)

    found: dict[str, dict[str, str]] = {}
    for method in methods:
        found[method] = {str(n): fingerprint(fitted(method, n)) for n in threads}
        same = "equal" if len(set(found[method].values())) == 1 else "DIFFERENT"
        print(f"{method}: {same} with {', '.join(found[method])} threads", file=sys.stderr, flush=True)
    return found


def main(arguments: list[str]) -> None:
    from gnomon import _core

    task = json.loads(arguments[1])
    if task["inside"] is not None and Path(task["inside"]).resolve() not in Path(_core.__file__).resolve().parents:
        sys.exit(f"the build that was imported is {_core.__file__}, not one in {task['inside']}")
    X = np.load(arguments[0])
    print(json.dumps(fingerprints(X, task["methods"], task["threads"], task.get("max_iter"))))


if __name__ == "__main__":
    main(sys.argv[1:])
