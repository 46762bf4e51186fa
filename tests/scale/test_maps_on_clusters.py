"""The real thing on clusters: maps with landmarks, explained and evaluated, have the bytes of one process."""

import logging
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import whole_runs
from click.testing import CliRunner

import gnomon
from gnomon.cli import main
from gnomon.scale import as_executor

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")

_OF_WORKERS = [  # stages as the dashboard names them, in their order
    "take",
    "moments_of_columns",
    "moments",
    "place_block",
    "explain_block",
    "sum_block",
    "column_sums",
    "gathered",
    "answer_block",
]
_JOINED = ["add", "joined", "merge"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return whole_runs.write_table(tmp_path_factory.mktemp("table") / "table.npy")


@pytest.fixture(scope="module")
def expected(path):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole_runs.short_blocks(patch)
        return whole_runs.answers(whole_runs.mapped(path))


@pytest.fixture
def short_blocks(monkeypatch):
    whole_runs.short_blocks(monkeypatch)


def _differ(found, expected):
    return [name for name in expected if found[name] != expected[name]]


def test_a_small_map_on_a_cluster_has_the_bytes_of_one_process(client, monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)
    whole_runs.short_blocks(monkeypatch)
    monkeypatch.setattr(whole_runs.stored_table, "_MOST", 100)

    def bytes_of(executor):
        table = gnomon.data.stored.ArrayTable(X)
        made = gnomon.map(table, n_fitted=60, max_iter=10, random_state=0, executor=executor)
        explanation = made.explain(executor=executor)
        return made.embedding.tobytes(), explanation.r2.tobytes(), explanation.global_importance.tobytes()

    assert bytes_of(client) == bytes_of(None)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_a_local_cluster_has_the_bytes_of_one_process(n_workers, path, expected, short_blocks, tmp_path):
    options = {"dashboard_address": ":0", "memory_limit": "1GB", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, **options) as cluster:
        found = whole_runs.answers(whole_runs.mapped(path, cluster), cluster)
        assert _differ(found, expected) == []
        written = whole_runs.mapped(path, cluster, folder=tmp_path / "kept")
        assert _differ(whole_runs.answers(written, cluster, out=tmp_path / "kept.zarr"), expected) == []


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_workers_as_processes_have_the_bytes_of_one_process(machines, n_workers, path, expected, short_blocks):
    for _ in range(n_workers):
        machines.worker("--no-nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        client.wait_for_workers(n_workers)
    with gnomon.running(executor=machines.address):
        assert as_executor(machines.address).n_workers == n_workers
        assert _differ(whole_runs.answers(whole_runs.mapped(path)), expected) == []


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_command_line_has_the_bytes_of_one_process(machines, n_workers, path, short_blocks, tmp_path):
    def run(*more):
        folder = tmp_path / f"made-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        command = ["map", str(path), "--n-fitted", "300", "--seed", "1", "--embedding", str(folder / "map.npy")]
        done = CliRunner().invoke(main, [*command, "-o", str(folder / "map.html"), *more])
        assert done.exit_code == 0, done.output
        return {name: (folder / name).read_bytes() for name in ("map.html", "map.npy")}

    for _ in range(n_workers):
        machines.worker("--no-nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        client.wait_for_workers(n_workers)
    here, there = run(), run("--cluster", machines.address, "--folder", str(tmp_path / "kept"))
    assert there["map.npy"] == here["map.npy"]
    assert len(there["map.html"]) == pytest.approx(len(here["map.html"]), rel=0.01)  # it tells the seconds


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["begin", "end"])
def test_a_worker_killed_in_each_stage_of_a_map_changes_nothing(
    machines, killer, moment, path, expected, short_blocks, tmp_path
):
    for _ in range(2):
        machines.worker("--nanny")
    with distributed.Client(machines.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        with killer(machines.address, moment) as deaths:
            made = whole_runs.mapped(path, client, folder=tmp_path / "kept")
            found = whole_runs.answers(made, client, out=tmp_path / "kept.zarr")
    assert deaths.killed == sorted([*_OF_WORKERS, *_JOINED])
    assert _differ(found, expected) == []


_IN_TURN = [  # where the client is killed; each run goes on in the folder of the last
    "landmarks",
    "take",
    "moments_of_columns",
    "moments",
    "neighbors",
    "affinities",
    "initialization",
    "layout",
    "place_block",
    "explain_block",
    "write",
    "sum_block",
    "column_sums",
    "gathered",
    "answer_block",
    "",
]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_client_killed_in_each_stage_in_turn_computes_nothing_twice_and_ends_in_the_same_bytes(
    machines, path, expected, tmp_path
):
    for _ in range(2):
        machines.worker("--no-nanny")
    folder, program = tmp_path / "kept", Path(whole_runs.__file__)
    logs = {}
    for stage in _IN_TURN:
        log = tmp_path / f"log {stage}"
        command = [sys.executable, str(program), str(path), str(folder), machines.address, str(log), stage]
        done = subprocess.run(command, capture_output=True, text=True, env=machines.environment, check=False)
        assert done.returncode == (-9 if stage else 0), (stage, done.stderr[-2000:])
        logs[stage] = log.read_text().split("\n")[:-1]
    with np.load(folder.with_suffix(".npz")) as stored:
        assert _differ({name: stored[name].tobytes() for name in stored.files}, expected) == []

    def counts(name):
        return {stage: n for stage in _IN_TURN if (n := logs[stage].count(name))}

    assert counts("moments_of_columns") == {"moments_of_columns": 6, "moments": 6, "neighbors": 6}
    assert counts("moments") == {"moments": 6, "neighbors": 6}  # from then on the scaling is read
    assert list(counts("take")) == _IN_TURN[_IN_TURN.index("take") : _IN_TURN.index("explain_block")]
    assert list(counts("initialization")) == ["initialization", "layout", "place_block"]
    assert [line for line in logs["place_block"] if line.startswith("layout")][1] == "layout 60"  # of 50 it is read
    placed, explained = counts("place_block"), counts("explain_block")
    assert list(placed) == ["place_block", "explain_block"]
    assert placed["explain_block"] < 6  # those that were written are read
    assert explained == {"explain_block": 6, "write": 6, "sum_block": 5}
    assert list(counts("answer_block")) == ["answer_block", ""]
