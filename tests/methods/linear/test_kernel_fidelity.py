"""The fidelity of kernel principal components to geodesic neighbourhoods, against plain loops and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from sklearn.neighbors import kneighbors_graph

from gnomon.kernels.inputs import GaussianInput, LinearInput, PolynomialInput
from gnomon.methods.linear.kernel_fidelity import fidelities, geodesics_of_rows, make_fold, spectrum_of
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
    np.testing.assert_allclose(geodesics_of_rows(X, 8), expected, rtol=1e-5)


def test_pieces_are_joined():
    apart = np.concatenate([X, X + 100.0])
    assert np.isfinite(geodesics_of_rows(apart, 5)).all()


@pytest.mark.parametrize("kernel", [LinearInput(), GaussianInput(1.5), PolynomialInput((1, 2, 1), 2.0)])
def test_held_rows_are_placed_as_by_kernel_pca_and_compared_over_all_sizes(kernel):
    geodesics = geodesics_of_rows(X, 8)
    areas, ratio = fidelities(kernel, X, [make_fold(FITTED, HELD, geodesics)], 2)
    model = KernelPCA(2, kernel=kernel).fit(X[FITTED])
    places = model.transform(X[HELD])
    expected = [
        _plain_area(geodesics[i, FITTED], np.linalg.norm(model.embedding_ - place, axis=1))
        for i, place in zip(HELD, places, strict=True)
    ]
    np.testing.assert_allclose(areas, expected, atol=1e-12)
    assert ratio == pytest.approx(model.explained_ratio_.sum(), rel=1e-9)


def test_every_row_is_judged_by_the_fold_that_holds_it():
    geodesics = geodesics_of_rows(X, 8)
    folds = [make_fold(FITTED, HELD, geodesics), make_fold(HELD, FITTED, geodesics)]
    both, _ = fidelities(LinearInput(), X, folds, 2)
    each = [fidelities(LinearInput(), X, [fold], 2)[0] for fold in folds]
    np.testing.assert_array_equal(both, np.concatenate(each))


def test_components_that_the_rows_do_not_have_are_zero():
    line = np.random.default_rng(0).uniform(size=(60, 1)) @ [[1.0, 2.0]]
    fold = make_fold(FITTED, HELD, geodesics_of_rows(line, 8))
    one, _ = fidelities(LinearInput(), line, [fold], 1)
    three, _ = fidelities(LinearInput(), line, [fold], 3)
    np.testing.assert_allclose(three, one, atol=1e-12)
    np.testing.assert_allclose(one, 1.0)


def test_the_spectrum_of_the_linear_kernel_is_that_of_the_covariance():
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    np.testing.assert_allclose(spectrum_of(LinearInput(), X, 4).shares, variances / variances.sum())
