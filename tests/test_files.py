"""A file is there whole or not at all, and nothing else is, whoever dies."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import gnomon
from gnomon import _files
from gnomon._files import atomic_write, check_writable
from gnomon._run import running

fcntl = pytest.importorskip("fcntl", reason="kills and locks as POSIX has them")


@pytest.fixture(params=["nameless", "named"])
def kind(request, monkeypatch, tmp_path):
    """Run a test with files of no name, where there are any, and with part files."""
    if request.param == "named":
        monkeypatch.setattr(_files, "_open_nameless", lambda folder: None)
    elif not has_nameless(tmp_path):
        pytest.skip("this file system has no files without a name")
    return request.param


def has_nameless(folder):
    descriptor = _files._open_nameless(folder)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def test_written_file_replaces_the_old_one(tmp_path, kind):
    target = tmp_path / "map.html"
    target.write_text("old")
    target.chmod(0o640)
    with atomic_write(target, "w") as file:
        file.write("größe\n")
        assert target.read_text() == "old"
    assert target.read_bytes() == "größe\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["map.html"]


def test_a_new_file_has_ordinary_permissions(tmp_path, kind):
    (tmp_path / "ordinary").touch()
    with atomic_write(tmp_path / "new") as file:
        file.write(b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def write_half(target, error):
    with atomic_write(target) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_f86_nothing_half_written_stays(tmp_path, kind, error):
    target = tmp_path / "map.html"
    target.write_text("old")
    with pytest.raises(error):
        write_half(target, error)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["map.html"]


def test_a_link_stays_a_link(tmp_path, kind):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "real")
    with atomic_write(link) as file:
        file.write(b"x")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"x"


def test_only_writing_modes(tmp_path):
    with pytest.raises(ValueError, match="'w' or 'wb'"), atomic_write(tmp_path / "x", "a"):
        pass


def test_f87_what_cannot_be_written_is_said_before_the_work(tmp_path, monkeypatch, kind):
    check_writable(tmp_path / "fine.html")
    assert os.listdir(tmp_path) == []
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_writable(tmp_path)
    with (
        running(name="map"),
        pytest.raises(FileNotFoundError, match=r"map: output file .* must be in an existing folder"),
    ):
        check_writable(tmp_path / "missing" / "x.html")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file"):
        check_writable(tmp_path / "file" / "x.html")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(PermissionError, match=r"must be writable \(Permission denied\)"):
        check_writable(tmp_path / "x.html")


@pytest.mark.parametrize("write", ["save", "to_html", "to_png", "write_report", "export"])
def test_f87_a_map_has_no_place_before_it_is_explained(tmp_path, monkeypatch, write):
    result = gnomon.map(np.random.default_rng(0).normal(size=(30, 3)), method="pca")
    monkeypatch.setattr(gnomon.Map, "explain", lambda self: pytest.fail("explained first"))
    name = "map.csv" if write == "export" else "map.html"
    with pytest.raises(FileNotFoundError, match=r"output file .* must be in an existing folder .* Create it first\."):
        getattr(result, write)(tmp_path / "missing" / name)
    (tmp_path / name).mkdir()
    if write != "export":  # to a folder, which is there, as three files
        with pytest.raises(IsADirectoryError, match=r"must be a file \(it is a folder\)\. Add a file name\."):
            getattr(result, write)(tmp_path / name)


WRITERS = """
import os, sys, traceback
from gnomon import _files

nameless = _files._open_nameless

def write_slowly(target, go):
    with _files.atomic_write(target) as file:
        file.write(b"half" * 1000)
        file.flush()
        print(os.getpid(), flush=True)
        os.read(go, 1)
        file.write(b"whole")

def write_often(target, go):
    print(os.getpid(), flush=True)
    for number in range(10**6):
        with _files.atomic_write(target) as file:
            file.write(b"%07d" % (number % 10**7) * 1000)

