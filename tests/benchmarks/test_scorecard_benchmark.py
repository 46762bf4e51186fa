"""The benchmark of the scorecard compares like with like, and says where a peer fails or takes too long."""

from __future__ import annotations

import json
import sys

import numpy as np

from benchmarks import scorecard as benchmark
from gnomon.evaluation import MEASURES


def test_values_are_compared_with_measures_that_exist():
    assert set(benchmark.SAME.values()) <= set(MEASURES)


def test_a_child_reports_every_measure_with_its_interval(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.savez(tmp_path / "map.npz", X=X, Y=X[:, :2], labels=np.arange(60) % 2)
    found = benchmark._measure_here(str(tmp_path / "map.npz"), 30, 1)
    assert found["seconds"] > 0
    value, low, high = found["values"]["trustworthiness"]
    assert low < value <= high
    assert json.loads(json.dumps(found)) == found


def test_a_peer_that_fails_or_takes_too_long_is_told(tmp_path):
    there = ["--there", str(tmp_path / "none.npz"), "--group", "ranks"]
    assert "Error" in benchmark._child(sys.executable, there, 60.0)["failed"]
    assert benchmark._child(sys.executable, there, 0.01)["failed"] == "stopped after 0 s"


def test_the_report_has_ratios_and_values():
    own = {"seconds": 2.0, "cpu": 3.0, "values": {"shepard": [0.5, 0.4, 0.6]}}
    peers = {"ranks": {"failed": "MemoryError"}, "order of pairs": {"seconds": 20.0, "cpu": 15.0, "values": {}}}
    peers["order of pairs"]["values"]["spearman_rho"] = 0.51
    text = benchmark._report({"rows": 10, "gnomon": {"sampled": own}, "zadu": peers})
    assert "MemoryError" in text
    assert "| 20.0" in text
    assert "| 10.0" in text
    assert "0.510000" in text
