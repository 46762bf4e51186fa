"""The verbs on Dask: same results as in this process, same errors, same warnings, and nothing left behind."""

import subprocess
import sys
import time
import warnings
from functools import partial

import numpy as np
import pytest

import gnomon
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import warn
from gnomon.data.stored import ArrayTable, row_blocks
from gnomon.exceptions import DataWarning, MissingDependencyError
from gnomon.scale import LocalExecutor, as_executor, current_executor

pytest.importorskip("distributed")


def _times(item, factor):
    return item * factor


def _join(left, right):
    return f"({left}{right})"


def _moments(block, table):
    rows = table.read(block.start, block.stop)
    with single_threaded_blas():
        return rows.sum(axis=0, dtype=np.float32), rows.T @ rows


def _add(left, right):
    return left[0] + right[0], left[1] + right[1]


def _named(item):
    run = current_run()
    return run.name, run.seed, run.n_threads, run.memory, run.executor


def _warns(item):
    warn(f"something is odd in {item % 2}", DataWarning)
    return item


def _fails(item):
    if item == 3:
        raise ValueError("gnomon: item=3 must be another. Take 4.")
    return item


@pytest.fixture
def executor(client):
    return as_executor(client)


@pytest.fixture
def entered():
    """As inside a call of a public function."""
    with gnomon.running(name="map", seed=7):
        yield


def _waits(item, seconds):
    time.sleep(seconds)
    return item


def _all_forgotten(client):
    """Wait for the thread of the client, which forgets futures by and by."""
    end = time.monotonic() + 5.0
    while client.futures and time.monotonic() < end:
        time.sleep(0.01)
    return not client.futures


def test_map_keeps_order_and_few_tasks_ahead(executor, client):
    drawn = []

    def items():
        for item in range(40):
            drawn.append(item)
            yield item

    found = executor.map(_times, items(), executor.broadcast(10))
    assert next(found) == 0
    assert len(drawn) == 3 * 2
    assert list(found) == [10 * item for item in range(1, 40)]


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 20])
def test_a_reduction_has_the_tree_of_one_process(executor, n):
    letters = "abcdefghijklmnopqrst"[:n]
    assert executor.reduce(_times, _join, letters, 1) == LocalExecutor().reduce(_times, _join, letters, 1)


def test_sums_have_the_same_bytes_as_in_one_process(executor):
    X = np.random.default_rng(0).normal(size=(9000, 300)).astype(np.float32)
    table, blocks = ArrayTable(X), row_blocks(9000, 30_000)
    assert len(blocks) == 9
    here, there = (one.reduce(_moments, _add, blocks, table) for one in (LocalExecutor(), executor))
    assert here[0].tobytes() == there[0].tobytes()
    assert here[1].tobytes() == there[1].tobytes()


def test_what_is_large_is_sent_once_to_each_worker_and_not_with_each_task(executor):
    class Counted:
        sent = 0

        def __init__(self, n):
            self.text = "x" * n

        def __getstate__(self):
            Counted.sent += 1
            return dict(self.__dict__)

    large = Counted(100_000)
    assert (
        list(executor.map(lambda item, one, factor: item * factor + len(one.text), range(30), large, 2))[-1] == 100_058
    )
    assert Counted.sent <= 4
    assert list(executor.map(partial(lambda one, item: item, large), range(3))) == [0, 1, 2]


def test_functions_run_inside_a_run_like_the_callers(executor, entered):
    for name, seed, n_threads, memory, works in executor.map(_named, range(3)):
        assert (name, seed, n_threads, works) == ("map", 7, 1, None)
        assert memory == 2e9


def test_warnings_of_workers_arrive_once_under_the_callers_name(executor, entered):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(executor.map(_warns, range(6))) == list(range(6))
        assert executor.reduce(_warns, max, range(6)) == 5
    texts = [str(one.message) for one in caught if one.category is DataWarning]
    assert sorted(texts) == sorted(2 * [f"map: something is odd in {k}" for k in (0, 1)])
    assert all(one.filename == __file__ for one in caught)


