"""Compare the recall that approximate searches report with the exact one over all rows, for several seeds.

GNOMON_DATA=FOLDER python -m benchmarks.recall --data digits mnist cifar10_5k --pca 0 50 --rows 20000 --seeds 5

A line for each table: the smallest and mean true recall; the mean of reported less true, and the standard error of that
mean over the seeds; the mean standard error that searches report; the root mean square of reported less true by it,
which is about 1 where errors are honest, and how often it exceeds 2; and the median CPU seconds of a search. Tables of
which all pairs cost less than the recall asked for are named and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/recall.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon.neighbors import compute_neighbors

__all__ = ["main", "measure"]

_HEADER = ("table", "least true", "mean true", "reported less true", "error", "ratio", "above 2", "CPU s")


def measure(
    X: npt.NDArray[np.float32], n_neighbors: int, seeds: Sequence[int], target_recall: float
) -> dict[str, list[float]]:
    """Search with several seeds.

    Returns
    -------
    dict
        Of each search by cells "reported", "error", "true" and "seconds" of all threads; empty lists where none was.
    """
    last = compute_neighbors(X, n_neighbors, method="exact").distances[:, -1:]
    found: dict[str, list[float]] = {"reported": [], "error": [], "true": [], "seconds": []}
    for seed in seeds:
        start = time.process_time()
        graph = compute_neighbors(X, n_neighbors, method="approximate", target_recall=target_recall, seed=seed)
        seconds = time.process_time() - start
        if graph.method != "cells":
            break
        true = float((graph.distances <= last).mean())
        for name, value in zip(found, (graph.recall, graph.recall_error, true, seconds), strict=True):
            found[name].append(value)
    return found


def _cells(found: dict[str, list[float]]) -> list[str]:
    reported, error, true, seconds = (np.array(found[name]) for name in found)
    above = reported - true
    uncertain = above.std(ddof=1) / len(above) ** 0.5 if len(above) > 1 else np.nan
    ratio = above / np.maximum(error, 1e-9)
    return [
        f"{true.min():.4f}",
        f"{true.mean():.4f}",
        f"{above.mean():+.4f} ± {uncertain:.4f}",
        f"{error.mean():.4f}",
        f"{np.sqrt(np.mean(ratio**2)):.2f}",
        f"{np.mean(np.abs(ratio) > 2.0):.2f}",
        f"{np.median(seconds):.2f}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", nargs="+", default=["digits"], help="names of tables, see benchmarks/tables.py")
    parser.add_argument("--pca", type=int, nargs="+", default=[0], help="principal components, 0: all columns")
    parser.add_argument("--rows", type=int, help="at most so many rows, drawn at random")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--neighbors", type=int, default=15)
    parser.add_argument("--target", type=float, default=0.98)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    rows = []
    for name in given.data:
        for width in given.pca:
            X = load_table(name, given.rows, width or None)[0]
            label = f"{name} {X.shape[0]} x {X.shape[1]}"
            found = measure(X, given.neighbors, range(given.seeds), given.target)
            if found["true"]:
                results[label] = found
                rows.append([label, *_cells(found)])
            else:
                rows.append([label, "all pairs cost less", *[""] * (len(_HEADER) - 2)])
    print(table_of(_HEADER, rows))
    differences = [a - b for one in results.values() for a, b in zip(one["reported"], one["true"], strict=True)]
    if differences:
        print(f"mean of reported less true: {np.mean(differences):+.5f} over {len(differences)} searches")
    if given.json is not None:
        given.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
