"""The features regressed on the place and turned round: closed forms, honest scores and errors, same bits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.geometry.inverse import inverse_fits, regress_features


@pytest.fixture
def latent():
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, (500, 2))
    slopes = rng.normal(size=(2, 12))
    slopes[:, 8:] = 0
    deviation = rng.uniform(0.5, 2, 12)
    X = places @ slopes + deviation * rng.normal(size=(500, 12))
    return np.column_stack([X, np.full(500, 3.1)]), places, slopes, deviation


def test_axes_are_generalised_least_squares_with_the_spread_of_places_as_prior(latent):
    X, places, _, _ = latent
    fits = regress_features(X, np.arange(80)[None], places)
    T, Z = places[:80] - places[:80].mean(axis=0), X[:80, :12] - X[:80, :12].mean(axis=0)
    slopes, rest, *_ = np.linalg.lstsq(T, Z, rcond=None)
    D = np.diag(rest / 77)
    prior = np.linalg.inv(T.T @ T / 80)
    expected = np.linalg.solve(slopes @ np.linalg.inv(D) @ slopes.T + prior, slopes @ np.linalg.inv(D))
    np.testing.assert_allclose(fits.axes[0, :, :12], expected, rtol=1e-6)
    assert not fits.axes[0, :, 12].any()


def test_on_linear_data_without_noise_the_place_is_predicted_whole():
    rng = np.random.default_rng(1)
    places = rng.normal(size=(300, 2))
    X = places @ rng.normal(size=(2, 5)) + 7
    fits, _ = inverse_fits(X, places, n_neighbors=60)
    assert np.min(fits.predicted_r2) > 0.999
    near = places[1] - places[0]
    np.testing.assert_allclose(fits.axes(X, 0) @ (X[1] - X[0]), near, atol=5e-3)


def test_left_out_predictions_are_those_of_fits_to_the_others(latent):
    X, places, _, _ = latent
    k, j = 40, 7
    fits = regress_features(X[:, :12], np.arange(k)[None], places)
    steps, predicted, fitted = fits.predictions()
    rest = np.delete(np.arange(k), j)
    T, Z = places[rest] - places[rest].mean(axis=0), X[rest, :12] - X[rest, :12].mean(axis=0)
    slopes = np.linalg.lstsq(T, Z, rcond=None)[0] * fits.precision[0]
    matrix = slopes @ np.linalg.lstsq(T, Z, rcond=None)[0].T + k * fits.spread[0]
    np.testing.assert_allclose(steps[0, j], places[j] - places[rest].mean(axis=0), rtol=1e-9)
    expected = np.linalg.solve(matrix, slopes @ (X[j, :12] - X[rest, :12].mean(axis=0)))
    np.testing.assert_allclose(predicted[0, j], expected, rtol=1e-5)
    centred = X[:k, :12] - X[:k, :12].mean(axis=0)
    np.testing.assert_allclose(fitted[0], centred @ fits.axes[0].T, rtol=1e-9, atol=1e-12)


def test_standard_errors_hold_over_draws(latent):
    _, places, slopes, deviation = latent
    rng = np.random.default_rng(5)
    T = places[:200] - places[:200].mean(axis=0)
    axes, errors = [], []
    for _ in range(60):
        X = T @ slopes + deviation * rng.normal(size=(200, 12))
        fits = regress_features(X, np.arange(200)[None], T)
        axes.append(fits.axes[0])
        errors.append(fits.errors()[0])
    axes = np.array(axes)
    covered = np.abs(axes - axes.mean(axis=0)) < 1.96 * np.array(errors)
    assert 0.93 < covered.mean() < 0.98
    assert covered[:, :, :8].mean() > 0.9


def test_standard_errors_hold_for_sparse_counts(latent):
    _, places, slopes, _ = latent
    rng = np.random.default_rng(6)
    rates = 0.3 * np.exp(places[:200] @ slopes)
    axes, errors = [], []
    for _ in range(60):
        fits = regress_features(np.log1p(rng.poisson(rates)), np.arange(200)[None], places)
        axes.append(fits.axes[0])
        errors.append(fits.errors()[0])
    covered = np.abs(np.array(axes) - np.mean(axes, axis=0)) < 1.96 * np.array(errors)
    assert 0.93 < covered[:, :, :8].mean() < 0.98
    assert 0.93 < covered[:, :, 8:].mean() < 0.98


def test_no_place_predicts_nothing_of_a_random_map():
    rng = np.random.default_rng(0)
    X, places = rng.normal(size=(600, 30)), rng.normal(size=(600, 2))
    fits, _ = inverse_fits(X, places, n_neighbors=100)
    assert np.median(fits.predicted_r2) < 0.01
    assert np.median(fits.r2) > np.median(fits.predicted_r2)


def test_units_do_not_change_the_effects(latent):
    X, places, _, _ = latent
    units = 10.0 ** np.linspace(-3, 3, 13)
    fits, effects = inverse_fits(X, places, n_neighbors=100, n_top=13)
    other, scaled = inverse_fits(X * units, places, n_neighbors=100, n_top=13)
    np.testing.assert_allclose(scaled.mean_importance, effects.mean_importance, rtol=1e-6)
    np.testing.assert_allclose(other.axes(X * units, 3) * units, fits.axes(X, 3), rtol=1e-6, atol=1e-12)


def test_answers_agree_with_each_other_and_hold_no_place_where_there_is_none(latent):
    X, places, _, _ = latent
    places = places.copy()
    places[10] = np.nan
    fits, effects = inverse_fits(X, places, n_neighbors=60, n_top=4)
    assert not fits.mask[10]
    assert fits.mask.sum() == 499
    assert np.isnan(fits.axes(X, 10)).all()
    assert np.isnan(fits.axes_error(X, 10, [1, 2])).all()
    arrows = np.array(list(fits.each_arrows(X, np.arange(8, 12))))
    assert np.isnan(arrows[2]).all()
    np.testing.assert_allclose(arrows[1], fits.axes(X, 9) * fits.deviation(X, 9), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(effects.arrows[9], arrows[1][:, effects.indices[9]].T, rtol=1e-5)
    importance = fits.importance(X)
    np.testing.assert_allclose(np.nanmean(importance, axis=0), effects.mean_importance, rtol=1e-5)
    np.testing.assert_allclose(fits.axes_error(X, 9)[:, [3, 1]], fits.axes_error(X, 9, [3, 1]))
    assert not fits.axes_error(X, 9)[:, 12].any()


def test_bits_do_not_depend_on_threads_and_sparse_tables_agree(latent):
    X, places, _, _ = latent
    X = np.where(X > 0.5, X, 0.0)
    one, first = on_threads(1, inverse_fits)(X, places, n_neighbors=400)
    three, second = on_threads(3, inverse_fits)(X, places, n_neighbors=400)
    assert one.predicted_r2.tobytes() == three.predicted_r2.tobytes()
    assert first.arrows.tobytes() == second.arrows.tobytes()
    assert first.mean_importance.tobytes() == second.mean_importance.tobytes()
    sparse, _ = inverse_fits(sp.csr_array(X), places, n_neighbors=400)
    np.testing.assert_allclose(sparse.predicted_r2, one.predicted_r2, rtol=1e-6)
    np.testing.assert_allclose(sparse.axes(sp.csr_array(X), 2), one.axes(X, 2), rtol=1e-9)


@pytest.mark.parametrize("kind", ["double", "float", "bytes", "sparse"])
@pytest.mark.parametrize("n_features", [1, 7, 150])
def test_sums_over_neighbours_are_those_of_numpy_from_every_kind_of_table(kind, n_features):
    rng = np.random.default_rng(n_features)
    X = rng.integers(0, 4, (60, n_features)).astype(float)
    X[:, 0] = 2.0  # without change
    given = {"double": X, "float": X.astype(np.float32), "bytes": X.astype(np.uint8), "sparse": sp.csr_array(X)}[kind]
    places, near = rng.normal(size=(60, 3)), np.stack([rng.permutation(60)[:31] for _ in range(9)])
    fits = regress_features(given, near, places)
    Z = X[near] - X[near].mean(axis=1, keepdims=True)
    T = places[near] - places[near].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(fits.deviation, Z.std(axis=1), atol=1e-12)
    np.testing.assert_allclose(fits.slopes, np.linalg.solve(T.mT @ T, T.mT @ Z), atol=1e-7)
    np.testing.assert_allclose(fits.rest, ((Z - T @ fits.slopes) ** 2).sum(axis=1), atol=1e-9)
    _, _, fitted = fits.predictions()
    np.testing.assert_allclose(fitted, Z @ fits.axes.mT, atol=1e-12)
    hoods, rows = np.array([0, 3, 3, 8]), np.array([5, 0, 30, 1])
    np.testing.assert_allclose(fits.displacements(hoods, rows), Z[hoods, rows], atol=1e-12)
    assert not fits.deviation[:, 0].any()
    assert not fits.precision[:, 0].any()
    assert fits.precision.dtype == np.float64


def test_a_large_offset_of_a_feature_changes_nothing():
    rng = np.random.default_rng(2)
    X, places, near = rng.integers(0, 9, (80, 5)).astype(float), rng.normal(size=(80, 2)), np.arange(80)[None]
    far = regress_features(X + 2.0**40, near, places)
    assert far.axes.tobytes() == regress_features(X, near, places).axes.tobytes()
