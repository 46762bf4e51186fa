"""Rows that follow each other: a series is told from rows in random order, and from classes that are sorted."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from gnomon.neighbors import succession_of_rows
from gnomon.neighbors.succession import _apart, _chance


def _series(n, d, tau, seed=0):
    """Return an Ornstein-Uhlenbeck process in one well, of a correlation time of tau rows."""
    rng, kept = np.random.default_rng(seed), np.exp(-1.0 / tau)
    X = rng.normal(size=(n, d))
    for i in range(1, n):
        X[i] = kept * X[i - 1] + np.sqrt(1.0 - kept**2) * X[i]
    return X


@pytest.mark.parametrize("d", [1, 4, 20])
def test_a_series_is_seen_and_its_step_is_about_three_correlation_times(d):
    found = succession_of_rows(_series(1500, d, 10.0))
    assert found.p_value < 1e-6
    assert 12 <= found.step <= 80
    assert f"take every {found.step}th row, about {round(1500 / found.step)} in all" in found.told("nothing holds")


@pytest.mark.parametrize("d", [1, 3, 20])
def test_rows_in_random_order_have_p_values_that_are_no_smaller_than_chance(d):
    p = [
        _chance(_apart(np.random.default_rng(seed).standard_t(2, size=(200, d)), np.arange(1, 4), "euclidean"))
        for seed in range(150)
    ]
    assert np.mean(np.array(p) < 0.1) < 0.18
    assert min(p) > 1e-4


def test_a_series_that_is_thinned_or_shuffled_is_none():
    X = _series(4000, 6, 10.0)
    assert succession_of_rows(X) is not None
    assert succession_of_rows(X[:: succession_of_rows(X).step]) is None
    assert succession_of_rows(np.random.default_rng(0).permutation(X)) is None
    assert succession_of_rows(X[:39]) is None


def test_tables_that_are_sorted_by_their_classes_are_no_series(iris_and_digits):
    for X, y in iris_and_digits:
        assert succession_of_rows(X) is None
        assert succession_of_rows(X[np.argsort(y, kind="stable")]) is None


@pytest.fixture(scope="module")
def iris_and_digits():
    from sklearn.datasets import load_digits, load_iris

    return [load_iris(return_X_y=True), load_digits(return_X_y=True)]


def test_distances_and_sparse_tables_tell_what_the_rows_tell():
    X = _series(300, 5, 8.0)
    found = succession_of_rows(X)
    assert succession_of_rows(sparse.csr_array(X)).step == found.step
    assert succession_of_rows(cdist(X, X), "precomputed").step == found.step
    assert succession_of_rows(sparse.csr_array(cdist(X, X)), "precomputed") is None
    assert succession_of_rows(X, "cosine") is not None


def test_equal_rows_are_no_likeness():
    X = np.repeat([[0.0, 1.0]], 200, axis=0)
    assert succession_of_rows(X) is None
    assert succession_of_rows(np.random.default_rng(0).integers(0, 2, size=(400, 1)).astype(float)) is None
