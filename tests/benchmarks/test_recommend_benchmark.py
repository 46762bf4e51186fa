"""The benchmark of recommendations keeps its groups apart, and its figures are those of the maps it judged."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.labelled import GROUPS, load

from benchmarks import recommend as benchmark


def _judged(hits, trust=0.9):
    return benchmark.Judged(np.asarray(hits, dtype=float), trust)


def _run(table, ours, theirs, trust=0.9):
    fixed = {"tsne": _judged(theirs), "pca": _judged(np.zeros(len(theirs)))}
    return {"table": table, "chosen": "umap", "recommended": _judged(ours, trust), "fixed": fixed, "cpu_seconds": 1.0}


def test_no_table_is_in_two_groups():
    for one, other in itertools.combinations(GROUPS.values(), 2):
        assert not set(one) & set(other)
    assert len(GROUPS["judged"]) == len(GROUPS["fresh"]) == 8


@pytest.mark.parametrize("name", ["blobs", "rolls", "clouds", "iris"])
def test_a_sample_is_the_same_each_time_and_no_longer_than_asked(name):
    (X, y), (again, _) = load(name, 100, 3), load(name, 100, 3)
    assert X.shape[0] == len(y) == 100
    np.testing.assert_array_equal(X, again)


def test_the_difference_is_paired_over_rows():
    difference, half = benchmark.paired([_judged([1, 1, 0, 1])], [_judged([0, 1, 0, 0.5])])
    assert difference == pytest.approx(0.375)
    assert half == pytest.approx(1.96 * np.std([1, 0, 0, 0.5], ddof=1) / 2)


def test_the_promise_is_kept_by_a_tie_and_broken_by_less_accuracy_or_trust():
    even = [_run("a", [1, 0], [1, 0]), _run("b", [1, 1], [1, 1])]
    text, holds = benchmark.report(even, vary=None)
    assert holds
    assert "recommended +0.0000 ± 0.0000 to the best fixed, tsne" in text
    assert not benchmark.report([*even, _run("c", [0, 0], [1, 0])], vary=None)[1]
    assert not benchmark.report([*even, _run("c", [1, 0], [1, 0], trust=0.88)], vary=None)[1]
    assert benchmark.report([*even, _run("c", [1, 1], [1, 0], trust=0.891)], vary=None)[1]
