"""The benchmark of verdicts knows the widest gap of a map, the true answer about it, and which sets were in sight."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.verdict_tables import COMPARISONS, GAPS, GROUPS, WIDTHS

from benchmarks import verdicts as benchmark


def test_the_widest_gap_parts_two_islands():
    Y = np.random.default_rng(0).normal(size=(200, 2))
    Y[:80, 0] += 20
    side = benchmark.widest_gap(Y)
    assert set(map(tuple, [side, ~side])) >= {tuple(np.arange(200) < 80)}


@pytest.mark.parametrize(
    ("on_one_side", "true"),
    [([100, 0, 0], "yes"), ([97, 2, 100], "yes"), ([50, 0, 0], "no"), ([100, 60, 0], "no"), ([0, 0, 3], "no")],
)
def test_sides_are_apart_if_each_group_lies_on_one(on_one_side, true):
    groups = np.repeat(np.arange(3), 100)
    side = np.concatenate([np.arange(100) < count for count in on_one_side])
    assert benchmark.true_answer(groups, side) == true
    assert benchmark.true_answer(groups, ~side) == true


@pytest.mark.parametrize("name", [*GAPS, *COMPARISONS, *WIDTHS])
def test_every_set_is_drawn_anew_by_each_seed_and_in_one_group(name):
    make = GAPS[name] if name in GAPS else {**COMPARISONS, **WIDTHS}[name][-1]
    (X, groups), (again, _), (other, _) = (make(np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert X.shape[0] == len(groups) >= 300
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X, again)
    assert not np.array_equal(X, other)
    assert sum(name in names for names in GROUPS.values()) == 1


def test_a_set_is_judged_by_every_judge_and_summed_up(monkeypatch):
    def few(draw):
        groups = np.arange(120) % 2
        return draw.normal(size=(120, 3)) + 12.0 * groups[:, None], groups

    monkeypatch.setitem(GAPS, "two Gaussians", few)
    _, found = benchmark._run(("two Gaussians", 0, ["tsne"], True))
    assert found["tsne"]["true"] == found["tsne"]["verdict"] == "yes"
    assert {"map alone", "EMBEDR", "scDEED", "finding"} <= set(found["tsne"])
    _, compared = benchmark._run(("as far", 0, ["tsne"], True))
    runs = {"two Gaussians, tsne": [found["tsne"]], "as far, tsne": [compared["tsne"]]}
    told = benchmark.summarize(runs).splitlines()
    assert "100 % (0 %)" in told[3]
    assert " - " in told[4]
    _, width = benchmark._run(("of four times the width", 0, ["tsne"], True))
    assert width["tsne"]["true"] == width["tsne"]["verdict"] == "no"
