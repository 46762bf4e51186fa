"""Measure the constants of `gnomon.scale.costs` and print them as they stand there.

python -m benchmarks.large constants --columns 10 50 200 784 --landmarks 10000 50000 200000 --json measured.json
python -m benchmarks.large constants --from measured.json slopes.json      # prints what earlier runs measured

Rows near a subspace of eight dimensions are drawn, so many landmarks and rows to place, and mapped and asked about in a
process of each own. Seconds of each stage are divided by the pace of the machine, and explained by rows, numbers,
rows held in memory and doublings of the landmarks, with no cost below zero and relative errors as small as possible;
the same is done for the peaks of the stages by blocks. The ratio of the model to each measurement is printed last.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.large.slopes import Record, measured_run
from gnomon.data.stored import row_blocks
from gnomon.scale.costs import ANSWERS, PEAKS, STAGES, rows_held

__all__ = ["fit_memory", "fit_stages", "main", "write_drawn"]

_FACTORS = 8
_WRITTEN = 65_536  # rows at a time

_TERMS: dict[str, tuple[str, ...]] = {
    "scaling": ("row", "entry"),
    "landmarks": ("entry", "held", "held entry"),
    "fit": ("held", "held entry"),
    "positions": ("row", "entry", "doubling", "held", "held entry"),
    "explanation": ("row", "entry", "doubling", "held", "held entry"),
    "evaluation": ("fixed", "row", "entry"),
    "page": ("row", "held", "held entry"),
    "file": ("row",),
}
"""What explains the seconds of each stage."""

_KEPT = {"positions": 8.0, "explanation": 8.0 + ANSWERS, "evaluation": 8.0 + ANSWERS}  # bytes of each row, that stay
_OF_ALL_ROWS = {"evaluation"}  # which ranks places among those of all rows

_OF: dict[str, Callable[[float, float, float, float], float]] = {
    "fixed": lambda n, width, landmarks, held: 1.0,
    "row": lambda n, width, landmarks, held: n,
    "entry": lambda n, width, landmarks, held: n * width,
    "doubling": lambda n, width, landmarks, held: n * math.log2(landmarks),
    "held": lambda n, width, landmarks, held: held,
    "held entry": lambda n, width, landmarks, held: held * width,
}


def write_drawn(path: Path, n_samples: int, n_features: int) -> None:
    """Write rows near a subspace of eight dimensions, and labels y.npy beside them."""
    rng = np.random.default_rng(0)
    turned = rng.normal(size=(_FACTORS, n_features)).astype(np.float32)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_samples, n_features))
    labels = np.empty(n_samples, dtype=np.int64)
    for start in range(0, n_samples, _WRITTEN):
        count = min(_WRITTEN, n_samples - start)
        hidden = rng.standard_normal((count, _FACTORS), dtype=np.float32)
        labels[start : start + count] = (hidden[:, :3] > 0) @ [1, 2, 4]
        X[start : start + count] = hidden @ turned + 0.5 * rng.standard_normal((count, n_features), dtype=np.float32)
    X.flush()
    np.save(path.with_name("y.npy"), labels)


def _sizes(record: Record, stage: str) -> tuple[float, float, float, float]:
    """Return rows gone through, columns, landmarks and rows held of a stage."""
    (n, width), landmarks = record["shape"], record["landmarks"]
    held = rows_held(stage, n, width, landmarks)
    return (n - landmarks if stage == "positions" else n), width, landmarks, held


def _explained(terms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return coefficients, none below zero, of least relative squared error."""
    from scipy.optimize import nnls

    weights = 1.0 / np.maximum(values, 1e-12)
    sizes = np.maximum(np.abs(terms * weights[:, None]).max(axis=0), 1e-300)
    return nnls(terms * weights[:, None] / sizes, np.ones(len(values)))[0] / sizes


def fit_stages(records: list[Record]) -> dict[str, dict[str, float]]:
    """Return nanoseconds of the reference machine by stage and term."""
    found = {}
    for stage, names in _TERMS.items():
        measured = [one for one in records if stage in one["stages"]]
        if not measured:
            continue
        seconds = np.array([one["stages"][stage]["cpu_seconds"] / one["pace"] for one in measured])
        terms = np.array([[_OF[name](*_sizes(one, stage)) for name in names] for one in measured], dtype=float)
        found[stage] = dict(zip(names, (1e9 * _explained(terms, seconds)).tolist(), strict=True))
    return found


