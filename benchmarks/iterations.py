"""Time one exact iteration, loss and gradient, of every loss against PyTorch's autograd, and how its cost grows.

python -m benchmarks.iterations --rows 2500 5000 10000 20000 --torch-python PATH
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.losses import CASES, Case, Table, make_table
from benchmarks.machine import describe_machine
from benchmarks.measure import ToolError
from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon._run import current_run, running

__all__ = ["against_torch", "growth", "main"]

_CHILD = Path(__file__).with_name("torch_losses.py")
_AGREEMENT = 1e-4  # relative, of losses and of gradients
_PAUSE = 0.05  # seconds: threads that still spin after PyTorch's answer are not to run beside gnomon
_SHORTEST = 0.1  # seconds of gnomon's iterations in one measurement, so that the clock does not limit it

Rows = npt.NDArray[np.float32]


def _clusters(n: int, n_columns: int = 20) -> Rows:
    """Return rows in ten clusters; what an exact iteration costs does not depend on them."""
    rng = np.random.default_rng(0)
    centres = 4.0 * rng.normal(size=(10, n_columns))
    return (centres[rng.integers(0, 10, n)] + rng.normal(size=(n, n_columns))).astype(np.float32)


def _time_ours(objective: Any, Y: Rows, times: int) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        objective.loss_and_gradient(Y)
    return {"wall": (time.perf_counter() - wall) / times, "cpu": (time.process_time() - cpu) / times}


def _times_for(objective: Any, Y: Rows) -> int:
    """Return how many iterations make one measurement; the first iteration, which sets up meshes, is not counted."""
    objective.loss_and_gradient(Y)
    return max(1, min(100, int(_SHORTEST / _time_ours(objective, Y, 1)["wall"])))


@contextmanager
def _torch_child(python: str, case: Case, table: Table, folder: Path) -> Iterator[Any]:
    """Start PyTorch on a loss; gives a function that evaluates once and returns its report and its gradient."""
    arrays, out, log = folder / "arrays.npz", folder / "gradient.npy", folder / "torch.log"
    np.savez(arrays, Y=table.Y, **case.arrays(table))
    command = [python, str(_CHILD), case.torch, str(arrays), str(current_run().n_threads), str(out)]
    # Threads that spin while they wait for one another would count as PyTorch's CPU time where the machine is busy.
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ}
    with log.open("w") as stream:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stream}
        child = subprocess.Popen(command, env=environment, text=True, **pipes)

        def evaluate() -> tuple[dict[str, Any], Rows]:
            assert child.stdin is not None
            assert child.stdout is not None
            answer = ""
            try:
                child.stdin.write("evaluate\n")
                child.stdin.flush()
                answer = child.stdout.readline()
            except BrokenPipeError:
                pass  # the empty answer tells
            if not answer:
                raise ToolError(f"PyTorch ({case.name}) ended:\n{log.read_text()[-2000:]}")
            return json.loads(answer), np.load(out)

        try:
            yield evaluate
        finally:
            child.kill()
            child.communicate()


def _check_agreement(case: Case, objective: Any, Y: Rows, answer: tuple[dict[str, Any], Rows]) -> dict[str, float]:
    """Return the relative differences of losses and gradients; both must be the same function."""
    loss, gradient = objective.loss_and_gradient(Y)
    report, theirs = answer
    found = {
        "loss_difference": abs(loss - report["loss"]) / abs(report["loss"]),
        "gradient_difference": float(np.linalg.norm(gradient - theirs) / np.linalg.norm(theirs)),
    }
    if not max(found.values()) <= _AGREEMENT:
        raise ToolError(f"{case.name}: gnomon and PyTorch differ, {found}, losses {loss} and {report['loss']}")
    return found


def _least(series: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the least times, which other load on the machine disturbs least."""
    return {name: min(run[name] for run in series) for name in ("wall", "cpu")}


def against_torch(case: Case, table: Table, python: str, repeats: int) -> dict[str, Any]:
    """Time a loss in gnomon and in PyTorch, turn and turn about.

    Returns
    -------
    dict
        Least times of both, their ratios ("wall_ratio", "cpu_ratio": PyTorch's time over gnomon's), and by how much
        losses and gradients differ.

    Raises
    ------
    ToolError
        If PyTorch does not run or its loss or gradient differs by more than 1e-4.
    """
    objective = case.objective(table, "exact")
    with tempfile.TemporaryDirectory() as temporary, _torch_child(python, case, table, Path(temporary)) as evaluate:
        differences = _check_agreement(case, objective, table.Y, evaluate())
        times = _times_for(objective, table.Y)
        ours: list[dict[str, float]] = []
        theirs: list[dict[str, float]] = []
        for _ in range(repeats):
            time.sleep(_PAUSE)
            ours.append(_time_ours(objective, table.Y, times))
            theirs.append(evaluate()[0])
        version = theirs[-1]["version"]
    own, other = _least(ours), _least(theirs)
    ratios = {f"{name}_ratio": other[name] / own[name] for name in own}
    return {"gnomon": own, "torch": other, **ratios, **differences, "version": version}


