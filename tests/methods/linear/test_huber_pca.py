"""Huber PCA: what it finds under outliers, what its certificate is worth, and what its loss is."""

import numpy as np
import pytest
from sklearn.base import clone

from gnomon import PCA
from gnomon.exceptions import ConvergenceWarning, GnomonWarning
from gnomon.linalg import huber_coordinates
from gnomon.methods.linear.huber_pca import HuberPCA
from gnomon.objectives import HuberFit, gradient_error


def _corrupted(share=0.1, n=200, width=30, seed=0):
    """Return a plane's rows with noise, the table with outliers, and the plane."""
    generator = np.random.default_rng(seed)
    plane, _ = np.linalg.qr(generator.normal(size=(width, 2)))
    clean = generator.normal(size=(n, 2)) * [6.0, 4.0] @ plane.T + 0.1 * generator.normal(size=(n, width)) + 3.0
    table = clean.copy()
    wrong = generator.random((n, width)) < share
    table[wrong] += 10.0 + 30.0 * generator.normal(size=int(wrong.sum()))
    return clean, table, plane


def _sine(plane, components):
    """Return the sine of the largest angle between two planes."""
    return float(np.sqrt(max(0.0, 1.0 - np.linalg.svd(plane.T @ components.T, compute_uv=False).min() ** 2)))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
def test_the_plane_is_found_where_pca_loses_it(share):
    _, table, plane = _corrupted(share)
    assert _sine(plane, HuberPCA().fit(table).components_) < 0.1
    assert share == 0.0 or _sine(plane, PCA(2).fit(table).components_) > 0.5


def test_outliers_do_not_move_the_map():
    clean, table, _ = _corrupted(0.1)
    fitted = HuberPCA().fit(table)
    error = fitted.inverse_transform(fitted.embedding_) - clean
    assert np.sqrt(np.mean(error**2)) < 0.2
    assert np.sqrt(np.mean((table - clean) ** 2)) > 5.0
    np.testing.assert_allclose(fitted.mean_, fitted.low_rank_.mean(axis=0), rtol=1e-9)


def test_the_certificate_bounds_the_loss_from_below():
    """No matrix of the ball that ten times as many rounds find, and not the true one, is better than promised."""
    _, table, _ = _corrupted(0.1)
    short = HuberPCA(tol=0.02).fit(table)
    long = HuberPCA(tol=0.0, max_iter=1500, nuclear_norm=short.nuclear_norm_, threshold=short.threshold_)
    with pytest.warns(ConvergenceWarning, match=r"^HuberPCA: after 1500 rounds the loss is certified to .*; tol=0 was"):
        long.fit(table)
    assert short.loss_ - short.gap_ <= long.loss_ <= short.loss_
    assert long.gap_ < short.gap_
    assert short.loss_ == pytest.approx(HuberFit(table, short.threshold_).loss(short.low_rank_), rel=1e-9)
    sizes = np.linalg.svd(short.low_rank_ - np.median(table, axis=0), compute_uv=False)
    assert sizes.sum() <= short.nuclear_norm_ * (1 + 1e-9)


def test_a_bound_that_is_known_without_a_game_is_called_no_certificate():
    table = np.random.default_rng(0).normal(size=(80, 6)) * [1.0, 1.0, 1.0, 1.0, 10.0, 300.0]
    with pytest.warns(ConvergenceWarning, match=r"^HuberPCA: after 20 rounds nothing is certified, as gap_=.* loss_="):
        fitted = HuberPCA(max_iter=20).fit(table)
    assert fitted.gap_ >= fitted.loss_ > 0.0


def test_new_rows_are_placed_as_fitted_ones_each_by_itself():
    _, table, _ = _corrupted(0.1)
    fitted = HuberPCA().fit(table)
    np.testing.assert_allclose(fitted.transform(table), fitted.embedding_, atol=1e-9)
    np.testing.assert_allclose(fitted.transform(table[7:8]), fitted.embedding_[7:8], atol=1e-9)
    assert fitted.transform(table[:0]).shape == (0, 2)
    moved = table[3:4].copy()
    moved[0, 5] += 1e4
    nearer = np.linalg.norm(fitted.transform(moved) - fitted.embedding_[3])
    assert nearer < 0.2 < np.linalg.norm((moved - table[3:4]) @ fitted.components_.T)


def test_units_and_shifts_are_followed():
    _, table, _ = _corrupted(0.05, n=80)
    plain, scaled = HuberPCA().fit(table), HuberPCA().fit(1e5 * table - 2e6)
    np.testing.assert_allclose(scaled.embedding_, 1e5 * plain.embedding_, rtol=1e-6, atol=1e-2)
    assert scaled.gap_ == pytest.approx(1e10 * plain.gap_, rel=1e-5)


def test_equal_bytes_for_any_number_of_threads():
    _, table, _ = _corrupted(0.05, n=60, width=80)
    results = [HuberPCA(n_jobs=n).fit_transform(table).tobytes() for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


def test_coordinates_are_the_minimum_of_the_loss():
    generator = np.random.default_rng(0)
    directions = np.linalg.qr(generator.normal(size=(20, 3)))[0].T
    rows = generator.standard_t(1.5, size=(15, 20))
    found = huber_coordinates(rows, directions, 0.7)
    pull = np.clip(rows - found @ directions, -0.7, 0.7) @ directions.T
    np.testing.assert_allclose(pull, 0.0, atol=1e-6)
    np.testing.assert_allclose(huber_coordinates(rows, directions, 1e9), rows @ directions.T, atol=1e-12)


def test_the_gradient_is_that_of_the_loss_and_the_loss_that_of_the_best_sparse_part():
    generator = np.random.default_rng(1)
    X, L = generator.normal(size=(6, 4)), generator.normal(size=(6, 4))
    objective = HuberFit(X, 0.5)
    assert gradient_error(objective, L) < 1e-6
    sparse = np.sign(X - L) * np.maximum(np.abs(X - L) - 0.5, 0.0)
    expected = 0.5 * np.sum((L + sparse - X) ** 2) + 0.5 * np.abs(sparse).sum()
    assert objective.loss(L) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("X", "rank"),
    [
        (np.full((9, 3), 2.0), 0),
        (np.eye(12), None),
        (np.arange(20.0)[:, None], 1),
        (np.ones((5, 2)) * [[1e30, -1e30]], 0),
    ],
    ids=["equal", "identity", "line", "huge"],
)
def test_degenerate_tables_have_a_finite_map(X, rank):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        fitted = HuberPCA(n_components=1, max_iter=100).fit(X)
    assert np.isfinite(fitted.embedding_).all()
    if rank == 0:
        np.testing.assert_array_equal(fitted.embedding_, 0.0)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_components": 4}, r"n_components=4 must be at most min\(n_samples, n_features\)=3"),
        ({"nuclear_norm": 0}, "nuclear_norm=0 must be "),
        ({"threshold": -1.0}, "threshold=-1.0 must be "),
        ({"tol": np.nan}, "tol=nan must be "),
        ({"max_iter": 0}, "max_iter=0 must be "),
    ],
)
def test_wrong_parameters_are_refused(parameters, text):
    with pytest.raises(ValueError, match="HuberPCA: " + text):
        clone(HuberPCA()).set_params(**parameters).fit(np.random.default_rng(0).normal(size=(10, 3)))