def test_errors_arrive_as_themselves_and_cancel_what_waits(executor, client):
    with pytest.raises(ValueError, match=r"^gnomon: item=3 must be another\. Take 4\.$") as mapped:
        list(executor.map(_fails, range(100)))
    with pytest.raises(ValueError, match="item=3") as reduced:
        executor.reduce(_fails, max, range(100))
    assert _all_forgotten(client)
    del mapped, reduced  # whose tracebacks hold all that the calls did


@pytest.mark.parametrize("stop", [KeyboardInterrupt, GeneratorExit])
def test_what_is_in_flight_is_cancelled_when_the_caller_stops(executor, client, stop):
    def items():
        yield from range(4)
        raise stop

    with pytest.raises(stop) as stopped:
        list(executor.map(_waits, items(), 0.05))
    assert _all_forgotten(client)
    del stopped  # whose traceback holds all that the call did


def test_items_that_look_like_names_of_tasks_are_items(executor, client):
    future = client.submit(int, 5, key="five")
    assert list(executor.map(lambda item: item, ["five", ("five", 1), ["five"]])) == ["five", ("five", 1), ["five"]]
    future.release()


def test_arrays_that_arrive_can_be_written(executor):
    (found,) = executor.map(lambda item: {"a": np.ones(item), "b": [np.zeros(200_000)]}, [3])
    found["a"][0] = 2
    found["b"][0][0] = 2


def test_a_task_that_is_forecast_larger_than_a_worker_is_refused_with_figures(executor, entered):
    text = (
        r"^map: the stage 'times' must be one whose tasks fit in 1.75 GB \(a task takes 3 GB, the worker itself 250 MB "
        r"of its 2 GB\)\. Give workers more memory"
    )
    with pytest.raises(MemoryError, match=text):
        executor.map(_times, [1], 2, needed=3e9)
    with pytest.raises(MemoryError, match=r"tasks fit in 1\.75 GB"):
        executor.reduce(_times, max, [1], 2, needed=3e9)
    assert list(executor.map(_times, [1], 2, needed=1e9)) == [2]
    with gnomon.running(memory=1e6), pytest.raises(MemoryError, match="3 GB"):
        LocalExecutor().map(_times, [1], 2, needed=3e9)


def _too_much(item):
    return np.ones(10**17)


def test_an_allocation_that_fails_on_a_worker_says_what_a_worker_has(executor, entered):
    with pytest.raises(
        MemoryError, match=r"^map: .* must be one whose tasks fit in 2 GB.*Unable to allocate.*Give workers"
    ):
        list(executor.map(_too_much, [1]))


def test_a_client_an_address_and_a_cluster_are_who_works(client, cluster):
    for given in (client, cluster, cluster.scheduler_address):
        with gnomon.running(executor=given):
            executor = current_executor()
            assert current_executor() is executor
            assert executor.n_workers == 2
            assert list(executor.map(_times, [2], 3)) == [6]
        assert executor.client.status == ("running" if given is client else "closed")
    assert client.status == "running"


def test_what_a_call_opens_is_closed_with_it(cluster):
    seen = []

    @gnomon._entrance.entrance("map")
    def public(X, *, executor=None):
        seen.append(current_executor())
        return inner(X)

    @gnomon._entrance.entrance("inner")
    def inner(X, *, executor=None):
        assert current_executor() is seen[0]
        return list(current_executor().map(_times, X, 2))

    assert public([1, 2], executor=cluster.scheduler_address) == [2, 4]
    assert seen[0].client.status == "closed"


