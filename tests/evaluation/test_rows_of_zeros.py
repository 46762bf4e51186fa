"""Rows of zeros have no direction: verdicts by the cosine are those of the other rows."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.evaluation import are_apart, find_illusions, is_continuum, is_denser, is_nearer, is_real, judge_gaps

GROUPS = np.repeat(["a", "b", "c"], 60)


def directions(seed=0):
    """Three groups of directions that are far from each other, in so many dimensions that zeros are near to all."""
    rng = np.random.default_rng(seed)
    return (np.repeat(0.8 * rng.normal(size=(3, 200)), 60, axis=0) + rng.normal(size=(180, 200))).astype(np.float32)


def with_zeros(X, n=2):
    """The table with rows of zeros in front, where they lie in the map, and masks of the groups, one zero in each."""
    groups = np.append(["a", "b", "c"][:n], GROUPS)
    return np.concatenate([np.zeros((n, X.shape[1]), X.dtype), X]), groups


ASKED = {
    "are_apart": lambda X, Y, one: are_apart(X, Y, one("a"), one("b"), metric="cosine", n_nulls=19),
    "is_continuum": lambda X, Y, one: is_continuum(X, Y, one("a"), one("b"), metric="cosine", n_nulls=19),
    "is_real": lambda X, Y, one: is_real(X, Y, one("a"), metric="cosine", n_nulls=19),
    "is_denser": lambda X, Y, one: is_denser(X, Y, one("a"), one("b"), metric="cosine"),
    "is_nearer": lambda X, Y, one: is_nearer(X, Y, one("a"), one("b"), one("c"), metric="cosine"),
}


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
def test_a_verdict_is_that_of_the_rows_that_have_a_direction(question, made):
    X = directions()
    Y = np.ascontiguousarray(X[:, :2])
    table, groups = with_zeros(X)
    places = np.concatenate([Y[:1], Y[:1], Y])
    found = ASKED[question](made(table), places, groups.__eq__)
    without = ASKED[question](made(X), Y, GROUPS.__eq__)
    assert ", without 2 rows of zeros, which have no direction" in found.rests_on
    assert replace(found, rests_on="", in_map="") == replace(without, rests_on="", in_map="")
    if question in ("are_apart", "is_real"):
        assert found.answer == "yes"


def test_the_gaps_of_a_map_are_judged_without_them():
    X = directions()
    table, groups = with_zeros(X, 1)
    Y = np.concatenate([[[0.0, 0.0]], np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 60, axis=0)])
    Y[1:] += np.random.default_rng(0).normal(size=(180, 2))
    found = judge_gaps(table, Y, groups, metric="cosine", n_nulls=19)
    assert {verdict.answer for verdict in found} == {"yes"}
    assert "Judged on 180 of 181 rows, without 1 row of zeros, which has no direction, densities" in found.summary()
    drawn = find_illusions(table, Y, groups, metric="cosine")
    assert [one.statistic for one in drawn] == [
        one.statistic for one in find_illusions(X, Y[1:], GROUPS, metric="cosine")
    ]
    assert "180 of 181 rows of 3 classes, without 1 row of zeros" in drawn[0].rests_on


def test_by_straight_distances_a_row_of_zeros_is_a_row_like_others():
    X = directions()
    table, groups = with_zeros(X)
    assert "zeros" not in are_apart(table, None, groups == "a", groups == "b", n_nulls=19).rests_on


def test_a_table_with_too_few_directions_is_refused_with_the_reason():
    table, groups = with_zeros(directions())
    table[50:] = 0.0
    with pytest.raises(ValueError, match=r"X with 48 rows, without 134 rows of zeros, which have no direction must be"):
        are_apart(table, None, groups == "a", groups == "b", metric="cosine")
