"""What changes along a line is found with its amount, its sign and an honest error."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from gnomon.exceptions import DataWarning
from gnomon.explanations import explain
from gnomon.explanations.axis import axis
from gnomon.explanations.axis.line import _blocks_of_columns, _pushes, _rank_correlations, held_out_r2, slopes, smooth
from gnomon.explanations.axis.points_near import _default_width, find_points_near, path_through


@pytest.fixture(scope="module")
def plane():
    """The map is the first two features; the third only goes along with the first, the fourth is constant."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 5))
    X[:, 2] = 3 * X[:, 0] + 0.3 * rng.normal(size=600)
    X[:, 3] = 2.5
    return X, X[:, :2].copy()


@pytest.fixture(scope="module")
def explanation(plane):
    return explain(*plane, n_jobs=1)


def row(found, name):
    return found.features.index(name)


def test_along_the_first_axis_the_first_feature_changes_by_one_per_unit_of_the_map(plane, explanation):
    X, _ = plane
    found = axis(explanation, [(-0.9, 0), (0.9, 0)])
    at = row(found, "feature 0")
    assert found.slope[at] == pytest.approx(1, abs=1e-12)
    np.testing.assert_array_equal(found.covered, [0.0, 1.8])
    largest = np.ptp(X[found.near.rows, 0])  # a change is no larger than what the values near the line span
    assert 1.77 < found.change[at] == pytest.approx(min(1.8, largest), abs=1e-12)
    assert found.effect[at] == pytest.approx(found.change[at] / X[:, 0].std(), rel=1e-12)
    assert found.rho[at] == pytest.approx(1)
    assert found.fidelity == pytest.approx(1, abs=1e-3)
    for name in ("feature 1", "feature 4"):
        assert abs(found.effect[row(found, name)]) < 3 * found.error[row(found, name)]
    assert set(found.features[:2]) == {"feature 0", "feature 2"}


def test_f09_a_constant_feature_gets_exactly_zero(explanation):
    found = axis(explanation, [(-0.9, 0), (0.9, 0)])
    at = row(found, "feature 3")
    assert found.effect[at] == found.error[at] == found.rho[at] == found.push[at] == found.push_error[at] == 0


def test_a_feature_that_does_not_move_the_map_pushes_nothing_even_if_it_changes():
    """Feature 1 goes with feature 0 from region to region, but within each region it varies by itself."""
    rng = np.random.default_rng(1)
    steps = np.repeat(np.arange(20.0), 40)
    X = np.stack([steps + rng.uniform(-0.6, 0.6, 800), steps + rng.uniform(-0.6, 0.6, 800)], axis=1)
    Y = np.stack([X[:, 0], 0.01 * rng.normal(size=800)], axis=1)
    found = axis(explain(X, Y, n_jobs=1), [(0, 0), (19, 0)], width=1.0)
    first, second = row(found, "feature 0"), row(found, "feature 1")
    assert found.rho[second] > 0.95
    assert abs(found.push[second]) < 0.1 * found.push[first]


def test_turning_the_line_round_changes_the_signs_alone(explanation):
    there, back = axis(explanation, [(-0.9, 0), (0.9, 0.2)]), axis(explanation, [(0.9, 0.2), (-0.9, 0)])
    assert there.features == back.features
    np.testing.assert_allclose(there.effect, -back.effect, atol=1e-12)
    np.testing.assert_allclose(there.push, -back.push, atol=1e-12)
    np.testing.assert_allclose(there.error, back.error, atol=1e-12)


def test_features_keep_their_answers_under_other_names_orders_and_units(plane, explanation):
    X, Y = plane
    line = [(-0.9, 0), (0.9, 0)]
    found = axis(explanation, line)
    order = [3, 1, 4, 0, 2]
    other = axis(explain(X[:, order], Y, feature_names=[f"f{j}" for j in order], n_jobs=1), line)
    assert [f"f{name.split()[1]}" for name in found.features] == other.features
    np.testing.assert_allclose(found.effect, other.effect, rtol=1e-9)
    scaled = axis(explain(8 * X, Y, n_jobs=1), line)
    np.testing.assert_allclose(scaled.change, 8 * found.change, rtol=1e-9)
    np.testing.assert_allclose(scaled.effect, found.effect, rtol=1e-9)
    np.testing.assert_allclose(scaled.push, found.push, rtol=1e-6, atol=1e-9)


