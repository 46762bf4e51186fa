"""What a stage is forecast to take: true in a fresh process, and refused where workers have less."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import peaks
import pytest
import whole_runs

import gnomon
from gnomon.data.stored import ArrayTable
from gnomon.explanations import explain_by_blocks
from gnomon.scale import stored_principal_components

distributed = pytest.importorskip("distributed")

_ANSWERS = {"place_block", "explain_block", "sum_block", "column_sums", "gathered", "answer_block"}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="peaks are read from Linux")
@pytest.mark.parametrize(
    ("kind", "n", "n_features", "count", "stages"),
    [
        ("map", 140_000, 50, 20_000, _ANSWERS),
        ("map", 17_000, 784, 3_000, _ANSWERS),
        ("covariance", 17_000, 3000, 20, {"moments"}),
        ("svd", 17_000, 1500, 20, {"factor"}),
        ("randomized", 9_000, 5000, 30, {"product", "scores"}),
    ],
)
def test_what_a_task_takes_is_at_most_the_forecast_and_at_least_half_of_it(kind, n, n_features, count, stages):
    arguments = [sys.executable, str(Path(peaks.__file__)), kind, *map(str, (n, n_features, count))]
    environment = {**os.environ, "PYTHONPATH": str(Path(gnomon.__file__).parents[1])}
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=True)
    found = {line.split()[0]: tuple(map(float, line.split()[1:])) for line in done.stdout.splitlines()}
    assert stages <= set(found)
    wrong = {name: found[name] for name in stages if not found[name][0] / 2 <= found[name][1] <= found[name][0]}
    assert wrong == {}


@pytest.fixture(scope="module")
def tight(cluster):
    """Workers that say that they have little memory: 270 MB."""
    with distributed.Client(cluster, set_as_default=False) as client:
        told = client.scheduler_info

        def scheduler_info(n_workers):
            info = told(n_workers=n_workers)
            for worker in info["workers"].values():
                worker["memory_limit"] = 270_000_000
            return info

        client.scheduler_info = scheduler_info
        yield client


def _refused(stage):
    fact = r"a task takes [\d.]+ MB, the worker itself 2\d\d MB of its 270 MB"
    return rf"the stage '{stage}' must be one whose tasks fit in [\d.]+ MB \({fact}"


def test_a_worker_with_too_little_memory_is_told_before_a_stage_begins(tight):
    X = np.random.default_rng(0).normal(size=(2000, 784)).astype(np.float32)
    table, Y = ArrayTable(X), X[:, :2]
    with pytest.raises(MemoryError, match="map: " + _refused("place_block")):
        gnomon.map(table, n_fitted=300, max_iter=5, executor=tight)
    with pytest.raises(MemoryError, match="explain_by_blocks: " + _refused("explain_block")):
        explain_by_blocks(table, Y, landmarks=200, executor=tight)
    with pytest.raises(MemoryError, match="evaluate: " + _refused("column_sums")):
        gnomon.evaluate(table, Y, n_anchors=10, executor=tight)
    with gnomon.running(executor=tight), pytest.raises(MemoryError, match=_refused("moments")):
        stored_principal_components(table, 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")  # of unlike columns and equal rows
def test_a_map_whose_workers_have_less_than_was_forecast_ends_with_the_figures(machines, monkeypatch, tmp_path):
    monkeypatch.setattr("gnomon.scale.dask._PROCESS", 0.0)
    monkeypatch.setattr("gnomon.maps.landmarks.place._needed", lambda table, fitted: 1e8)
    machines.worker("--nanny", "--memory-limit", "310MB")
    path = whole_runs.write_table(tmp_path / "table.npy")
    X = np.tile(np.load(path)[:2000], (1, 2500))
    np.save(path, X)
    ended = r"tasks fit in 310 MB \(workers were ended [34] times because they took more than their limit"
    paused = r"\(all 1 are paused for 60 s because their memory, 310 MB each, is full"  # nearly over it, and idle
    text = rf"^map: .*({ended}|{paused}).*Give workers more memory"
    with pytest.raises(MemoryError, match=text):
        gnomon.map(np.load(path, mmap_mode="r"), n_fitted=200, max_iter=5, executor=machines.address)
