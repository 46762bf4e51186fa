"""Formats whose libraries can crash, hang or fill the memory on damaged files are read in a process of their own."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._run import running
from gnomon._validation import caller, message
from gnomon.data.arrow import import_arrow, read_arrow
from gnomon.data.dataset import Dataset, draw_rows, text_array
from gnomon.data.h5ad import import_h5ad, read_h5ad
from gnomon.data.labels import in_order, order_of
from gnomon.data.limits import allowed_memory, allowed_seconds
from gnomon.data.representation import Reduction, Representation
from gnomon.exceptions import MissingDependencyError

__all__ = ["main", "read_isolated", "receive_dataset", "send_dataset"]

_SECONDS_TO_START = 120.0  # of the clock: the first import of a package from a network drive can take long
# -P keeps modules that lie in the current folder out until the path of this process is in place.
_PROGRAM = (
    "import json, sys; request = json.loads(sys.stdin.buffer.readline()); sys.path[:] = request['path']; "
    "from gnomon.data.isolated import main; main(request)"
)
_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (ValueError, TypeError, OSError, FileNotFoundError, PermissionError, MissingDependencyError)
}
_PACKAGES = {"arrow": "pyarrow", "h5ad": "anndata"}
_IMPORTS = {"arrow": import_arrow, "h5ad": import_h5ad}
_READERS: dict[str, Callable[..., Dataset]] = {"arrow": read_arrow, "h5ad": read_h5ad}
_MOST_THREADS = 8  # of pyarrow: the stack of each counts as memory
_KINDS = "biufcSUMm"


def read_isolated(reader: str, path: str | os.PathLike[str], **options: Any) -> Dataset:
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
    **options
        Further options of the reader.

    Raises
    ------
    ValueError
        If the file cannot be read, also because the process crashed or exceeded a limit.
    MissingDependencyError
        If the package that reads such files is not installed.
    """
    interpreter = _interpreter()
    if interpreter is None or importlib.util.find_spec(_PACKAGES[reader]) is None:
        return _READERS[reader](os.fspath(path), **options)
    call = _Call(reader, os.fspath(path))
    request = {
        "path": [str(entry) for entry in sys.path],
        "reader": reader,
        "file": call.path,
        "name": caller(),
        "options": options,
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

    def __init__(self, reader: str, path: str) -> None:
        self.path = path
        self.kind = "h5ad" if reader == "h5ad" else "Parquet" if path.endswith(".parquet") else "Feather"
        self.complete = f"a complete {self.kind} file"
        self.remedy = f"If you trust this file, read it with {_PACKAGES[reader]} yourself and pass its table."
        self.memory = allowed_memory(path)
        self.seconds = allowed_seconds(path)

    def refusal(self, rule: str, fact: str = "") -> ValueError:
        """Return the error for a file that cannot be read."""
        return ValueError(message(f"file {self.path!r}", rule, fact=fact, remedy=self.remedy))

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


def main(request: dict[str, Any]) -> None:
    """Import the library, say so, set the limits, read, and send the table or the error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that waits, which ends this one
    out = os.fdopen(os.dup(1), "wb")
    _silence(1)
    try:
        with running(name=request["name"]):
            _IMPORTS[request["reader"]](request["file"])
            _send(out, {"ready": True})
            _silence(2)
            _limit(request["memory"], request["seconds"])
            dataset = _READERS[request["reader"]](request["file"], **request["options"])
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


def send_dataset(dataset: Dataset, out: IO[bytes]) -> None:
    """Write a line of JSON that describes the data set, then the bytes of its arrays.

    Pictures and given distances are not sent.
    """
    arrays: list[npt.NDArray[Any]] = []

    def put(values: npt.NDArray[Any] | None) -> Any:
        """Return where an array is found: a number of an array, or the texts of an array of objects themselves."""
        if values is None:
            return None
        if order := order_of(values):
            return {"texts": values.tolist(), "order": order}
        if values.dtype.hasobject:
            return {"texts": values.tolist()}
        arrays.append(np.ascontiguousarray(values))
        return len(arrays) - 1

    def put_representation(found: Representation | Reduction | None) -> Any:
        if found is None:
            return None
        if isinstance(found, Reduction):
            return {"n_components": found.n_components, "columns": put(found.columns)}
        return {"name": found.name, "values": put(found.values), "components": put(found.components)}

    X = dataset.X
    description = {
        "X": put(X) if isinstance(X, np.ndarray) else [put(X.data), put(X.indices), put(X.indptr), list(X.shape)],
        "feature_names": dataset.feature_names,
        "labels": put(dataset.labels),
        "label_name": dataset.label_name,
        "metadata": [[name, put(values)] for name, values in dataset.metadata.items()],
        "integers": [[name, put(values)] for name, values in dataset.integers.items()],
        "point_names": put(dataset.point_names),
        "image_shape": dataset.image_shape,
        "source": dataset.source,
        "notes": dataset.notes,
        "text_columns": dataset.text_columns,
        "text_places": dataset.text_places,
        "truth_columns": dataset.truth_columns,
        "part": dataset.part,
        "depth": put(dataset.depth),
        "representation": put_representation(dataset.representation),
    }
    description["arrays"] = [[values.dtype.str, list(values.shape)] for values in arrays]
    out.write(json.dumps(description).encode() + b"\n")
    for values in arrays:
        out.write(values.reshape(-1).view(np.uint8).data)
    out.flush()


def receive_dataset(description: dict[str, Any], stream: io.BufferedReader, *, most_bytes: int) -> Dataset:
    """Read what `send_dataset` wrote, its first line already parsed.

    The sender has read a file that may be hostile, so it is believed no more than the file: sizes, types and indices
    are checked.

    Raises
    ------
    ValueError, KeyError, TypeError, EOFError
        If the stream is not what `send_dataset` writes, ends early, or has arrays of more than `most_bytes`.
    """
    arrays: list[npt.NDArray[Any]] = []
    for kind, shape in description["arrays"]:
        array = _receive_array(np.dtype(kind), tuple(shape), stream, most_bytes)
        most_bytes -= array.nbytes
        arrays.append(array)

    def take(place: Any) -> Any:
        if place is None or isinstance(place, int):
            return None if place is None else arrays[place]
        if "order" not in place:
            return np.array(place["texts"], dtype=object)
        return in_order(text_array(place["texts"]), [str(name) for name in place["order"]])

    def take_representation(about: Any) -> Representation | Reduction | None:
        if about is None:
            return None
        if "name" in about:
            return Representation(str(about["name"]), take(about["values"]), components=take(about["components"]))
        return Reduction(int(about["n_components"]), take(about["columns"]))

    X: Any = description["X"]
    if isinstance(X, list):
        matrix = sp.csr_array((take(X[0]), take(X[1]), take(X[2])), shape=tuple(X[3]))
        matrix.check_format(full_check=True)
        X = matrix
    else:
        X = take(X)
    shape = None if description["image_shape"] is None else tuple(description["image_shape"])
    return Dataset(
        X,
        feature_names=description["feature_names"],
        labels=take(description["labels"]),
        label_name=description["label_name"],
        metadata={name: take(place) for name, place in description["metadata"]},
        integers={name: take(place) for name, place in description["integers"]},
        point_names=take(description["point_names"]),
        images=None if shape is None else draw_rows(X, shape),
        image_shape=shape,
        source=description["source"],
        notes=description["notes"],
        text_columns=description["text_columns"],
        text_places=[int(place) for place in description["text_places"]],
        truth_columns=description["truth_columns"],
        part=str(description["part"]),
        depth=take(description["depth"]),
        representation=take_representation(description["representation"]),
    )


def _receive_array(
    dtype: np.dtype[Any], shape: tuple[int, ...], stream: io.BufferedReader, most_bytes: int
) -> npt.NDArray[Any]:
    n_bytes = math.prod(shape) * dtype.itemsize
    if dtype.kind not in _KINDS or min(shape, default=0) < 0 or n_bytes > most_bytes:
        raise ValueError(f"an array of type {dtype} and shape {shape}")
    content = np.empty(n_bytes, np.uint8)
    filled = 0
    while filled < n_bytes:
        piece = stream.readinto(content.data[filled:])
        if not piece:
            raise EOFError(f"{filled} of {n_bytes} bytes")
        filled += piece
    if dtype.kind == "U" and n_bytes and content.view(f"{dtype.byteorder}u4").max() > sys.maxunicode:
        raise ValueError("text with characters that do not exist")
    return content.view(dtype).reshape(shape)
