"""Run contenders as child processes, turn and turn about, and keep what each run cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Contender", "Run", "ToolError", "measure_processes", "measure_warm", "probe"]

_TOOLS = Path(__file__).with_name("tools.py")


class ToolError(RuntimeError):
    """A contender, named by its label, ended with an error; the text holds the end of what it wrote."""

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
    """

    wall: float
    cpu: float
    peak: int
    fit_wall: float


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


def _run_process(contender: Contender, data: Path, out: Path) -> Run:
    log = out.with_suffix(".log")
    command = contender.command("once", str(data), str(out), json.dumps(dict(contender.parameters)))
    with log.open("w") as stream:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            child.wait()
            raise
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        text = f"{contender.tool} ({contender.method}) ended with {child.returncode}:\n{_tail(log)}"
        raise ToolError(text, contender.label)
    report = json.loads(out.with_suffix(".json").read_text())
    resident = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(wall, usage.ru_utime + usage.ru_stime, report["peak"] or resident, report["fit_wall"])


def measure_processes(contenders: list[Contender], data: Path, folder: Path, repeats: int) -> dict[str, list[Run]]:
    """Time whole fresh processes (start, import, read, fit, save), A B A B ...; maps are left as folder/LABEL.npy.

    One uncounted run of each on a few rows comes first: reading a package from a cold disk and filling numba's caches
    on disk happen once on a machine, not once a process.
    """
    few = folder / "few_rows.npy"
    np.save(few, np.load(data, mmap_mode="r")[:500])
    for contender in contenders:
        _run_process(contender, few, folder / contender.label)
    runs: dict[str, list[Run]] = {contender.label: [] for contender in contenders}
    for _ in range(repeats):
        for contender in contenders:
            runs[contender.label].append(_run_process(contender, data, folder / contender.label))
    return runs


class _WarmProcess:
    """A contender that stays alive and fits once for every question."""

    def __init__(self, contender: Contender, data: Path, out: Path) -> None:
        self.contender = contender
        self.log = out.with_suffix(".log")
        self._stream = self.log.open("w")
        command = contender.command("serve", str(data), str(out), json.dumps(dict(contender.parameters)))
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stream, text=True
        )

    def fit(self) -> Run:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            self._child.stdin.write("fit\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            pass  # the empty answer below tells
        answer = self._child.stdout.readline()
        if not answer:
            text = f"{self.contender.tool} ({self.contender.method}) ended:\n{_tail(self.log)}"
            raise ToolError(text, self.contender.label)
        report = json.loads(answer)
        return Run(report["fit_wall"], report["fit_cpu"], report["peak"] or 0, report["fit_wall"])

    def close(self) -> None:
        self._child.kill()
        self._child.communicate()
        self._stream.close()


def measure_warm(contenders: list[Contender], data: Path, folder: Path, repeats: int) -> dict[str, list[Run]]:
    """Time fits in processes that have fitted once before, A B A B ...; maps are left as folder/LABEL.npy."""
    processes: list[_WarmProcess] = []
    try:
        for contender in contenders:
            processes.append(_WarmProcess(contender, data, folder / contender.label))
            processes[-1].fit()  # imports and compiles: not counted
        runs: dict[str, list[Run]] = {contender.label: [] for contender in contenders}
        for _ in range(repeats):
            for process in processes:
                runs[process.contender.label].append(process.fit())
        return runs
    finally:
        for process in processes:
            process.close()
