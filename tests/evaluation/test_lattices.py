"""Questions about gaps in tables of answers: columns of few values, between which no row lies and which pile up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from gnomon.evaluation import are_apart, is_continuum, is_real
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.gaps.lattice import Lattice, _by_quantiles

GROUND = {"metric": "euclidean", "max_rows": 1000, "n_nulls": 19, "seed": 0}


def _one_factor(n_items, n_levels, *, n=600, loading=0.7, seed=0):
    """Draw answers that one normal factor drives, cut at quantiles, and the lowest and highest thirds of their sums."""
    rng = np.random.default_rng(seed)
    z = loading * rng.normal(size=(n, 1)) + np.sqrt(1 - loading**2) * rng.normal(size=(n, n_items))
    answers = np.digitize(z, np.quantile(z, np.arange(1, n_levels) / n_levels)).astype(float)
    sums = answers.sum(axis=1)
    return answers, sums <= np.quantile(sums, 1 / 3), sums >= np.quantile(sums, 2 / 3)


def _two_classes(n_items, agreement, *, n=600, seed=0):
    """Draw yes and no of two classes that mostly answer otherwise."""
    rng = np.random.default_rng(seed)
    first = rng.random(n) < 0.5
    says = np.where(first[:, None], agreement, 1.0 - agreement)
    return (rng.random((n, n_items)) < says).astype(float), first


@pytest.mark.parametrize(("n_items", "n_levels"), [(6, 2), (12, 2), (12, 3), (30, 2)])
def test_ends_of_one_factor_are_no_groups_however_few_the_answers(n_items, n_levels):
    X, low, high = _one_factor(n_items, n_levels)
    ground = Ground.of(X, None, **GROUND)
    assert ground.lattice.axes.shape[1] == 1
    for a, b, island in ((low, high, False), (low, ~low, True)):
        found = ground.judge(a, b, ("A", "B"), island=island, bridge=0.25, alpha=0.05)
        assert found.answer == "no"
        assert found.statistic < 0.1
    assert f"{n_items} columns of few values by the component they share" in found.rests_on


def test_classes_that_answer_otherwise_are_groups_and_halves_of_one_are_none():
    X, first = _two_classes(20, 0.9)
    half = first & (np.cumsum(first) % 2 == 0)
    options = {"n_nulls": 39}
    assert are_apart(X, None, first, ~first, **options).answer == "yes"
    assert is_real(X, None, first, **options).answer == "yes"
    assert is_continuum(X, None, first, ~first, **options).answer == "no"
    assert are_apart(X, None, half, first & ~half, **options).answer == "no"


def test_categories_of_three_levels_are_steps_of_one_normal_column_each():
    answers, low, high = _one_factor(8, 3)
    names = np.random.default_rng(1).permuted(np.tile(np.arange(3), (8, 1)), axis=1)  # levels in any order
    levels = np.stack([names[item][answers[:, item].astype(int)] for item in range(8)], axis=1)
    X = (levels[:, :, None] == np.arange(3)).reshape(len(answers), -1).astype(float)
    ground = Ground.of(X, None, **GROUND)
    assert [one.columns.tolist() for one in ground.lattice.variables] == [
        [3 * f, 3 * f + 1, 3 * f + 2] for f in range(8)
    ]
    assert ground.judge(low, high, ("A", "B"), island=False, bridge=0.25, alpha=0.05).answer == "no"
    middle = [names[f, 1] for f in range(8)]
    assert [one.levels[1].argmax() for one in ground.lattice.variables] == middle


@pytest.mark.parametrize(("rho", "cuts"), [(0.6, (0.3, -0.4)), (-0.5, (0.0, 0.8)), (0.9, (0.1, 0.1))])
def test_the_correlation_before_cutting_is_that_of_the_share_above_both_thresholds(rho, cuts):
    """The share is told by the bivariate normal distribution itself, and put into rows."""
    n = 100_000
    both = multivariate_normal.cdf([-cuts[0], -cuts[1]], cov=[[1.0, rho], [rho, 1.0]])
    above = norm.sf(cuts[0]), norm.sf(cuts[1])
    shares = np.array([both, above[0] - both, above[1] - both, 1.0 - above[0] - above[1] + both])
    counts = np.rint(n * shares).astype(int)
    pair = np.repeat([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], counts, axis=0)
    coins = np.random.default_rng(0).integers(0, 2, (len(pair), 2)).astype(float)
    X = np.column_stack([pair, coins])
    found = Lattice.of(X - X.mean(axis=0)).correlations()
    assert found[0, 1] == pytest.approx(rho, abs=0.02)
    np.testing.assert_allclose(found, found.T)
    np.testing.assert_allclose(np.diag(found), 1.0)
    assert np.abs(found[2:, :2]).max() < 0.02


def test_columns_that_are_the_same_come_from_the_highest_correlation_allowed():
    coins = np.random.default_rng(0).integers(0, 2, (500, 5)).astype(float)
    X = np.column_stack([coins, coins[:, 0], 1.0 - coins[:, 1]])
    found = Lattice.of(X[:, [0, 5, 2, 1, 3, 6, 4]] - 0.5).correlations()
    assert found[0, 1] == pytest.approx(0.95, abs=1e-4)
    assert found[3, 5] == pytest.approx(-0.95, abs=1e-4)


def test_scores_are_placed_by_quantiles_and_beyond_them_along_a_line():
    cloud = np.random.default_rng(0).exponential(size=200_000)
    shares = np.array([0.01, 0.2, 0.5, 0.9, 0.99])
    np.testing.assert_allclose(_by_quantiles(-np.log1p(-shares), cloud), norm.ppf(shares), atol=0.03)
    far = _by_quantiles(np.array([8.0, 9.0, 10.0]), cloud)
    assert far[2] - far[1] == pytest.approx(far[1] - far[0])
    assert far[1] > far[0] > 2.5
    tied = np.concatenate([np.zeros(100), np.arange(1.0, 101.0)])  # where the line would have no slope there is none
    assert len(set(_by_quantiles(np.array([-0.5, -5.0]), tied))) == 1


def test_rows_of_a_cut_normal_cloud_become_normal_along_the_component_and_other_columns_stay():
    X, *_ = _one_factor(12, 2, n=1000, loading=0.9)
    X = np.column_stack([X, np.random.default_rng(5).normal(size=1000)])
    centred = X - X.mean(axis=0)
    laid = Lattice.of(centred).laid(centred, 0)
    assert laid.shape == (1000, 2)
    np.testing.assert_allclose(laid[:, 1], centred[:, 12], atol=1e-12)
    sums = np.sort(laid[:, 0]) / laid[:, 0].std()
    assert np.abs(norm.cdf(sums) - (np.arange(1000) + 0.5) / 1000).max() < 0.05  # 0.11 of the sums themselves
    np.testing.assert_array_equal(laid, Lattice.of(centred).laid(centred, 0))
    assert not np.array_equal(laid, Lattice.of(centred).laid(centred, 1))


def test_which_tables_are_mostly_of_few_values():
    rng = np.random.default_rng(0)
    items = rng.integers(0, 2, (300, 6)).astype(float)
    items = (items - items.mean(axis=0)) / items.std(axis=0)
    numbers = rng.normal(size=(300, 6))

    def n_variables(*parts):
        X = np.column_stack(parts)
        found = Lattice.of(X - X.mean(axis=0))
        return 0 if found is None else len(found.variables)

    assert n_variables(items) == n_variables(items, numbers[:, :2]) == 6
    assert n_variables(items, numbers[:, :4]) == 0  # a third of the variance and more
    assert n_variables(items[:, :3]) == 0  # three are told by their names
    assert n_variables(items, 8.0 * items[:, :1]) == 0  # one column with a third of the variance has its own gap
    assert n_variables(rng.poisson(20.0, (300, 6))) == 0
    assert n_variables(numbers) == 0
    filled = items.copy()
    filled[:60, 0] = rng.normal(size=60)  # missing cells that were filled in
    assert n_variables(filled) == 6
    filled[:120, 0] = rng.normal(size=120)
    assert n_variables(filled) == 5


def test_other_metrics_and_single_columns_beside_numbers_are_judged_as_before():
    X, _ = _two_classes(20, 0.9, n=200)
    assert Ground.of(X, None, **{**GROUND, "metric": "cosine"}).lattice is None
    rng = np.random.default_rng(0)
    coin = rng.random(300) < 0.4
    beside = np.column_stack([rng.normal(size=(300, 3)), coin / coin.std()])
    ground = Ground.of(beside, None, **GROUND)
    assert ground.lattice is None
    assert ground.as_given is ground.X


def test_groups_by_a_column_that_goes_with_no_other_are_neither_apart_nor_joined():
    coins = np.random.default_rng(0).integers(0, 2, (400, 8)).astype(float)
    first = coins[:, 3] == 1
    ground = Ground.of(coins, None, **GROUND)
    found = ground.judge(first, ~first, ("A", "B"), island=False, bridge=0.25, alpha=0.05)
    assert (found.answer, found.finding) == ("cannot be told", "a difference in values that columns do not share")
    assert "No gap is seen between A and B in what the columns of few values share" in found.sentence


def test_what_groups_differ_in_is_shown_along_the_axes_and_by_other_columns_alone():
    X, low, high = _one_factor(12, 2)
    rng = np.random.default_rng(0)
    X = np.column_stack([X, rng.integers(0, 2, len(X)), rng.normal(size=len(X))])
    X -= X.mean(axis=0)
    lattice, first = Lattice.of(X), X[:, 12] > 0
    assert lattice.shows(X, low, high)
    assert lattice.shows(X, X[:, 13] > 1, X[:, 13] < -1)
    assert not lattice.shows(X, first, ~first)
    half = np.random.default_rng(1).random(len(X)) < 0.5
    assert lattice.shows(X, half, ~half)  # by chance alone


def test_labels_left_among_the_answers_are_named_by_their_column():
    X, first = _two_classes(12, 0.8)
    ground = Ground.of(np.column_stack([X, first]), None, **GROUND)
    found = ground.judge(first, ~first, ("A", "B"), island=False, bridge=0.25, alpha=0.05)
    assert (found.answer, ground.X.shape[1]) == ("cannot be told", 1)
    assert " 'feature 12' alone tells the two apart, " in found.sentence
