"""Compare the search for neighbours by parts of a table with the one in memory: CPU seconds, recall and memory.

GNOMON_DATA=FOLDER python -m benchmarks.part_neighbors --data mnist --pca 50 --rows 100000 300000

Rows are drawn between near rows of a short table, with noise, and written to a temporary file, which each search reads
in a process of its own: as an array in memory, or as a memory map whose rows are sorted by cells in a second file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/part_neighbors.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.tables import load_table
from benchmarks.tools import peak_memory
from gnomon.data.stored import ArrayTable
from gnomon.neighbors import NeighborGraph, compute_neighbors, query_neighbors, without_own
from gnomon.scale import Journal, neighbors_by_blocks

__all__ = ["SEARCHES", "main", "search", "share_found", "write_rows"]

_ROOT = Path(__file__).resolve().parent.parent
_NEAR, _NOISE = 5, 0.1  # rows between which others are drawn; noise in spreads of the columns
_BLOCK = 65_536
_ASKED = 300  # rows whose true neighbours are sought

SEARCHES = ("cells in memory", "cells by parts", "cells by parts, on disk", "pairs in memory", "pairs by parts")
"""Names of searches; of each kind the first is what the others' time is compared with."""


def write_rows(path: Path, X: npt.NDArray[np.float32], n_rows: int) -> None:
    """Write rows between those of a table and their near ones."""
    near = compute_neighbors(X, _NEAR).indices
    noise = (_NOISE * X.std(axis=0)).astype(np.float32)
    written = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, X.shape[1]))
    for number, start in enumerate(range(0, n_rows, _BLOCK)):
        rng = np.random.default_rng([0, number])
        count = min(_BLOCK, n_rows - start)
        first = rng.integers(0, len(X), count)
        second = near[first, rng.integers(0, _NEAR, count)]
        share = rng.uniform(0.0, 0.5, (count, 1)).astype(np.float32)
        drawn = (1.0 - share) * X[first] + share * X[second]
        written[start : start + count] = drawn + noise * rng.standard_normal(drawn.shape, dtype=np.float32)
    written.flush()


def search(name: str, path: Path, n_neighbors: int, folder: Path) -> NeighborGraph:
    """Search in one of the ways."""
    kind, _, way = name.partition(" ")
    if way == "in memory":
        return compute_neighbors(np.load(path), n_neighbors, method={"cells": "approximate", "pairs": "exact"}[kind])
    method = {"cells": "cells", "pairs": "exact"}[kind]
    if way == "by parts":
        return neighbors_by_blocks(ArrayTable(np.load(path)), n_neighbors, method=method)
    from gnomon.scale import cells

    cells._HELD = 0.0  # rows are sorted, as those of a larger table
    table = ArrayTable(np.load(path, mmap_mode="r"))
    return neighbors_by_blocks(table, n_neighbors, method=method, journal=Journal(folder, {"rows": table.n_samples}))


def share_found(graph: NeighborGraph, X: npt.NDArray[np.float32]) -> float:
    """Return the share of the true neighbours in a graph, of rows that no search has looked at beforehand."""
    rows = np.random.default_rng(99).choice(len(X), min(len(X), _ASKED), replace=False)
    _, distances = without_own(*query_neighbors(X, X[rows], graph.n_neighbors + 1), rows)
    return float((graph.distances[rows] <= distances[:, -1:]).mean())


def _measure(name: str, path: Path, n_neighbors: int, n_threads: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, gnomon.running(n_threads=n_threads):
        clock, began = time.perf_counter(), time.process_time()
        graph = search(name, path, n_neighbors, Path(folder))
        cpu, wall = time.process_time() - began, time.perf_counter() - clock
        peak = (peak_memory() or 0) / 2**20
        found = share_found(graph, np.load(path))
    checksum = int(np.bitwise_xor.reduce(graph.indices.ravel() * np.arange(1, graph.indices.size + 1)))
    same = {"checksum": checksum, "method": graph.method, "recall": graph.recall}
    return {"search": name, "cpu": cpu, "wall": wall, "peak": peak, "found": found, **same}


def main(arguments: list[str] | None = None) -> int:
    """Run the searches and print what they took and found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="mnist", help="mnist and the like (in GNOMON_DATA), or digits")
    parser.add_argument("--pca", type=int, default=50)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000])
    parser.add_argument("--n-neighbors", type=int, default=15)
    parser.add_argument("--n-threads", type=int, default=2)
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES[:3]))
    parser.add_argument("--one", nargs=2, metavar=("SEARCH", "PATH"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(_measure(given.one[0], Path(given.one[1]), given.n_neighbors, given.n_threads)))
        return 0
    X, _ = load_table(given.data, pca=given.pca)
    titles = f"{'CPU s':>8}{'ratio':>8}{'wall s':>8}{'peak MiB':>10}{'recall':>8}{'found':>8}"
    print(f"{'rows':>10}  {'search':26}{titles}  graph")
    with tempfile.TemporaryDirectory() as folder:
        for rows in given.rows:
            path = Path(folder, f"{rows}.npy")
            write_rows(path, X, rows)
            command = [sys.executable, "-m", "benchmarks.part_neighbors", "--n-neighbors", str(given.n_neighbors)]
            command += ["--n-threads", str(given.n_threads), "--one"]
            firsts: dict[str, float] = {}
            for name in given.searches:
                run = subprocess.run([*command, name, str(path)], cwd=_ROOT, capture_output=True, text=True)
                if run.returncode != 0:
                    print(f"{name}: left out, {run.stderr.strip().splitlines()[-1]}")
                    continue
                one = json.loads(run.stdout)
                ratio = one["cpu"] / firsts.setdefault(name.split()[0], one["cpu"])
                print(
                    f"{rows:10,}  {name:26}{one['cpu']:8.1f}{ratio:8.2f}{one['wall']:8.1f}{one['peak']:10.0f}"
                    f"{one['recall']:8.4f}{one['found']:8.4f}  {one['method']} {one['checksum'] & 0xFFFFFFFF:08x}",
                    flush=True,
                )
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
