"""Time every kernel in builds for several instruction sets, and compare what they return bit by bit.

python -m benchmarks.kernels --levels x86-64-v2 x86-64-v3 x86-64-v4 --within 2.2 --within-base 4.5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.determinism import build
from benchmarks.machine import instruction_set_levels
from benchmarks.summary import table_of

__all__ = ["above", "main", "table"]

_ROOT = Path(__file__).resolve().parent.parent
_WIDE = "x86-64-v3"  # the level that --within is about


class _Worker:
    """A process that has loaded one build."""

    def __init__(self, module: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.kernel_calls", str(module)]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.names: list[str] = self._read()

    def _read(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the kernels' process ended with status {self._process.wait()}")
        return json.loads(line)

    def call(self, name: str, count: int = 1) -> tuple[float, str]:
        """Return CPU milliseconds of so many calls, and a hash of what the last returned."""
        self._process.stdin.write(f"{count} {name}\n")
        self._process.stdin.flush()
        milliseconds, digest = self._read()
        return milliseconds, digest

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def _measure(
    modules: Mapping[str, Path], only: str, repeats: int, shortest: float
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the least milliseconds of each kernel in each build, and the kernels whose results differ."""
    workers = {label: _Worker(module) for label, module in modules.items()}
    least: dict[str, dict[str, float]] = {}
    different = []
    for name in next(iter(workers.values())).names:
        if only not in name:
            continue
        digests = {worker.call(name)[1] for worker in workers.values()}
        count = max(1, min(100, round(shortest / max(list(workers.values())[-1].call(name)[0], 1e-3))))
        least[name] = dict.fromkeys(workers, float("inf"))
        for _ in range(repeats):
            for label, worker in workers.items():
                milliseconds, digest = worker.call(name, count)
                least[name][label] = min(least[name][label], milliseconds / count)
                digests.add(digest)
        if len(digests) > 1:
            different.append(name)
    for worker in workers.values():
        worker.close()
    return least, different


def table(least: Mapping[str, Mapping[str, float]]) -> str:
    """Lay out the milliseconds of each kernel by build, and the ratios to those of the last build, worst first.

    Kernels are sorted by the ratio of the last build but one.
    """
    labels = list(next(iter(least.values()), {}))
    *slow, fast = labels
    rows = [
        [name, *(f"{times[label]:.2f}" for label in labels), *(f"{times[label] / times[fast]:.2f}" for label in slow)]
        for name, times in sorted(least.items(), key=lambda item: -item[1][labels[-2]] / item[1][fast])
    ]
    return table_of(["kernel", *labels, *(f"{label} / {fast}" for label in slow)], rows)


def above(least: Mapping[str, Mapping[str, float]], level: str, fast: str, bar: float | None) -> list[str]:
    """Name the kernels that take more than `bar` times as long at a level as in the fast build; None allows all."""
    if bar is None:
        return []
    over = {name: times[level] / times[fast] for name, times in least.items() if level in times}
    return [f"{name}: {level} takes {ratio:.2f} times, not within {bar}" for name, ratio in over.items() if ratio > bar]


def _modules(options: argparse.Namespace, folder: Path) -> dict[str, Path]:
    if options.modules:
        return {label: Path(path) for label, path in (given.split("=", 1) for given in options.modules)}
    levels = options.levels or [level for level in instruction_set_levels() if level != "x86-64"]
    return {level: next(build(level, folder).glob("gnomon/_core*.so")) for level in levels}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--levels", nargs="+", help="levels to compile for, lowest first; all from x86-64-v2 by default"
    )
    parser.add_argument("--modules", nargs="+", metavar="LABEL=FILE", help="extensions that are compiled already")
    parser.add_argument("--builds", type=Path, help="keep the builds in this folder, and start from those there")
    parser.add_argument("--only", default="", help="kernels whose names hold this")
    parser.add_argument("--repeats", type=int, default=5, help="turns; the best counts")
    parser.add_argument("--milliseconds", type=float, default=20.0, help="of one measurement in the last build")
    parser.add_argument("--within", type=float, help=f"exit with 1 if a kernel for {_WIDE} takes more times the last")
    parser.add_argument("--within-base", type=float, help="the same of the levels below")
    parser.add_argument("--json", type=Path, help="write the milliseconds to this file")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        modules = _modules(options, (options.builds or Path(folder)).resolve())
        least, different = _measure(modules, options.only, options.repeats, options.milliseconds)
    print(table(least))
    if options.json:
        options.json.write_text(json.dumps(least, indent=1))
    *slow, fast = modules
    failures = [f"{name}: the results differ between builds" for name in different]
    for level in slow:
        failures += above(least, level, fast, options.within if level == _WIDE else options.within_base)
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
