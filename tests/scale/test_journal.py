"""The journal: what is damaged, foreign, in use or full is found and said."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import zipfile

import numpy as np
import pytest

import gnomon
from gnomon.data.stored import ArrayTable, row_blocks
from gnomon.exceptions import GnomonWarning
from gnomon.scale import Journal, LocalExecutor

_X = np.arange(6000.0, dtype=np.float32).reshape(3000, 2)
_BLOCKS = row_blocks(3000, 30_000)


def _square(block, table):
    return {"squares": table.read(block.start, block.stop) ** 2}


def _squares(folder, executor=None):
    journal = Journal(folder, {"seed": 0})
    parts = list(journal.blocks("squares", executor or LocalExecutor(), _square, _BLOCKS, ArrayTable(_X)))
    return np.concatenate([part["squares"] for part in parts])


def _damages():
    return {
        "half": lambda whole: whole[: len(whole) // 2],
        "empty": lambda whole: b"",
        "other": lambda whole: b"something else",
        "one byte": lambda whole: whole[:4000] + bytes([whole[4000] ^ 1]) + whole[4001:],
    }


@pytest.mark.parametrize("damage", list(_damages()))
def test_a_damaged_file_is_found_and_computed_again(tmp_path, damage):
    first = _squares(tmp_path)
    path = tmp_path / "squares" / "000001.npz"
    whole = path.read_bytes()
    path.write_bytes(_damages()[damage](whole))
    with pytest.warns(GnomonWarning, match=r"000001\.npz' is damaged .* computed again"):
        again = _squares(tmp_path)
    assert again.tobytes() == first.tobytes()
    assert path.read_bytes() == whole
    _squares(tmp_path)  # and no warning any more


def test_a_damaged_stage_is_computed_again(tmp_path):
    journal = Journal(tmp_path, {})
    journal.stage("fit", lambda: {"Y": np.ones(3)})
    (tmp_path / "fit.npz").write_bytes(b"PK")
    with pytest.warns(GnomonWarning, match="damaged"):
        assert journal.stage("fit", lambda: {"Y": np.zeros(3)})["Y"].sum() == 0
    assert Journal(tmp_path, {}).stage("fit", lambda: {})["Y"].sum() == 0


@pytest.mark.parametrize(
    "content",
    [
        b"no array",
        np.lib.format.magic(1, 0) + (10).to_bytes(2, "little") + b"{'shape': ",
        b"\x93NUMPY\x01\x00\x05\x00{'a' ",
    ],
)
def test_a_stage_of_anything_but_arrays_is_computed_again(tmp_path, content):
    journal = Journal(tmp_path, {})
    with zipfile.ZipFile(tmp_path / "fit.npz", "w") as archive:
        archive.writestr("Y.npy", content)
    with pytest.warns(GnomonWarning, match="damaged"):
        assert journal.stage("fit", lambda: {"Y": np.arange(3)})["Y"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("record", ["{", "5", "[1]", "null", "[" * 100_000])
def test_a_record_of_no_run_is_refused(tmp_path, record):
    (tmp_path / "run.json").write_text(record)
    with pytest.raises(ValueError, match=r"run\.json there is no record of a run"):
        Journal(tmp_path, {})


class _Elsewhere(LocalExecutor):
    """Workers of another machine, where a folder of the same name is another one."""

    def __init__(self, folder):
        self.folder = folder

    def map(self, function, items, *shared, needed=0.0):
        mark = self.folder / "mark"
        for item in items:
            here = mark.read_text()
            mark.write_text("another machine's")
            found = function(item, *shared)
            mark.write_text(here)
            assert found is not None
            yield found


def test_what_workers_elsewhere_find_is_written_here(tmp_path):
    shared, apart = tmp_path / "shared", tmp_path / "apart"
    _squares(shared)
    found = _squares(apart, _Elsewhere(apart))
    assert np.array_equal(found, _X**2)
    for path in (shared / "squares").iterdir():
        assert path.read_bytes() == (apart / "squares" / path.name).read_bytes()


class _Late(LocalExecutor):
    """Workers whose files are seen here some time after they are written."""

    def __init__(self, folder):
        self.folder = folder

    def map(self, function, items, *shared, needed=0.0):
        for item in items:
            assert function(item, *shared) is None
            hidden = item.path.with_suffix(".late")
            item.path.rename(hidden)
            threading.Timer(0.1, hidden.rename, [item.path]).start()
            yield None


def test_files_of_workers_may_be_seen_late(tmp_path):
    assert np.array_equal(_squares(tmp_path, _Late(tmp_path)), _X**2)


def test_what_a_worker_may_not_write_is_written_here(tmp_path, monkeypatch):
    class MayNot(LocalExecutor):
        def map(self, function, items, *shared, needed=0.0):
            for item in items:
                with monkeypatch.context() as there:
                    there.setattr(np, "savez", refuse)
                    found = function(item, *shared)
                yield found

    def refuse(file, **arrays):
        raise OSError(errno.EROFS, "Read-only file system")

    assert np.array_equal(_squares(tmp_path, MayNot()), _X**2)
    assert len(list((tmp_path / "squares").iterdir())) == len(_BLOCKS)


def test_blocks_are_computed_as_they_are_asked_for(tmp_path):
    blocks = Journal(tmp_path, {}).blocks("squares", LocalExecutor(), _square, _BLOCKS, ArrayTable(_X))
    next(blocks)
    assert len(list((tmp_path / "squares").iterdir())) == 1


def test_a_full_disk_is_said_and_leaves_nothing_half(tmp_path, monkeypatch):
    def full(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with (
        gnomon.running(name="map"),
        pytest.raises(OSError, match=r"map: folder .* must be on a disk with room") as raised,
    ):
        _squares(tmp_path)
    assert raised.value.errno == errno.ENOSPC
    assert list((tmp_path / "squares").iterdir()) == []
    monkeypatch.undo()
    assert np.array_equal(_squares(tmp_path), _X**2)


def test_stages_are_arrays_of_numbers(tmp_path):
    with pytest.raises(TypeError, match="the stage 'fit' must be arrays of numbers"):
        Journal(tmp_path, {}).stage("fit", lambda: {"Y": np.array([{}])})


_OTHER = """
    import sys, time
    import numpy as np
    from gnomon.scale import Journal
    try:
        journal = Journal(sys.argv[1], {"seed": 0})
    except BlockingIOError as error:
        sys.exit(str(error))
    print("has it", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_one_process_has_a_folder_at_a_time_and_the_dead_have_none(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(_OTHER), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "has it\n"
            with pytest.raises(
                BlockingIOError, match=rf"one run at a time \(process {other.pid} uses it\)\. Wait for it"
            ):
                Journal(tmp_path, {"seed": 0})
        finally:
            os.kill(other.pid, signal.SIGKILL)
    first = Journal(tmp_path, {"seed": 0})
    assert Journal(tmp_path, {"seed": 0}).folder == first.folder  # the same process may have it twice
