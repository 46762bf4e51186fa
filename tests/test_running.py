"""The run: what surrounds a call reaches what it calls, and nothing of it is left afterwards."""

from __future__ import annotations

import dataclasses
import math
import threading

import numpy as np
import pytest

import gnomon
from gnomon._machine import usable_cpus
from gnomon._memory import available_memory, require_memory
from gnomon._progress import Reporter
from gnomon._run import Run, current_run, running
from gnomon._threads import ThreadPool, in_order


@pytest.fixture(autouse=True)
def whole_machine(monkeypatch):
    """All threads of the machine, also where workers of the tests have one each."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def test_outside_any_block_the_run_is_the_default():
    run = current_run()
    assert (run.name, run.seed, run.n_threads, run.memory) == ("", 0, usable_cpus(), math.inf)
    assert run.reporter.callback is None


def test_the_default_follows_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert current_run().n_threads == 1


def test_two_calls_outside_share_no_reporter():
    assert current_run().reporter is not current_run().reporter


def test_blocks_change_what_they_name_and_restore_it():
    with running(name="outer", n_threads=3) as outer:
        assert current_run() is outer
        assert (outer.name, outer.n_threads, outer.seed) == ("outer", 3, 0)
        with running(n_threads=5, seed=7) as inner:
            assert current_run() is inner
            assert (inner.name, inner.n_threads, inner.seed) == ("outer", 5, 7)
            assert inner.reporter is outer.reporter
        assert current_run() is outer
    assert current_run().name == ""


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_an_error_leaves_is_restored(error):
    with running(name="outer") as outer:
        with pytest.raises(error), running(name="inner"):
            raise error
        assert current_run() is outer
    assert current_run().name == ""


def test_a_run_cannot_be_changed():
    run = Run()
    for field in dataclasses.fields(Run):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(run, field.name, None)


def test_what_a_run_does_not_have_is_refused():
    with pytest.raises(TypeError, match="n_jobs"), running(n_jobs=2):
        pass
    assert current_run().name == ""


def test_tasks_of_a_pool_belong_to_the_run_that_hands_them_in():
    with ThreadPool(2) as pool:
        reporter = Reporter()
        with running(name="first", seed=3, n_threads=4, memory=1e9, reporter=reporter) as first:
            seen = pool.submit(current_run).result()
            assert current_run() is first
        with running(name="second"):
            other = pool.submit(current_run).result()
        alone = pool.submit(current_run).result()
    assert seen == dataclasses.replace(first, n_threads=1)
    assert seen.reporter is reporter
    assert (other.name, other.seed, other.n_threads) == ("second", 0, 1)
    assert (alone.name, alone.n_threads) == ("", 1)


def test_a_pool_has_the_threads_of_the_run():
    with running(n_threads=3), ThreadPool() as pool:
        assert pool._max_workers == 3


@pytest.mark.parametrize("n_threads", [1, 3])
def test_items_in_order_see_the_run(n_threads):
    with running(name="all", n_threads=n_threads):
        runs = list(in_order(lambda _: current_run(), range(5)))
    assert {(run.name, run.n_threads) for run in runs} == {("all", 1)}


def test_a_thread_of_the_users_own_has_a_run_of_its_own():
    seen = []
    with running(name="here", n_threads=1):
        thread = threading.Thread(target=lambda: seen.append(current_run()))
        thread.start()
        thread.join(30)
    assert (seen[0].name, seen[0].n_threads) == ("", usable_cpus())


def test_the_memory_of_a_run_is_a_limit_below_that_of_the_machine():
    everything = available_memory()
    assert everything > 1e6
    with running(memory=1e6):
        assert available_memory() == 1e6
        require_memory("X", 1e6, fact="its rows", remedy="")
        with pytest.raises(MemoryError, match=r"^gnomon: X must be one .* 1 MB \(its rows take 2 MB\)\."):
            require_memory("X", 2e6, fact="its rows", remedy="Take fewer.")


def test_what_is_free_is_read_again_but_for_a_little_within_the_second(monkeypatch):
    free, read = [1e9], []
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: read.append(1) or free[0])
    monkeypatch.setattr("gnomon._memory.time.monotonic", lambda: 7.5)
    for _ in range(3):
        require_memory("X", 9e6, fact="its rows", remedy="")
    assert len(read) == 1
    free[0] = 1e7
    with pytest.raises(MemoryError, match=r"in memory, 10 MB"):
        require_memory("X", 2e7, fact="its rows", remedy="")
    with running(memory=1e3):
        free[0] = 1e3
        with pytest.raises(MemoryError, match=r"in memory, 0.001 MB"):
            require_memory("X", 2e3, fact="its rows", remedy="")


def test_what_users_call_keeps_to_the_memory_they_give():
    X = np.zeros((2000, 3), dtype=np.float32) + np.arange(2000, dtype=np.float32)[:, None]
    with gnomon.running(memory=1e6), pytest.raises(MemoryError, match=r"^MDS: .*fits in memory, 1 MB"):
        gnomon.MDS(random_state=0).fit(X)
