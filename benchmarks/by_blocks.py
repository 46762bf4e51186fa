"""Explain and judge a map of a made table that is read from a file in blocks: seconds of CPU and clock, and memory.

python -m benchmarks.by_blocks --rows 10000000 --folder /tmp/by_blocks
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as `python benchmarks/by_blocks.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from gnomon.data.stored import ArrayTable
from gnomon.evaluation import evaluate
from gnomon.explanations import explain_by_blocks

__all__ = ["main", "make_table"]

_CLASSES, _HIDDEN, _STEP = 20, 8, 100_000


def make_table(path: Path, n_rows: int, n_features: int) -> tuple[Any, Any]:
    """Write a table of twenty noisy sheets to a NPY file; return places and labels of its rows.

    The places are two directions of the eight that made the table, apart by label: a map that knows much, not all.
    """
    rng = np.random.default_rng(0)
    centres, weights = 3 * rng.normal(size=(_CLASSES, _HIDDEN)), rng.normal(size=(_HIDDEN, n_features)) / 3
    shown = rng.normal(size=(_HIDDEN, 2))
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, n_features))
    places, labels = np.empty((n_rows, 2), np.float32), rng.integers(0, _CLASSES, n_rows)
    for start in range(0, n_rows, _STEP):
        rows = slice(start, min(start + _STEP, n_rows))
        hidden = centres[labels[rows]] + rng.normal(size=(rows.stop - start, _HIDDEN))
        table[rows] = 3 * np.tanh(hidden @ weights) + 0.1 * rng.normal(size=(len(hidden), n_features))
        places[rows] = hidden @ shown
    table.flush()
    return places, labels


def _timed(what: str, n_rows: int, work: Callable[[], Any]) -> Any:
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
    print(
        f"{what}: {wall:.1f} s, {cpu:.1f} CPU s, {1e6 * cpu / n_rows:.2f} CPU us a row, peak {peak:.2f} GiB", flush=True
    )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--landmarks", type=int, default=None, help="reference rows of the explanation")
    parser.add_argument("--folder", type=Path, default=None, help="where the table is kept; a new one by default")
    parser.add_argument("--jobs", type=int, default=None, help="threads")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path, n = Path(folder) / "table.npy", given.rows
        places, labels = make_table(path, n, given.features)
        table = ArrayTable(np.load(path, mmap_mode="r"), name=path.name)
        options = {"landmarks": given.landmarks, "out": Path(folder) / "explained.zarr", "n_jobs": given.jobs}
        explained = _timed("explain", n, lambda: explain_by_blocks(table, places, **options))
        print(explained.summary(5))
        print(_timed("evaluate", n, lambda: evaluate(table, places, n_jobs=given.jobs)))
        _timed("evaluate with labels", n, lambda: evaluate(table, places, labels=labels, n_jobs=given.jobs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
