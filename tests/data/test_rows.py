"""Constant columns and identical rows: exact, whatever the layout, whatever the hash."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gnomon.data.rows as rows_module
from gnomon import _core
from gnomon.data import find_constant_columns, find_duplicate_rows, warn_of_distances
from gnomon.data.rows import warn_of_one_row
from gnomon.exceptions import DataWarning

SMALL = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.sampled_from([0.0, -0.0, 1.0, 2.0]),
)
FORMS = [lambda X: X, sp.csr_array]


def by_definition(X):
    """Return representatives and inverse by comparing every pair of rows."""
    first = [next(j for j in range(len(X)) if (X[j] == X[i]).all()) for i in range(len(X))]
    representatives = sorted(set(first))
    return representatives, [representatives.index(j) for j in first]


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
@given(X=SMALL)
@settings(deadline=None)
def test_duplicates_are_those_of_the_definition(form, X):
    representatives, inverse = find_duplicate_rows(form(X))
    expected = by_definition(X)
    assert representatives.tolist() == expected[0]
    assert inverse.tolist() == expected[1]


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
@given(X=SMALL)
@settings(deadline=None)
def test_constant_columns_are_those_of_the_definition(form, X):
    assert find_constant_columns(form(X)).tolist() == np.flatnonzero((X[0] == X).all(axis=0)).tolist()


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
def test_rows_are_compared_even_if_all_hashes_agree(form, monkeypatch):
    monkeypatch.setattr(rows_module, "row_hashes", lambda values: np.zeros(len(values), np.uint64))
    monkeypatch.setattr(rows_module, "_hash_sparse", lambda values: np.zeros(values.shape[0], np.uint64))
    X = np.array([[1.0, 0], [2, 0], [1, 0], [3, 0], [2, 0], [3, 0]])
    representatives, inverse = find_duplicate_rows(form(X))
    assert representatives.tolist() == [0, 1, 3]
    assert inverse.tolist() == [0, 1, 0, 2, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hashes_of_different_rows_differ(dtype):
    # Small whole numbers have long runs of zero bits, the hard case of a hash made of products.
    X = np.random.default_rng(0).integers(0, 3, (20_000, 40)).astype(dtype)
    assert len(np.unique(_core.row_hashes(X, 2))) == len(np.unique(X, axis=0))
    assert len(np.unique(rows_module._hash_sparse(sp.csr_array(X)))) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 8, 15, 16, 17, 100])
def test_a_hash_is_that_of_the_numbers_of_a_row_in_their_places(dtype, width):
    row = np.random.default_rng(width).normal(size=width).astype(dtype)
    X = np.tile(row, (3 + width, 1))
    X[1] = np.nextafter(row, dtype(9))
    X[2] = np.roll(row, 1)
    X[np.arange(3, 3 + width), np.arange(width)] *= 2  # one number is another
    hashes = _core.row_hashes(X, 2)
    assert len(set(hashes.tolist())) == 3 + width - (width == 1)
    assert (hashes == _core.row_hashes(X, 1)).all()
    X[:, 0] = 0
    zeros = _core.row_hashes(X, 1)
    X[:, 0] = -0.0
    assert (zeros == _core.row_hashes(X, 1)).all()


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
def test_rows_put_together_again_are_the_table(form):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 5))[rng.integers(0, 300, 5000)]
    representatives, inverse = find_duplicate_rows(form(X))
    np.testing.assert_array_equal(X[representatives][inverse], X)
    assert len(representatives) == len(np.unique(X, axis=0))


def test_constant_columns_beyond_the_first_chunk(monkeypatch):
    monkeypatch.setattr(rows_module, "_CHUNK", 8)
    X = np.ones((50, 4))
    X[49, 2] = 2
    assert find_constant_columns(X).tolist() == [0, 1, 3]
    assert find_duplicate_rows(X)[0].tolist() == [0, 49]


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
def test_no_rows(form):
    assert find_constant_columns(form(np.zeros((0, 3)))).tolist() == [0, 1, 2]
    assert find_duplicate_rows(form(np.zeros((0, 3))))[0].size == 0


def test_stored_zeros_of_either_sign_equal_absent_ones():
    stored = sp.csr_array((np.array([0.0, -0.0, 1.0]), ([0, 1, 2], [0, 0, 0])), shape=(4, 2))
    assert stored.nnz == 3
    assert find_duplicate_rows(stored)[1].tolist() == [0, 0, 1, 0]
    assert find_constant_columns(stored).tolist() == [1]
    assert find_constant_columns(sp.csr_array(np.array([[-1.0, 1.0, -1.0], [0.0, 1.0, -1.0]]))).tolist() == [1, 2]


@pytest.mark.parametrize("width", [1, 9, 20])
def test_chunks_of_a_row_and_of_several_find_the_same(width, monkeypatch):
    X = np.random.default_rng(width).integers(0, 2, (40, width)).astype(np.float64)
    X[:, -1] = 1.0
    X[:, 0] = np.arange(40) > 38  # varies in the last row alone
    whole = find_duplicate_rows(X)
    monkeypatch.setattr(rows_module, "_CHUNK", 8)
    for form in FORMS:
        for found, expected in zip(find_duplicate_rows(form(X)), whole, strict=True):
            np.testing.assert_array_equal(found, expected)
        assert find_constant_columns(form(X)).tolist() == ([width - 1] if width > 1 else [])


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
def test_rows_without_columns_are_equal(form):
    assert find_duplicate_rows(form(np.zeros((3, 0))))[1].tolist() == [0, 0, 0]
    assert find_constant_columns(form(np.zeros((3, 0)))).tolist() == []


def test_hashes_of_sparse_rows_are_those_of_their_numbers_whatever_the_chunk(monkeypatch):
    X = sp.csr_array(np.triu(np.arange(1.0, 50.0).reshape(7, 7))[[0, 1, 2, 3, 4, 5, 6, 0, 6]])
    whole = rows_module._hash_sparse(X)
    assert len(set(whole.tolist())) == 7
    assert (whole[[0, 6]] == whole[[7, 8]]).all()
    monkeypatch.setattr(rows_module, "_CHUNK", 1)
    np.testing.assert_array_equal(rows_module._hash_sparse(X), whole)


ROW = np.array([0.0, 2.0, 0.0, 3.0])
UNEQUAL = {
    "number": np.stack([ROW, ROW, ROW * [1, 1, 1, 2]]),
    "place": np.stack([ROW, ROW, ROW[::-1]]),
    "more": np.stack([ROW, [1.0, 2.0, 0.0, 3.0], ROW * [0, 1, 0, 0]]),
    "fewer": np.stack([ROW, ROW * 0.0, ROW * 0.0]),
    "other": np.stack([ROW * 0.0, ROW, ROW]),
}


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
def test_a_table_of_one_row_many_times_is_told(form, monkeypatch):
    monkeypatch.setattr(rows_module, "_CHUNK", 4)
    for row in (ROW, 0.0 * ROW):
        with pytest.warns(DataWarning, match=r"^gnomon: 5 rows hold 1 distinct row; they share one position\.$"):
            assert warn_of_one_row(form(np.tile(row, (5, 1)))) is True
        with pytest.warns(DataWarning, match="1 rows hold 1 distinct row"):
            assert warn_of_one_row(form(row[None])) is True
    for values in UNEQUAL.values():
        assert warn_of_one_row(form(values)) is False


def test_a_table_that_looks_like_distances_is_told():
    D = np.array([[0.0, 1, 2, 3], [1, 0, 0, 4], [2, 0, 0, 5], [3, 4, 5, 0]])
    for alike in (D, D * (1.0 + 1e-6 * np.triu(np.ones((4, 4)))), np.where(D == 5.0, np.inf, D)):
        with pytest.warns(DataWarning, match=r"^gnomon: X of shape \(4, 4\) is symmetric with zeros on its diagonal"):
            warn_of_distances(alike)
    others = [D[:3, :3], D[:3], D[:, :3], D + np.eye(4), -D, np.zeros((4, 4)), np.triu(D), sp.csr_array(D)]
    others += [D * (1.0 + 1e-4 * np.triu(np.ones((4, 4)))), D - 2.0 * (D == 5.0) * 5.0, np.where(D == 5.0, np.nan, D)]
    others += [D + np.diag([0.0, 0.0, 0.0, 1.0]), np.where(D == 5.0, -0.5, D)]
    for other in others:
        warn_of_distances(other)
