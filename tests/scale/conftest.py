"""Clusters that tests share; distributed's own logs stay out of the report."""

import json
import logging
import os
import signal
import subprocess
import sys
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


def _kills(folder, moment):
    """Return a plugin of workers: the first that comes to a moment of a stage is killed there."""
    from distributed import WorkerPlugin

    class Kills(WorkerPlugin):  # sent as a whole, since no module of the workers has it
        name = "kills"

        def transition(self, key, start, finish, **about):
            stage = str(key).rsplit("-", 5)[0]
            if start == "executing" and finish != "executing" and moment == "end":
                self._once(stage)
            if finish == "executing" and moment == "begin":
                self._once(stage)

        def _once(self, stage):
            try:
                os.close(os.open(os.path.join(folder, stage), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)

    return Kills()


class Killer:
    """Kills the first worker at each stage, as it begins its task or with the task done and nothing told.

    Parameters
    ----------
    address : str
        Of the scheduler.
    folder : Path
        That all workers see: a file for each stage.
    moment : {"begin", "end"}
    """

    def __init__(self, address, folder, moment="begin"):
        import distributed

        self._folder, self._plugin = folder, _kills(str(folder), moment)
        self._client = distributed.Client(address, set_as_default=False)

    @property
    def killed(self):
        """The stages, named as on the dashboard, in which a worker was killed."""
        return sorted(os.listdir(self._folder))

    def __enter__(self):
        self._client.register_plugin(self._plugin)
        return self

    def __exit__(self, *error):
        self._client.unregister_worker_plugin("kills")
        self._client.close()


class Machines:
    """A scheduler and workers, each a process of its own as on machines of their own, on loopback addresses."""

    def __init__(self, folder):
        self._folder, self._processes = folder, []
        self.environment = {
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
            process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment, cwd=self._folder)
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
def killer(tmp_path_factory):
    """What kills a worker in each stage of the work of a cluster: ``with killer(address) as deaths:``."""
    return lambda address, moment="begin": Killer(address, tmp_path_factory.mktemp("killed"), moment)