def test_sparse_tables_and_threads_give_the_same(plane, explanation):
    X, Y = plane
    found = axis(explanation, [(-0.9, 0), (0.9, 0)])
    sparse = axis(explain(sp.csr_array(X), Y, n_jobs=2), [(-0.9, 0), (0.9, 0)])
    assert sparse.features == found.features
    np.testing.assert_allclose(sparse.effect, found.effect, rtol=1e-9, atol=1e-12)
    again = axis(explain(X, Y, n_jobs=3), [(-0.9, 0), (0.9, 0)])
    for name in ("effect", "error", "push", "push_error", "rho"):
        assert getattr(again, name).tobytes() == getattr(found, name).tobytes()


def test_a_profile_follows_a_curve_and_its_band_covers_it():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 1, 2000))
    X = np.stack([t, np.sin(2 * np.pi * t) + 0.2 * rng.normal(size=2000)], axis=1)
    Y = np.stack([t, np.zeros(2000)], axis=1)
    found = axis(explain(X, Y, n_jobs=1), [(0, 0), (1, 0)], width=0.1)
    curve = found.profile("feature 1", bandwidth=0.02)
    truth = np.sin(2 * np.pi * curve.t)
    assert np.mean(np.abs(curve.mean - truth) < 3 * curve.error + 0.01) > 0.95
    assert np.max(np.abs(curve.mean - truth)) < 0.1
    assert json.loads(json.dumps(curve.to_dict()))["feature"] == "feature 1"
    assert found.profile(0).feature == "feature 0"


def test_local_lines_reproduce_a_line_without_error():
    t = np.random.default_rng(0).uniform(0, 1, 200)
    mean, error, _ = smooth(t, 3 + 2 * t, np.linspace(0, 1, 9), 0.1)
    np.testing.assert_allclose(mean, 3 + 2 * np.linspace(0, 1, 9), atol=1e-10)
    assert np.all(error < 1e-10)


def test_local_lines_are_weighted_least_squares_and_places_without_rows_have_none():
    rng = np.random.default_rng(1)
    t = np.concatenate([rng.uniform(0, 1, 60), rng.uniform(5, 6, 60), [9.0]])
    values, at = rng.normal(size=121), np.array([0.2, 3.0, 5.5, 9.0, 0.9])
    mean, error, count = smooth(t, values, at, 0.3)
    assert np.isnan(mean[[1, 3]]).all()  # between, and at a row by itself
    assert np.isnan(error[[1, 3]]).all()
    np.testing.assert_allclose(count[[1, 3]], [0.0, 1.0])
    for i in (0, 2, 4):
        s = (t - at[i]) / 0.3
        near = np.abs(s) <= 3.0
        w, lines = np.exp(-0.5 * s[near] ** 2), np.column_stack([np.ones(near.sum()), s[near]])
        pulls = np.linalg.solve(lines.T @ (w[:, None] * lines), (w[:, None] * lines).T)
        fit = pulls @ values[near]
        assert mean[i] == pytest.approx(fit[0], rel=1e-9)
        assert count[i] == pytest.approx(w.sum() ** 2 / (w @ w), rel=1e-9)
        squares = pulls[0] ** 2 @ (values[near] - lines @ fit) ** 2
        assert error[i] == pytest.approx(np.sqrt(squares * count[i] / (count[i] - 1)), rel=1e-9)


