"""The study of simulations biased through maps sees a wrong derivative and a jump, and finds neither in maps."""

import json

import numpy as np
import pytest
from studies.simulation import energy_drift, longest_steps

from studies import simulation


def test_a_simulation_from_end_to_end(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(simulation, "_TIMED", 20)
    few = ["--rows", "80", "--methods", "pca", "isomap", "--steps", "100", "--runs", "1", "--paths", "20"]
    assert simulation.main(["--out", str(tmp_path), *few, "--jobs", "1"]) == 0
    report = json.loads((tmp_path / "simulation.json").read_text())
    assert list(report["methods"]) == ["pca", "isomap"]
    for found in report["methods"].values():
        assert found["ratio"] == pytest.approx(4.0, rel=0.05)
        assert found["jumps"] == 0
        assert found["microseconds"] > 0
    assert (tmp_path / "simulation.png").read_bytes().startswith(b"\x89PNG")
    assert "ratio" in capsys.readouterr().out


def smooth(x):
    return np.sin(x[:2] + x[2]), np.cos(x[:2] + x[2])[:, None] * np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])


def wrong(x):
    place, derivative = smooth(x)
    return place, 1.01 * derivative


def test_the_drift_falls_by_four_only_for_the_right_derivative():
    start, velocity, center, target = np.full(3, 0.3), np.array([0.5, -1.0, 0.2]), np.zeros(3), np.array([0.9, -0.4])
    for function, ratio in ((smooth, 4.0), (wrong, 1.0)):
        drifts = [energy_drift(function, start, velocity, target, center, n) for n in (200, 400)]
        assert drifts[0] / drifts[1] == pytest.approx(ratio, rel=0.02)


def test_a_jump_is_a_step_that_stays():
    starts, ends = np.zeros((2, 1)), np.array([[1.0], [-1.0]])
    steps = longest_steps(lambda x: np.c_[x, np.where(x > 0.4, 0.5, 0.0)], starts, ends)
    assert steps[-1] == pytest.approx([0.5, 16.0**-5], rel=1e-3)
