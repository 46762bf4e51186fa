"""The benchmark of the intrinsic dimension: its sets have their dimension, and it counts what holds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.dimension import SHAPES, UNSEEN, draw, main


@pytest.mark.parametrize("shape", SHAPES)
def test_sets_have_as_many_free_directions_as_they_say(shape):
    generator = np.random.default_rng(0)
    d = {"helix": 1, "moebius": 2}.get(shape, 3)
    rows = draw(shape, d, 4000, 0.0, generator)
    assert rows.shape == (4000, 50 if shape in UNSEEN else 30)
    spreads = []
    for row in rows[:9]:  # what bends much at one place does not at most
        near = np.argsort(np.square(rows - row).sum(axis=1))[:30]
        spreads.append(np.linalg.svd(rows[near] - rows[near].mean(axis=0), compute_uv=False))
    spread = np.median(spreads, axis=0)
    assert (spread[:d] > 0.1 * spread[0]).all()
    assert spread[d] < 0.35 * spread[d - 1]


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