def test_slopes_are_those_of_least_squares_and_their_errors_cover():
    rng = np.random.default_rng(0)
    t, noise = rng.uniform(0, 1, 60), rng.normal(size=(60, 4000))
    values = 2.0 * t[:, None] + noise * (0.2 + t[:, None])  # the spread grows along the line
    slope, error = slopes(t, values)
    expected = LinearRegression().fit(t[:, None], values).coef_[:, 0]
    np.testing.assert_allclose(slope, expected, rtol=1e-9)
    assert np.mean(np.abs(slope - 2.0) < 1.96 * error) == pytest.approx(0.95, abs=0.015)


def test_fidelity_is_the_r2_of_leaving_one_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    t = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=80)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    ridges = np.logspace(-3, 3, 13)
    targets = np.repeat(t[:, None], len(ridges), axis=1)
    left_out = cross_val_predict(Ridge(alpha=6 * ridges), Z, targets, cv=LeaveOneOut())
    best = np.max(1 - np.sum((targets - left_out) ** 2, axis=0) / np.sum((t - t.mean()) ** 2))
    assert held_out_r2(X, np.arange(80), t) == pytest.approx(best, abs=0.005)
    assert held_out_r2(X, np.arange(80), rng.normal(size=80)) < 0.1


def test_the_line_through_a_region_in_a_direction(plane, explanation):
    _, Y = plane
    found = axis(explanation, direction=(0, 2), at=Y[:, 0] > 0, width=0.3)
    assert found.features[0] == "feature 1"
    assert found.slope[0] == pytest.approx(1)
    np.testing.assert_allclose(found.path[:, 0], np.median(Y[Y[:, 0] > 0, 0]))
    near = axis(explanation, direction=(1, 0), at=5, width=0.5)
    assert near.features[0] in ("feature 0", "feature 2")


def test_bent_lines_are_measured_along_themselves():
    Y = np.array([[0.0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [-1, 0], [2, 3], [1.5, 0.1], [5, 5], [np.nan, np.nan]])
    Y = np.concatenate([Y, np.tile([[0.5, 0.0]], (10, 1))])
    found = find_points_near(Y, np.array([[0.0, 0], [2, 0], [2, 2]]), 0.2)
    assert found.length == 4
    assert dict(zip(found.rows.tolist(), found.t.tolist(), strict=True)) == {
        **{0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 7: 1.5},
        **dict.fromkeys(range(10, 20), 0.5),
    }
    np.testing.assert_array_equal(found.tangents[found.rows == 3], [[0, 1]])


def test_rank_correlations_are_spearmans(plane, explanation):
    X, _ = plane
    found = axis(explanation, [(-0.9, -0.5), (0.9, 0.4)])
    for at in range(5):
        if found.features[at] != "feature 3":
            expected = spearmanr(found.near.t, X[found.near.rows, found.indices[at]]).statistic
            assert found.rho[at] == pytest.approx(expected, abs=1e-12)


def test_wrong_lines_are_refused(plane, explanation):
    X, Y = plane
    for path, text in (
        ([(0, 0)], "path of 1 different places must be of at least two"),
        ([(0, 0), (0, 0)], "path of 1 different places"),
        ([(0, np.nan), (1, 1)], "must be finite places of 2 coordinates"),
        ([(0, 0, 0), (1, 1, 1)], "must be finite places of 2 coordinates"),
        ([(50, 50), (60, 60)], "path must be near at least 10 points"),
    ):
        with pytest.raises(ValueError, match=text):
            axis(explanation, path, width=0.1)
    with pytest.raises(ValueError, match="path and direction must be one given"):
        axis(explanation)
    with pytest.raises(ValueError, match=r"direction=.* must be 2 finite numbers, not all zero"):
        axis(explanation, direction=(0, 0))
    with pytest.raises(ValueError, match="width=-1 must be a number > 0"):
        axis(explanation, [(0, 0), (1, 0)], width=-1)
    with pytest.raises(ValueError, match="at with 0 rows"):
        axis(explanation, direction=(1, 0), at=np.zeros(600, bool))
    with pytest.raises(IndexError, match="row 600"):
        axis(explanation, direction=(1, 0), at=600)
    with pytest.raises(ValueError, match="sort_by='size' must be one of"):
        axis(explanation, [(0, 0), (1, 0)], sort_by="size")
    with pytest.raises(ValueError, match="feature='x' must be the name of a feature"):
        axis(explanation, [(-1, 0), (1, 0)]).profile("x")
    places = Y.copy()
    places[:300] = np.nan
    assert (axis(explain(X, places, n_jobs=1), [(-0.9, 0), (0.9, 0)]).near.rows >= 300).all()


@pytest.mark.parametrize(("noise", "n_features"), [(1e-6, 6), (0.5, 6), (30.0, 6), (0.3, 100)])
def test_fidelity_is_that_of_the_best_of_thirteen_ridges(noise, n_features):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, n_features))
    t = X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=60)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    left_out = np.empty((13, 60))
    for i in range(60):  # each row by the ridges of all others
        others = np.delete(np.arange(60), i)
        centre, level = Z[others].mean(axis=0), t[others].mean()
        U, s, V = np.linalg.svd(Z[others] - centre, full_matrices=False)
        for k, ridge in enumerate(np.logspace(-3, 3, 13)):
            coefficients = V.T @ (s / (s**2 + n_features * ridge) * (U.T @ (t[others] - level)))
            left_out[k, i] = level + (Z[i] - centre) @ coefficients
    scores = 1 - np.sum((t - left_out) ** 2, axis=1) / np.sum((t - t.mean()) ** 2)
    assert held_out_r2(X, np.arange(60), t) == pytest.approx(max(0.0, *scores), abs=1e-7)


