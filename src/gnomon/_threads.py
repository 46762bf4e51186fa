"""Threads that share work, and BLAS kept to one while a result must not depend on it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from gnomon._machine import usable_cpus
from gnomon._run import current_run, running
from gnomon._validation import Either, Integer, Nothing, caller, check_parameters, pass_on

__all__ = ["ThreadPool", "beside", "in_order", "resolve_n_threads", "single_threaded_blas"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_N_JOBS = {"n_jobs": Either(Integer(), Nothing())}


def resolve_n_threads(n_jobs: int | None) -> int:
    """Turn a public n_jobs into a positive number of threads.

    Parameters
    ----------
    n_jobs : int or None
        None: the threads of the run around the call, or of all usable CPUs if there is none; -1: all; -2: all but one,
        and so on; a positive number is taken as it is.

    Returns
    -------
    int >= 1
        The result of a computation does not depend on it.
    """
    wanted = check_parameters(_N_JOBS, {"n_jobs": n_jobs})["n_jobs"]
    if wanted is None:
        return current_run().n_threads
    if wanted == 0:
        raise ValueError(f"{caller()}: n_jobs=0 must not be 0. Use n_jobs=-1 for all CPUs or n_jobs=1 for one.")
    return int(wanted) if wanted > 0 else max(1, usable_cpus() + 1 + int(wanted))


class ThreadPool(ThreadPoolExecutor):
    """Threads whose tasks belong to the run that hands them in, each of them computing on one thread.

    Parameters
    ----------
    n_threads : int or None, default=None
        By default those of the run.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        super().__init__(current_run().n_threads if n_threads is None else n_threads)

    def submit(self, fn: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        """Hand in a task."""
        with running(n_threads=1):
            return super().submit(copy_context().run, fn, *args, **kwargs)


def in_order(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[_Result]:
    """Yield work(item) of all items in order, whichever thread computed it; one more results than threads are held."""
    n_threads = current_run().n_threads
    if n_threads == 1 or len(items) == 1:
        yield from map(work, items)
        return
    with ThreadPool() as pool:
        pending: deque[Future[_Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > n_threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class _Stopped(SystemExit):
    """Ends work on another thread whose result nobody waits for any more; Python lets a thread end so in silence."""


class _Beside(threading.Thread, Generic[_Result]):
    """Work on a thread of its own, in the run that it is begun in."""

    def __init__(self, work: Callable[[], _Result]) -> None:
        super().__init__(daemon=False)  # which Python waits for before it ends, whatever comes in between
        self._work, self._context = work, copy_context()
        self._warned: list[tuple[str, type[Warning]]] = []
        self._found: list[_Result] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do the work; its warnings and its error wait to be asked for."""
        try:
            self._context.run(self._do)
        except _Stopped:
            pass
        except BaseException as error:  # is raised where the result is asked for
            self._error = error

    def _do(self) -> None:
        with running(warned=self._warned):
            self._found.append(self._work())

    def result(self) -> _Result:
        """Wait for the work, give its warnings, and return what it found or raise its error."""
        self.join()
        while self._warned:
            pass_on(*self._warned.pop(0))
        if self._error is not None:
            raise self._error
        return self._found[0]

    def stop(self) -> None:
        """End the work where it next comes back to Python, and wait for that."""
        if self.ident is None:
            return  # it was not begun
        if self.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(_Stopped))
        self.join()


@contextlib.contextmanager
def beside(work: Callable[[], _Result]) -> Iterator[Callable[[], _Result]]:
    """Do work on another thread while a block does its own; both use all threads of the run.

    Work and block must not change what the other one reads. A run of one thread does the work when its result is asked
    for. An error in the block, Ctrl-C among them, ends the work, and so does a block that did not ask for its result.

    Parameters
    ----------
    work : callable

    Yields
    ------
    callable
        Waits for the work and returns its result or raises its error; then its warnings are given as well.
    """
    if current_run().n_threads == 1:
        yield work
        return
    thread = _Beside(work)
    try:
        thread.start()
        yield thread.result
    finally:
        thread.stop()


_blas_lock = threading.RLock()
_blas_limited = False  # whether a thread is inside a block


def _free_blas_lock() -> None:
    """Give a forked child a free lock: the thread that holds the parent's may not exist in the child."""
    global _blas_lock, _blas_limited
    _blas_lock, _blas_limited = threading.RLock(), False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_blas_lock)


@functools.cache
def _blas_libraries() -> Any:
    """Return the handle of the BLAS libraries of NumPy and SciPy; to look for them takes a millisecond."""
    import numpy as np  # noqa: F401
    import scipy.linalg  # noqa: F401  SciPy brings a BLAS of its own, which the limit misses unless it is loaded
    from threadpoolctl import ThreadpoolController  # a hard dependency of scikit-learn

    return ThreadpoolController()


@contextlib.contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS and LAPACK to one thread inside the block, whose bits then do not depend on the number of threads.

    Blocks may be nested; blocks of different threads take turns, because most BLAS libraries have one limit for the
    whole process and only the thread that set it can restore it.
    """
    global _blas_limited
    with _blas_lock:
        if _blas_limited:
            yield  # nested: the outer block holds the limit
            return
        controller = _blas_libraries()
        _blas_limited = True
        try:
            with controller.limit(limits=1, user_api="blas"):
                yield
        finally:
            _blas_limited = False
