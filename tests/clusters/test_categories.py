"""Levels of a category have no clusters of their own, and do not hide those of other columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import find_clusters
from gnomon.clusters.steps import noise_of_steps, without_levels
from gnomon.linalg import find_categories


def indicators(levels, n_levels):
    return (levels[:, None] == np.arange(n_levels)).astype(float)


def a_table(n_levels, n_rows=600, seed=0, shares=None):
    rng = np.random.default_rng(seed)
    levels = rng.choice(n_levels, n_rows, p=shares)
    return np.column_stack([rng.normal(size=(n_rows, 3)), 2.0 * indicators(levels, n_levels)])


@pytest.mark.parametrize("shares", [None, [0.6, 0.3, 0.1]])
def test_levels_of_a_category_are_no_clusters(shares):
    assert len(find_clusters(a_table(3, shares=shares)).levels) == 0


def test_clusters_beside_a_category_are_found_and_named_by_what_parts_them():
    X = a_table(3)
    X[:300, :2] += 6.0
    level = find_clusters(X).level()
    assert len(level) == 2
    assert all("feature 0" in cluster.name or "feature 1" in cluster.name for cluster in level.clusters)


@pytest.mark.parametrize("n_levels", [2, 3, 6])
def test_a_level_is_spread_over_the_points_nearest_to_it(n_levels):
    levels = np.arange(3000) % n_levels
    X = np.column_stack([np.linspace(0.0, 1.0, 3000), -1.0 + 4.0 * indicators(levels, n_levels)])
    spread = without_levels(X, 0)
    np.testing.assert_array_equal(spread[:, 0], X[:, 0])
    np.testing.assert_array_equal(spread[:, 1:].argmax(axis=1), levels)
    np.testing.assert_allclose(spread[:, 1:].sum(axis=1), X[:, 1:].sum(axis=1))
    for level in range(n_levels):
        rows = levels == level
        np.testing.assert_allclose(spread[rows, 1:].mean(axis=0), X[rows, 1:].mean(axis=0), atol=0.25)


def test_only_indicators_of_which_each_row_has_one_are_a_category():
    rng = np.random.default_rng(0)
    coins = rng.integers(0, 2, (200, 3)).astype(float)
    assert without_levels(coins, 0) is coins
    one = indicators(rng.integers(0, 3, 200), 3)
    both = np.column_stack([coins[:, :1], one, one[:, ::-1], rng.normal(size=200)])
    moved = (without_levels(both, 0) != both).all(axis=0)
    assert moved.tolist() == [False, *[True] * 6, False]


@pytest.mark.parametrize("n_beside", [1, 40])  # columns that are none of the category, few of them or most
def test_a_category_is_found_where_the_first_rows_have_one_level(n_beside):
    levels = np.arange(900) // 300
    X = np.column_stack([np.random.default_rng(0).normal(size=(900, n_beside)), 2.0 * indicators(levels, 3) - 1.0])
    (found,) = find_categories([X[:200], X[200:]])
    assert found.tolist() == [n_beside, n_beside + 1, n_beside + 2]
    X[500, -1] = 1.0  # a row of two levels
    assert not find_categories([X[:200], X[200:]])


def test_categories_of_sparse_tables_are_those_of_dense_ones():
    rng = np.random.default_rng(0)
    first, last = indicators(rng.integers(0, 3, 300), 3), indicators(np.arange(300) % 2, 2)
    X = np.column_stack([first, rng.random((300, 40)), last])
    dense = find_categories([X[:100], X[100:]])
    found = find_categories([sp.csr_array(X[:100]), sp.csr_array(X[100:])])
    assert [one.tolist() for one in found] == [one.tolist() for one in dense] == [[0, 1, 2], [43, 44]]


def test_the_noise_of_a_category_is_that_of_all_its_levels():
    X = indicators(np.arange(900) % 3, 3)
    (noise,) = noise_of_steps([X], np.eye(3), 0)
    np.testing.assert_allclose(noise.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_array_equal((X + noise).argmax(axis=1), np.arange(900) % 3)


def test_a_category_of_many_levels_is_spread_as_a_whole_however_little_of_it_components_hold():
    levels = np.arange(2000) % 40
    X = np.column_stack([np.linspace(0.0, 1.0, 2000), indicators(levels, 40)])
    whole = np.concatenate(noise_of_steps([X[:700], X[700:]], np.eye(41), 0))
    np.testing.assert_array_equal((X + whole)[:, 1:].argmax(axis=1), levels)
    np.testing.assert_allclose(whole.sum(axis=1), 0.0, atol=1e-12)
    (part,) = noise_of_steps([X], np.eye(41)[:2], 0)
    np.testing.assert_array_equal(part, whole[:, :2])


def with_likelihoods(levels, n_levels, rows, seed=0):
    """Return the indicators of a category, and likelihoods of the levels in some rows."""
    table = indicators(levels, n_levels)
    table[rows] = np.random.default_rng(seed).dirichlet(np.ones(n_levels), len(rows))
    return table


@pytest.mark.parametrize("scale", [1.0, np.array([0.4, 2.0, 3.0])])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_between_levels_are_spread_as_those_of_their_most_likely_level(scale, dtype):
    levels, rows = np.arange(900) % 3, np.arange(0, 180, 2)
    table = with_likelihoods(levels, 3, rows)
    likely = table.argmax(axis=1)
    given = (scale * table - 0.7).astype(dtype)
    known = (scale * indicators(likely, 3) - 0.7).astype(dtype)
    np.testing.assert_allclose(without_levels(given, 0), without_levels(known, 0), atol=1e-6)
    (noise,), (expected,) = (noise_of_steps([one], np.eye(3), 0) for one in (given, known))
    np.testing.assert_allclose(given + noise, known + expected, atol=1e-6)


def test_shares_that_miss_one_or_lie_between_in_many_rows_are_no_category():
    levels = np.arange(900) % 3
    few, many = np.arange(0, 900, 11), np.flatnonzero(np.arange(900) // 3 % 3 == 0)
    short = with_likelihoods(levels, 3, few)
    short[few] *= 0.9
    for table in (short, with_likelihoods(levels, 3, many)):
        assert without_levels(table, 0) is table


def test_rows_of_yes_and_no_that_were_filled_in_are_spread_as_the_likelier_and_scales_stay():
    yes = (np.arange(600) % 3 == 0).astype(float)
    filled = yes.copy()
    filled[:6] = [0.02, 0.4, 0.7, 0.02, 0.03, 0.9]
    likely = np.where(np.arange(600) < 6, filled > 0.5, yes)
    (noise,), (expected,) = (noise_of_steps([one[:, None]], np.eye(1), 0) for one in (filled, likely))
    np.testing.assert_allclose(filled + noise[:, 0], likely + expected[:, 0])
    scale = np.repeat([1.0, 2.0, 3.0], [270, 60, 270])
    (noise,) = noise_of_steps([scale[:, None]], np.eye(1), 0)
    assert np.abs(noise).max() <= 0.5


@pytest.mark.parametrize("share", [0.005, 0.05])
def test_levels_whose_missing_cells_were_filled_in_are_no_clusters(share):
    X = a_table(3)
    rows = np.flatnonzero(np.random.default_rng(1).random(len(X)) < share)
    X[rows, 3:] = 2.0 * with_likelihoods(X[:, 3:].argmax(axis=1), 3, rows)[rows]
    assert len(find_clusters(X).levels) == 0