def growth(case: Case, tables: Sequence[Table], repeats: int) -> dict[str, list[dict[str, float]]]:
    """Time a loss of gnomon for tables of growing size, by each way of evaluation."""
    found: dict[str, list[dict[str, float]]] = {}
    for way in (case.whole, *case.evaluations):
        found[way] = []
        for table in tables:
            objective = case.objective(table, way)
            times = _times_for(objective, table.Y)
            found[way].append(_least([_time_ours(objective, table.Y, times) for _ in range(repeats)]))
    return found


def _torch_table(results: dict[str, dict[str, Any]]) -> str:
    header = ["loss", "gnomon CPU ms", "torch CPU ms", "CPU ratio", "wall ratio", "difference of gradients"]
    rows = [
        [
            name,
            f"{1e3 * found['gnomon']['cpu']:.1f}",
            f"{1e3 * found['torch']['cpu']:.0f}",
            f"{found['cpu_ratio']:.1f}",
            f"{found['wall_ratio']:.1f}",
            f"{found['gradient_difference']:.0e}",
        ]
        for name, found in results.items()
    ]
    return table_of(header, rows)


def _growth_table(results: dict[str, dict[str, list[dict[str, float]]]], sizes: Sequence[int]) -> str:
    """CPU time relative to that of the whole sum for the fewest rows."""
    rows = []
    for name, ways in results.items():
        base = next(iter(ways.values()))[0]["cpu"]
        for way, series in ways.items():
            rows.append([name, way, f"{1e3 * series[0]['cpu']:.1f}", *(f"{run['cpu'] / base:.2f}" for run in series)])
    return table_of(["loss", "evaluation", f"CPU ms, {sizes[0]}", *(str(n) for n in sizes)], rows)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.iterations", description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="digits, mnist (in GNOMON_DATA) or an .npz file; random clusters by default")
    parser.add_argument("--rows", type=int, nargs="+", default=[2500, 5000, 10_000, 20_000], help="of the growth")
    parser.add_argument("--torch-rows", type=int, default=5000, help="of the comparison with PyTorch")
    parser.add_argument("--torch-python", help="interpreter that has PyTorch; without it there is no comparison")
    parser.add_argument("--losses", nargs="+", help="parts of the names of the losses to time")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-growth", dest="growth", action="store_false")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    return parser.parse_args(arguments)


def _table(options: argparse.Namespace, n: int) -> Table:
    X = _clusters(n) if options.data is None else load_table(options.data, n)[0]
    if len(X) < n:
        raise ToolError(f"{options.data} has {len(X)} rows, not {n}")
    return make_table(X)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _run(options: argparse.Namespace, cases: Sequence[Case]) -> dict[str, Any]:
    report: dict[str, Any] = {"machine": describe_machine(), "threads": options.threads}
    if options.torch_python is not None:
        table = _table(options, options.torch_rows)
        report["torch"] = {}
        for case in cases:
            report["torch"][case.name] = against_torch(case, table, options.torch_python, options.repeats)
            _tell(f"{case.name}: {report['torch'][case.name]['cpu_ratio']:.1f} times the CPU time in PyTorch")
        print(f"\n{table.n} rows, {options.threads} threads: time of PyTorch over that of gnomon\n")
        print(_torch_table(report["torch"]), flush=True)
    if options.growth:
        tables = [_table(options, n) for n in sorted(options.rows)]
        sizes = [table.n for table in tables]
        report["rows"] = sizes
        report["growth"] = {}
        for case in cases:
            report["growth"][case.name] = growth(case, tables, min(3, options.repeats))
            _tell(f"{case.name}: timed for {sizes}")
        print(f"\nCPU time in units of that of the first way for {sizes[0]} rows\n")
        print(_growth_table(report["growth"], sizes))
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    wanted = [part.lower() for part in options.losses or [""]]
    cases = [case for case in CASES if any(part in case.name.lower() for part in wanted)]
    try:
        with running(n_threads=options.threads):
            report = _run(options, cases)
    except (ToolError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    if options.json is not None:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
