"""The fidelity of kernel principal components to geodesic neighbourhoods, against plain loops and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import kneighbors_graph

from gnomon.kernels.inputs import GaussianInput, LinearInput, PolynomialInput
from gnomon.methods.linear.kernel_fidelity import geodesics_of_rows, make_fold, measure_fidelity, spectrum_of
from gnomon.methods.linear.kernel_pca import KernelPCA

X = np.random.default_rng(0).normal(size=(60, 4))
X -= X.mean(axis=0)
FITTED, HELD = np.arange(40), np.arange(40, 60)


def _plain_area(distances, mapped):
    """Return the area under R_NX of one row, neighbourhoods as sets."""
    n = len(distances)
    near, near_in_map = np.argsort(distances), np.argsort(mapped)
    values = []
    for k in range(1, n):
        share = len(set(near[:k]) & set(near_in_map[:k])) / k
        values.append((n * share - k) / (n - k))
    weights = 1 / np.arange(1, n)
    return np.sum(weights * values) / weights.sum()


def test_paths_are_those_of_scipy():
    graph = kneighbors_graph(X, 8, mode="distance")
    expected = shortest_path(graph.maximum(graph.T), directed=False)
    np.testing.assert_allclose(geodesics_of_rows(X, 8) * np.abs(X).max(), expected, rtol=1e-5)


@pytest.mark.parametrize("unit", [1e-150, 1e140])
def test_paths_do_not_depend_on_the_unit(unit):
    np.testing.assert_allclose(geodesics_of_rows(unit * X, 8), geodesics_of_rows(X, 8), rtol=1e-5)


def test_pieces_are_joined():
    apart = np.concatenate([X, X + 100.0])
    assert np.isfinite(geodesics_of_rows(apart, 5)).all()


@pytest.mark.parametrize("kernel", [LinearInput(), GaussianInput(1.5), PolynomialInput((1, 2, 1), 2.0)])
def test_held_rows_are_placed_as_by_kernel_pca_and_judged_by_order_and_position(kernel):
    geodesics = geodesics_of_rows(X, 8)
    found = measure_fidelity(kernel, X, [make_fold(FITTED, HELD, geodesics)], 2, 5)
    model = KernelPCA(2, kernel=kernel).fit(X[FITTED])
    mapped = np.linalg.norm(model.embedding_ - model.transform(X[HELD])[:, None], axis=2)
    order = [_plain_area(geodesics[i, FITTED], one) for i, one in zip(HELD, mapped, strict=True)]
    np.testing.assert_allclose(found.order, order, atol=1e-12)
    truth, fitted = geodesics[np.ix_(HELD, FITTED)], geodesics[np.ix_(FITTED, FITTED)]
    told = np.stack([fitted[np.argsort(one)[:5]].mean(axis=0) for one in mapped])
    explained = 1 - np.square(truth - told).sum() / np.square(truth - fitted.mean(axis=0)).sum()
    assert found.position.mean() == pytest.approx(explained, rel=1e-9)
    assert found.ratio == pytest.approx(model.explained_ratio_.sum(), rel=1e-9)
    assert found.mean == pytest.approx((found.order.mean() + found.position.mean()) / 2)
    assert found.error == pytest.approx(np.std((found.order + found.position) / 2, ddof=1) / np.sqrt(20))


def test_a_fold_of_the_map_costs_position_more_than_order():
    t = np.linspace(-1, 1, 200)
    hairpin = np.c_[np.abs(t), 0.02 * np.sign(t), t > 2]
    fold = make_fold(np.arange(0, 200, 2), np.arange(1, 200, 2), geodesics_of_rows(hairpin, 4))
    folded = measure_fidelity(LinearInput(), hairpin, [fold], 1, 10)
    assert folded.position.mean() < 0.55
    straight = np.c_[t, t, t]
    fold = make_fold(np.arange(0, 200, 2), np.arange(1, 200, 2), geodesics_of_rows(straight, 4))
    assert measure_fidelity(LinearInput(), straight, [fold], 1, 10).position.mean() > 0.99


def test_every_row_is_judged_by_the_fold_that_holds_it():
    geodesics = geodesics_of_rows(X, 8)
    folds = [make_fold(FITTED, HELD, geodesics), make_fold(HELD, FITTED, geodesics)]
    both = measure_fidelity(LinearInput(), X, folds, 2, 5).rows
    each = [measure_fidelity(LinearInput(), X, [fold], 2, 5).rows for fold in folds]
    np.testing.assert_array_equal(both, np.concatenate(each))


def test_components_that_the_rows_do_not_have_are_zero():
    line = np.random.default_rng(0).uniform(size=(60, 1)) @ [[1.0, 2.0]]
    fold = make_fold(FITTED, HELD, geodesics_of_rows(line, 8))
    one = measure_fidelity(LinearInput(), line, [fold], 1, 3)
    three = measure_fidelity(LinearInput(), line, [fold], 3, 3)
    np.testing.assert_allclose(three.rows, one.rows, atol=1e-12)
    np.testing.assert_allclose(one.order, 1.0)


def test_the_spectrum_of_the_linear_kernel_is_that_of_the_covariance():
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    np.testing.assert_allclose(spectrum_of(LinearInput(), X, 4).shares, variances / variances.sum())