def test_fidelity_needs_a_feature_that_varies_and_looks_at_rows_evenly_along_the_line():
    rng = np.random.default_rng(0)
    assert held_out_r2(np.full((30, 2), 3.0), np.arange(30), rng.normal(size=30)) == 0.0
    X, rows = rng.normal(size=(50, 3)), rng.permutation(50)[:31]
    t = X[rows, 0] + rng.normal(size=31)
    chosen = np.argsort(t)[[0, 3, 6, 10, 13, 16, 20, 23, 26, 30]]
    assert held_out_r2(X, rows, t, 10) == held_out_r2(X, rows[chosen], t[chosen])
    assert held_out_r2(X, rows, t) == held_out_r2(X, rows, t, 31) != held_out_r2(X, rows, t, 30)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_come_in_blocks_of_so_many_numbers_and_one_at_least(form, monkeypatch):
    X, rows = np.arange(60.0).reshape(6, 10), np.array([4, 0, 5])
    for numbers, wide in ((1, 1), (3, 1), (8, 2), (9, 3), (1000, 10)):
        monkeypatch.setattr("gnomon.explanations.axis.line._BLOCK", numbers)
        found = list(_blocks_of_columns(form(X), rows))
        assert max(columns.stop - columns.start for columns, _ in found) == wide
        np.testing.assert_array_equal(np.concatenate([part for _, part in found], axis=1), X[rows])
        assert [i for columns, _ in found for i in range(columns.start, columns.stop)] == list(range(10))


def test_rank_correlations_of_two_rows_are_one_or_none():
    found = _rank_correlations(np.array([0.0, 1.0]), np.array([[5.0, 2.0, 7.0], [6.0, 1.0, 7.0]]))
    np.testing.assert_array_equal(found, [1.0, -1.0, 0.0])


def test_default_curves_have_fifty_places_and_a_bandwidth_by_the_length(explanation):
    found = axis(explanation, [(-0.9, 0), (0.6, 0)])
    curve, asked = found.profile("feature 2"), found.profile("feature 2", 50, 0.12 * 1.5)
    np.testing.assert_allclose(curve.t, np.linspace(0.0, 1.5, 50))
    for name in ("t", "mean", "error", "n"):
        np.testing.assert_allclose(getattr(curve, name), getattr(asked, name), rtol=1e-12)
    assert len(found.profile(0, 2).t) == 2
    for wrong in ({"n_places": 1}, {"bandwidth": 0.0}, {"feature": 5}, {"feature": -1}):
        with pytest.raises((ValueError, IndexError)):
            found.profile(**{"feature": 0, **wrong})
    assert found.profile(4).feature == "feature 4"


