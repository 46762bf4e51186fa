"""A small group of a large table is judged on its own rows and those nearest to it, none of them left out."""

import numpy as np
import pytest

from gnomon.evaluation import is_real, judge_gaps
from gnomon.evaluation.gaps.judgement import Ground

SMALL = np.arange(760, 800)  # of 800 rows
FEW = {"max_rows": 300, "n_nulls": 19}


def with_island(shift=4.0, seed=0):
    X = 0.3 * np.random.default_rng(seed).normal(size=(800, 3))
    X[SMALL, 0] += shift
    return X


def ground(X, around, **given):
    size = {"metric": "euclidean", "max_rows": 300, "n_nulls": 19, "seed": 0}
    return Ground.of(X, None, **{**size, **given}, around=around)


def test_all_rows_of_the_group_are_looked_at_and_the_nearest_others():
    X = with_island()
    group = np.isin(np.arange(800), SMALL)
    found = ground(X, group)
    far = np.linalg.norm(X[:760, None] - X[SMALL], axis=2).min(axis=1)
    np.testing.assert_array_equal(found.rows, np.sort(np.append(np.argsort(far)[:260], SMALL)))
    assert found.near
    assert found.basis.startswith("300 of 800 rows, those of the group and the nearest to it, densities")


def test_groups_that_a_sample_holds_are_judged_on_the_sample():
    X = with_island()
    sample = ground(X, None).rows
    half = np.arange(800) < 400
    tiny = np.arange(800) < 29
    for group in (half, tiny):
        found = ground(X, group)
        np.testing.assert_array_equal(found.rows, sample)
        assert not found.near


def test_of_a_group_of_more_rows_than_may_be_looked_at_half_of_the_rows_are_its_own():
    X = np.random.default_rng(0).normal(size=(9000, 2))
    group = np.isin(np.arange(9000), np.argsort(X[:, 0])[-100:])
    found = ground(X, group, max_rows=60)
    assert len(found.rows) == 60
    assert np.count_nonzero(group[found.rows]) >= 20
    assert X[found.rows, 0].min() > 1.0  # of 200 rows about it


@pytest.mark.parametrize("seed", [0, 1])
def test_a_small_group_far_from_all_is_real_and_part_of_a_cloud_is_not(seed):
    X = with_island(seed=seed)
    found = is_real(X, None, SMALL, **FEW)
    assert found.answer == "yes"
    assert "those of the group and the nearest to it" in found.rests_on
    cloud = with_island(0.0, seed)
    rim = np.argsort(cloud[:, 0])[-40:]
    assert is_real(cloud, None, rim, **FEW).answer != "yes"


def test_small_islands_of_a_map_are_asked_about():
    X = with_island()
    labels = np.where(np.isin(np.arange(800), SMALL), "rare", "common")
    found = judge_gaps(X, X[:, :2], labels, n_pairs=0, **FEW)
    (verdict,) = found
    assert verdict.question.startswith("Is the island at (3.96, ")
    assert "5 % of the rows, mostly rare) a group of its own?" in verdict.question
    assert (verdict.answer, verdict.in_map) == ("yes", "yes")
    (torn,) = judge_gaps(with_island(0.0), X[:, :2], n_islands=1, **FEW)
    assert (torn.answer == "yes", torn.in_map) == (False, "yes")
    assert len(judge_gaps(X, X[:, :2], n_islands=0, **FEW)) == 0


def test_small_islands_share_the_rate_of_false_alarms():
    X = with_island()
    X[:40, 1] += 9.0
    found = judge_gaps(X, X[:, :2], **FEW)
    assert [verdict.answer for verdict in found] == ["yes", "yes"]
    assert [verdict.false_positive_rate for verdict in found] == [0.025, 0.025]
    assert ", 78 tables without gaps" in found[0].rests_on  # so many that p-values can be as low
