"""Formats whose libraries can crash, hang or fill the memory on damaged files are read in a process of their own."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from gnomon._validation import message
from gnomon.data import reading
from gnomon.data.dataset import Dataset
from gnomon.data.limits import allowed_memory, allowed_seconds
from gnomon.data.transfer import receive_dataset
from gnomon.exceptions import MissingDependencyError

__all__ = ["read_isolated"]

_SECONDS_TO_START = 120.0  # of the clock: the first import of a package from a network drive can take long
# -P keeps modules that lie in the current folder out until the path of this process is in place.
_PROGRAM = (
    "import json, sys; request = json.loads(sys.stdin.buffer.readline()); sys.path[:] = request['path']; "
    "from gnomon.data.reading import main; main(request)"
)
_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (ValueError, TypeError, OSError, FileNotFoundError, PermissionError, MissingDependencyError)
}
_PACKAGES = {"arrow": "pyarrow", "h5ad": "anndata"}


def read_isolated(reader: str, path: str | os.PathLike[str], *, who: str, **options: Any) -> Dataset:
    """Read a file in a process whose memory and time are limited, see `limits`.

    Where there is no interpreter to start (Python embedded in another program, or frozen into one) the file is read
    in this process, without limits. Memory is limited on Linux alone, processor time on systems with POSIX limits; the
    time by the clock everywhere.

    Parameters
    ----------
    reader : {"arrow", "h5ad"}
        The reader.
    path : str or path-like
        The file.
    who : str
        Opens the error text.
    **options
        What else the reader is given.

    Raises
    ------
    ValueError
        If the file cannot be read, also because the process crashed or exceeded a limit.
    MissingDependencyError
        If the package that reads such files is not installed.
    """
    interpreter = _interpreter()
    if interpreter is None or importlib.util.find_spec(_PACKAGES[reader]) is None:
        return reading.read_here(reader, os.fspath(path), who=who, **options)
    call = _Call(reader, os.fspath(path), who)
    request = {
        "path": [str(entry) for entry in sys.path],
        "reader": reader,
        "file": call.path,
        "options": {"who": who, **options},
        "memory": call.memory,
        "seconds": call.seconds,
    }
    command = [interpreter, "-P", "-W", "ignore", "-c", _PROGRAM]
    # pyarrow's own allocators reserve far more than they use, which a limit cannot tell from use.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise call.refusal(call.complete, f"no process could be started to read it: {error}") from error
    with process, _Clock(process) as clock:  # leaving ends the process, also on an interrupt
        return call.converse(process, clock, request)


def _interpreter() -> str | None:
    """Return the program that runs Python; None if this process is another program that holds Python."""
    name = Path(sys.executable or "").name.lower()
    return sys.executable if name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False) else None


class _Clock:
    """Ends a process when its time is up, and in any case at the end of the block."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.expired = False
        self.timer: threading.Timer | None = None

    def start(self, seconds: float) -> None:
        """Begin anew with so many seconds."""
        self.stop()
        self.timer = threading.Timer(seconds, self._expire)
        self.timer.daemon = True
        self.timer.start()

    def stop(self) -> None:
        if self.timer is not None:
            self.timer.cancel()

    def _expire(self) -> None:
        self.expired = True
        self.process.kill()

    def __enter__(self) -> _Clock:
        self.start(_SECONDS_TO_START)
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self.process.kill()


class _Call:
    """One file, what reading it may take, and what is said if it fails."""

    def __init__(self, reader: str, path: str, who: str) -> None:
        self.path, self.who = path, who
        self.kind = "h5ad" if reader == "h5ad" else "Parquet" if path.endswith(".parquet") else "Feather"
        self.complete = f"a complete {self.kind} file"
        self.remedy = f"If you trust this file, read it with {_PACKAGES[reader]} yourself and pass its table."
        self.memory = allowed_memory(path)
        self.seconds = allowed_seconds(path)

    def refusal(self, rule: str, fact: str = "") -> ValueError:
        """Return the error for a file that cannot be read."""
        return ValueError(message(self.who, f"file {self.path!r}", rule, fact=fact, remedy=self.remedy))

    def converse(self, process: subprocess.Popen[bytes], clock: _Clock, request: dict[str, Any]) -> Dataset:
        """Send the request and return the answer."""
        assert process.stdin is not None
        assert isinstance(process.stdout, io.BufferedReader)
        try:
            with process.stdin as stdin:
                stdin.write(json.dumps(request).encode() + b"\n")
            answer = self._answer(process.stdout)  # that all is imported
            if "error" not in answer:
                clock.start(10.0 + 2 * self.seconds)
                answer = self._answer(process.stdout)
            if "error" not in answer:
                return receive_dataset(answer, process.stdout, most_bytes=2 * self.memory)
        except (BrokenPipeError, EOFError) as error:
            raise self._death(process, clock) from error
        # The process has read a file that may be hostile: its answers are believed no more than the file.
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            fact = f"the process that read it gave no table: {error!r:.80}"
            raise self.refusal(self.complete, fact) from error
        raise self._passed_on(str(answer["error"]), str(answer.get("text")))

    def _answer(self, stream: IO[bytes]) -> dict[str, Any]:
        line = stream.readline(2 * self.memory)
        if not line.endswith(b"\n"):
            raise EOFError
        return dict(json.loads(line))

    def _passed_on(self, kind: str, text: str) -> Exception:
        """Return the error that was raised where the file was read."""
        if kind == "MemoryError":
            return self.refusal(f"a {self.kind} file that takes at most {self.memory / 1e9:.3g} GB to read")
        return _ERRORS[kind](text) if kind in _ERRORS else self.refusal(self.complete, f"{kind}: {text}"[:200])

    def _death(self, process: subprocess.Popen[bytes], clock: _Clock) -> ValueError:
        """Say why the process ended without an answer."""
        assert process.stderr is not None
        clock.stop()
        try:
            process.wait(5.0)  # it has closed its end of the pipe
        except subprocess.TimeoutExpired:
            process.kill()
        status = process.wait()
        if clock.expired or (status < 0 and -status == getattr(signal, "SIGXCPU", 0)):
            rule = f"a {self.kind} file that takes at most {self.seconds} s of processor time to read"
            return self.refusal(rule, "it did not come to an end" if clock.expired else "it takes more")
        if status < 0:
            names = {s.value: s.name for s in signal.Signals}
            name = names.get(-status, "of no name")
            return self.refusal(self.complete, f"the process that read it was killed by signal {-status}, {name}")
        last = process.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
        return self.refusal(self.complete, ": ".join([f"the process that read it ended with status {status}", *last]))
