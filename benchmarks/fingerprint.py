"""Hash the maps that one build of gnomon makes with several numbers of threads; a child of determinism.py.

python fingerprint.py TABLE.npy '{"methods": ["umap"], "threads": [1, 2], "inside": "/folder/of/the/build"}'
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

_ESTIMATORS = {"umap": "UMAP", "tsne": "TSNE"}


def fingerprint(array: np.ndarray) -> str:
    """SHA-256 of the shape, type and bytes of an array."""
    header = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(header + np.ascontiguousarray(array).tobytes()).hexdigest()


def fingerprints(X: np.ndarray, methods: list[str], threads: list[int]) -> dict[str, dict[str, str]]:
    """Fit each method with each number of threads; hashes by method and number of threads."""
    import gnomon

    def fitted(method: str, n_jobs: int) -> Any:
        return getattr(gnomon, _ESTIMATORS[method])(random_state=0, n_jobs=n_jobs).fit_transform(X)

    return {method: {str(n): fingerprint(fitted(method, n)) for n in threads} for method in methods}


def main(arguments: list[str]) -> None:
    from gnomon import _core

    task = json.loads(arguments[1])
    if task["inside"] is not None and Path(task["inside"]).resolve() not in Path(_core.__file__).resolve().parents:
        sys.exit(f"the build that was imported is {_core.__file__}, not one in {task['inside']}")
    print(json.dumps(fingerprints(np.load(arguments[0]), task["methods"], task["threads"])))


if __name__ == "__main__":
    main(sys.argv[1:])