@pytest.mark.parametrize("n", [2, 50, 1203])
def test_pushes_are_means_of_arrows_along_the_line_of_at_most_four_hundred_points(n, monkeypatch):
    rng = np.random.default_rng(n)
    rows, t = rng.permutation(n + 3), rng.uniform(0, 9, n + 3)
    arrows, mask = rng.normal(size=(n + 3, 2, 4)), np.ones(n + 3, bool)
    mask[[0, 1, 2]] = False
    tangents = np.stack([np.cos(t), np.sin(t)], axis=1)
    monkeypatch.setattr("gnomon.explanations.axis.line.each_local_arrows", lambda _, some: (arrows[i] for i in some))
    monkeypatch.setattr("gnomon.explanations.axis.line.error_of_mean", lambda _, *given: given)
    near = SimpleNamespace(rows=rows, t=t, tangents=tangents)
    mean, (of, weights, told, toward) = _pushes(SimpleNamespace(mask=mask, n_features=4), near)
    known = [at for at in np.argsort(t) if mask[rows[at]]]
    known = known if n <= 400 else [known[int(at)] for at in np.linspace(0, n - 1, 400)]
    each = np.array([tangents[at] @ arrows[rows[at]] for at in known])
    np.testing.assert_allclose(mean, each.mean(axis=0))
    assert (of.tolist(), told.tolist()) == (rows[known].tolist(), mean.tolist())
    np.testing.assert_array_equal(toward, tangents[known])
    np.testing.assert_allclose(weights, 1 / len(known))


def test_one_point_with_arrows_pushes_nothing_that_is_known():
    near = SimpleNamespace(rows=np.arange(3), t=np.arange(3.0))
    explanation = SimpleNamespace(mask=np.array([False, True, False]), n_features=2)
    assert np.isnan(_pushes(explanation, near)).all()


