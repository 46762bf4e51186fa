"""Parquet, Feather and h5ad files are read in a process whose end, whatever it is, becomes an error that says so."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.data import Dataset, isolated, limits, read_table
from gnomon.data.isolated import receive_dataset, send_dataset

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory and processor time are limited there")


@pytest.fixture
def table(tmp_path):
    feather.write_feather(pa.table({"a": [1.0, 2.0], "b": [3.0, 5.0]}), tmp_path / "t.feather")
    return tmp_path / "t.feather"


@pytest.fixture
def hostile(monkeypatch):
    """Let the process that reads do something else when it comes to read."""
    whole = isolated._PROGRAM

    def hostile(source):
        body = textwrap.indent(textwrap.dedent(source), " ")
        start, call = whole.rsplit("; ", 1)
        replace = f"import ctypes, os, signal, sys, time\ndef read(*a, **k):\n{body}\n"
        replace += "from gnomon.data import isolated\nisolated._READERS['arrow'] = read\n"
        replace += "isolated._IMPORTS['arrow'] = lambda path: None\n"  # it reads nothing, so it needs no library
        monkeypatch.setattr(isolated, "_PROGRAM", f"{start}\n{replace}{call}")

    return hostile


def test_the_libraries_stay_out_of_the_process_that_asks(table):
    program = f"import sys; from gnomon import read_table; read_table({str(table)!r}); print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("ctypes.string_at(0)", r"complete Feather file \(.*killed by signal 11, SIGSEGV\)", marks=linux),
        ("os.kill(os.getpid(), signal.SIGABRT)", r"killed by signal 6, SIGABRT\). If you trust this file"),
        ("os._exit(7)", "ended with status 7"),
        pytest.param("x = bytearray(8 * 10**9)", r"Feather file that takes at most \S+ GB to read", marks=linux),
        ("raise KeyError('x')", r"complete Feather file \(KeyError: 'x'\)"),
        ("raise TypeError('t: X must be y.')", "^t: X must be y.$"),
    ],
    ids=["crash", "abort", "exit", "memory", "error", "form"],
)
def test_the_end_of_the_process_is_told(table, hostile, source, text):
    hostile(source)
    with pytest.raises((ValueError, TypeError), match=text):
        read_table(table)


@linux
def test_processor_time_is_limited(table, hostile, monkeypatch):
    monkeypatch.setattr(isolated, "allowed_seconds", lambda path: 0)  # beyond the second that has begun
    monkeypatch.setattr(isolated._Clock, "start", lambda self, s, start=isolated._Clock.start: start(self, 120.0))
    hostile("while True: pass")
    with pytest.raises(ValueError, match=r"at most 0 s of processor time to read \(it takes more"):
        read_table(table)


def test_time_by_the_clock_is_limited(table, hostile, monkeypatch):
    monkeypatch.setattr(isolated._Clock, "start", lambda self, s, start=isolated._Clock.start: start(self, 1.0))
    hostile("time.sleep(60)")
    with pytest.raises(ValueError, match="it did not come to an end"):
        read_table(table)


def test_what_a_library_prints_does_not_disturb(table, hostile):
    hostile("os.write(1, b'noise' * 10**5); os.write(2, b'noise' * 10**5); raise ValueError('r: X must be quiet.')")
    with pytest.raises(ValueError, match="must be quiet"):
        read_table(table)


def test_an_interrupt_ends_the_process(table, hostile, tmp_path, monkeypatch):
    hostile(f"open({str(tmp_path / 'pid')!r}, 'w').write('') or time.sleep(60)")  # the limit lets it write no bytes

    def interrupted(self, process, clock, request):
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        while not (tmp_path / "pid").exists():
            time.sleep(0.05)
        processes.append(process)
        raise KeyboardInterrupt

    processes = []
    monkeypatch.setattr(isolated._Call, "converse", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_table(table)
    assert processes[0].returncode == (-signal.SIGKILL if os.name == "posix" else 1)


def test_modules_are_found_where_this_process_finds_them(table, tmp_path, monkeypatch, hostile):
    (tmp_path / "only_here.py").write_text("WORD = 'found'")
    monkeypatch.syspath_prepend(str(tmp_path))
    hostile("import only_here; raise ValueError(f'r: X must be {only_here.WORD}.')")
    with pytest.raises(ValueError, match="X must be found"):
        read_table(table)


def test_modules_in_the_current_folder_are_not_taken_for_others(table, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert read_table(table).n_samples == 2


@pytest.mark.parametrize("program", ["", "/usr/bin/blender"])
def test_python_inside_another_program_reads_itself(table, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(subprocess, "Popen", None)
    np.testing.assert_array_equal(read_table(table).X, [[1, 3], [2, 5]])


def test_no_process_to_be_had(table, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(ValueError, match="no process could be started"):
        read_table(table)


def test_limits_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1e12)
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(10**8)
    assert limits.allowed_memory(path) == 5 * 10**9
    assert limits.allowed_seconds(path) == 105
    monkeypatch.setattr(limits, "available_memory", lambda: 2e9)
    assert limits.allowed_memory(path) == 2 * 10**9


# What goes over the pipe


def dataset():
    return Dataset(
        sp.csr_array(np.eye(3, 4, dtype=np.float32)),
        feature_names=["a", "b", "c", "\udcff"],
        labels=np.array(["x", None, "y"], dtype=object),
        label_name="kind",
        metadata={
            "text": np.array(["p", "qr", ""]),
            "n": np.arange(3, dtype=">i2"),
            "ok": np.array([True, False, True]),
        },
        point_names=np.array(["1", "2", "ä"]),
        source="there",
        notes=["seen"],
    )


def sent(data):
    stream = io.BytesIO()
    send_dataset(data, stream)
    line, _, rest = stream.getvalue().partition(b"\n")
    return json.loads(line), rest


def received(description, rest, most_bytes=10**6):
    return receive_dataset(description, io.BufferedReader(io.BytesIO(rest)), most_bytes=most_bytes)


def test_a_data_set_arrives_as_it_was():
    data, copy = dataset(), received(*sent(dataset()))
    np.testing.assert_array_equal(copy.X.toarray(), data.X.toarray())
    assert copy.X.dtype == np.float32
    for name in ("labels", "point_names"):
        assert getattr(copy, name).tolist() == getattr(data, name).tolist()
        assert getattr(copy, name).dtype == getattr(data, name).dtype
    assert {n: v.tolist() for n, v in copy.metadata.items()} == {n: v.tolist() for n, v in data.metadata.items()}
    assert copy.metadata["n"].dtype == ">i2"
    for name in ("feature_names", "label_name", "source", "notes", "image_shape"):
        assert getattr(copy, name) == getattr(data, name)


def test_pictures_are_drawn_anew():
    X = np.arange(8, dtype=np.uint8).reshape(2, 4)
    copy = received(*sent(Dataset(X, images=X.reshape(2, 2, 2), image_shape=(2, 2))))
    assert copy.images.tolist() == X.reshape(2, 2, 2).tolist()


def test_what_arrives_is_checked():
    description, rest = sent(dataset())
    with pytest.raises(EOFError):
        received(description, rest[:-1])
    with pytest.raises(ValueError, match="an array of type"):
        received(description, rest, most_bytes=10)
    for kind, shape in (("|O", [3]), ("<f4", [-1, -3]), ("<f8", [10**9])):
        with pytest.raises(ValueError, match="an array of type"):
            received(description | {"arrays": [[kind, shape]]}, rest)
    with pytest.raises(ValueError, match="characters that do not exist"):
        received(description | {"arrays": [["<U1", [1]]]}, b"\xff\xff\xff\x7f")
    broken = list(rest)
    broken[12:16] = [99, 0, 0, 0]  # the first column number, behind three values of float32
    with pytest.raises(ValueError, match="ind"):
        received(description, bytes(broken))
