"""Run contenders as child processes, turn and turn about, and keep what each run cost.

The repeats have the seeds 0, 1, 2, ..., and leave the maps LABEL-SEED.npy in a folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Contender", "Run", "Spent", "ToolError", "measure_processes", "measure_warm", "probe", "run_child"]

_TOOLS = Path(__file__).with_name("tools.py")


class ToolError(RuntimeError):
    """A contender, named by its label, ended with an error or was stopped; the text holds the end of what it wrote."""

    def __init__(self, text: str, label: str = "") -> None:
        super().__init__(text)
        self.label = label


@dataclass(frozen=True)
class Contender:
    """One tool, the method it runs and the interpreter it lives in; `label` names it in tables and files."""

    label: str
    tool: str
    method: str
    python: str = sys.executable
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def command(self, action: str, *arguments: str) -> list[str]:
        """Return the command line of the child process."""
        return [self.python, str(_TOOLS), action, self.tool, self.method, *arguments]


@dataclass(frozen=True)
class Run:
    """What one run cost: seconds by the clock, CPU seconds of all its threads, peak resident bytes.

    Of a fresh process, `fit_wall` is the part of `wall` spent in the tool's import and fit; of a warm one, all of it.
    `stages` has seconds by stage, and `work` the passes of a layout and its attracting pairs, of tools that tell.
    """

    wall: float
    cpu: float
    peak: int
    fit_wall: float
    stages: Mapping[str, float] = field(default_factory=dict)
    work: Mapping[str, int] = field(default_factory=dict)


def probe(tool: str, method: str, python: str) -> dict[str, str]:
    """Ask an interpreter for the version of a tool, or why it cannot run the method."""
    command = Contender(tool, tool, method, python).command("probe")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return {"missing": result.stderr.strip().splitlines()[-1] if result.stderr.strip() else "it does not start"}
    answer: dict[str, str] = json.loads(result.stdout.splitlines()[-1])
    return answer


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-15:])


def _stopped(contender: Contender, limit: float) -> ToolError:
    return ToolError(f"{contender.tool} ({contender.method}) took more than {limit:g} s", contender.label)


@dataclass(frozen=True)
class Spent:
    """What one child process cost: seconds by the clock, CPU seconds of all its threads, peak resident bytes."""

    wall: float
    cpu: float
    peak: int


def run_child(command: Sequence[str], log: Path, limit: float | None = None) -> Spent | None:
    """Run a command to its end, what it prints in a file; None if it took more than `limit` seconds.

    Raises
    ------
    RuntimeError
        If it fails, with the last lines that it printed.
    """
    late = threading.Event()
    with log.open("w") as stream:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
        with _killed_after(child, limit, late):
            try:
                _, status, usage = os.wait4(child.pid, 0)
            except BaseException:
                child.kill()
                child.wait()
                raise
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if limit is not None and late.is_set():
        return None
    if child.returncode != 0:
        raise RuntimeError(f"ended with {child.returncode}:\n{_tail(log)}")
    resident = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Spent(wall, usage.ru_utime + usage.ru_stime, resident)


def _run_process(contender: Contender, data: Path, out: Path, seed: int, limit: float | None) -> Run:
    command = contender.command("once", str(data), str(out), json.dumps(dict(contender.parameters)), str(seed))
    try:
        spent = run_child(command, out.with_suffix(".log"), limit)
    except RuntimeError as error:
        raise ToolError(f"{contender.tool} ({contender.method}) {error}", contender.label) from None
    if spent is None:
        assert limit is not None
        raise _stopped(contender, limit)
    report = json.loads(Path(f"{out}-{seed}.json").read_text())
    peak = report["peak"] or spent.peak
    return Run(spent.wall, spent.cpu, peak, report["fit_wall"], report["stages"], report["work"])


@contextmanager
def _killed_after(child: subprocess.Popen[Any], limit: float | None, late: threading.Event) -> Iterator[None]:
    """Kill a child that is still at work after so many seconds, and say so by the event."""

    def kill() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(limit or 0.0, kill)
    if limit is not None:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def measure_processes(
    contenders: list[Contender], data: Path, folder: Path, repeats: int, limit: float | None = None
) -> dict[str, list[Run]]:
    """Time whole fresh processes (start, import, read, fit, save), A B A B ...; one may take `limit` seconds.

    One uncounted run of each on a few rows comes first: reading a package from a cold disk and filling numba's caches
    on disk happen once on a machine, not once a process.
    """
    few = folder / "few_rows.npy"
    np.save(few, np.load(data, mmap_mode="r")[:500])
    for contender in contenders:
        _run_process(contender, few, folder / contender.label, 0, limit)
    runs: dict[str, list[Run]] = {contender.label: [] for contender in contenders}
    for seed in range(repeats):
        for contender in contenders:
            runs[contender.label].append(_run_process(contender, data, folder / contender.label, seed, limit))
    return runs


class _WarmProcess:
    """A contender that stays alive and fits once for every question, in at most `limit` seconds."""

    def __init__(self, contender: Contender, data: Path, out: Path, limit: float | None) -> None:
        self.contender = contender
        self.limit = limit
        self.log = out.with_suffix(".log")
        self._stream = self.log.open("w")
        command = contender.command("serve", str(data), str(out), json.dumps(dict(contender.parameters)))
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stream, text=True
        )

    def fit(self, seed: int) -> Run:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        late = threading.Event()
        with _killed_after(self._child, self.limit, late):
            try:
                self._child.stdin.write(f"{seed}\n")
                self._child.stdin.flush()
            except BrokenPipeError:
                pass  # the empty answer below tells
            answer = self._child.stdout.readline()
        if self.limit is not None and late.is_set():
            raise _stopped(self.contender, self.limit)
        if not answer:
            text = f"{self.contender.tool} ({self.contender.method}) ended:\n{_tail(self.log)}"
            raise ToolError(text, self.contender.label)
        report = json.loads(answer)
        seconds = report["fit_wall"]
        return Run(seconds, report["fit_cpu"], report["peak"] or 0, seconds, report["stages"], report["work"])

    def close(self) -> None:
        self._child.kill()
        self._child.communicate()
        self._stream.close()


def measure_warm(
    contenders: list[Contender], data: Path, folder: Path, repeats: int, limit: float | None = None
) -> dict[str, list[Run]]:
    """Time fits in processes that have fitted once before, A B A B ...; one may take `limit` seconds."""
    processes: list[_WarmProcess] = []
    try:
        for contender in contenders:
            processes.append(_WarmProcess(contender, data, folder / contender.label, limit))
            processes[-1].fit(0)  # imports and compiles: not counted
        runs: dict[str, list[Run]] = {contender.label: [] for contender in contenders}
        for seed in range(repeats):
            for process in processes:
                runs[process.contender.label].append(process.fit(seed))
        return runs
    finally:
        for process in processes:
            process.close()
