"""Data that many tests share."""

from __future__ import annotations

import gc
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

gc.disable()  # until all is collected: modules and tests stay, and looking for garbage among them takes long
if threading.current_thread() is threading.main_thread():  # what a shell starts in the background ignores Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session):
    """Look for garbage among what the tests make, and only there."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config, specs):
    """Let everything run on one thread in each of the workers, which share the processors: threads that wait spin.

    What is promised of several threads asks for them. Modules are compiled once, not in each worker and in each of the
    many processes that tests start.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Answer `-n auto`: three workers for two processors, as one that waits for a browser leaves its own idle."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + processors // 2


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let every other worker collect from the end: each file's assertions are rewritten once, not by each of them."""
    report = yield
    worker = getattr(collector.config, "workerinput", {}).get("workerid", "gw0")
    if isinstance(collector, pytest.Directory) and int(worker[2:]) % 2:
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Have workers tell of each test once, not of its start, its end and each step: a third of a short test's time."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


_GENERATORS: dict[object, list[tuple[np.random.Generator, dict]]] = {}  # of each file, as it left them


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Give all workers the tests in one order, and remember the random generators that those of a file share."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path.parts)
    for module in {getattr(item, "module", None) for item in items} - {None}:
        shared = [one for one in vars(module).values() if isinstance(one, np.random.Generator)]
        _GENERATORS[module] = [(one, one.bit_generator.state) for one in shared]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Let each test draw the same, whichever tests of its file ran before."""
    for generator, state in _GENERATORS.get(getattr(item, "module", None), ()):
        generator.bit_generator.state = state


@pytest.fixture
def here(monkeypatch):
    """Read files in this process: what is read is the same, and each process has to import the library anew."""
    monkeypatch.setattr("gnomon.data.isolated._interpreter", lambda: None)


@pytest.fixture(scope="session")
def iris():
    """The 150 x 4 iris table and its species, as float64."""
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def digits():
    """The 1,797 x 64 digits table and its labels, as float32."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return np.ascontiguousarray(X, dtype=np.float32), y


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data sets; tests that use it are slow and need GNOMON_DATA."""
    folder = os.environ.get("GNOMON_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("GNOMON_DATA does not name a folder with the real data sets")
    return Path(folder)
