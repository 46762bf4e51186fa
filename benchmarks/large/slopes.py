"""What each stage takes of longer and longer tables, and how that grows.

python -m benchmarks.large slopes --table FOLDER/X.npy --rows 100000 300000 1000000 3000000 10000000

Each size is measured in a process of its own. The exponent of a stage is the slope of the logarithm of its processor
time over the logarithm of the rows: 1 where the time is proportional to them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["exponents", "main"]


def exponents(found: dict[int, dict[str, Any]]) -> dict[str, float]:
    """Return the exponent of each stage that takes a tenth of a second at least of every table."""
    rows = sorted(found)
    told = {}
    for name in found[rows[0]]["stages"]:
        seconds = [found[n]["stages"][name]["cpu_seconds"] for n in rows]
        if len(rows) > 1 and min(seconds) >= 0.1:
            told[name] = float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
    return told


def main(arguments: list[str] | None = None) -> int:
    """Print what each stage takes of each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--landmarks", type=int, default=50_000)
    parser.add_argument("--memory", default="8G")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    found: dict[int, dict[str, Any]] = {}
    for n_rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            options = {"table": given.table, "rows": n_rows, "landmarks": min(given.landmarks, n_rows // 2)}
            options |= {"memory": given.memory, "sample": 0, "out": folder}
            command = [sys.executable, "-m", "benchmarks.large", "run"]
            command += [text for name, value in options.items() for text in (f"--{name}", str(value))]
            subprocess.run(command, check=True, capture_output=True)
            found[n_rows] = json.loads(Path(folder, "record.json").read_text())
        taken = found[n_rows]["stages"]
        print(f"{n_rows:>12,}", *(f"{name} {one['cpu_seconds']:.1f} s" for name, one in taken.items()), sep="  ")
    grown = exponents(found)
    print("exponents", *(f"{name} {power:.2f}" for name, power in grown.items()), sep="  ")
    if given.json:
        given.json.write_text(json.dumps({"sizes": found, "exponents": grown}, indent=1) + "\n")
    return 0
