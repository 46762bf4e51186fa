"""The number of threads follows n_jobs; results come in order; BLAS is limited only inside a block."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gnomon import _machine
from gnomon._cached import cached_property
from gnomon._run import current_run, running
from gnomon._threads import beside, in_order, resolve_n_threads, single_threaded_blas
from gnomon._validation import warn
from gnomon.exceptions import DataWarning


@pytest.fixture
def eight_cpus(monkeypatch):
    """A machine without a quota or OMP_NUM_THREADS."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_machine, "_cgroup_quota", lambda: math.inf)


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 8), (-1, 8), (-2, 7), (-8, 1), (-100, 1), (1, 1), (3.0, 3)])
def test_f81_n_jobs_counts_from_the_usable_cpus(eight_cpus, n_jobs, expected):
    assert resolve_n_threads(n_jobs) == expected


def test_a_positive_number_is_taken_as_it_is(eight_cpus):
    assert resolve_n_threads(50) == 50


def test_zero_jobs_are_refused_with_the_remedy():
    with (
        running(name="UMAP"),
        pytest.raises(ValueError, match=r"^UMAP: n_jobs=0 must not be 0\. Use n_jobs=-1 for all CPUs"),
    ):
        resolve_n_threads(0)


@pytest.mark.parametrize("value", ["2", True, [1]])
def test_n_jobs_of_another_type_is_refused(value):
    with (
        running(name="UMAP"),
        pytest.raises(TypeError, match=r"^UMAP: n_jobs=.* must be an integer or None \(found "),
    ):
        resolve_n_threads(value)


def test_without_n_jobs_the_run_decides(eight_cpus):
    with running(n_threads=3):
        assert resolve_n_threads(None) == 3
        assert resolve_n_threads(-1) == 8


def _blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))  # loads BLAS
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    before = _blas_threads()
    with single_threaded_blas():
        assert _blas_threads() == {1}
        with single_threaded_blas():
            assert _blas_threads() == {1}
        assert _blas_threads() == {1}
    assert _blas_threads() == before


def test_blas_is_restored_after_an_error():
    before = _blas_threads()
    with pytest.raises(RuntimeError, match="inside"), single_threaded_blas():
        raise RuntimeError("inside")
    assert _blas_threads() == before


def test_blocks_of_different_threads_take_turns():
    before = _blas_threads()
    started, inside, seen = threading.Event(), threading.Event(), []

    def other():
        started.set()
        with single_threaded_blas():
            inside.set()
            seen.append(_blas_threads())

    thread = threading.Thread(target=other)
    with single_threaded_blas():
        thread.start()
        assert started.wait(30)
        assert not inside.wait(0.1)
        seen.append(_blas_threads())
    thread.join(30)
    assert seen == [{1}, {1}]
    assert _blas_threads() == before


def test_another_thread_may_limit_blas_afterwards():
    with single_threaded_blas():
        pass
    seen = []

    def other():
        with threadpool_limits(3, user_api="blas"):
            seen.append(_blas_threads())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(30)
    assert seen == [{3}]


def test_a_blas_that_is_first_needed_inside_a_block_is_limited_too():
    script = """
import sys
from gnomon._threads import single_threaded_blas
from threadpoolctl import threadpool_info, threadpool_limits, threadpool_limits
assert "scipy.linalg" not in sys.modules
with single_threaded_blas():
    import numpy.linalg, scipy.linalg
    threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
assert threads and set(threads) == {1}, threads
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_results_of_threads_come_in_the_order_of_the_items(n_threads):
    def late(item):
        time.sleep(0.01 if item % 3 == 0 else 0.0)
        return item

    with running(n_threads=n_threads):
        assert list(in_order(late, range(20))) == list(range(20))
        assert list(in_order(late, [])) == []


def test_an_error_in_a_thread_reaches_the_caller():
    with running(n_threads=2), pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 // item, [2, 1, 0, 3]))


def test_f77_a_property_that_waits_for_its_turn_holds_up_no_other_instance():
    """One thread has the turn at BLAS and asks for a property that another thread computes, of another instance."""
    inside, waiting = threading.Event(), threading.Event()

    class Matrix:
        @cached_property
        def factor(self):
            waiting.set()
            with single_threaded_blas():
                return 1

    def have_the_turn():
        with single_threaded_blas():
            inside.set()
            waiting.wait(10)
            time.sleep(0.05)  # until the other one waits for the turn
            assert Matrix().factor == 1

    def wait_for_it():
        inside.wait(10)
        assert Matrix().factor == 1

    threads = [threading.Thread(target=work, daemon=True) for work in (have_the_turn, wait_for_it)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_a_cached_property_is_computed_once_and_then_an_attribute():
    class Counted:
        n = 0

        @cached_property
        def value(self):
            """Doc."""
            self.n += 1
            return object()

    one = Counted()
    assert one.value is one.value
    assert (one.n, vars(one)["value"]) == (1, one.value)
    assert Counted.value.__doc__ == "Doc."
    one.value = 3
    assert one.value == 3


def test_work_beside_a_block_has_its_run_and_a_thread_of_its_own():
    with running(n_threads=2, seed=7), beside(lambda: (current_run().seed, threading.get_ident())) as found:
        assert found() == (7, found()[1])
        assert found()[1] != threading.get_ident()


def test_a_run_of_one_thread_does_the_work_itself():
    with running(n_threads=1), beside(threading.get_ident) as found:
        assert found() == threading.get_ident()


def test_an_error_beside_a_block_is_raised_where_the_result_is_asked_for():
    with running(n_threads=2), beside(lambda: int("of the work")) as found, pytest.raises(ValueError, match="the work"):
        found()


def test_warnings_of_work_beside_a_block_are_given_after_those_of_the_block():
    def work():
        warn("of the work", DataWarning)

    with running(n_threads=2, warned=[]) as run, beside(work) as found:
        warn("of the block", DataWarning)
        found()
    assert [text.partition(": ")[2] for text, _ in run.warned] == ["of the block", "of the work"]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_in_the_block_ends_the_work_beside_it(error):
    begun, ended = threading.Event(), []

    def work():
        try:
            while True:
                begun.set()
                time.sleep(0.001)
        finally:
            ended.append(True)

    def block():
        with running(n_threads=2), beside(work):
            begun.wait()
            raise error

    with pytest.raises(error):
        block()
    assert ended == [True]
