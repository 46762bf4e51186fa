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
