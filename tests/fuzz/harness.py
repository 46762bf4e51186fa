"""Damaged files are read in worker processes, whose crashes and endless loops are counted and survived.

Run as a program, this file is the worker: for each request it makes the mutants of a range of numbers, reads each and
says how it ended.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutate import make_mutant

__all__ = ["Tally", "end", "fuzz"]

_FORM = re.compile(r"\w.*: .* must be .*", re.DOTALL)
_PROCESSOR_SECONDS = 5.0  # for one mutant
_WALL_SECONDS = 60.0  # for one mutant that waits; the machine may be busy with other things
_MEMORY = 2**30  # bytes beyond what the worker takes once it has read the seeds
_idle: list[subprocess.Popen[str]] = []  # the worker that has answered, for the next call
_errors = tempfile.TemporaryFile("w+")  # noqa: SIM115, what the worker says before it dies


@dataclass
class Tally:
    """How often reading a mutant ended in which way."""

    read: int = 0
    refused: int = 0  # an error in the form that all errors of gnomon have
    others: Counter[str] = field(default_factory=Counter)
    crashes: Counter[str] = field(default_factory=Counter)
    timeouts: int = 0
    examples: dict[str, str] = field(default_factory=dict)  # a text of each kind of other exception
    failing: list[int] = field(default_factory=list)  # numbers of the mutants that ended in one of the last three

    def __str__(self) -> str:
        text = f"{self.read:,} read, {self.refused:,} refused, {sum(self.others.values()):,} other exceptions"
        text += f", {sum(self.crashes.values()):,} crashes, {self.timeouts:,} timeouts"
        named = dict(self.others) | {f"killed by {name}": n for name, n in self.crashes.items()}
        return text + (f": {named}" if named else "") + "".join(f"\n  {k}: {v}" for k, v in self.examples.items())


def fuzz(target: str, seeds: Path, kind: str, suffix: str, n_mutants: int, out: Path, *, first: int = 0) -> Tally:
    """Let a target read mutants of the files in a folder.

    Parameters
    ----------
    target : str
        Name of a function in targets.py.
    seeds : Path
        A folder of valid files.
    kind : str
        Which mutators to use.
    suffix : str
        Ending of the files' names.
    n_mutants : int
        How many to make.
    out : Path
        Folder for the mutants that fail, named by target and number.
    first : int, default=0
        Number of the first mutant.
    """
    tally = Tally()
    number, last = first, first + n_mutants
    out.mkdir(parents=True, exist_ok=True)
    while number < last:
        request = {"path": sys.path, "target": target, "seeds": str(seeds), "kind": kind, "suffix": suffix}
        request |= {"first": number, "last": last, "scratch": str(out)}
        worker = _idle.pop() if _idle and _idle[-1].poll() is None else _start()
        try:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(json.dumps(request) + "\n")
            worker.stdin.flush()
            ready = worker.stdout.readline()
            while ready and number < last:
                line = worker.stdout.readline()
                if not line.endswith("\n"):
                    break
                _count(tally, json.loads(line), number)
                number += 1
        except BaseException:
            worker.kill()
            raise
        if ready and number == last:
            _idle.append(worker)
            continue
        worker.communicate()
        _errors.seek(0)
        errors = _errors.read()
        if not ready:
            raise RuntimeError(f"the worker could not read the seeds: {errors[-2000:]}")
        _count_death(tally, worker.returncode, number, errors)
        number += 1
    files = _contents(seeds)
    for failed in tally.failing[:100]:
        (out / f"{target}-{failed}.{suffix}").write_bytes(make_mutant(files, kind, failed))
    return tally


def _start() -> subprocess.Popen[str]:
    _errors.seek(0)
    _errors.truncate()
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, __file__], text=True, stdin=pipe, stdout=pipe, stderr=_errors)


def end() -> None:
    """End the worker that waits for another call."""
    while _idle:
        _idle.pop().communicate()


def _count(tally: Tally, outcome: str, number: int) -> None:
    if outcome == "read":
        tally.read += 1
    elif outcome == "refused":
        tally.refused += 1
    else:
        name, _, text = outcome.partition(": ")
        tally.others[name] += 1
        tally.examples.setdefault(name, f"mutant {number}: {text}")
        tally.failing.append(number)


def _count_death(tally: Tally, status: int, number: int, errors: str) -> None:
    if status in (-signal.SIGPROF, -signal.SIGALRM):
        tally.timeouts += 1
    else:
        name = signal.Signals(-status).name if status < 0 else f"status {status} ({errors.strip()[-200:]})"
        tally.crashes[name] += 1
    tally.failing.append(number)


def _contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def _outcome(read: Any, path: Path) -> str:
    try:
        read(path)
    except Exception as error:
        expected = isinstance(error, (ValueError, TypeError, OSError, MemoryError))
        if (expected or type(error).__module__ == "gnomon.exceptions") and _FORM.match(str(error)):
            return "refused"
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "read"


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * 4096


def _work(request: dict[str, Any]) -> None:
    import resource
    import warnings

    import targets

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    read = getattr(targets, request["target"])
    seeds, suffix = Path(request["seeds"]), request["suffix"]
    for path in sorted(seeds.iterdir()):
        read(path)  # raises if a seed is not valid; imports all that is needed
    limit = _address_space() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files = _contents(seeds)
    mutant = Path(request["scratch"]) / f"mutant-of-{request['target']}.{suffix}"
    print("ready", flush=True)
    for number in range(request["first"], request["last"]):
        mutant.write_bytes(make_mutant(files, request["kind"], number))
        # Without handlers the signals end the process, also out of a loop in a library.
        signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, _WALL_SECONDS)
        outcome = _outcome(read, mutant)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(outcome), flush=True)
    mutant.unlink()


if __name__ == "__main__":
    for _line in sys.stdin:
        _request = json.loads(_line)
        sys.path[:] = _request["path"]
        _work(_request)
