"""Clusters that tests share; distributed's own logs stay out of the report."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import gnomon


@pytest.fixture(scope="session")
def cluster():
    """A scheduler and two workers of one thread each, in this process."""
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            protocol="tcp://",
            host="127.0.0.1",
            memory_limit="2GB",
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        warnings.simplefilter("ignore")
        yield cluster


@pytest.fixture
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


class Killer(threading.Thread):
    """Kills the worker that is seen at work on a stage, once for each stage; stages are named as on the dashboard."""

    def __init__(self, address):
        import distributed

        super().__init__(daemon=True)
        self.client = distributed.Client(address, set_as_default=False)
        self.killed, self._ended = [], threading.Event()

    def run(self):
        while not self._ended.wait(0.02):
            for worker, keys in self.client.processing().items():
                new = {key.rsplit("-", 5)[0] for key in keys} - set(self.killed)
                if new:
                    (pid,) = self.client.run(os.getpid, workers=[worker], on_error="ignore").values() or (None,)
                    if pid is not None:
                        os.kill(pid, signal.SIGKILL)
                        self.killed.append(sorted(new)[0])

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self.join(30)
        self.client.close()


class Machines:
    """A scheduler and workers, each a process of its own as on machines of their own, on loopback addresses."""

    def __init__(self, folder):
        self._folder, self._processes = folder, []
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(gnomon.__file__).parents[1]), str(Path(__file__).parent)]),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "2",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
        }
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        while not file.exists() or not file.read_text().strip().endswith("}"):
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]

    def _start(self, kind, *arguments):
        with open(self._folder / f"{kind}-{len(self._processes)}.log", "w") as log:
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1", *arguments]
            process = subprocess.Popen(command, stdout=log, stderr=log, env=self._environment, cwd=self._folder)
        self._processes.append(process)
        return process

    def worker(self, *arguments):
        """Start a worker of one thread; without a nanny it does not come back when it is killed."""
        return self._start("worker", self.address, "--nthreads", "1", "--no-dashboard", *arguments)

    def stop(self):
        """End what was started here: workers first, which end their own children."""
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def machines(tmp_path):
    pytest.importorskip("distributed")
    machines = Machines(tmp_path)
    yield machines
    machines.stop()


@pytest.fixture
def killer():
    """What kills a worker in each stage of the work of a cluster: ``with killer(address) as deaths:``."""
    return Killer
