from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from tests.threads import on_threads

from gnomon._run import running
from gnomon.linalg import principal_components, project_rows


@pytest.fixture(scope="module")
def digits():
    return load_digits().data


def assert_same_components(found, reference, tolerance):
    signs = np.sign(np.sum(found.components * reference.components_, axis=1))
    np.testing.assert_allclose(found.components, reference.components_ * signs[:, None], atol=tolerance)
    np.testing.assert_allclose(found.explained_variance, reference.explained_variance_, rtol=tolerance)
    np.testing.assert_allclose(found.explained_variance_ratio, reference.explained_variance_ratio_, rtol=tolerance)
    np.testing.assert_allclose(found.singular_values, reference.singular_values_, rtol=tolerance)
    np.testing.assert_allclose(found.mean, reference.mean_, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd"])
def test_double_tables_agree_with_scikit_learn(digits, solver):
    found = principal_components(digits, 20, solver=solver)
    assert_same_components(found, PCA(20, svd_solver="full").fit(digits), 1e-8)


@pytest.mark.parametrize("solver", ["auto", "gram", "svd"])
def test_wide_tables_agree_with_scikit_learn(solver):
    X = np.random.default_rng(0).normal(size=(40, 500)) * np.linspace(3, 1, 500)
    assert_same_components(principal_components(X, 15, solver=solver), PCA(15, svd_solver="full").fit(X), 1e-8)


@pytest.mark.parametrize(("solver", "tolerance"), [("covariance", 1e-5), ("gram", 1e-5), ("randomized", 1e-5)])
def test_single_precision_and_randomized_are_close(digits, solver, tolerance):
    X = digits[:900].astype(np.float32)
    found, exact = principal_components(X, 5, solver=solver), principal_components(digits[:900], 5, solver="svd")
    np.testing.assert_allclose(found.explained_variance, exact.explained_variance, rtol=tolerance)
    np.testing.assert_allclose(found.components, exact.components, atol=1e-4)


def test_total_variance_is_the_sum_over_all_components(digits):
    for solver in ("covariance", "svd"):
        full = principal_components(digits, 64, solver=solver)
        np.testing.assert_allclose(full.explained_variance_ratio.sum(), 1, rtol=1e-12)
        np.testing.assert_allclose(full.total_variance, digits.var(axis=0, ddof=1).sum(), rtol=1e-12)


def test_scores_are_uncorrelated_and_the_map_back_is_exact(digits):
    full = principal_components(digits, 64)
    Y = full.transform(digits)
    covariance = np.cov(Y.T)
    np.testing.assert_allclose(covariance, np.diag(full.explained_variance), atol=1e-10 * covariance.max())
    np.testing.assert_allclose(full.inverse_transform(Y), digits, atol=1e-10)


def test_rotation_and_translation_leave_inner_products_of_scores(digits):
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(64, 64)))[0]
    moved = digits[:200] @ rotation + 100
    plain = principal_components(digits[:200], 3).transform(digits[:200])
    rotated = principal_components(moved, 3).transform(moved)
    np.testing.assert_allclose(rotated @ rotated.T, plain @ plain.T, atol=1e-7)


