"""The judges of explanations judge rightly."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from gnomon.evaluation.explanations import (
    push_test,
    recovery_of_drivers,
    remove_features,
    shuffle_columns,
    sign_agreement,
    stability,
)


def test_recovery_is_the_area_under_the_curve_ties_and_faint_features_included():
    rng = np.random.default_rng(0)
    scores, drivers = rng.integers(0, 5, (30, 12)).astype(float), rng.random((30, 12)) < 0.4
    drivers[:, 0], drivers[:, 1], drivers[3] = True, False, False
    counted = rng.random((30, 12)) < 0.8
    counted[:, :2] = True
    found = recovery_of_drivers(scores, drivers, counted=counted)
    for i in range(30):
        if i == 3:
            assert np.isnan(found.per_point["auc"][i])
            continue
        expected = roc_auc_score(drivers[i, counted[i]], scores[i, counted[i]])
        assert found.per_point["auc"][i] == pytest.approx(expected)
    assert found.n_points == 29
    three = recovery_of_drivers([[5.0, 4.0, 3.0, 2.0, 1.0]], [[True, False, True, False, True]])
    assert three.top_precision == pytest.approx(2 / 3)  # two of the three with the highest scores
    assert three.auc == pytest.approx(0.5)
    assert recovery_of_drivers(drivers.astype(float), drivers).to_dict() == {
        "auc": 1.0,
        "top_precision": 1.0,
        "n_points": 29,
    }
    assert recovery_of_drivers(np.ones(12), drivers).auc == 0.5
    assert "AUC" in found.summary()
    with pytest.raises(ValueError, match="some but not all features"):
        recovery_of_drivers(scores, np.ones((30, 12), bool))


def test_signs_and_pushes_of_a_linear_map_are_all_right():
    rng = np.random.default_rng(0)
    A, X, step = rng.normal(size=(6, 2)), rng.normal(size=(40, 6)), rng.normal(size=(40, 6))
    arrows = np.broadcast_to(A, (40, 6, 2))
    drivers = np.ones((40, 6), bool)
    assert sign_agreement(3 * arrows, arrows, drivers) == 1
    assert sign_agreement(-arrows, arrows, drivers) == 0
    push = push_test(X, X + step, 0.5 * step @ A, lambda rows: rows @ A + 1)
    assert push.cosine == pytest.approx(1)
    assert push.scale == pytest.approx(2)
    assert push.r2 == pytest.approx(0.75)
    assert push.n_points == 40
    assert "cosine" in push.summary()
    with pytest.raises(ValueError, match="rows that move"):
        push_test(X, X, 0 * step @ A, lambda rows: rows @ A)


def test_removal_gains_from_the_true_order_and_not_from_a_random_one():
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(200, 20)), np.zeros((20, 2))
    A[:4] = rng.normal(size=(4, 2))
    truth = np.abs(X) * np.linalg.norm(A, axis=1)
    good = remove_features(X, truth, np.zeros(20), lambda rows: rows @ A)
    assert good.gain > 0.3
    assert np.all(good.deletion >= good.insertion)
    assert abs(remove_features(X, rng.random((200, 20)), np.zeros(20), lambda rows: rows @ A).gain) < 0.1
    assert set(good.to_dict()) == {"shares", "deletion", "random", "insertion", "gain"}
    assert "important first" in good.summary()


def test_stability_is_one_for_the_same_order_and_zero_for_chance():
    rng = np.random.default_rng(0)
    one = rng.random((50, 30))
    assert stability([one, 5 * one, one**2]).rank_correlation == pytest.approx(1)
    assert abs(stability([one, rng.random((50, 30))]).rank_correlation) < 0.1
    other = rng.random((50, 30))
    found = stability([one, one, other])
    assert found.lowest == pytest.approx(stability([one, other]).rank_correlation)
    assert found.n_pairs == 3
    one = one.copy()
    one[4] = np.nan
    found = stability([one, one])
    assert np.isnan(found.per_point[4])
    assert found.rank_correlation == pytest.approx(1)
    with pytest.raises(ValueError, match="two or more tables"):
        stability([one])


def test_shuffled_columns_hold_the_same_values_in_orders_of_their_own():
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[:, 1] = X[:, 0]
    shuffled = shuffle_columns(X)
    np.testing.assert_array_equal(np.sort(shuffled, axis=0), np.sort(X, axis=0))
    assert np.mean(shuffled[:, 0] == shuffled[:, 1]) < 0.2


def test_pushes_are_judged_by_hand_worked_numbers():
    """Of four rows one does not move, one has no place; of the others one goes at a right angle to what was said."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [9.0, 9.0]])
    pushed = X + np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 0.0], [np.nan, 1.0]])
    predicted = np.array([[3.0, 4.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    found = push_test(X, pushed, predicted, lambda rows: rows + 7.0)
    np.testing.assert_allclose(found.per_point["cosine"], [1.0, 0.0, np.nan, np.nan], atol=1e-12)
    assert found.n_points == 2
    assert found.cosine == pytest.approx(0.5)
    assert found.r2 == pytest.approx(1 - 5 / 29)
    assert found.scale == pytest.approx(25 / 26)
    assert found.to_dict() == {"cosine": found.cosine, "r2": found.r2, "scale": found.scale, "n_points": 2}
    assert found.summary() == "pushes: cosine 0.500, R2 0.828, scale 0.96 (2 rows)"
    with pytest.raises(ValueError, match=r"predicted of shape \(4, 3\) must be of shape \(4, 2\)"):
        push_test(X, pushed, np.ones((4, 3)), lambda rows: rows)


def test_signs_count_drivers_of_points_that_are_known():
    arrows = np.array([[[1.0, 0.0], [1.0, 2.0]], [[0.0, 1.0], [np.nan, 0.0]]])
    true = np.array([[[1.0, 5.0], [2.0, -3.0]], [[0.0, 0.0], [1.0, 0.0]]])
    every = np.ones((2, 2), bool)
    assert sign_agreement(arrows, true, every) == pytest.approx(1 / 3)  # right, wrong, and no movement is not right
    assert sign_agreement(arrows, true, [[True, False], [False, True]]) == 1.0


def test_removal_sets_the_features_that_the_order_says():
    X = np.array([[1.0, 10.0, 100.0, 1000.0]] * 3)
    importance = np.array([[1.0, 2.0, 3.0, 4.0]] * 3)
    goal = np.array([0.0, 0.0, 0.0, 0.0])

    def total(rows):
        return rows.sum(axis=1, keepdims=True)

    found = remove_features(X, importance, goal, total, shares=(0.05, 0.5, 1.0))
    np.testing.assert_array_equal(found.shares, [0.05, 0.5, 1.0])  # one feature at least
    np.testing.assert_allclose(found.deletion, np.array([1000.0, 1100.0, 1111.0]) / 1111)
    np.testing.assert_allclose(found.insertion, np.array([1.0, 11.0, 1111.0]) / 1111)
    assert found.random[2] == pytest.approx(1.0)
    assert found.gain == pytest.approx(np.mean(found.deletion - found.insertion))
    means = [curve.mean() for curve in (found.deletion, found.random, found.insertion)]
    told = "removal: moved {:.3f} important first, {:.3f} at random, {:.3f} important last"
    assert found.summary() == told.format(*means)
    still = remove_features(X, importance, X, total)
    assert still.gain == 0.0
    np.testing.assert_array_equal(still.deletion, 0.0)


def test_stability_is_the_mean_over_pairs_and_points_that_all_know():
    one = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    two = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [np.nan, 2.0, 1.0]])
    three = np.array([[1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    found = stability([one, two, three])
    pairs = [np.mean([1.0, -1.0]), np.mean([0.5, 1.0, 1.0]), np.mean([0.5, -1.0])]
    assert found.rank_correlation == pytest.approx(np.mean(pairs))
    assert found.lowest == pytest.approx(min(pairs))
    np.testing.assert_allclose(found.per_point, [2 / 3, -1 / 3, np.nan])
    assert found.to_dict() == {"rank_correlation": found.rank_correlation, "lowest": found.lowest, "n_pairs": 3}
    assert found.summary() == f"stability: rank correlation {np.mean(pairs):.3f}, at least -0.250"
    with pytest.raises(ValueError, match="two or more tables of one shape"):
        stability([one, one[:2]])


def test_the_most_important_features_are_as_many_as_there_are_drivers():
    importance = np.array([[9.0, 8.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0], [np.nan, 0.0, 0.0, 0.0]])
    drivers = np.array([[True, False, True, False], [False, False, False, True], [True, False, False, False]])
    found = recovery_of_drivers(importance, drivers)
    np.testing.assert_allclose(found.per_point["top_precision"], [0.5, 1.0, np.nan])
    np.testing.assert_allclose(found.per_point["auc"], [0.75, 1.0, np.nan])
    assert (found.n_points, found.auc, found.top_precision) == (2, 0.875, 0.75)
    assert found.summary() == "drivers: AUC 0.875, top precision 0.750 (2 points)"


X = np.random.default_rng(0).normal(size=(6, 4))
DRIVERS = np.eye(6, 4, dtype=bool)
ARROWS = np.ones((6, 4, 2))


def _first_two(rows):
    return rows[:, :2]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: recovery_of_drivers(X, DRIVERS[0]),
            ValueError,
            r"drivers of shape \(4,\) must be of shape \(n_samples",
        ),
        (
            lambda: recovery_of_drivers(X[:, :2], DRIVERS),
            ValueError,
            r"importance of shape \(6, 2\) .* \(6, 4\) or \(4,\)",
        ),
        (lambda: recovery_of_drivers(X[:1], DRIVERS), ValueError, r"importance of shape \(1, 4\)"),
        (lambda: recovery_of_drivers("ab", DRIVERS), TypeError, r"importance must be an array of numbers \(found str"),
        (lambda: recovery_of_drivers(X, DRIVERS, counted=DRIVERS[:2]), ValueError, r"counted of shape \(2, 4\)"),
        (lambda: sign_agreement(X, X, DRIVERS), ValueError, r"^sign_agreement: arrows of shape \(6, 4\)"),
        (lambda: sign_agreement(ARROWS, ARROWS[:, :1], DRIVERS), ValueError, r"true_arrows of shape \(6, 1, 2\)"),
        (lambda: sign_agreement(ARROWS, ARROWS, DRIVERS[:, :2]), ValueError, r"drivers of shape \(6, 2\)"),
        (lambda: sign_agreement(ARROWS, ARROWS, ~DRIVERS & DRIVERS), ValueError, "drivers must be some features"),
        (lambda: push_test(X, X + 1, X, lambda rows: rows[:, 0]), ValueError, r"transform\(X\) of shape \(6,\)"),
        (lambda: push_test(X, X[:3], X, _first_two), ValueError, r"transform\(X_pushed\) of shape \(3, 2\)"),
        (lambda: push_test(X, X, X, 3), TypeError, r"transform must be a function of rows \(found int\)"),
        (
            lambda: remove_features(X[0], X, X[0], _first_two),
            ValueError,
            r"X of shape \(4,\) must be .* \(m, n_features",
        ),
        (lambda: remove_features(X, X[:, :2], X[0], _first_two), ValueError, r"importance of shape \(6, 2\)"),
        (lambda: remove_features(X, X, X[0, :3], _first_two), ValueError, r"reference of shape \(3,\)"),
        (lambda: remove_features(X, X, X[0], lambda rows: rows[:2]), ValueError, r"transform\(X\) of shape \(2, 4\)"),
        (lambda: remove_features(X, X, X[0], _first_two, shares=()), ValueError, r"shares=\(\) must be at least one"),
        (lambda: remove_features(X, X, X[0], _first_two, shares=0.5), TypeError, "shares must be a sequence"),
        (
            lambda: remove_features(X, X, X[0], _first_two, shares=(0.0, 2.0)),
            ValueError,
            r"shares=0\.0 must be a number > 0",
        ),
        (
            lambda: remove_features(X, X, X[0], _first_two, shares=(-1,)),
            ValueError,
            "shares=-1 must be a number > 0 and <= 1",
        ),
        (lambda: stability(3), TypeError, r"importances must be two or more tables \(found int\)"),
        (lambda: stability([X[0], X[0]]), ValueError, r"importances\[0\] of shape \(4,\)"),
        (
            lambda: stability([X, X, np.full_like(X, np.nan)]),
            ValueError,
            r"importances\[0\] and importances\[2\] must be without",
        ),
        (lambda: shuffle_columns(X[0]), ValueError, r"X of shape \(4,\)"),
    ],
)
def test_what_does_not_belong_together_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()
