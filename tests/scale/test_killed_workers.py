"""Processes that die: workers, all workers, the scheduler, the client; and what is left has the same bytes."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import pytest

import gnomon
from gnomon._threads import single_threaded_blas
from gnomon.data.stored import ArrayTable, row_blocks
from gnomon.scale import Journal, LocalExecutor, as_executor
from gnomon.scale.dask import DaskExecutor

distributed = pytest.importorskip("distributed")

_BLOCKS = row_blocks(12_000, 30_000)


def _table(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(12_000, 60)).astype(np.float32))
    return ArrayTable(np.load(tmp_path / "x.npy", mmap_mode="r"))


def _gram(block, table, weights, seconds=0.0):
    time.sleep(seconds)
    rows = table.read(block.start, block.stop) * weights
    with single_threaded_blas():
        return rows.T @ rows


def _slow_gram(block, table, weights):
    return _gram(block, table, weights, 0.3)


def _once(marker, do):
    """Kill the process that does this first."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return do()
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def _killed_in_block_5(marker, block, table, weights):
    if block.number == 5:
        return _once(marker, lambda: _gram(block, table, weights))
    return _gram(block, table, weights)


def _killed_in_joining(marker, left, right):
    return _once(marker, lambda: left + right)


def _killed_each_time(item):
    os.kill(os.getpid(), signal.SIGKILL)


def _too_much(item):
    held = []
    for _ in range(60):
        held.append(np.ones(2**21))
        time.sleep(0.05)
    return len(held)


class Deadly:
    """A value that ends the process that receives it."""

    def __reduce__(self):
        return _killed_each_time, (None,)


def _weights():
    return np.linspace(1, 2, 60, dtype=np.float32)


def _sum(executor, table, function=_gram, combine=np.add):
    return executor.reduce(function, combine, _BLOCKS, table, executor.broadcast(_weights())).tobytes()


def _all(executor, table, function=_gram):
    return [found.tobytes() for found in executor.map(function, _BLOCKS, table, executor.broadcast(_weights()))]


def test_scheduler_and_worker_as_processes_have_the_bytes_of_one(machines, tmp_path):
    machines.worker("--no-nanny")
    with gnomon.running(executor=machines.address):
        executor = gnomon.scale.current_executor()
        table = _table(tmp_path)
        assert _all(executor, table) == _all(LocalExecutor(), table)
        assert _sum(executor, table) == _sum(LocalExecutor(), table)