going = {}
for line in sys.stdin:
    order, *given = line.rstrip("\\n").split("\\t")
    if order.startswith("write"):
        go, release = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _files._open_nameless = nameless if given[1] == "nameless" else lambda folder: None
                globals()[order](given[0], go)
                status = 0
            except BaseException:
                traceback.print_exc()
                print("failed", flush=True)
            os._exit(status)
        os.close(go)
        going[child] = release
    else:
        child = int(given[0])
        release = going.pop(child)
        if order == "go":
            os.write(release, b"x")
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        os.close(release)
"""


@pytest.fixture(scope="module")
def ask():
    """Tell a process, which starts writers, what to do, and return its answer or that of the new writer."""
    command = [sys.executable, "-c", WRITERS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def told(*words):
            process.stdin.write("\t".join(map(str, words)) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield told


class Writer:
    """A process in the middle of writing a file."""

    def __init__(self, ask, target, kind, how="write_slowly"):
        self._ask, self._number = ask, ask(how, target, kind)

    def end(self, *, kill):
        if kill:
            os.kill(self._number, signal.SIGKILL)
        return self._ask("wait" if kill else "go", self._number)


def parts(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def test_f86_a_killed_writer_leaves_nothing_behind(tmp_path, kind, ask):
    target = tmp_path / "map.gnomon"
    target.write_bytes(b"old")
    killed = [Writer(ask, target, kind) for _ in range(5)]
    for writer in killed:
        assert writer.end(kill=True) == -signal.SIGKILL
    assert target.read_bytes() == b"old"
    assert len(parts(tmp_path)) == (0 if kind == "nameless" else 5)
    with atomic_write(target) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["map.gnomon"]
    assert target.read_bytes() == b"new"


def test_a_living_writer_keeps_its_file(tmp_path, kind, ask):
    target = tmp_path / "map.gnomon"
    living, dead = Writer(ask, target, kind), Writer(ask, target, kind)
    dead.end(kill=True)
    with atomic_write(target) as file:
        file.write(b"mine")
    assert target.read_bytes() == b"mine"
    assert len(parts(tmp_path)) == (0 if kind == "nameless" else 1)
    assert living.end(kill=False) == 0
    assert target.read_bytes() == b"half" * 1000 + b"whole"
    assert os.listdir(tmp_path) == ["map.gnomon"]


def test_f86_the_target_is_whole_wherever_the_writer_dies(tmp_path, kind, ask):
    target = tmp_path / "map.gnomon"
    target.write_bytes(b"0000000" * 1000)
    for round_ in range(10):
        writer = Writer(ask, target, kind, "write_often")
        time.sleep(0.003 * round_)
        assert writer.end(kill=True) == -signal.SIGKILL
        content = target.read_bytes()
        assert len(content) == 7000
        assert content == content[:7] * 1000
        assert len(parts(tmp_path)) <= 1
    with atomic_write(target) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["map.gnomon"]


def test_writers_in_many_threads_do_not_disturb_each_other(tmp_path, kind):
    target = tmp_path / "map.gnomon"
    errors = []

    def write_often(number):
        try:
            for _ in range(60):
                with atomic_write(target) as file:
                    file.write(bytes([number]) * 5000)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write_often, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    content = target.read_bytes()
    assert content == content[:1] * 5000
    assert os.listdir(tmp_path) == ["map.gnomon"]


def test_a_part_file_that_is_taken_for_stale_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    target = tmp_path / "map.gnomon"
    monkeypatch.setattr(_files, "_open_nameless", lambda folder: None)
    hold, seen = _files._hold, []

    def late(part, descriptor):
        if not seen:
            _files._remove_stale_parts(target)  # what another writer does between creation and lock
            assert not part.exists()
        seen.append(part)
        return hold(part, descriptor)

    monkeypatch.setattr(_files, "_hold", late)
    with atomic_write(target) as file:
        file.write(b"x")
    assert target.read_bytes() == b"x"
    assert len(seen) == 2


def test_only_dead_part_files_of_the_same_target_are_removed(tmp_path):
    target = tmp_path / "map.gnomon"
    token = "0123456789ab"
    dead = tmp_path / f".map.gnomon.{_files._HOST}{token}.part"
    elsewhere = tmp_path / f".map.gnomon.ffffffff{token}.part"  # perhaps alive on another machine
    forgotten = tmp_path / f".map.gnomon.fffffffe{token}.part"
    other = tmp_path / f".map.{_files._HOST}{token}.part"
    locked = tmp_path / f".map.gnomon.{_files._HOST}{token[::-1]}.part"
    link = tmp_path / f".map.gnomon.{_files._HOST}aaaaaaaaaaaa.part"
    for path in (dead, elsewhere, forgotten, other, locked):
        path.write_bytes(b"x")
    link.symlink_to(other)
    pipe = (
        tmp_path / f".map.gnomon.{_files._HOST}bbbbbbbbbbbb.part"
    )  # nobody writes into it: reading would wait for ever
    os.mkfifo(pipe)
    os.utime(forgotten, (0, 0))
    with open(locked, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with atomic_write(target) as file:
            file.write(b"x")
    kept = {elsewhere.name, other.name, locked.name, link.name, pipe.name, "map.gnomon"}
    assert set(os.listdir(tmp_path)) == kept


def test_a_system_without_nameless_files_gets_part_files(tmp_path, monkeypatch):
    real = os.open

    def refuse(path, flags, *arguments, **options):
        if getattr(os, "O_TMPFILE", 0) and flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr("os.open", refuse)
    with atomic_write(tmp_path / "map.gnomon") as file:
        file.write(b"x")
        assert len(parts(tmp_path)) == 1
    assert os.listdir(tmp_path) == ["map.gnomon"]


def test_the_longest_name_can_be_written(tmp_path, kind):
    name = "ß" * 127
    with atomic_write(tmp_path / name) as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == [name]


def test_f86_all_that_was_written_is_in_the_file_before_it_is_asked_to_stay(tmp_path, monkeypatch):
    sizes = []
    given = os.fsync

    def watched(number):
        sizes.append(os.fstat(number).st_size)
        given(number)

    monkeypatch.setattr(os, "fsync", watched)
    with atomic_write(tmp_path / "small", "wb") as file:
        file.write(b"x" * 100)
    assert sizes[0] == 100


def test_a_part_file_is_forgotten_after_an_hour(monkeypatch):
    touched = SimpleNamespace(st_mtime=1000.0)
    for now, old in ((4600.0, False), (4600.5, True), (1000.0, False)):
        monkeypatch.setattr(_files.time, "time", lambda now=now: now)
        assert _files._is_old(touched) is old


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((errno.ENOSPC, "No space left on device"), True),
        ((errno.EFBIG, "File too large"), True),
        ((errno.EIO, "Input/output error"), True),
        ((errno.ENOSPC, "No space left on device", "elsewhere"), False),
        ((errno.EINVAL, "Invalid argument"), False),
    ],
)
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, kind, given, named):
    error = OSError(*given)
    before = error.filename
    with pytest.raises(OSError, match=re.escape(given[1])):
        write_half(tmp_path / "map.html", error)
    assert error.filename == (str(tmp_path / "map.html") if named else before)


def test_a_full_disk_is_told_with_what_to_do(tmp_path, kind):
    for number, remedy in ((errno.EFBIG, "Raise the limit, ulimit -f"), (errno.ENOSPC, "Make room")):
        with pytest.raises(OSError, match=rf"output file '.*map.html' must be .* \(told\)\. {remedy}") as caught:
            write_half(tmp_path / "map.html", OSError(number, "told"))
        assert caught.value.errno == number


def test_text_is_utf_8_unless_another_encoding_is_asked_for(tmp_path, kind):
    for encoding, content in ((None, "ß\n".encode()), ("latin-1", b"\xdf\n")):
        with atomic_write(tmp_path / "x", "w", encoding=encoding) as file:
            file.write("ß\n")
        assert (tmp_path / "x").read_bytes() == content


def test_what_has_no_place_is_told_to_the_letter(tmp_path):
    (tmp_path / "file").touch()
    missing = tmp_path / "missing"
    for path, error, text in (
        (tmp_path, IsADirectoryError, "a file (it is a folder). Add a file name."),
        (missing / "x", FileNotFoundError, f"in an existing folder (no folder {str(missing)!r}). Create it first."),
        (tmp_path / "file" / "x", NotADirectoryError, f"in a folder ({str(tmp_path / 'file')!r} is a file)."),
    ):
        for ask in (check_writable, lambda path: atomic_write(path).__enter__()):
            with pytest.raises(error) as caught:
                ask(path)
            assert str(caught.value).endswith(f": output file {str(path)!r} must be {text}")
    with running(name="save"), pytest.raises(ValueError, match=r"^save: mode='x' must be 'w' or 'wb'\.$"):
        atomic_write(tmp_path / "x", "x").__enter__()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has files without a name")
def test_only_systems_without_nameless_files_get_part_files(tmp_path, monkeypatch):
    def refuse(code):
        def opened(*arguments, **options):
            raise OSError(code, os.strerror(code))

        return opened

    for code in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS):
        with monkeypatch.context() as patched:
            patched.setattr("os.open", refuse(code))
            assert _files._open_nameless(tmp_path) is None
    with monkeypatch.context() as patched:
        patched.setattr("os.open", refuse(errno.EACCES))
        with pytest.raises(PermissionError):
            _files._open_nameless(tmp_path)
    if has_nameless(tmp_path):
        closed = []
        given = os.close
        monkeypatch.setattr("os.close", lambda number: (closed.append(number), given(number)))
        monkeypatch.setattr("os.path.exists", lambda path: False)
        assert _files._open_nameless(tmp_path) is None  # where /proc is not there, it could get no name
        assert len(closed) == 1


def test_files_are_written_where_there_are_no_locks(tmp_path, monkeypatch, kind):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    stale = tmp_path / f".map.html.{_files._HOST}0123456789ab.part"
    stale.touch()
    with atomic_write(tmp_path / "map.html") as file:
        file.write(b"x")
    assert sorted(os.listdir(tmp_path)) == [stale.name, "map.html"]


def test_a_folder_in_which_nothing_may_be_opened_is_told(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(_files, "_open_nameless", lambda folder: None)
    monkeypatch.setattr(_files, "_open_part", lambda part: (_ for _ in ()).throw(OSError("so it is")))
    with pytest.raises(OSError, match=r"must be writable \(so it is\)\. Choose another folder\.$"):
        check_writable(tmp_path / "x")
    assert os.listdir(tmp_path) == []
