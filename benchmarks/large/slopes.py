"""What each stage takes of longer and longer tables, how that grows, and what was forecast.

python -m benchmarks.large slopes --table FOLDER/X.npy --rows 100000 300000 1000000 3000000 10000000 --json slopes.json

Each size is measured in a process of its own. The exponent of a stage is the slope of the logarithm of its processor
time over the logarithm of the rows: 1 where the time is proportional to them. In brackets is the forecast of
`gnomon.forecast` divided by what was measured. Peaks are beyond what the process held before the map.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.scale.costs import STAGES

__all__ = ["as_table", "expected_of", "exponents", "main", "measured_run"]

Record = dict[str, Any]


def exponents(found: dict[int, Record]) -> dict[str, float]:
    """Return the exponent of each stage that takes a tenth of a second at least of every table."""
    rows = sorted(found)
    told = {}
    for name in found[rows[0]]["stages"]:
        seconds = [found[n]["stages"].get(name, {"cpu_seconds": 0.0})["cpu_seconds"] for n in rows]
        if len(rows) > 1 and min(seconds) >= 0.1:
            told[name] = float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
    return told


def expected_of(record: Record, name: str) -> tuple[float, float]:
    """Return the seconds and bytes that were forecast for a stage; the fit is all that is no other stage."""
    told = record["forecast"]
    names = [name] if name != "fit" else [one for one in told["durations"] if one not in STAGES]
    peaks = [told["stages"][one] for one in names if one in told["stages"]]
    return sum(told["durations"].get(one, 0.0) for one in names), max(peaks, default=0.0)


def as_table(found: dict[int, Record]) -> str:
    """Return CPU seconds and peaks of each stage and size as a Markdown table, with what was forecast."""
    rows, grown = sorted(found), exponents(found)
    names = [name for name in STAGES if any(name in one["stages"] for one in found.values())]
    lines = [f"| CPU seconds (forecast / measured) | {' | '.join(f'{n:,}' for n in rows)} | exponent |"]
    lines.append("|---" * (len(rows) + 2) + "|")
    for name in names:
        cells = [_time(found[n], name) for n in rows]
        power = f"{round(grown[name], 2) + 0.0:.2f}" if name in grown else ""
        lines.append(f"| {name} | {' | '.join(cells)} | {power} |")
    lines += ["", f"| peak MB (forecast / measured) | {' | '.join(f'{n:,}' for n in rows)} |"]
    lines.append("|---" * (len(rows) + 1) + "|")
    for name in names:
        lines.append(f"| {name} | {' | '.join(_peak(found[n], name) for n in rows)} |")
    return "\n".join(lines)


def _time(record: Record, name: str) -> str:
    taken = record["stages"].get(name)
    return "" if taken is None else _beside(taken["cpu_seconds"], expected_of(record, name)[0], ".2f")


def _peak(record: Record, name: str) -> str:
    taken = record["stages"].get(name)
    if taken is None:
        return ""
    return _beside((taken["peak_bytes"] - record["base_bytes"]) / 1e6, expected_of(record, name)[1] / 1e6, ",.0f")


def _beside(measured: float, expected: float, digits: str) -> str:
    ratio = f" ({expected / measured:.2f})" if measured > 0 and expected > 0 else ""
    return f"{measured:{digits}}{ratio}"


def measured_run(table: Path, n_rows: int, n_landmarks: int, given: argparse.Namespace) -> Record:
    """Map and ask the first rows of a table in a process of its own; return its record.

    Parameters
    ----------
    table : Path
    n_rows, n_landmarks : int
    given : Namespace
        ``memory``, ``threads``, which bound those of linear algebra too, and ``no_page``.
    """
    more = ["--no-page"] if given.no_page else []
    bound = {}
    if given.threads is not None:
        more += ["--threads", str(given.threads)]
        bound = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(given.threads))
    with tempfile.TemporaryDirectory() as folder:
        options = {"table": table, "rows": n_rows, "landmarks": n_landmarks, "memory": given.memory, "sample": 0}
        command = [sys.executable, "-m", "benchmarks.large", "run", "--out", folder, *more]
        command += [text for name, value in options.items() for text in (f"--{name}", str(value))]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **bound})
        path = Path(folder, "record.json")
        record: Record = json.loads(path.read_text()) if path.exists() else {}
        if not record.get("complete"):
            raise RuntimeError(f"the run of {n_rows:,} rows did not end: {done.stderr.strip()[-2000:]}")
    return record


def main(arguments: list[str] | None = None) -> int:
    """Print what each stage takes of each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--landmarks", type=int, default=50_000)
    parser.add_argument("--memory", default="8G")
    parser.add_argument("--threads", type=int, help="of each process; all by default")
    parser.add_argument("--no-page", action="store_true", help="leave out the page, whose time does not grow")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)
    found: dict[int, Record] = {}
    for n_rows in given.rows:
        found[n_rows] = measured_run(given.table, n_rows, min(given.landmarks, n_rows // 2), given)
        taken = found[n_rows]["stages"]
        print(f"{n_rows:>12,}", *(f"{name} {one['cpu_seconds']:.1f} s" for name, one in taken.items()), flush=True)
        if given.json:
            given.json.write_text(json.dumps({"sizes": found, "exponents": exponents(found)}, indent=1) + "\n")
    print(f"\n{as_table(found)}")
    return 0
