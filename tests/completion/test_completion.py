"""Missing values: what is expected of them, from the formulas and on tables whose values are known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (the import is what allows it)
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.neighbors import NearestNeighbors

import gnomon as gn
from gnomon.completion import LowRankNormal, Recipe
from gnomon.completion.predictors import (
    Rows,
    all_shared_distances,
    mean_of_nearest,
    shared_distances,
    squared_distances,
)
from gnomon.completion.recipe import _near_all, _trust


def _with_gaps(X, share, seed=0):
    gaps = np.random.default_rng(seed).random(X.shape) < share
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X), gaps


def _rows(seed=0, shape=(30, 5), share=0.3):
    X, gaps = _with_gaps(np.random.default_rng(seed).normal(size=shape), share, seed)
    return Rows(np.where(gaps, 0, X).astype(np.float32), (~gaps).astype(np.float32))


def _plane(n=200, d=8, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + rng.normal(size=d)


def _groups(n=240, d=12, seed=2):
    """Return rows in eight tight groups in no linear relation to each other."""
    rng = np.random.default_rng(seed)
    return 5.0 * rng.normal(size=(8, d))[rng.integers(0, 8, n)] + 0.3 * rng.normal(size=(n, d))


def _kept(X, Y, k=15, rows=slice(None)):
    found = [NearestNeighbors(n_neighbors=k).fit(table).kneighbors()[1][rows] for table in (X, Y)]
    return np.mean([len(np.intersect1d(a, b)) for a, b in zip(*found, strict=True)]) / k


def test_the_model_expects_the_conditional_mean_of_a_normal_distribution():
    rows, rng = _rows(), np.random.default_rng(3)
    model = LowRankNormal(rng.normal(size=(5, 2)), 0.2)
    covariance = model.loadings @ model.loadings.T + 0.2 * np.eye(5)
    expected = model.expected(rows)
    for i, known in enumerate(rows.known > 0):
        gain = covariance[np.ix_(~known, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
        np.testing.assert_allclose(expected[i, ~known], gain @ rows.values[i, known], rtol=1e-4, atol=1e-5)


def test_deviations_from_what_is_expected_are_drawn_as_the_rest_is_distributed():
    rng = np.random.default_rng(3)
    model, known = LowRankNormal(rng.normal(size=(5, 2)), 0.2), np.array([1, 0, 1, 0, 0]) > 0
    covariance = model.loadings @ model.loadings.T + 0.2 * np.eye(5)
    gain = covariance[np.ix_(~known, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
    left = covariance[np.ix_(~known, ~known)] - gain @ covariance[np.ix_(known, ~known)]
    rows = np.repeat(known[None], 40_000, axis=0).astype(np.float32)
    drawn = model.deviations(rows, rng.normal(size=(40_000, 7)).astype(np.float32))[:, ~known]
    np.testing.assert_allclose(np.cov(drawn.T), left, atol=0.03)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(model.variances(rows[:2])[:, ~known], np.tile(np.diag(left), (2, 1)), rtol=1e-5)


def test_a_model_without_components_expects_the_mean():
    rows = _rows()
    model = LowRankNormal.fit(rows.values, [0, 2], seed=0)[0]
    assert model.loadings.shape == (5, 0)
    assert (model.expected(rows) == 0).all()


def test_shared_distances_are_over_shared_features_with_a_variance_for_each_other():
    rows, donors = _rows(0), _rows(1, (20, 5))
    variance = np.array([1.0, 2.0, 0.5, 3.0, 1.5], dtype=np.float32)
    found = shared_distances(rows, donors, variance) + variance.sum()
    for i in range(30):
        for j in range(20):
            shared = (rows.known[i] * donors.known[j]) > 0
            square = ((rows.values[i] - donors.values[j])[shared] ** 2).sum() + variance[~shared].sum()
            assert found[i, j] == pytest.approx(square, abs=1e-4)


def test_all_pairs_have_the_same_shared_distances():
    rows, variance = _rows(shape=(1100, 5)), np.arange(1.0, 6.0, dtype=np.float32)
    np.testing.assert_allclose(all_shared_distances(rows, variance), shared_distances(rows, rows, variance), atol=1e-4)


def test_the_mean_of_the_nearest_is_of_their_known_values():
    donors, rng = _rows(shape=(40, 5)), np.random.default_rng(5)
    distances = rng.normal(size=(7, 40)).astype(np.float32)
    five, eight = mean_of_nearest(distances, [5, 8], donors)
    for k, found in ((5, five), (8, eight)):
        for i, nearest in enumerate(np.argsort(distances, axis=1)[:, :k]):
            expected = donors.values[nearest].sum(axis=0) / (donors.known[nearest].sum(axis=0) + 0.3)
            np.testing.assert_allclose(found[i], expected, rtol=1e-5, atol=1e-6)


def test_more_neighbours_than_donors_are_all_of_them():
    donors = _rows(shape=(4, 5))
    few, many = mean_of_nearest(np.zeros((2, 4), np.float32), [4, 10], donors)
    np.testing.assert_array_equal(few, many)


def test_nothing_that_is_hidden_for_the_test_is_used_in_it():
    rows, blank = _rows(shape=(60, 5)), Recipe(np.zeros(5), np.ones(5), np.ones(5))
    tested = np.array([3, 40, 7])
    hidden = (rows.known[tested] > 0) & (np.arange(5) < 2)
    left = rows.without(tested, hidden)
    assert (left.values[tested][hidden] == 0).all()
    assert (left.known[tested][hidden] == 0).all()
    near, found, near_left = _near_all(blank, rows, left, tested)
    by = np.linspace(-1, 2, 5)
    moved = Rows(((rows.values - by) * rows.known).astype(np.float32), rows.known)
    np.testing.assert_allclose(near - by * found, blank.near(moved, moved), atol=1e-5)  # the same rows, another center
    np.testing.assert_allclose(near, blank.near(rows, rows), atol=1e-5)
    np.testing.assert_allclose(near_left, blank.near(left, left), atol=1e-5)


def test_distances_of_completed_rows_are_euclidean_up_to_a_constant_of_the_row():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=(6, 3)).astype(np.float32)
    full = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(A, B) + (A**2).sum(axis=1)[:, None], full, atol=1e-5)


def test_linear_relations_give_missing_values_back():
    X = _plane()
    given, gaps = _with_gaps(X, 0.2)
    found = gn.complete_missing(given).X
    assert ((found - X)[gaps] ** 2).mean() < 0.01 * X.var()


def test_groups_without_linear_relations_give_missing_values_back():
    X = _groups()
    given, gaps = _with_gaps(X, 0.3)
    found = gn.complete_missing(given).X
    assert ((found - X)[gaps] ** 2).mean() < 0.02 * X.var()


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("blocks", [False, True])
def test_more_neighbours_are_kept_than_with_means_and_with_scikit_learns_neighbours(share, blocks):
    X = load_breast_cancer().data[:300]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    given, gaps = _with_gaps(X, share)
    if blocks:
        gaps = np.zeros(X.shape, bool)
        for group in range(10):
            gaps[group::10, (3 * group + np.arange(round(30 * share))) % 30] = True
        given = np.where(gaps, np.nan, X)
    ours = _kept(X, gn.complete_missing(given).X)
    assert ours > _kept(X, np.where(gaps, np.nanmean(given, axis=0), given)) + 0.05
    assert ours > _kept(X, KNNImputer().fit_transform(given)) + 0.01


def test_known_values_stay_and_no_value_is_missing():
    given, gaps = _with_gaps(_groups().astype(np.float32), 0.3)
    given = given.astype(np.float32)
    found = gn.complete_missing(given)
    assert found.X.dtype == np.float32
    assert np.isfinite(found.X).all()
    np.testing.assert_array_equal(found.X[~gaps], given[~gaps])
    np.testing.assert_array_equal(found.missing, gaps)


def test_a_row_is_completed_by_itself_as_in_the_table():
    given, _ = _with_gaps(_groups(), 0.3)
    found = gn.complete_missing(given)
    np.testing.assert_allclose(found.fill(given[7:8]), found.X[7:8], atol=1e-4)
    np.testing.assert_allclose(found.fill(given), found.X, atol=1e-4)
    assert (found.fill(_groups()[:3]) == _groups()[:3]).all()


def test_rows_beyond_the_donors_are_completed_too(monkeypatch):
    monkeypatch.setattr("gnomon.completion.completion._MOST_DONORS", 100)
    X = _groups()
    given, gaps = _with_gaps(X, 0.2)
    found = gn.complete_missing(given)
    assert len(found.donors) == 100
    assert ((found.X - X)[gaps] ** 2).mean() < 0.05 * X.var()
    np.testing.assert_allclose(found.fill(given), found.X, atol=1e-4)


def test_threads_do_not_change_a_byte_and_the_seed_is_the_only_chance():
    given, _ = _with_gaps(_groups(1200), 0.3)
    one, two = (gn.complete_missing(given, n_jobs=n) for n in (1, 2))
    assert one.X.tobytes() == two.X.tobytes()
    assert one.held_out == two.held_out
    assert gn.complete_missing(given, random_state=1).held_out != one.held_out


def test_the_error_told_is_that_of_the_values_missing():
    X = _plane(600) + 0.5 * np.random.default_rng(0).normal(size=(600, 8))
    given, gaps = _with_gaps(X, 0.1)
    found = gn.complete_missing(given, standardize=False)
    truth = ((found.X - X)[gaps] ** 2).mean() / ((X - np.nanmean(given, axis=0))[gaps] ** 2).mean()
    assert found.held_out.error == pytest.approx(truth, rel=0.35)
    assert found.held_out.kept == pytest.approx(_kept(X, found.X), abs=0.1)


def _factors(rng, n):
    return rng.normal(size=(n, 3)) @ np.random.default_rng(9).normal(size=(3, 8)) + 0.3 * rng.normal(size=(n, 8))


def _clusters(rng, n):
    return 10 * np.random.default_rng(8).normal(size=(4, 6))[rng.integers(0, 4, n)] + rng.normal(size=(n, 6))


@pytest.mark.parametrize(
    ("make", "share"),
    [(_factors, 0.2), (_factors, 0.5), (_clusters, 0.2), (lambda rng, n: np.exp(_factors(rng, n)), 0.2)],
    ids=["factors", "factors, half missing", "clusters", "lognormal"],
)
def test_the_share_of_neighbours_told_is_that_kept_of_the_true_table(make, share):
    told, true = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = make(rng, 400)
        gaps = rng.random(X.shape) < share
        found = gn.complete_missing(np.where(gaps, np.nan, X), standardize=True)
        told.append(found.held_out.kept)
        true.append(_kept(X / X.std(axis=0), found.X / X.std(axis=0), rows=gaps.any(axis=1)))
    assert np.mean(told) == pytest.approx(np.mean(true), abs=0.06)


def test_the_share_of_neighbours_told_is_that_of_the_whole_table_not_of_a_sample(monkeypatch):
    monkeypatch.setattr("gnomon.completion.completion._MOST_DONORS", 300)
    X = _factors(np.random.default_rng(0), 1800)
    given, gaps = _with_gaps(X, 0.2)
    found = gn.complete_missing(given, standardize=False)
    assert found.held_out.kept == pytest.approx(_kept(X, found.X, rows=gaps.any(axis=1)), abs=0.06)


def test_one_gap_in_a_table_of_which_a_sample_is_learned_from_is_in_the_sample(monkeypatch):
    monkeypatch.setattr("gnomon.completion.completion._MOST_DONORS", 50)
    X = _groups()
    X[7, 3] = np.nan
    for seed in range(3):
        found = gn.complete_missing(X, random_state=seed)
        assert 7 in found.donors
        assert len(found.donors) == 50
        assert found.held_out.n_values > 0


def test_units_of_columns_do_not_matter_once_they_are_standardised():
    given, _ = _with_gaps(_plane(), 0.2)
    units = 10.0 ** np.arange(-3, 5)
    small, large = (gn.complete_missing(X, standardize=True).X for X in (given, given * units))
    np.testing.assert_allclose(large / units, small, rtol=1e-3, atol=1e-3)


def test_columns_of_unlike_units_are_standardised_by_themselves():
    given, gaps = _with_gaps(load_iris().data, 0.1)
    given[:, 0] *= 1e4
    chosen, asked = gn.complete_missing(given), gn.complete_missing(given, standardize=True)
    np.testing.assert_array_equal(chosen.X[gaps], asked.X[gaps])


def test_median_fills_in_the_median():
    given, gaps = _with_gaps(_groups(), 0.3)
    found = gn.complete_missing(given, "median")
    expected = np.broadcast_to(np.nanmedian(given, axis=0), given.shape)
    np.testing.assert_allclose(found.X[gaps], expected[gaps])
    np.testing.assert_allclose(found.fill(given[:5]), found.X[:5])
    assert "median" in found.summary()


def test_a_column_and_a_row_without_values_are_named():
    given, _ = _with_gaps(_groups(), 0.1)
    given[:, 3] = np.nan
    given[5] = np.nan
    found = gn.complete_missing(given, feature_names=list("abcdefghijkl"))
    assert np.isfinite(found.X).all()
    assert (found.X[:, 3] == 0).all()
    text = found.summary(list("abcdefghijkl"))
    assert "Columns without any value are set to 0: 'd'" in text
    assert "1 row lacks more than half of the values; their places mean little: 5" in text


def test_a_table_without_gaps_is_returned_as_it_is():
    X = _groups()
    found = gn.complete_missing(X)
    np.testing.assert_array_equal(found.X, X)
    assert not found.missing.any()


@pytest.mark.parametrize("shape", [(3, 1), (3, 2), (5, 3), (40, 1)])
def test_tables_too_small_to_test_anything_are_completed(shape):
    given = np.arange(np.prod(shape), dtype=float).reshape(shape)
    given[1, 0] = np.nan
    found = gn.complete_missing(given)
    assert np.isfinite(found.X).all()
    assert found.summary()


def test_what_cannot_be_completed_is_refused():
    with pytest.raises(TypeError, match=r"complete_missing: X must be a dense array"):
        gn.complete_missing(sp.csr_array(np.eye(5)))
    with pytest.raises(ValueError, match=r"X must be finite or NaN .*\+infinity"):
        gn.complete_missing([[1.0, np.inf], [np.nan, 2.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="how='mode' must be 'distance' or 'median'"):
        gn.complete_missing(np.eye(4), "mode")
    with pytest.raises(ValueError, match=r"Completion: X must be a table with the columns .* \(3 columns, 4 before\)"):
        gn.complete_missing(np.eye(4)).fill(np.eye(3))


def test_columns_of_one_known_value_are_named_and_no_test_on_them_is_told():
    X = _groups()[:, :4]
    X[:, 3], X[::3, 3] = 1.0, np.nan
    text = gn.complete_missing(X, feature_names=["a", "b", "c", "paid"]).summary()
    assert "all known values are one are filled with it: 'paid' 1; put in what blanks mean if" in text
    assert "In a test on" not in text
    assert "nan" not in text
    X[1, 0] = np.nan
    assert "In a test on" in gn.complete_missing(X).summary()


def test_what_the_test_on_known_values_rests_on_is_told():
    given, _ = _with_gaps(_plane(), 0.2)
    assert (
        "of the variance; if what is missing is like what is known, rows that" in gn.complete_missing(given).summary()
    )


def _errors(X, gaps, filled):
    """Return the squared error of each column in its variance."""
    return np.array([((filled - X)[gaps[:, j], j] ** 2).mean() for j in range(X.shape[1])]) / X.var(axis=0)


def test_columns_of_which_the_others_tell_nothing_are_filled_in_by_about_their_mean():
    worse, told = [], []
    for seed in range(5):
        alone = np.random.default_rng(seed).normal(size=(500, 4))
        given, gaps = _with_gaps(alone, 0.15, seed)
        found = gn.complete_missing(given)
        by_mean = _errors(alone, gaps, np.where(gaps, np.nanmean(given, axis=0), given))
        worse.append(_errors(alone, gaps, found.X).mean() - by_mean.mean())
        told.append(found.held_out.error)  # measured with what the other half of the rows tells
    assert np.mean(worse) < 0.03
    assert np.mean(told) == pytest.approx(1.0, abs=0.04)


def test_columns_that_rows_alike_tell_of_are_drawn_to_no_mean_beside_others():
    rng = np.random.default_rng(11)
    groups = 3.0 * rng.normal(size=(6, 5))[rng.integers(0, 6, 500)] + 0.3 * rng.normal(size=(500, 5))
    both = np.concatenate([groups, rng.normal(size=(500, 4))], axis=1)
    given, gaps = _with_gaps(both, 0.15, 11)
    found = gn.complete_missing(given, standardize=True)
    assert (found.recipe.trust[:5] == 1.0).all()
    assert (found.recipe.trust[5:] < 0.5).sum() >= 3
    alone = gn.complete_missing(given[:, :5], standardize=True)
    assert alone.recipe.trust is None
    errors = _errors(both, gaps, found.X)
    assert errors[:5].max() < 0.35
    assert errors[5:].mean() < 1.06


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_where_large_values_are_missing_the_mean_of_the_completed_column_counts(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(400, 8))
    gaps = (np.quantile(X, 0.7, axis=0) < X) & (rng.random(X.shape) < 0.5)
    given = np.where(gaps, np.nan, X)
    found = gn.complete_missing(given)
    known, true = np.nanmean(given, axis=0), X.mean(axis=0)
    assert np.abs(found.recipe.center - true).mean() < 0.6 * np.abs(known - true).mean()
    others = IterativeImputer(max_iter=5, random_state=0).fit_transform(given)
    assert _errors(X, gaps, found.X).mean() < 1.25 * _errors(X, gaps, others).mean()


def test_what_is_filled_in_is_drawn_to_the_mean_by_the_slope_of_true_values_on_it_where_that_is_flat():
    rng = np.random.default_rng(0)
    expected = rng.normal(size=(4000, 3)).astype(np.float32)
    truth = (expected * [0.0, 0.25, 1.0] + 0.5 * rng.normal(size=(4000, 3))).astype(np.float32)
    every, ones = np.ones(expected.shape, bool), np.ones(3)
    np.testing.assert_allclose(_trust(expected, truth, every, ones), [0.0, 0.25, 1.0], atol=0.03)
    assert _trust(expected, 0.8 * expected, every, ones) is None
    few = np.zeros_like(every)
    few[:2, 0] = few[:, 2] = True  # of the first column next to nothing is known: the other tells
    assert _trust(expected, truth, few, ones) is None
    assert _trust(0 * expected, truth, every, ones) is None


@pytest.mark.parametrize(
    "columns", [[[1.0, np.nan] * 20], [[1.0, np.nan] * 20, [2.0] * 40], [[2.0] * 40, [np.nan] * 40]]
)
def test_constant_columns_with_gaps_are_refused_as_complete_ones_are(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gn.exceptions.DataWarning)
        with pytest.raises(ValueError, match="rows"):
            gn.map(np.column_stack(columns), "pca")


def _of_the_mean(draw, n, seeds, *, gaps):
    """Return the squared error of what is filled in over that of the means, of small tables of several seeds."""
    error = mean = 0.0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X, new = draw(rng, n), draw(rng, 50)
        hidden = rng.random((new if gaps == "new" else X).shape) < 0.15
        if gaps == "new":
            filled, truth = (
                gn.completion.learn_to_fill(X, "distance", standardize=True).fill(np.where(hidden, np.nan, new)),
                new,
            )
        else:
            filled, truth = gn.complete_missing(np.where(hidden, np.nan, X), standardize=True).X, X
        by = np.nanmean(X if gaps == "new" else np.where(hidden, np.nan, X), axis=0)
        error += (((filled - truth) / X.std(axis=0))[hidden] ** 2).sum()
        mean += (((by - truth) / X.std(axis=0))[hidden] ** 2).sum()
    return error / mean


@pytest.mark.parametrize("gaps", ["new", "own"])
def test_in_small_tables_nothing_is_filled_in_farther_off_than_the_mean(gaps):
    draws = {
        "normal": lambda rng, n: rng.normal(size=(n, 6)),
        "many columns": lambda rng, n: rng.normal(size=(n, 24)),
        "skew": lambda rng, n: np.exp(rng.normal(size=(n, 6))),
        "two columns": lambda rng, n: rng.normal(size=(n, 2)),
    }
    found = [_of_the_mean(draw, 20, 10, gaps=gaps) for draw in draws.values()]
    assert max(found) < 1.04
    assert np.mean(found) < 1.02

    def related(rng, n):
        return 0.9 * rng.normal(size=(n, 1)) + np.sqrt(0.19) * rng.normal(size=(n, 6))

    assert _of_the_mean(related, 20, 10, gaps=gaps) < 0.5


def test_a_slope_that_few_values_leave_uncertain_is_drawn_to_the_mean():
    rng = np.random.default_rng(0)
    expected = rng.normal(size=(60, 1)).astype(np.float32)
    truth = (0.3 * expected + rng.normal(size=(60, 1))).astype(np.float32)
    e, t = expected[:, 0].astype(np.float64), truth[:, 0].astype(np.float64)
    slope = (e @ t) / (e @ e)
    error = (((t - slope * e) ** 2).sum() + 2.0) / (60 * (e @ e))  # squared, with two values that miss by the variance
    found = _trust(expected, truth, np.ones((60, 1), bool), np.ones(1))
    np.testing.assert_allclose(found, [slope - error / slope], rtol=1e-6)
    few = _trust(expected[:2], np.float32([[0.4], [-0.1]]), np.ones((2, 1), bool), np.ones(1))
    np.testing.assert_array_equal(few, [0.0])


def test_a_row_without_any_value_gets_the_means_of_the_completed_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 4)) + [5.0, 0.0, -3.0, 1.0]
    given = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    given[7] = np.nan
    found = gn.complete_missing(given)
    np.testing.assert_allclose(found.X[7], found.recipe.center, rtol=1e-6)
    np.testing.assert_allclose(found.fill(np.full((2, 4), np.nan)), [found.recipe.center] * 2, rtol=1e-6)