def test_the_width_is_twice_the_median_distance_to_the_fifteenth_point():
    rng = np.random.default_rng(5)
    Y = np.concatenate([rng.normal(size=(200, 2)), [[np.nan, np.nan]]])
    path = np.array([[-2.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    spots = [(-2.0 + s, 0.0) if s <= 2.0 else (0.0, s - 2.0) for s in np.linspace(0.0, 3.0, 64)]
    radii = [np.sort(np.hypot(*(Y[:200] - spot).T))[14] for spot in spots]
    assert find_points_near(Y, path, None).width == pytest.approx(2.0 * np.median(radii), rel=1e-12)
    few = rng.normal(size=(10, 2))  # of fewer points the farthest
    radii = [np.hypot(*(few - spot).T).max() for spot in spots]
    assert _default_width(path, few) == pytest.approx(2.0 * np.median(radii), rel=1e-12)


def test_a_line_through_empty_space_does_not_reach_for_points_far_away():
    rng = np.random.default_rng(0)
    centres = np.array([[-10.0, 0.0], [10.0, 0.0], [0.0, -10.0], [0.0, 10.0]])
    Y = centres[np.repeat(np.arange(4), 100)] + rng.normal(size=(400, 2))
    usual = 2.0 * np.median([np.sort(np.hypot(*(Y - spot).T))[14] for spot in Y[np.linspace(0, 399, 64).astype(int)]])
    assert 1.0 < usual < 2.0
    with pytest.raises(ValueError, match=rf"\(0 lie within width={usual:.3g} of it\)\. .* pass a larger width"):
        find_points_near(Y, np.array([[-0.5, 0.0], [0.5, 0.0]]), None)
    with pytest.raises(ValueError, match=r"\(4 lie within width=20 of it, and \d+ beyond its ends\)\. .* or longer\."):
        find_points_near(Y, np.array([[-0.1, 100.0], [0.1, 100.0]]) @ [[1, 0], [0, 0.2]], 20.0)
    across = find_points_near(Y, np.array([[-12.0, 0.0], [12.0, 0.0]]), None)
    assert across.width <= 12.0
    assert np.unique(np.sign(Y[across.rows, 0])).tolist() == [-1.0, 1.0]


def test_ten_points_are_enough_for_a_line_unless_they_lie_at_one_place_of_it():
    path = np.array([[0.0, 0.0], [1.0, 0.0]])
    Y = np.column_stack([np.linspace(0.0, 1.0, 10), np.full(10, 0.1)])
    found = find_points_near(Y, path, 0.1)
    np.testing.assert_array_equal(found.rows, np.arange(10))
    np.testing.assert_allclose(found.t, Y[:, 0])
    for places, width in ((Y[:9], 0.1), (Y, 0.09), (np.tile(Y[3], (10, 1)), 0.1)):
        with pytest.raises(ValueError, match="near at least 10 points"):
            find_points_near(places, path, width)


def test_a_line_in_a_direction_spans_the_middle_nine_tenths():
    places = np.column_stack([np.arange(101.0), np.zeros(101)])
    line = path_through(np.concatenate([places, [[np.nan, 0.0]]]), (2.0, 0.0), np.array([10.0, 7.0]))
    np.testing.assert_allclose(line, [[5.0, 7.0], [95.0, 7.0]])
    np.testing.assert_allclose(path_through(places, (-1.0, 0.0), np.zeros(2)), [[95.0, 0.0], [5.0, 0.0]])
    with pytest.raises(ValueError, match="a region that extends along the direction"):
        path_through(places, (0.0, 1.0), np.zeros(2))


def test_a_row_that_alone_decides_the_slope_leaves_an_error_by_the_others():
    values = np.array([[0.0], [3.0], [6.0], [7.0]])
    slope, error = slopes(np.array([0.0, 0.0, 0.0, 1.0]), values)
    np.testing.assert_allclose(slope, [4.0])
    misses = np.array([-3.0, 0.0, 3.0]) / (1.0 - 1.0 / 3.0)
    np.testing.assert_allclose(error, [np.sqrt(np.sum((0.25 * misses) ** 2)) / 0.75], rtol=1e-9)


def test_fidelity_of_a_long_line_is_that_of_a_thousand_rows():
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(1300, 3)), np.arange(1300)
    t = X[:, 0] + rng.normal(size=1300)
    assert held_out_r2(X, rows, t) == held_out_r2(X, rows, t, 1000) != held_out_r2(X, rows, t, 999)


def test_a_local_line_takes_two_rows_apart_and_weights_up_to_three_bandwidths():
    mean, error, count = smooth(np.array([1.0, 3.0]), np.array([5.0, 8.0]), np.array([2.0]), 1.0)
    assert (mean[0], error[0], count[0]) == (6.5, pytest.approx(0.0, abs=1e-9), 2.0)
    t = np.array([0.0, 1.0, 2.0])  # the last is at three bandwidths of -1, and at more of what lies before
    counts = smooth(t, t, np.array([-1.0, -1.0001]), 1.0)[2]
    w = np.exp(-0.5 * np.array([1.0, 2.0, 3.0]) ** 2)
    np.testing.assert_allclose(counts, [w.sum() ** 2 / (w @ w), w[:2].sum() ** 2 / (w[:2] @ w[:2])], rtol=1e-3)
    assert counts[0] > counts[1] + 0.01
    for spread, known in ((1e-5, False), (1e-4, True)):  # a hundred rows of which half stand farther by so little
        near = 0.5 + spread * np.repeat([-1.0, 1.0], 50)
        assert np.isfinite(smooth(near, near, np.array([0.5]), 1.0)[0][0]) == known


def test_copies_of_columns_take_no_part_of_their_own_in_the_fidelity():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    t = X[:, 0] + 0.5 * rng.normal(size=60)
    copied = np.concatenate([X, 2.0 * X, 3.0 - X], axis=1)
    assert held_out_r2(copied, np.arange(60), t) == pytest.approx(held_out_r2(X, np.arange(60), t), rel=1e-9)


def test_a_line_says_how_many_points_it_has_and_gives_its_columns_and_facts(plane):
    X, Y = plane
    places = Y[:200].copy()
    places[:100] = np.nan
    explanation = explain(X[:200], places, feature_names=list("abcde"), n_jobs=1)
    found = axis(explanation, [(-0.5, 0), (0.5, 0)], width=0.25)
    n, r2, fidelity = found.n_points, found.r2, found.fidelity
    assert found.headline() == (
        f"{n} points within 0.25 of a line of length 1; the features predict {fidelity:.0%} of where they lie along it "
        f"(local R2 {r2:.2f})"
    )
    document = found.to_dict()
    names = ["change", "slope", "rho", "push", "push_error", "false_discovery_rate", "beyond_chance"]
    assert list(document.pop("features")[0])[4:] == names
    path = [[-0.5, 0.0], [0.5, 0.0]]
    covered = {"covered": [0.0, 1.0], "covered_share": 1.0}
    facts = {"path": path, "width": 0.25, "length": 1.0, **covered, "n_points": n, "r2": r2}
    assert document == {"question": "axis", "fidelity": fidelity, **facts}
    assert found.all_features == list("abcde")
    assert "_X" not in repr(found)
    assert "all_features" not in repr(found)
    assert r2 == pytest.approx(np.mean(explanation.r2[found.near.rows]))
    with pytest.raises(ValueError, match="at must be None when a path is given"):
        axis(explanation, path, at=[1, 2])


def test_a_region_of_a_row_takes_its_neighbours_and_one_without_places_is_refused(plane):
    X, Y = plane
    places = Y[:200].copy()
    places[:5] = np.nan
    explanation = explain(X[:200], places, n_jobs=1)
    region = places[np.append(17, explanation.graph.indices[17])]
    found = axis(explanation, direction=(0, 1), at=17, width=0.5)
    known = region[np.isfinite(region[:, 0])]
    np.testing.assert_allclose(found.path, path_through(known, (0, 1), np.median(known, axis=0)))
    whole = axis(explanation, direction=(1, 1))
    np.testing.assert_allclose(whole.path, path_through(places, (1, 1), np.median(places[5:], axis=0)))
    with pytest.raises(ValueError, match="at must be a region with a place in the map"):
        axis(explanation, direction=(1, 0), at=[0, 1])


def test_features_are_sorted_by_what_is_asked_and_equal_ones_by_change(explanation):
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    copies = explain(X[:, [0, 1, 0]], X, n_neighbors=6, pooling=0, n_jobs=1)
    for sort_by in ("change", "push", "rho"):
        found = axis(explanation, [(-0.9, 0), (0.9, 0)], sort_by=sort_by)
        least = np.maximum(np.abs(found.effect) - 1.96 * found.error, 0.0)
        assert (np.diff({"change": least, "push": np.abs(found.push), "rho": np.abs(found.rho)}[sort_by]) <= 0).all()
        assert found.features == [f"feature {f}" for f in found.indices]
        assert axis(copies, [(-0.9, 0), (0.9, 0)], width=0.5, sort_by=sort_by).indices.tolist() == [0, 2, 1]


def test_at_a_bend_the_first_part_of_the_line_counts():
    Y = np.concatenate([[[2.0, 0.0]], np.tile([[0.5, 0.0]], (10, 1))])
    found = find_points_near(Y, np.array([[0.0, 0], [2, 0], [2, 2]]), 0.2)
    assert found.t[0] == 2.0
    np.testing.assert_array_equal(found.tangents[0], [1.0, 0.0])


@pytest.fixture(scope="module")
def cloud():
    """A cloud in the middle of the map; the first feature goes with the first axis, the others are noise."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 20)), 0.5 * rng.normal(size=(300, 2))
    X[:, 0] += 2.0 * Y[:, 0]
    return X, Y, explain(X, Y, n_jobs=1)


@pytest.mark.parametrize("reach", [5, 100])
def test_changes_of_a_line_that_reaches_beyond_the_points_are_those_where_points_are(cloud, reach):
    X, Y, explanation = cloud
    with pytest.warns(DataWarning, match=r"points cover \d+% of the line, from .* to .*: draw it through them"):
        found = axis(explanation, [(-reach, 0), (reach, 0)])
    start, end = found.covered
    np.testing.assert_allclose([start - reach, end - reach], [Y[:, 0].min(), Y[:, 0].max()], atol=0.45)
    assert found.covered_share == pytest.approx((end - start) / (2 * reach))
    assert f"points cover {found.covered_share:.0%} of the line, from {start:.3g} to {end:.3g}, and" in str(found)
    np.testing.assert_allclose(found.change, found.slope * (end - start), rtol=1e-12)
    assert found.effect[0] == pytest.approx(slopes(Y[:, 0], X)[0][0] * (end - start) / X[:, 0].std(), rel=0.05)
    assert (np.abs(found.change) <= np.ptp(X, axis=0)[found.indices]).all()
    assert np.abs(found.effect[1:]).max() < 1.2
    assert found.beyond_chance.tolist() == [True] + 19 * [False]


def test_a_point_far_from_all_others_covers_no_line():
    rng = np.random.default_rng(3)
    Y = np.concatenate([0.3 * rng.normal(size=(60, 2)), [[9.0, 0.0]]])
    line = np.array([[-1.0, 0.0], [10.0, 0.0]])
    start, end = find_points_near(Y, line, 2.0).covered
    assert start < 0.6
    assert end < 2.2


def test_a_line_between_centres_counts_from_end_to_end_whatever_lies_between(cloud):
    X, Y, _ = cloud
    apart = np.concatenate([Y, Y + np.array([8.0, 0.0])])
    found = axis(explain(np.concatenate([X, X + 3.0]), apart, n_jobs=1), [(0, 0), (8, 0)])
    assert found.covered.tolist() == [0.0, 8.0]
    np.testing.assert_allclose(found.change, found.slope * 8.0, rtol=1e-12)
    assert "cover" not in found.headline()


def test_no_change_is_larger_than_the_values_near_the_line_differ():
    rng = np.random.default_rng(1)
    t = rng.uniform(0, 1, 200)
    X = np.column_stack([np.tanh(20 * (t - 0.5)), rng.normal(size=200)])
    found = axis(explain(X, np.column_stack([t, np.zeros(200)]), n_jobs=1), [(0, 0), (1, 0)], width=0.1)
    assert abs(found.slope[0]) > 2.4
    assert found.change[0] == np.ptp(X[:, 0])


def test_a_large_change_that_may_be_none_comes_after_a_small_one_that_is_certain():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 1, 30))
    rare = np.zeros(30)
    rare[-1] = 1.0  # one large value at the end: its slope rests on it alone
    Y = np.concatenate([np.column_stack([t, np.zeros(30)]), np.full((500, 2), 9.0) + rng.normal(size=(500, 2))])
    certain = np.concatenate([0.05 * t, rng.normal(scale=0.05, size=500)])
    X = np.column_stack([np.concatenate([rare, np.zeros(500)]), certain, rng.normal(size=(530, 8))])
    found = axis(explain(X, Y, n_jobs=1), [(0, 0), (1, 0)], width=0.5)
    first = np.flatnonzero(found.indices == 0)[0]
    assert abs(found.effect[first]) > 1.5 * abs(found.effect[0])
    assert found.indices[0] == 1
    assert found.beyond_chance.tolist() == [True] + 9 * [False]


def test_of_noise_no_feature_changes_beyond_chance_and_the_text_says_so():
    rng = np.random.default_rng(0)
    found = [
        axis(explain(rng.standard_t(2, size=(60, 40)), rng.normal(size=(60, 2)), n_jobs=1), [(-1, 0), (1, 0)])
        for _ in range(20)
    ]
    said = sum(one.beyond_chance.any() for one in found)
    assert said <= 3
    assert sum("no feature changes beyond chance" in str(one) for one in found) == 20 - said
