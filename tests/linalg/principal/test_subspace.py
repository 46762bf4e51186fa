"""Leading components by products with a centred table: these against the matrix, components against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon import _core
from gnomon.linalg import centred_products, principal_components


def table(n, width, dtype=np.float64):
    rng = np.random.default_rng(n + width)
    return (rng.normal(size=(n, 7)) @ rng.normal(size=(7, width)) + 0.1 * rng.normal(size=(n, width)) + 3).astype(dtype)


# rows below, at and above a block of 512 and a tile of 16; columns of a strip of 256; one and two groups of 16 vectors
SHAPES = [(1, 1, 1), (5, 3, 2), (16, 256, 16), (511, 257, 15), (512, 40, 17), (1030, 300, 33), (2100, 31, 1)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "width", "n_vectors"), SHAPES)
def test_products_with_the_scatter_matrix_are_those_of_the_matrix(n, width, n_vectors, dtype):
    X, V = table(n, width, dtype), np.random.default_rng(1).normal(size=(width, n_vectors))
    means = X.mean(axis=0, dtype=np.float64)
    centred = X.astype(np.float64) - means
    one, many = np.full((width, n_vectors), np.nan), np.full((width, n_vectors), np.nan)
    _core.scatter_product(X, means, V, one, 1)
    _core.scatter_product(X, means, V, many, 3)
    np.testing.assert_array_equal(one, many)
    wanted = centred.T @ (centred @ V)
    np.testing.assert_allclose(one, wanted, rtol=0, atol=1e-13 * max(np.abs(wanted).max(), 1e-300))
    np.testing.assert_allclose(_core.scatter_trace(X, means, 2), np.square(centred).sum(), rtol=1e-13)
    assert _core.scatter_trace(X, means, 1) == _core.scatter_trace(X, means, 3)


def test_a_table_without_rows_has_no_scatter():
    out = np.ones((3, 2))
    _core.scatter_product(np.empty((0, 3)), np.zeros(3), np.ones((3, 2)), out, 2)
    np.testing.assert_array_equal(out, 0)
    assert _core.scatter_trace(np.empty((0, 3)), np.zeros(3), 2) == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_products_of_a_centred_table_are_those_of_its_matrix(sparse):
    X = np.round(table(200, 60)) * (np.random.default_rng(2).random((200, 60)) < 0.2)
    V, centred = np.random.default_rng(3).normal(size=(60, 5)), X - X.mean(axis=0)
    found = centred_products(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(found.gram_times(V), centred.T @ (centred @ V), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.squared_norm, np.square(centred).sum(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(700, 130), (90, 400)])
def test_leading_components_are_those_of_the_singular_value_decomposition(shape, dtype):
    X = table(*shape, dtype)
    found = principal_components(X, 3, solver="randomized", seed=1)
    _, values, right = np.linalg.svd(X - X.mean(axis=0, dtype=np.float64), full_matrices=False)
    np.testing.assert_allclose(found.singular_values, values[:3], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(found.components * right[:3], axis=1)), 1, rtol=1e-8)
    np.testing.assert_allclose(found.total_variance, np.square(values).sum() / (shape[0] - 1), rtol=1e-12)
    again = on_threads(3, principal_components)(X, 3, solver="randomized", seed=1)
    np.testing.assert_array_equal(again.components, found.components)


@pytest.mark.parametrize("ratio", [1e3, 1e4, 1e6])
def test_one_long_direction_does_not_hide_the_others(ratio):
    """Columns of a table in very different units: squares of singular values up to 1e12 apart."""
    rng = np.random.default_rng(4)
    deviations = np.r_[ratio, 3.0, 2.5, 2.0, np.full(26, 0.5)]
    X = rng.normal(size=(400, 30)) * deviations @ np.linalg.qr(rng.normal(size=(30, 30)))[0]
    found = principal_components(X, 4, solver="randomized", seed=1)
    _, values, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.singular_values, values[:4], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(found.components * right[:4], axis=1)), 1, rtol=1e-8)
