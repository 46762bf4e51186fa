"""One byte a value: exact where it can be, faithful where it cannot, within the budget."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gnomon.viewer.payload import encode_features

ALL = 1 << 40


def decode(codes):
    """The table that the codes stand for."""
    if codes.codes is None:
        n = len(codes.indptr) - 1
        dense = np.tile(codes.zero, (n, 1))
        for i in range(n):
            part = slice(codes.indptr[i], codes.indptr[i + 1])
            dense[i, codes.indices[part]] = codes.data[part]
    else:
        dense = codes.codes
    out = np.empty(dense.shape)
    for j, row in enumerate(codes.table_row):
        out[:, j] = dense[:, j] if row < 0 else codes.table[row][dense[:, j]]
    return out


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64, bool])
def test_small_integers_are_their_own_codes(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype is bool else 256, size=(500, 7)).astype(dtype)
    codes = encode_features(X.view(np.uint8) if dtype is bool else X, byte_budget=ALL)
    assert codes.exact
    np.testing.assert_array_equal(decode(codes), X)


def test_up_to_256_distinct_values_are_exact():
    values = np.random.default_rng(1).normal(size=256).astype(np.float32)
    X = np.random.default_rng(2).choice(values, size=(3000, 3))
    np.testing.assert_array_equal(decode(encode_features(X, byte_budget=ALL)), X)


@pytest.mark.parametrize("n", [2000, 50_000])
def test_quantile_codes_keep_order_and_means(n):
    rng = np.random.default_rng(3)
    X = np.stack(
        [rng.normal(size=n), rng.lognormal(sigma=2, size=n), np.where(rng.random(n) < 0.6, 0.0, rng.random(n))], axis=1
    )
    codes = encode_features(X, byte_budget=ALL)
    back = decode(codes)
    np.testing.assert_allclose(back.mean(axis=0), X.mean(axis=0), rtol=1e-6)
    for j in range(3):
        order = np.argsort(X[:, j], kind="stable")
        assert (np.diff(back[order, j]) >= 0).all()
        table = codes.table[codes.table_row[j]]
        assert (np.diff(table[: int(codes.codes[:, j].max()) + 1]) > 0).all()
    assert np.abs(back[:, 0] - X[:, 0]).mean() < 0.02
    np.testing.assert_array_equal(back[:, 2] == 0, X[:, 2] == 0)  # a value that fills whole bins has its own


def test_missing_values_have_a_code_of_their_own():
    X = np.random.default_rng(4).normal(size=(1000, 2))
    X[::7, 0], X[5, 1], X[6, 1] = np.nan, np.inf, -np.inf
    back = decode(encode_features(X, byte_budget=ALL))
    np.testing.assert_array_equal(np.isnan(back), ~np.isfinite(X))


@pytest.mark.parametrize("shift", [0.0, -0.5])
def test_sparse_rows_decode_to_the_same_table(shift):
    rng = np.random.default_rng(5)
    X = sparse.random(800, 60, density=0.05, format="csr", random_state=5, data_rvs=lambda k: rng.random(k) + shift)
    codes = encode_features(X, byte_budget=ALL)
    assert codes.codes is None
    np.testing.assert_allclose(decode(codes), X.toarray().astype(np.float32), atol=1e-7)
    assert codes.data.size == X.nnz


def test_dense_looking_sparse_tables_are_stored_dense():
    X = sparse.csr_matrix(np.random.default_rng(6).integers(1, 9, size=(50, 8)))
    codes = encode_features(X, byte_budget=ALL)
    assert codes.indptr is None
    np.testing.assert_array_equal(decode(codes), X.toarray())


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_over_the_budget_the_most_important_features_stay(container):
    X = np.random.default_rng(7).integers(0, 100, size=(100, 10))
    importance = np.array([1, 9, 2, 8, 3, 7, 4, 6, 5, 0.0])
    codes = encode_features(container(X), byte_budget=350, importance=importance)
    np.testing.assert_array_equal(codes.kept, [1, 3, 5])
    np.testing.assert_array_equal(decode(codes), X[:, [1, 3, 5]])
    X[:, 4] *= 2
    np.testing.assert_array_equal(encode_features(container(X), byte_budget=1).kept, [4])  # else by variance


def test_the_input_is_not_changed():
    X = sparse.csr_matrix(np.array([[0.0, 1.5], [2.5, 0.0]]))
    X.data[0] = 0.0
    before = X.copy()
    encode_features(X, byte_budget=ALL)
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indptr, before.indptr)