def fit_memory(records: list[Record]) -> dict[str, dict[str, float]]:
    """Return what the peaks of the stages by blocks are made of, by stage and field of `PeakCost`."""
    found = {}
    for stage in PEAKS:
        terms, peaks = [], []
        for one in (one for one in records if stage in one["stages"]):
            (n, width), held = one["shape"], _sizes(one, stage)[3]
            whole = n if stage in _OF_ALL_ROWS else 0.0
            terms.append([1.0, whole, held, 4.0 * width * held, 4.0 * width * len(row_blocks(n, width)[0])])
            kept = _KEPT[stage] * n
            peaks.append(max(one["stages"][stage]["peak_bytes"] - one["base_bytes"] - kept, 1.0))
        if peaks:
            values = _explained(np.array(terms), np.array(peaks)).tolist()
            found[stage] = dict(zip(("fixed", "row", "held", "copies", "block"), values, strict=True))
    return found


def _called(name: str, **terms: float) -> str:
    given = ", ".join(f"{term}={value:.3g}" for term, value in terms.items() if value > 0)
    return f"{name}({given})"


def as_code(stages: dict[str, dict[str, float]], memory: dict[str, dict[str, float]]) -> str:
    """Return `STAGES` and `PEAKS` as they stand in `gnomon.scale.costs`."""
    lines = ["STAGES = {"]
    for stage, terms in stages.items():
        rows = _called("Cost", **{name: terms.get(name, 0.0) for name in ("fixed", "row", "entry")})
        held = _called("Cost", row=terms.get("held", 0.0), entry=terms.get("held entry", 0.0))
        doubling = terms.get("doubling", 0.0)
        more = f", {held}" if held != "Cost()" or doubling > 0 else ""
        more += f", doubling={doubling:.3g}" if doubling > 0 else ""
        lines.append(f'    "{stage}": StageCost({rows}{more}),')
    lines += ["}", "PEAKS = {", *(f'    "{stage}": {_called("PeakCost", **terms)},' for stage, terms in memory.items())]
    return "\n".join([*lines, "}"])


def _ratios(records: list[Record], stages: dict[str, dict[str, float]]) -> str:
    """Return the model divided by the measurement, of each run and stage, as a Markdown table."""
    names = list(stages)
    lines = [f"| rows | columns | landmarks | {' | '.join(names)} |", "|---" * (len(names) + 3) + "|"]
    for one in records:
        cells = []
        for name in names:
            taken = one["stages"].get(name)
            sizes = _sizes(one, name)
            told = 1e-9 * sum(value * _OF[term](*sizes) for term, value in stages[name].items())
            cells.append("" if taken is None else f"{told * one['pace'] / max(taken['cpu_seconds'], 1e-9):.2f}")
        n, width = one["shape"]
        lines.append(f"| {n:,} | {width} | {one['landmarks']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _measured(given: argparse.Namespace) -> list[Record]:
    records: list[Record] = []
    for width in given.columns:
        for landmarks in given.landmarks:
            n = landmarks + given.placed
            if 4.0 * n * width > given.largest * 1e9:
                print(f"{n:,} x {width}: left out, larger than --largest {given.largest:g} GB", flush=True)
                continue
            with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
                path = Path(folder, "X.npy")
                write_drawn(path, n, width)
                one: dict[str, Any] = measured_run(path, n, landmarks, given)
            records.append(one)
            told = " ".join(f"{name} {taken['cpu_seconds']:.1f}" for name, taken in one["stages"].items())
            print(f"{n:,} x {width}, {landmarks:,} landmarks, pace {one['pace']:.2f}: {told}", flush=True)
            if given.json:
                given.json.write_text(json.dumps(records, indent=1) + "\n")
    return records


def _read(path: Path) -> list[Record]:
    """Return the runs of a file that this command or `slopes` wrote."""
    found = json.loads(path.read_text())
    return found if isinstance(found, list) else list(found["sizes"].values())


def main(arguments: list[str] | None = None) -> int:
    """Print the constants and how well they hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 50, 200, 784])
    parser.add_argument("--landmarks", type=int, nargs="+", default=[10_000, 50_000, 200_000])
    parser.add_argument("--placed", type=int, default=100_000, help="rows beside the landmarks")
    parser.add_argument("--largest", type=float, default=1.0, metavar="GB", help="larger tables are left out")
    parser.add_argument("--memory", default="8G")
    parser.add_argument("--threads", type=int, default=1, help="one wastes no time on waiting for others")
    parser.add_argument("--no-page", action="store_true", help="leave out the page, the longest of short tables")
    parser.add_argument("--scratch", type=Path, help="folder for the tables; a temporary one by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was measured")
    parser.add_argument(
        "--from", dest="known", type=Path, nargs="+", metavar="FILE", help="of --json, here or of slopes"
    )
    given = parser.parse_args(arguments)
    records = [record for path in given.known for record in _read(path)] if given.known else _measured(given)
    stages = {name: terms for name, terms in fit_stages(records).items() if name in STAGES}
    print(f"\n{as_code(stages, fit_memory(records))}\n\n{_ratios(records, stages)}")
    return 0