def test_what_cannot_work_is_refused(client, monkeypatch):
    with pytest.raises(ValueError, match="executor='localhost' must be the address of a scheduler"):
        as_executor("localhost")
    with pytest.raises(TypeError, match="executor of type Future"):
        as_executor(client.submit(int, 1))
    monkeypatch.setattr("gnomon.scale.dask._CONNECTING", 0.2)
    with pytest.raises(TimeoutError, match=r"scheduler that answers \(none within 0 s\).*dask scheduler"):
        as_executor("tcp://127.0.0.1:1")
    monkeypatch.setattr(type(client), "asynchronous", True)
    with pytest.raises(ValueError, match=r"Client that is asynchronous.*Make one with Client\(address\)"):
        as_executor(client)


def test_a_task_has_its_share_of_the_workers_threads_and_memory():
    from distributed import LocalCluster

    options = {"processes": False, "dashboard_address": ":0", "protocol": "inproc://", "memory_limit": "2GB"}
    with LocalCluster(n_workers=1, threads_per_worker=4, **options) as cluster, gnomon.running(executor=cluster):
        ((_, _, n_threads, memory, _),) = current_executor().map(_named, [1])
        with pytest.raises(MemoryError, match=r"fit in 43\d MB \(a task takes 600 MB, the worker itself 25\d MB of"):
            current_executor().map(_named, [1], needed=6e8)
    assert (n_threads, memory) == (4, 5e8)


def test_without_distributed_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r'the package distributed .* pip install "gnomon\[scale\]"'):
        as_executor("tcp://127.0.0.1:8786")


def test_a_closed_client_is_refused(cluster):
    from distributed import Client

    client = Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(ValueError, match="Client that is closed"):
        as_executor(client)


def test_workers_of_another_version_are_refused(client, monkeypatch):
    monkeypatch.setattr("gnomon.scale.dask._asker", lambda: lambda names: dict.fromkeys(names, str(time.time_ns())))
    with pytest.raises(ValueError, match=r"the worker tcp://.* has gnomon \d+, this process \d+\). Install the same"):
        as_executor(client)


def test_a_cluster_without_workers_is_an_error_after_a_stated_time():
    from distributed import Client, LocalCluster

    from gnomon.scale.dask import DaskExecutor

    options = {"processes": False, "dashboard_address": ":0", "protocol": "inproc://"}
    text = r"the cluster has no workers for 0 s\)\. Start one: \"dask worker"
    with LocalCluster(n_workers=0, **options) as cluster, Client(cluster, set_as_default=False) as client:  # noqa: SIM117
        with pytest.raises(TimeoutError, match=text):
            DaskExecutor(client, timeout=0.3)


def test_workers_that_are_paused_for_memory_are_an_error_unless_they_work(client, monkeypatch):
    from gnomon.scale.dask import DaskExecutor

    executor = DaskExecutor(client, timeout=0.2)
    workers = client.scheduler_info(n_workers=-1)["workers"]
    for worker in workers.values():
        worker["status"] = "paused"
        worker["metrics"]["task_counts"]["executing"] = 1
    monkeypatch.setattr(client, "scheduler_info", lambda n_workers: {"workers": workers})
    assert list(executor.map(_times, [1], 2)) == [2]
    for worker in workers.values():
        worker["metrics"]["task_counts"]["executing"] = 0
    with pytest.raises(MemoryError, match=r"all 2 are paused for 0 s because their memory, 2 GB each, is full"):
        executor.map(_times, [1], 2)


def test_dask_is_imported_by_those_who_use_it():
    code = "import sys, gnomon, gnomon.scale as s; list(s.LocalExecutor().map(abs, [1])); s.as_executor(None)"
    code += "; sys.exit(any(name in sys.modules for name in ('dask', 'distributed')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_arrays_lie_where_new_ones_do_whatever_travels_before_them(executor):
    """Else NumPy rounds products otherwise than in one process."""
    items = [("x" * length, np.ones(50_000 + length)) for length in range(17)]
    shared = executor.broadcast(("y" * 3, np.ones(3)))
    found = executor.map(lambda item, one: (*item, item[1].ctypes.data % 16, one[1].ctypes.data % 16), items, shared)
    assert {(*there, values.ctypes.data % 16) for _, values, *there in found} == {(0, 0, 0)}