def test_largest_entry_of_each_component_is_positive(digits):
    components = principal_components(digits, 10).components
    assert (components[np.arange(10), np.abs(components).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_is_transformed_as_it_is_alone(digits, dtype):
    X = digits.astype(dtype)
    found = principal_components(X, 11)
    whole = on_threads(1, found.transform)(X)
    assert whole.dtype == dtype
    rows = np.array([3, 1500, 77, 3, 9])
    np.testing.assert_array_equal(found.transform(X[rows]), whole[rows])
    np.testing.assert_array_equal(on_threads(3, found.transform)(X), whole)
    np.testing.assert_allclose(
        whole, (digits - found.mean) @ found.components.T, atol=1e-4 if dtype == np.float32 else 1e-10
    )


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "randomized"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_do_not_depend_on_threads(digits, solver, dtype):
    X = (digits[:700, :] if solver != "gram" else digits[:100].repeat(2, axis=1)).astype(dtype)
    one = on_threads(1, principal_components)(X, 6, solver=solver)
    for n_threads in (2, 3, 5):
        many = on_threads(n_threads, principal_components)(X, 6, solver=solver)
        for name in ("mean", "components", "explained_variance"):
            assert getattr(one, name).tobytes() == getattr(many, name).tobytes()


@pytest.mark.parametrize("solver", ["covariance", "gram", "randomized"])
def test_sparse_tables_equal_dense_ones(digits, solver):
    digits = digits[:500]
    sparse = sp.csr_array(digits)
    found, exact = principal_components(sparse, 4, solver=solver), principal_components(digits, 4)
    np.testing.assert_allclose(found.explained_variance, exact.explained_variance, rtol=1e-6)
    np.testing.assert_allclose(found.components, exact.components, atol=1e-4)
    np.testing.assert_allclose(found.total_variance, exact.total_variance, rtol=1e-12)
    np.testing.assert_allclose(exact.transform(sparse), exact.transform(digits), atol=1e-10)


def test_wide_sparse_tables_are_not_densified():
    n, width = 60, 100_000  # 48 MB if written out
    X = sp.random_array((n, width), density=1e-3, format="csr", rng=np.random.default_rng(2))
    tracemalloc.start()
    found = principal_components(X, 3)
    Y = found.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.solver == "gram"
    assert peak < 15e6
    np.testing.assert_allclose(Y.var(axis=0, ddof=1), found.explained_variance, rtol=1e-8)
    centred = X.toarray() - X.mean(axis=0)
    squares, left = np.linalg.eigh(centred @ centred.T)
    np.testing.assert_allclose(found.singular_values, np.sqrt(squares[:-4:-1]), rtol=1e-8)
    components = left[:, :-4:-1].T @ centred
    components *= np.sign(np.sum(components * found.components, axis=1, keepdims=True))
    np.testing.assert_allclose(found.components, components / found.singular_values[:, None], atol=1e-8)


def test_large_offset_is_removed_in_double():
    """A shift of a million times the spread changes float32 data by its rounding, and nothing more (F06)."""
    X = np.random.default_rng(3).normal(size=(2000, 6)) * [6, 5, 4, 3, 2, 1]
    shifted = X + 1e6
    plain, moved = principal_components(X, 3), principal_components(shifted, 3)
    np.testing.assert_allclose(moved.explained_variance, plain.explained_variance, rtol=1e-8)
    single = principal_components(shifted.astype(np.float32), 3)
    np.testing.assert_allclose(single.explained_variance, plain.explained_variance, rtol=1e-2)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("solver", ["covariance", "gram", "svd"])
def test_extreme_scales_stay_in_range(digits, solver, scale):
    X = (digits[:60] * scale).astype(np.float32)
    found = principal_components(X, 2, solver=solver)
    exact = principal_components(digits[:60], 2)
    np.testing.assert_allclose(found.explained_variance_ratio, exact.explained_variance_ratio, rtol=1e-5)
    np.testing.assert_allclose(found.singular_values, exact.singular_values * scale, rtol=1e-5)


@pytest.mark.parametrize("solver", ["covariance", "gram", "svd", "randomized"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_tables_have_no_variance(solver, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = principal_components(np.full((7, 5), value), 3, solver=solver)
    np.testing.assert_allclose(found.explained_variance, 0, atol=1e-15 * max(value, 1) ** 2)
    assert np.isfinite(found.explained_variance_ratio).all()
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(3), atol=1e-12)


def test_components_beyond_the_rank_are_orthonormal():
    X = np.random.default_rng(4).normal(size=(10, 50))
    found = principal_components(X, 10, solver="gram")  # centred rank is 9
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(10), atol=1e-10)
    assert found.singular_values[9] < 1e-6 * found.singular_values[0]


def test_one_row_and_one_column_work():
    assert principal_components(np.ones((1, 3)), 1).explained_variance[0] == 0
    column = np.arange(5.0)[:, None]
    np.testing.assert_allclose(principal_components(column, 1).transform(column)[:, 0], [-2, -1, 0, 1, 2])


def test_parameters_are_checked(digits):
    with (
        running(name="PCA"),
        pytest.raises(ValueError, match=r"^PCA: n_components=65 must be at most 64 \(n_samples=1797, n_features=64\)"),
    ):
        principal_components(digits, 65)
    with pytest.raises(ValueError, match=r"solver='svd' must be 'auto', 'covariance', 'gram' or 'randomized' for"):
        principal_components(sp.csr_array(digits), 2, solver="svd")
    with pytest.raises(ValueError, match=r"X of shape \(2, 3\) must be of the fitted width \(n_features=64"):
        principal_components(digits, 2).transform(np.ones((2, 3)))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 2e-5)])
def test_constant_columns_are_left_out_and_change_nothing(digits, dtype, tolerance):
    X = np.full((3000, 90), 7.25, dtype=dtype)  # two blocks of rows
    varying = np.r_[3:20, 40:41, 60:89]
    X[:, varying] = np.tile(digits, (2, 1))[:3000, 10 : 10 + varying.size]
    X[2999, 1] = 8.0  # differs in one row that no sample sees
    varying = np.union1d(varying, [1])
    one, alone = (on_threads(1, principal_components)(table, 5, solver="covariance") for table in (X, X[:, varying]))
    np.testing.assert_allclose(one.components[:, varying], alone.components, atol=tolerance)
    np.testing.assert_allclose(one.singular_values, alone.singular_values, rtol=tolerance)
    assert not np.delete(one.components, varying, axis=1).any()
    exact = PCA(5, svd_solver="full").fit(X.astype(np.float64))
    assert_same_components(one, exact, tolerance)
    assert principal_components(X, 85, solver="covariance").components.shape == (85, 90)
    for n_threads in (2, 3):
        many = on_threads(n_threads, principal_components)(X, 5, solver="covariance")
        assert many.components.tobytes() == one.components.tobytes()


@pytest.mark.parametrize("width", [1, 7, 127, 129, 300])
@pytest.mark.parametrize("n_components", [1, 4, 5, 8, 9, 17])
def test_projection_is_the_product_up_to_rounding(width, n_components):
    rng = np.random.default_rng(width)
    X, mean = rng.normal(3.0, 1.0, (37, width)), rng.normal(3.0, 1.0, width)
    directions = rng.normal(size=(n_components, width))
    expected = (X - mean) @ directions.T
    size = np.abs(X - mean) @ np.abs(directions.T)
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        found = project_rows(X.astype(dtype), mean, directions)
        assert found.dtype == dtype
        assert (np.abs(found - expected) <= tolerance * size + (1e-6 * size.max() if dtype == np.float32 else 0)).all()
