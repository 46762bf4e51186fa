"""A copy of the package, and child processes that run tests with it.

The worker has imported what all tests need; each child is a fork of it, so that no mutant waits for these imports. The
package itself is imported by the child alone, from the copy. Finders of a package installed in place would take it from
its source whatever the path says: children, and the processes that their tests start, go without them.
"""

from __future__ import annotations

import compileall
import contextlib
import importlib
import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.mutation.rooms import ROOT

__all__ = ["Worker", "run_pytest"]

_MEMORY = 4 * 2**30  # bytes of data, for one child
_GRACE = 60.0  # seconds by the clock, beside what the work may take
_WARM = (
    "numpy",
    "scipy.sparse.linalg",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.special",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.neighbors",
    "sklearn.utils.estimator_checks",
    "narwhals",
    "pandas",
    "pyarrow",
    "anndata",
    "matplotlib.figure",
    "hypothesis",
    "coverage",
)
# Run by every Python whose path begins with the copy, after finders have been put there.
_WITHOUT_FINDERS = """import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "_editable_" not in type(finder).__module__]
"""


class Worker:
    """A folder with a copy of the package, and children that take gnomon from it.

    Parameters
    ----------
    folder : Path
        Where the copy lies; one that was there is replaced.

    Raises
    ------
    RuntimeError
        If children take the package from elsewhere: no error put into the copy would be noticed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder / "src", ignore_errors=True)
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src" / "gnomon", folder / "src" / "gnomon", ignore=left_out)
        installed = importlib.util.find_spec("gnomon")
        for place in [] if installed is None else installed.submodule_search_locations or []:
            for compiled in Path(place).glob("_core*.[sp][oy]*"):
                shutil.copy(compiled, folder / "src" / "gnomon")
        (folder / "src" / "sitecustomize.py").write_text(_WITHOUT_FINDERS)
        for name in _WARM:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        # What is compiled is kept with the time of its source, which the copy has too.
        self.run(lambda: int(not compileall.compile_dir(folder / "src", quiet=2)), seconds=300.0)
        if self.run(self._takes_copy, seconds=60.0) != 0:
            raise RuntimeError(f"gnomon is not taken from {folder}: {(folder / 'said.txt').read_text()}")

    @contextlib.contextmanager
    def changed(self, file: str, text: str) -> Iterator[None]:
        """Let a file below src have another text in the block."""
        path = self.folder / "src" / file
        before, times = path.read_bytes(), path.stat()
        path.write_text(text)
        os.utime(path, (times.st_atime, times.st_mtime + 1000))  # what was compiled from it is seen to be out of date
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, (times.st_atime, times.st_mtime))

    def run(self, work: Callable[[], int], *, seconds: float, keeps_compiled: bool = True) -> int | None:
        """Return what `work` returns in a child; None if it came to no end, negative if a signal ended it.

        Parameters
        ----------
        work : callable
            Called without arguments.
        seconds : float
            Of processor time; ten times as many by the clock, since the machine may be busy.
        keeps_compiled : bool, default=True
            Whether modules that the child compiles are kept for the next.
        """
        child = os.fork()
        if not child:
            self._work(work, seconds, keeps_compiled)
        end = time.monotonic() + 10 * seconds + _GRACE
        status: int | None = None
        pause = 0.005
        while status is None and time.monotonic() < end:
            done, code = os.waitpid(child, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(code)
            else:
                time.sleep(pause)
                pause = min(0.1, 1.5 * pause)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # also what the tests started
        if status is None:
            os.waitpid(child, 0)
        return None if status == -signal.SIGXCPU else status

    def _takes_copy(self) -> int:
        """Return 0 if this child, and a process that it starts, import the copy and what is compiled."""
        told = "import gnomon, gnomon._core; print(gnomon.__file__)"
        found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout
        here = importlib.import_module("gnomon").__file__ or ""
        print(here, found)
        return int(not all(path.startswith(str(self.folder / "src")) for path in (here, found)))

    def _work(self, work: Callable[[], int], seconds: float, keeps_compiled: bool) -> None:
        """Run the work as the child and end it."""
        status = 99
        try:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            said = os.open(self.folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(said, 1)
            os.dup2(said, 2)
            limit = int(time.process_time() + seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            package = str(self.folder / "src")
            os.chdir(ROOT)
            os.environ["PYTHONPATH"] = package
            os.environ["PYTHONPYCACHEPREFIX"] = str(self.folder / "compiled")
            sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"]
            sys.dont_write_bytecode = not keeps_compiled
            if not keeps_compiled:
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            sys.meta_path[:] = [finder for finder in sys.meta_path if "_editable_" not in type(finder).__module__]
            sys.path[:] = [package, *(entry for entry in sys.path if entry != str(ROOT / "src"))]
            status = work()
        except BaseException:
            traceback.print_exc()
            status = 98
        finally:
            os._exit(status & 0xFF)


def run_pytest(files: Sequence[str], plugins: Sequence[object], *, stop_early: bool) -> int:
    """Run test files in this process and return pytest's exit status."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", "--no-header", "--assert=plain"]
    options += [f"--basetemp={Path(os.environ['PYTHONPATH']).parent / 'tmp'}", *(["-x"] if stop_early else [])]
    return int(pytest.main([*options, *files], plugins=[*plugins]))
