"""How many threads to use, and BLAS kept to one while a result must not depend on it."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from gnomon._validation import Either, Integer, Nothing, check_parameters

__all__ = ["in_order", "resolve_n_threads", "single_threaded_blas", "usable_cpus"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_N_JOBS = {"n_jobs": Either(Integer(), Nothing())}


def _cgroup_quota() -> float:
    """Return the CPU quota of a container in cores, infinity if there is none."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            return int(quota) / int(period)
    with contextlib.suppress(OSError, ValueError):
        quota = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text()
        period = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text()
        if int(quota) > 0:
            return int(quota) / int(period)
    return math.inf


@functools.lru_cache(maxsize=1)
def _recent_quota(read: Callable[[], float], second: int) -> float:
    """Return the quota as of a second; to read it takes a tenth of the time of a small fit."""
    return read()


def usable_cpus() -> int:
    """Return how many threads are worth running: affinity, container quota and OMP_NUM_THREADS are respected."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _recent_quota(_cgroup_quota, int(time.monotonic()))
    if quota < cpus:
        cpus = max(1, math.floor(quota))
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # a list has one entry a level of nesting
    if limit.isdecimal() and int(limit) > 0:
        cpus = min(cpus, int(limit))
    return cpus


def resolve_n_threads(n_jobs: int | None, *, who: str = "gnomon") -> int:
    """Turn a public n_jobs into a positive number of threads.

    Parameters
    ----------
    n_jobs : int or None
        None or -1: all usable CPUs; -2: all but one, and so on; a positive number is taken as it is.
    who : str, default="gnomon"
        Opens the error text.

    Returns
    -------
    int >= 1
        The result of a computation does not depend on it.
    """
    wanted = check_parameters(who, _N_JOBS, {"n_jobs": n_jobs})["n_jobs"]
    if wanted is None:
        return usable_cpus()
    if wanted == 0:
        raise ValueError(f"{who}: n_jobs=0 must not be 0. Use n_jobs=-1 for all CPUs or n_jobs=1 for one.")
    return int(wanted) if wanted > 0 else max(1, usable_cpus() + 1 + int(wanted))


def in_order(work: Callable[[_Item], _Result], items: Sequence[_Item], n_threads: int) -> Iterator[_Result]:
    """Yield work(item) of all items in order, whichever thread computed it; n_threads + 1 results are held at most."""
    if n_threads == 1 or len(items) == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[_Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > n_threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


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
