"""Threads, processes and signals (group F of the faults): each case in a fresh process, which it may not take down."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.threads import of_a_whole_machine

from quick import ESTIMATORS

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and fork")
_TIMEOUT = 60  # seconds for a case that takes one or two; the work of an unheeded Ctrl-C would take ten minutes


def _start(script: str, **environment: str) -> subprocess.Popen[str]:
    """Start a script in a session of its own, so that `_end` reaches the children it forks."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=of_a_whole_machine(**environment),
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    """Leave nothing behind, above all of a case that hangs."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _run(script: str, **environment: str) -> str:
    """Run a script to its end and return what it printed."""
    process = _start(script, **environment)
    try:
        out, err = process.communicate(timeout=_TIMEOUT)
        assert process.returncode == 0, err
        return out
    finally:
        _end(process)


@posix
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_f75_ctrl_c_stops_a_parallel_region_and_the_process_goes_on(n_threads):
    script = f"""
from gnomon import _core
try:
    print("working", flush=True)
    _core.wait({n_threads}, {n_threads} * 60_000, 0.01)
    print("not stopped")
except KeyboardInterrupt:
    _core.wait({n_threads}, 20, 0.001)
    print("stopped, then computed again")
"""
    process = _start(script)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        time.sleep(0.3)  # into the region
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=_TIMEOUT)
        assert out == "stopped, then computed again\n", err
        assert process.returncode == 0
    finally:
        _end(process)


@posix
def test_f75_what_a_signal_handler_raises_comes_out_of_a_parallel_region():
    out = _run("""
import signal
from gnomon import _core

class TooLate(Exception): pass

def handler(number, frame):
    _core.wait(2, 4, 0.001)  # a region inside the handler, which runs inside a region
    raise TooLate("alarm")

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    _core.wait(2, 120_000, 0.01)
except TooLate as error:
    print(error)
""")
    assert out == "alarm\n"


def test_other_python_threads_run_during_a_parallel_region():
    out = _run("""
import threading
from gnomon import _core
ended = threading.Event()
thread = threading.Thread(target=lambda: (_core.wait(2, 40, 0.01), ended.set()))
thread.start()
steps = 0
while not ended.wait(0.001):
    steps += 1
print(steps > 5)
""")
    assert out == "True\n"


def test_f77_regions_of_several_python_threads_all_finish():
    out = _run("""
import threading
from gnomon import _core
finished = []
def work(n_threads):
    for _ in range(20):
        _core.wait(n_threads, 7, 0.0005)
    finished.append(n_threads)
threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in (1, 2, 3, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
print(sorted(finished))
""")
    assert out == "[1, 2, 3, 5]\n"


def test_f80_the_number_of_threads_may_change_from_call_to_call():
    script = "from gnomon import _core\nfor n in (1, 5, 2, 1, 17, 3): _core.wait(n, 40, 0.0005)\nprint('done')"
    assert _run(script) == "done\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_f80_threads_of_an_earlier_call_are_left_asleep():
    out = _run("""
import os
from gnomon import _core

def switches():
    lines = [line for task in os.listdir("/proc/self/task") for line in open(f"/proc/self/task/{task}/status")]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

_core.wait(20, 40, 0.001)
before = switches()
for _ in range(100):
    _core.wait(2, 2, 0.0002)
print(switches() - before)
""")
    assert int(out) < 800, out  # each thread that is woken switches once: 19 of them in each of the 100 calls


@posix
def test_f76_a_child_forked_after_a_parallel_region_computes_and_so_does_its_parent():
    out = _run("""
import os
from gnomon import _core
_core.wait(3, 30, 0.001)
child = os.fork()
_core.wait(3, 30, 0.001)
if child == 0:
    grandchild = os.fork()
    _core.wait(2, 30, 0.001)
    if grandchild == 0:
        os._exit(0)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out == "0\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_f76_a_forked_child_has_threads_of_its_own():
    out = _run("""
import os
from gnomon import _core
_core.wait(3, 30, 0.001)
child = os.fork()
if child == 0:
    _core.wait(3, 30, 0.01)
    os._exit(len(os.listdir("/proc/self/task")))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out == "3\n"


@posix
def test_f76_a_child_forked_while_another_thread_computes_can_compute():
    out = _run("""
import os, threading
from gnomon import _core
from gnomon._threads import single_threaded_blas

inside = threading.Event()
def compute():
    with single_threaded_blas():
        inside.set()
        _core.wait(2, 200, 0.01)
thread = threading.Thread(target=compute)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    with single_threaded_blas():
        _core.wait(2, 20, 0.001)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
""")
    assert out == "0\n"


@posix
def test_f76_a_child_forked_inside_a_blas_block_leaves_it_in_order():
    out = _run("""
import os
from gnomon._threads import single_threaded_blas
with single_threaded_blas():
    child = os.fork()
with single_threaded_blas():
    pass
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out == "0\n"


@posix
def test_f76_forked_workers_of_multiprocessing_compute():
    out = _run("""
import multiprocessing, warnings
from gnomon import _core
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside threads
_core.wait(3, 30, 0.001)
def work(n):
    _core.wait(2, n, 0.001)
    return n
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map_async(work, [10, 20, 30]).get(30))
""")
    assert out == "[10, 20, 30]\n"


def test_f79_joblib_caps_the_threads_inside_its_workers():
    out = _run("""
from joblib import Parallel, delayed, parallel_config
from gnomon._threads import resolve_n_threads
with parallel_config(backend="loky", inner_max_num_threads=1):
    print(Parallel(n_jobs=2)(delayed(resolve_n_threads)(n_jobs) for n_jobs in (None, -1)))
""")
    assert out == "[1, 1]\n"


def test_f81_omp_num_threads_limits_a_fresh_process():
    script = "from gnomon._threads import resolve_n_threads\nprint(resolve_n_threads(None), resolve_n_threads(-1))"
    assert _run(script, OMP_NUM_THREADS="1") == "1 1\n"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="CPU affinity")
def test_f81_cpu_affinity_limits_a_process():
    out = _run("""
import os
from gnomon._threads import resolve_n_threads
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(resolve_n_threads(None), resolve_n_threads(-1))
""")
    assert out == "1 1\n"


def test_the_process_ends_while_pool_threads_wait():
    assert _run("from gnomon import _core\n_core.wait(5, 50, 0.001)\nprint('end')") == "end\n"


_MANY = "import numpy as np, gnomon\nX = np.random.default_rng(0).normal(size=(1500, 10))\n"


@posix
def test_f75_ctrl_c_ends_a_fit_within_a_second_and_leaves_it_unfitted():
    process = _start(f"""{_MANY}
for model in (
    gnomon.UMAP(n_neighbors=5, max_iter=1_000_000),
    gnomon.TSNE(perplexity=10, max_iter=1_000_000, evaluation="exact"),
    gnomon.MDS(max_iter=1_000_000, tol=0),
):
    begun = []
    def say(progress):
        if progress.stage == "layout" and not begun:
            begun.append(1)
            print("working", flush=True)
    try:
        model.set_params(callback=say).fit(X)
        print("not stopped", flush=True)
    except KeyboardInterrupt:
        print("stopped", hasattr(model, "embedding_"), flush=True)
        print(model.set_params(max_iter=5).fit(X[:100]).embedding_.shape, flush=True)
""")
    try:
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline() == "working\n"
            time.sleep(0.05)  # into the layout
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            assert process.stdout.readline() == "stopped False\n"
            assert time.perf_counter() - began < 2.0  # a machine under load included
            assert process.stdout.readline() == "(100, 2)\n"
        out, err = process.communicate(timeout=_TIMEOUT)
        assert (out, process.returncode) == ("", 0), err
    finally:
        _end(process)


def test_f76_a_forked_child_fits_as_its_parent():
    out = _run(f"""{_MANY}
import multiprocessing, warnings
warnings.simplefilter("ignore", DeprecationWarning)
def fit(seed):
    return gnomon.UMAP(n_neighbors=5, max_iter=20, random_state=seed, n_jobs=2).fit_transform(X[:300]).tobytes()
if __name__ == "__main__":
    first = fit(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print([found == first for found in pool.map_async(fit, [0, 0, 1]).get(50)])
""")
    assert out == "[True, True, False]\n"


_RESIDENT = """
def resident():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))
"""  # MB
_EVERY = f"""
import sys, warnings
import numpy as np
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
import gnomon
from quick import ESTIMATORS, of_few_steps
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(60, 5))
"""


@posix
def test_f76_a_forked_child_fits_every_method_as_its_parent():
    out = _run(f"""{_EVERY}
import multiprocessing
def fit(name):
    model = of_few_steps(name).fit(X)
    return name, model.embedding_.tobytes() + model.transform(X[:5] + 0.1).tobytes()
if __name__ == "__main__":
    first = dict(map(fit, ESTIMATORS))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = dict(pool.map_async(fit, list(ESTIMATORS)).get(50))
    print(len(found), [name for name in first if found[name] != first[name]])
""")
    assert out == f"{len(ESTIMATORS)} []\n"


def test_f87_nothing_is_written_by_an_import_or_while_a_method_fits_or_places_rows():
    out = _run(
        f"""
import os, sys
written = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        written.append(arguments[0])
    elif event in ("os.mkdir", "os.rename", "os.remove"):
        written.append((event, *arguments))
sys.dont_write_bytecode = True
sys.addaudithook(watch)
{_EVERY}
for name in ESTIMATORS:
    of_few_steps(name).fit(X).transform(X[:5] + 0.1)
print([name for name in written if name != os.devnull])
""",
        HOME="/nonexistent",
        XDG_CACHE_HOME="/nonexistent",
    )
    assert out == "[]\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_f85_memory_stays_flat_over_fits_of_every_method():
    out = _run(f"""{_EVERY}{_RESIDENT}def fits(times):
    for name in ESTIMATORS:
        for _ in range(times):
            of_few_steps(name).fit(X).transform(X[:5])
fits(1)
before = resident()
fits(2)
print(resident() - before)
""")
    assert float(out) < 4.0  # MB after 70 fits


def test_f82_fits_work_beside_a_library_with_openmp_that_came_first():
    out = _run(
        """
import sklearn.cluster
import numpy as np
import gnomon
X = np.random.default_rng(0).normal(size=(300, 4))
for _ in range(2):
    sklearn.cluster.KMeans(3, n_init=1).fit(X)
    gnomon.UMAP(n_neighbors=5, max_iter=10, n_jobs=2).fit(X)
print("done")
""",
        OMP_WAIT_POLICY="passive",
    )
    assert out == "done\n"


_BESIDE = {
    "torch": "(torch.rand(400, 400) @ torch.rand(400, 400)).sum().item()",
    "faiss": "index = faiss.IndexFlatL2(4); index.add(X); index.search(X, 5)",
}


@pytest.mark.parametrize("package", _BESIDE)
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_f82_fits_work_beside_torch_and_faiss_in_either_order_of_imports(package, first):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    imports = [f"import {package}", "import gnomon"]
    script = f"""
{chr(10).join(imports if first else imports[::-1])}
import numpy as np
X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
maps = set()
for _ in range(2):
    {_BESIDE[package]}
    maps.add(gnomon.UMAP(n_neighbors=5, max_iter=10, n_jobs=2, random_state=0).fit_transform(X).tobytes())
print(len(maps))
"""
    out = _run(script, OMP_WAIT_POLICY="passive")  # threads that wait by spinning take minutes on a busy machine
    assert out == "1\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
def test_f82_the_kernels_bring_no_second_runtime_of_threads():
    out = _run("""
from gnomon import _core
_core.wait(3, 30, 0.001)
print([line for line in open("/proc/self/maps") if "libgomp" in line or "libomp" in line or "libiomp" in line])
""")
    assert out == "[]\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_f85_memory_stays_flat_over_ten_times_the_iterations_and_over_fits():
    out = _run(f"""{_MANY}{_RESIDENT}def fit(max_iter):
    gnomon.UMAP(n_neighbors=5, max_iter=max_iter, random_state=0, n_jobs=1).fit(X)
    gnomon.TSNE(perplexity=5, max_iter=max_iter, early_exaggeration_iter=5, random_state=0, n_jobs=1).fit(X[:500])
for _ in range(3):
    fit(20)
before = resident()
fit(200)
for _ in range(10):
    fit(20)
print(resident() - before < 20, resident() - before)
""")
    assert out.startswith("True"), out


@posix
def test_f88_with_verbose_the_last_line_of_a_process_that_dies_names_the_stage():
    process = _start(f"""{_MANY}
import os, signal
def crash(progress):
    if progress.stage == "layout" and progress.done:
        os.kill(os.getpid(), signal.SIGKILL)
gnomon.TSNE(perplexity=5, max_iter=200, verbose=True, callback=crash).fit(X[:200])
""")
    try:
        _, err = process.communicate(timeout=_TIMEOUT)
        assert process.returncode == -signal.SIGKILL
        lines = [line for line in err.splitlines() if not line.startswith("TSNE: checks")]  # told on a slow machine
        assert lines[0] == "TSNE: neighbors"
        assert lines[-1].startswith("TSNE: layout")
    finally:
        _end(process)


@posix
def test_f88_the_stage_is_told_before_it_begins_and_the_fault_handler_names_the_function():
    process = _start(
        f"""{_MANY}
import os, signal
def crash(progress):
    print(progress.stage, flush=True)
    if progress.stage == "layout" and progress.done:
        os.kill(os.getpid(), signal.SIGSEGV)
gnomon.TSNE(perplexity=5, max_iter=20, callback=crash).fit(X[:200])
""",
        PYTHONFAULTHANDLER="1",
    )
    try:
        out, err = process.communicate(timeout=_TIMEOUT)
        assert process.returncode == -signal.SIGSEGV
        assert list(dict.fromkeys(out.split())) == ["neighbors", "affinities", "initialization", "layout"]
        assert "Segmentation fault" in err
        assert "in minimize" in err
        assert "in fit" in err
    finally:
        _end(process)