@pytest.mark.slow
def test_one_two_and_four_workers_have_the_same_bytes(machines, tmp_path):
    table = _table(tmp_path)
    with distributed.Client(machines.address, set_as_default=False) as client:
        found = []
        for n in (1, 2, 4):
            while len(client.nthreads()) < n:
                machines.worker("--no-nanny")
                client.wait_for_workers(len(client.nthreads()) + 1)
            executor = as_executor(client)
            assert executor.n_workers == n
            found.append((_all(executor, table), _sum(executor, table)))
    assert found == 3 * [(_all(LocalExecutor(), table), _sum(LocalExecutor(), table))]


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_worker_killed_in_map_and_in_reduce_changes_nothing(machines, tmp_path, n_workers):
    """With one worker the shared value dies with it, and is sent again."""
    table = _table(tmp_path)
    for _ in range(n_workers):
        machines.worker("--nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        client.wait_for_workers(n_workers)
        executor = as_executor(client)
        first = client.run(os.getpid)
        assert _all(executor, table, partial(_killed_in_block_5, str(tmp_path / "map"))) == _all(LocalExecutor(), table)
        total = _sum(LocalExecutor(), table)
        assert _sum(executor, table, partial(_killed_in_block_5, str(tmp_path / "reduce"))) == total
        assert _sum(executor, table, combine=partial(_killed_in_joining, str(tmp_path / "join"))) == total
        client.wait_for_workers(n_workers)
        assert set(client.run(os.getpid).values()) != set(first.values())
    assert {"map", "reduce", "join"} <= set(os.listdir(tmp_path))


@pytest.mark.slow
def test_the_only_holder_of_a_shared_value_may_die_between_uses(machines, tmp_path):
    table = _table(tmp_path)
    machines.worker("--nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        executor = as_executor(client)
        weights = executor.broadcast(_weights())
        (pid,) = client.run(os.getpid).values()
        os.kill(pid, signal.SIGKILL)
        found = [one.tobytes() for one in executor.map(_gram, _BLOCKS, table, weights)]
        assert found == _all(LocalExecutor(), table)
        total = executor.reduce(_gram, np.add, _BLOCKS, table, weights).tobytes()
        assert total == _sum(LocalExecutor(), table)


@pytest.mark.slow
def test_a_worker_that_joins_later_works_with_what_was_shared_before(machines, tmp_path):
    table = _table(tmp_path)
    first = machines.worker("--no-nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        executor = as_executor(client)
        weights = executor.broadcast(_weights())
        machines.worker("--no-nanny")
        client.wait_for_workers(2)
        found = executor.map(_slow_gram, _BLOCKS, table, weights)
        parts = [next(found).tobytes()]
        first.kill()
        parts += [one.tobytes() for one in found]
    assert parts == _all(LocalExecutor(), table)


@pytest.mark.slow
def test_when_all_workers_are_gone_a_call_ends_with_what_to_do(machines, tmp_path):
    worker = machines.worker("--no-nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        executor = DaskExecutor(client, timeout=2)
        found = executor.map(_slow_gram, _BLOCKS, _table(tmp_path), _weights())
        next(found)
        worker.kill()
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=rf'no workers for 2 s\)\. Start one: "dask worker {machines.address}"'):
            list(found)
        assert time.monotonic() - began < 20


@pytest.mark.slow
def test_when_the_scheduler_is_gone_a_call_ends_with_what_to_do(machines, tmp_path):
    machines.worker("--no-nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        executor = DaskExecutor(client, timeout=2)
        found = executor.map(_slow_gram, _BLOCKS, _table(tmp_path), _weights())
        next(found)
        machines.scheduler.kill()
        with pytest.raises(
            ConnectionError, match=r"the scheduler at .* does not answer\)\. Start it, and this call again"
        ):
            list(found)


@pytest.mark.slow
def test_a_task_that_kills_each_worker_is_given_up_by_name(machines):
    machines.worker("--nanny")
    with (
        distributed.Client(machines.address, set_as_default=False) as client,
        gnomon.running(name="map"),
        pytest.raises(ConnectionError, match=r"^map: the stage 'killed_each_time' must"),
    ):
        list(as_executor(client).map(_killed_each_time, [1]))


@pytest.mark.slow
def test_a_worker_with_too_little_memory_is_a_memory_error_with_figures(machines):
    machines.worker("--nanny", "--memory-limit", "400MB")
    with distributed.Client(machines.address, set_as_default=False) as client:
        executor = as_executor(client)
        text = r"^map: the stage 'too_much' must be one whose tasks fit in 400 MB \(workers were ended 3 times"
        with gnomon.running(name="map"), pytest.raises(MemoryError, match=text):
            list(executor.map(_too_much, [1], needed=1e8))


@pytest.mark.slow
def test_a_shared_value_that_no_worker_can_take_is_a_memory_error_with_figures(machines):
    machines.worker("--nanny", "--memory-limit", "250MB")
    with distributed.Client(machines.address, set_as_default=False) as client:
        executor = as_executor(client)
        text = r"^map: the ndarray that all tasks .* in 250 MB as it arrives, which takes 800 MB \(workers were ended"
        with gnomon.running(name="map"), pytest.raises(MemoryError, match=text):
            executor.broadcast(np.ones(50_000_000))


@pytest.mark.slow
def test_a_shared_value_at_which_workers_die_is_given_up_by_name(machines):
    machines.worker("--nanny")
    with (
        distributed.Client(machines.address, set_as_default=False) as client,
        gnomon.running(name="map"),
        pytest.raises(ConnectionError, match=r"^map: the Deadly that all tasks .* a worker died before it was there"),
    ):
        as_executor(client).broadcast(Deadly())


def _weighted(block, table, weights):
    return _gram(block, table, weights)


def _cubes(block, table):
    return {"cubes": table.read(block.start, block.stop) ** 3}


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["begin", "end"])
def test_a_worker_killed_in_each_stage_changes_nothing(machines, killer, tmp_path, moment):
    table = _table(tmp_path)

    def stages(executor, folder):
        journal = Journal(folder, {})
        total = journal.stage("total", lambda: {"sum": executor.reduce(_gram, np.add, _BLOCKS, table, _weights())})
        parts = list(journal.blocks("cubes", executor, _cubes, _BLOCKS, table))
        again = list(executor.map(_weighted, _BLOCKS, table, total["sum"][0]))
        return [one.tobytes() for one in (*total.values(), *(part["cubes"] for part in parts), *again)]

    for _ in range(2):
        machines.worker("--nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        with killer(machines.address, moment) as deaths:
            found = stages(as_executor(client), tmp_path / "cluster")
    assert deaths.killed == ["add", "cubes", "gram", "weighted"]
    assert found == stages(LocalExecutor(), tmp_path / "here")


_CLIENT = """
    import sys, time
    from functools import partial
    import distributed, numpy as np
    from gnomon.data.stored import ArrayTable, row_blocks
    from gnomon.scale import Journal, as_executor

    def cubes(seconds, block, table):
        time.sleep(seconds)
        return {"cubes": table.read(block.start, block.stop) ** 3}

    path, folder, address, seconds = sys.argv[1:]
    table = ArrayTable(np.load(path, mmap_mode="r"))
    with distributed.Client(address) as client:
        journal = Journal(folder, {"table": table.fingerprint})
        blocks, work = row_blocks(12_000, 30_000), partial(cubes, float(seconds))
        for part in journal.blocks("cubes", as_executor(client), work, blocks, table):
            print(part["cubes"].shape, flush=True)
"""


@pytest.mark.slow
def test_a_killed_client_started_again_goes_on_to_the_same_bytes(machines, tmp_path):
    table = _table(tmp_path)
    machines.worker("--no-nanny")
    arguments = [sys.executable, "-c", textwrap.dedent(_CLIENT), str(tmp_path / "x.npy"), str(tmp_path / "kept")]
    with subprocess.Popen([*arguments, machines.address, "0.5"], stdout=subprocess.PIPE, text=True) as killed:
        killed.stdout.readline()
        killed.kill()
    time.sleep(2)  # what ran on the worker may end
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept" / "cubes").glob("*.npz")}
    assert 1 <= len(kept) < len(_BLOCKS)
    subprocess.run([*arguments, machines.address, "0"], check=True, stdout=subprocess.DEVNULL)
    paths = sorted((tmp_path / "kept" / "cubes").glob("*.npz"))
    assert len(paths) == len(_BLOCKS)
    assert all(path.stat().st_mtime_ns == kept.get(path.name, path.stat().st_mtime_ns) for path in paths)
    parts = [np.load(path)["cubes"] for path in paths]
    assert np.concatenate(parts).tobytes() == (table.read(0, 12_000) ** 3).tobytes()
