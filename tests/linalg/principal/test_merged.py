"""Triangular factors and products of parts are merged to those of the whole."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.linalg import CentredFactor, CentredProduct


def _parts(X, cuts):
    return [X[start:stop] for start, stop in zip([0, *cuts], [*cuts, X.shape[0]], strict=True)]


def _merged(parts):
    first, *others = parts
    for one in others:
        first = first.merge(one)
    return first


@pytest.mark.parametrize("cuts", [[], [1], [3, 700], [299, 300, 301]])
def test_a_factor_has_the_scatter_matrix_of_the_centred_rows(cuts):
    X = np.random.default_rng(0).normal(size=(1000, 6)) * [1, 2, 3, 1e-3, 1, 1] + [0, 50, -7, 1, 1e6, 0]
    found = _merged([CentredFactor.of(part) for part in _parts(X, cuts)])
    centred = X - X.mean(axis=0)
    assert found.count == 1000
    assert found.factor.shape == (6, 6)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.factor.T @ found.factor, centred.T @ centred, rtol=1e-7, atol=1e-7)


def test_a_factor_keeps_singular_values_that_a_scatter_matrix_loses():
    rng = np.random.default_rng(1)
    left, _ = np.linalg.qr(np.column_stack([np.ones(800), rng.normal(size=(800, 4))]))
    right, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    wanted = np.array([1.0, 1e-4, 1e-8, 1e-12])
    X = (left[:, 1:] * wanted) @ right.T
    found = _merged([CentredFactor.of(part) for part in _parts(X, [150, 410])])
    np.testing.assert_allclose(np.linalg.svd(found.factor, compute_uv=False), wanted, rtol=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cuts", [[], [1], [300, 301, 800]])
def test_a_product_is_that_of_the_centred_rows(sparse, cuts):
    rng = np.random.default_rng(2)
    X = sp.random_array((1000, 30), density=0.2, rng=rng, format="csr") if sparse else rng.normal(size=(1000, 30)) + 9
    V = rng.normal(size=(30, 4))
    found = _merged([CentredProduct.of(part, V) for part in _parts(X, cuts)])
    dense = X.toarray() if sparse else X
    centred = dense - dense.mean(axis=0)
    np.testing.assert_allclose(found.product, centred.T @ (centred @ V), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(found.squared_norm, np.vdot(centred, centred), rtol=1e-12)


def test_products_of_sparse_rows_far_from_zero():
    X = np.random.default_rng(6).normal(size=(3000, 3), loc=[1e6, 0, 0])
    V = np.random.default_rng(7).normal(size=(3, 2))
    wanted, found = CentredProduct.of(X, V), CentredProduct.of(sp.csr_array(X), V)
    np.testing.assert_allclose(found.product, wanted.product, rtol=1e-7)


def test_products_of_sparse_rows_are_not_densified(monkeypatch):
    X = sp.random_array((100, 30), density=0.2, rng=np.random.default_rng(3), format="csr")
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    CentredProduct.of(X, np.eye(30)[:, :2])


def test_no_bit_depends_on_the_number_of_threads():
    X = np.random.default_rng(4).normal(size=(9000, 12)).astype(np.float32)
    V = np.random.default_rng(5).normal(size=(12, 3))
    one, two = (on_threads(n_threads, CentredFactor.of)(X) for n_threads in (1, 2))
    assert one.factor.tobytes() == two.factor.tobytes()
    one, two = (on_threads(n_threads, CentredProduct.of)(X, V) for n_threads in (1, 2))
    assert one.product.tobytes() == two.product.tobytes()
