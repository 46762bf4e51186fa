"""What the process that reads a file for another does; see `isolated`."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from gnomon.data.arrow import import_arrow, read_arrow
from gnomon.data.dataset import Dataset
from gnomon.data.h5ad import import_h5ad, read_h5ad
from gnomon.data.transfer import send_dataset

__all__ = ["main", "read_here"]

_IMPORTS = {"arrow": import_arrow, "h5ad": import_h5ad}
_READERS: dict[str, Callable[..., Dataset]] = {"arrow": read_arrow, "h5ad": read_h5ad}
_MOST_THREADS = 8  # of pyarrow: the stack of each counts as memory


def read_here(reader: str, path: str, **options: Any) -> Dataset:
    """Read a file in this process."""
    return _READERS[reader](path, **options)


def main(request: dict[str, Any]) -> None:
    """Import the library, say so, set the limits, read, and send the table or the error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that waits, which ends this one
    out = os.fdopen(os.dup(1), "wb")
    _silence(1)
    try:
        _IMPORTS[request["reader"]](request["file"], who=request["options"]["who"])
        _send(out, {"ready": True})
        _silence(2)
        _limit(request["memory"], request["seconds"])
        dataset = read_here(request["reader"], request["file"], **request["options"])
        send_dataset(dataset, out)
    except Exception as error:  # whatever it is, the process that waits has to hear of it
        memory = isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError)
        kind = "MemoryError" if memory else type(error).__name__
        _send(out, {"error": kind, "text": str(error)})
    out.flush()
    os._exit(0)  # libraries that read a damaged file may crash in tidying up


def _silence(descriptor: int) -> None:
    """Drop what is written to a standard stream: libraries in C write there what is no answer."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), descriptor)


def _send(out: IO[bytes], answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer).encode() + b"\n")
    out.flush()


def _limit(memory: int, seconds: int) -> None:
    """Limit what this process may take from now on, as far as the system can."""
    if "pyarrow" in sys.modules:
        pyarrow = sys.modules["pyarrow"]
        pyarrow.set_cpu_count(min(pyarrow.cpu_count(), _MOST_THREADS))
    with contextlib.suppress(ImportError):  # Windows: the clock of the process that waits is the limit
        import resource

        _lower(resource, resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)
        _lower(resource, resource.RLIMIT_CORE, 0)
        _lower(resource, resource.RLIMIT_FSIZE, 0)  # reading writes no files
        with contextlib.suppress(OSError):  # no /proc: systems other than Linux do not keep to such a limit anyway
            status = Path("/proc/self/status").read_text()
            taken = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmData:"))
            _lower(resource, resource.RLIMIT_DATA, 1024 * taken + memory)


def _lower(resource: Any, which: int, limit: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(which, (limit, hard))
