"""Compare principal components of a table on disk: gnomon's solvers, scikit-learn's IncrementalPCA and Dask's.

python -m benchmarks.stored_principal --rows 1000000 --columns 50 --components 10

The table is drawn, with variances that fall by a tenth from column to column, and written to a temporary file. Each
tool reads it in a process of its own.
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

from benchmarks.tools import peak_memory

__all__ = ["TOOLS", "fit", "main"]

_ROOT = Path(__file__).resolve().parent.parent
_ROWS = 131_072  # of a block

TOOLS = ("gnomon covariance", "gnomon svd", "gnomon randomized", "scikit-learn incremental", "dask compressed")
"""Names of tools; the second is what the others' singular values are compared with."""


def write_table(path: Path, rows: int, columns: int) -> None:
    """Write a table of float32 with a known spectrum, some rows at a time."""
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, columns))
    for number, start in enumerate(range(0, rows, _ROWS)):
        drawn = np.random.default_rng([0, number]).standard_normal((min(_ROWS, rows - start), columns))
        table[start : start + _ROWS] = drawn * 0.9 ** (np.arange(columns) / 2.0)
    table.flush()


def fit(tool: str, X: np.memmap, n_components: int) -> np.ndarray:
    """Return the singular values that a tool finds."""
    if tool.startswith("gnomon"):
        import gnomon

        return gnomon.PCA(n_components, solver=tool.split()[1], random_state=0).fit(X).singular_values_
    if tool.startswith("scikit-learn"):
        from sklearn.decomposition import IncrementalPCA

        return IncrementalPCA(n_components).fit(X).singular_values_
    import dask.array as da

    rows = da.from_array(X, chunks=(_ROWS, -1))
    _, values, _ = da.linalg.svd_compressed(rows - rows.mean(axis=0), n_components, n_power_iter=2, seed=0)
    return np.asarray(values.compute())


def _measure(tool: str, path: str, n_components: int) -> dict[str, Any]:
    X = np.load(path, mmap_mode="r")
    fit(tool, X[: 3 * _ROWS], n_components)  # what is loaded on first use
    began = time.process_time()
    values = fit(tool, X, n_components)
    seconds = time.process_time() - began
    return {
        "tool": tool,
        "cpu": seconds,
        "peak": (peak_memory() or np.nan) / 2**20,
        "singular_values": np.asarray(values, dtype=float).tolist(),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run all tools and print CPU seconds, peak memory with the pages of the file, and errors of singular values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--one", nargs=2, metavar=("TOOL", "PATH"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(_measure(*given.one, given.components)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.npy")
        write_table(path, given.rows, given.columns)
        command = [sys.executable, "-m", "benchmarks.stored_principal", "--components", str(given.components)]
        found = []
        for tool in given.tools:
            done = subprocess.run([*command, "--one", tool, str(path)], cwd=_ROOT, capture_output=True, text=True)
            if done.returncode != 0:
                print(f"{tool}: left out, {done.stderr.strip().splitlines()[-1]}")
                continue
            found.append(json.loads(done.stdout))
    exact = next((one["singular_values"] for one in found if one["tool"] == TOOLS[1]), None)
    print(f"{'tool':26}{'CPU s':>8}{'ratio':>8}{'peak MiB':>10}{'error':>10}")
    for one in found:
        error = np.nan if exact is None else np.abs(np.divide(one["singular_values"], exact) - 1.0).max()
        ratio = one["cpu"] / found[0]["cpu"]
        print(f"{one['tool']:26}{one['cpu']:8.2f}{ratio:8.1f}{one['peak']:10.0f}{error:10.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
