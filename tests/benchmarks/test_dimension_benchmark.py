"""The benchmark of the intrinsic dimension: its sets have their dimension, and it counts what holds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.dimension import SHAPES, draw, main


@pytest.mark.parametrize("shape", SHAPES)
def test_sets_have_as_many_free_directions_as_they_say(shape):
    generator = np.random.default_rng(0)
    rows = draw(shape, 3, 4000, 0.0, generator)
    assert rows.shape == (4000, 30)
    near = np.argsort(np.square(rows - rows[0]).sum(axis=1))[:30]
    spread = np.linalg.svd(rows[near] - rows[near].mean(axis=0), compute_uv=False)
    assert (spread[:3] > 0.1 * spread[0]).all()
    assert spread[3] < 0.25 * spread[2]


def test_noise_is_a_share_of_the_spread():
    plain, noisy = (draw("cube", 2, 3000, noise, np.random.default_rng(1)) for noise in (0.0, 0.2))
    spread = np.square(plain - plain.mean(axis=0)).sum(axis=1).mean()
    assert np.square(noisy - plain).sum(axis=1).mean() == pytest.approx(0.04 * spread, rel=0.05)


def test_it_runs_and_writes_what_it_counted(tmp_path, capsys):
    path = tmp_path / "out.json"
    given = ["--shapes", "sphere", "--dimensions", "1", "2", "--rows", "150", "--noise", "0", "--seeds", "2"]
    assert main([*given, "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    assert [one["dimension"] for one in found] == [1, 2]
    assert all(one["held"]["growth"] >= 0.5 and one["low"] < one["high"] for one in found)
    assert "| 150  | 0     | sphere | 2" in capsys.readouterr().out
