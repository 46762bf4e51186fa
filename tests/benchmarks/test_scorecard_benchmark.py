"""The benchmark of the scorecard compares like with like, and says where a peer fails or takes too long."""

from __future__ import annotations

import json
import sys

import numpy as np

from benchmarks import scorecard as benchmark
from gnomon.evaluation import MEASURES


def test_values_are_compared_with_measures_that_exist():
    taken = [name for names in benchmark.TAKEN.values() for name in names]
    assert set(benchmark.SAME.values()) <= set(taken) <= set(MEASURES)
    assert sorted(benchmark.TAKEN) == sorted(name for group in benchmark.GROUPS.values() for name in group)


def test_a_child_reports_every_measure_with_its_interval(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.savez(tmp_path / "map.npz", X=X, Y=X[:, :2], labels=np.arange(60) % 2)
    found = benchmark._measure_here(str(tmp_path / "map.npz"), None, 30, 1)
    assert found["seconds"] > 0
    assert found["cpu"] > 0
    assert set(benchmark._measure_here(str(tmp_path / "map.npz"), "tnc", 30, 1)["values"]) == {*benchmark.TAKEN["tnc"]}
    value, low, high = found["values"]["trustworthiness"]
    assert low < value <= high
    assert json.loads(json.dumps(found)) == found


def test_a_peer_that_fails_or_takes_too_long_is_told(tmp_path):
    there = ["--there", str(tmp_path / "none.npz"), "--group", "ranks"]
    failed = benchmark._child(sys.executable, there, 60)
    assert "Error" in failed["failed"]
    assert "cpu" not in failed
    X = np.random.default_rng(0).normal(size=(5000, 20))
    np.savez(tmp_path / "map.npz", X=X, Y=X[:, :2], labels=np.zeros(5000))
    found = benchmark._child(sys.executable, ["--here", str(tmp_path / "map.npz")], 1)
    assert found["failed"] == "stopped after 1 CPU s"
    assert found["cpu"] > 0.9


def test_the_report_has_ratios_and_values():
    own = {"seconds": 2.0, "cpu": 3.0, "values": {"shepard": [0.5, 0.4, 0.6]}}
    peers = {"ranks": {"failed": "MemoryError"}, "order of pairs": {"seconds": 20.0, "cpu": 15.0, "values": {}}}
    peers["order of pairs"]["values"]["spearman_rho"] = 0.51
    peers["labels"] = {"seconds": 90.0, "cpu": 60.0, "failed": "stopped after 60 CPU s"}
    alone = {group: {"seconds": 1.0, "cpu": 1.5} for group in peers}
    text = benchmark._report({"rows": 10, "gnomon": {"sampled": own}, "zadu": peers, "alone": alone})
    assert "MemoryError" in text
    order, labels, in_all = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for name in ("order of pairs", "labels", "in all")
        for line in text.splitlines()
        if f"ZADU, {name}" in line
    )
    assert order[1:6] == ["20.0", "15.0", "1.5", "10.0", "5.0"]
    assert labels[4:6] == [">= 40.0", ">= 20.0"]  # stopped: a lower bound
    assert in_all[5] == ">= 25.0"
    assert "0.510000" in text
