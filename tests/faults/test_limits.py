"""A machine that refuses (group F): a full disk, no home, little memory, part of a processor; each one for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tests.threads import of_a_whole_machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")

_TIMEOUT = 60
_MAP = """
import os, sys, warnings
import numpy as np
import gnomon
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(120, 4))
made = gnomon.map(X, max_iter=5, n_jobs=1)
"""
# What writes a file, by what it writes; none of them fits into 4096 bytes.
_WRITERS = """
writers = {
    "map.gnomon": made.save,
    "method.gnomon": gnomon.UMAP(n_neighbors=5, max_iter=5).fit(X).save,
    "page.html": made.to_html,
    "points.csv": made.export,
    "points.parquet": made.export,
    "map.png": lambda path: made.plot().save(path),
}
"""


def _python(script, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        # A limit of the size of files would cut the compiled modules too, which Python 3.11 then keeps.
        env=of_a_whole_machine(PYTHONDONTWRITEBYTECODE="1", **environment),
        check=False,
    )


_FULL = (
    _MAP
    + _WRITERS
    + """
import json

def tried(folder, full, empty, n_old):
    told = []
    for name in writers:
        with open(os.path.join(folder, name), "w") as file:
            file.write("old")
    exec(full)
    for name, write in writers.items():
        path = os.path.join(folder, name)
        try:
            write(path)
            told.append(f"{name} was written")
        except OSError as error:
            if not (path in str(error) or str(error.filename) == path):
                told.append(f"{name} is not named in: {error}")
    for name in writers:
        with open(os.path.join(folder, name)) as file:
            if file.read(n_old) != "old":
                told.append(f"{name} was changed")
    if sorted(os.listdir(folder)) != sorted(writers):
        told.append(f"left behind: {sorted(os.listdir(folder))}")
    exec(empty)
    for name, write in writers.items():
        write(os.path.join(folder, name))
    if gnomon.load(os.path.join(folder, "map.gnomon")).embedding.tobytes() != made.embedding.tobytes():
        told.append("what was saved is another map")
    return told

for case in json.loads(sys.argv[1]):
    print(json.dumps(tried(*case)), flush=True)
"""
)
_LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""
_UNLIMITED = "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)"
_FILL = """
with open(os.path.join(folder, "points.csv"), "r+b", buffering=0) as file:
    file.seek(3)
    try:
        while file.write(bytes(65536)): pass
    except OSError:
        pass
"""
_EMPTY = "os.truncate(os.path.join(folder, 'points.csv'), 3)"


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    """What went wrong where a file may not grow, and on a full disk of two megabytes, which needs a right to mount."""
    cases = {"file": [str(tmp_path_factory.mktemp("files")), _LIMITED, _UNLIMITED, -1]}
    disk = tmp_path_factory.mktemp("disk")
    options = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if os.geteuid() == 0 and subprocess.run(options, capture_output=True, check=False).returncode == 0:
        cases["disk"] = [str(disk), _FILL, _EMPTY, 3]
    try:
        done = _python(_FULL, json.dumps(list(cases.values())))
    finally:
        if "disk" in cases:
            subprocess.run(["umount", str(disk)], check=True)
    told = [*map(json.loads, done.stdout.splitlines()), *[[done.stderr]] * len(cases)]
    return dict(zip(cases, told, strict=False))


def test_f87_a_file_that_may_not_grow_leaves_what_was_there(refusals):
    assert refusals["file"] == []


def test_f87_a_full_disk_leaves_what_was_there(refusals):
    if "disk" not in refusals:
        pytest.skip("no right to mount a file system")
    assert refusals["disk"] == []


_FOLDERS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLCONFIGDIR", "IPYTHONDIR")
_NOWHERE = dict.fromkeys(_FOLDERS, "/proc/none")  # where not even root can make a folder


def test_f87_without_a_home_to_write_to_maps_pages_and_figures_are_made(tmp_path):
    script = f"""{_MAP}
import gnomon.cli
made.to_html(os.path.join(sys.argv[1], "page.html"))
made.plot().save(os.path.join(sys.argv[1], "map.png"))
gnomon.cli.main(["map", "iris", "-p", "max_iter=5", "-o", os.path.join(sys.argv[1], "iris.html")])
"""
    done = _python(script, tmp_path, **_NOWHERE)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["iris.html", "iris.html.run.json", "map.png", "page.html"]


def test_f84_a_limit_of_memory_is_respected_before_the_work_and_survived_within_it():
    script = """
import resource, warnings
import numpy as np
import gnomon
from sklearn.exceptions import NotFittedError
X = np.random.default_rng(0).normal(size=(6000, 4))
gnomon.ClassicalMDS(metric="manhattan", n_jobs=1).fit(X[:100])  # whatever is loaded later, is loaded now
gnomon.UMAP(n_neighbors=5, max_iter=5, n_jobs=1).fit(X[:100])
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 150_000_000, -1))
tried = gnomon.ClassicalMDS(metric="manhattan", n_jobs=1)
try:
    tried.fit(X)
except MemoryError as error:
    print(error)
import gnomon.methods.forecast as forecast
forecast.require_memory = lambda *_, **__: None  # as if the forecast had been wrong
try:
    tried.fit(X)
    print("fitted")
except MemoryError:
    print("no memory", hasattr(tried, "n_features_in_"))
print(tried.fit(X[:100]).embedding_.shape, gnomon.UMAP(n_neighbors=5, max_iter=5, n_jobs=1).fit(X[:100]).n_iter_)
"""
    done = _python(script)
    assert done.returncode == 0, done.stderr
    told, failed, after = done.stdout.splitlines()
    assert told.startswith("ClassicalMDS: X of 6,000 rows must be one whose computation fits in memory, 150 MB (")
    assert failed == "no memory False"
    assert after == "(100, 2) 5"


@pytest.mark.parametrize(
    ("files", "expected"),
    [({"cpu.max": "100000 100000"}, 1), ({"cpu/cpu.cfs_quota_us": "150000", "cpu/cpu.cfs_period_us": "100000"}, 1)],
    ids=["second-version", "first-version"],
)
def test_f81_a_process_under_a_quota_takes_the_threads_that_it_pays_for(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    hidden = f"mount --bind {tmp_path} /sys/fs/cgroup"
    if subprocess.run(["unshare", "-m", "sh", "-c", hidden], capture_output=True, check=False).returncode != 0:
        pytest.skip("no right to mount a folder where the quota of a process stands")
    script = """
import os
import numpy as np
from gnomon import _core, running
from gnomon._run import current_run
from gnomon._threads import resolve_n_threads
import gnomon
seen = []
gnomon.UMAP(n_neighbors=5, max_iter=5, callback=lambda _: seen.append(current_run().n_threads)).fit(np.eye(40))
print(resolve_n_threads(None), resolve_n_threads(-1), max(seen))
"""
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f'{hidden} && exec "$0" -c "$1"', sys.executable, script],
        env=of_a_whole_machine(),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{expected} {expected} {expected}\n"
