"""A sparse matrix whose offsets and column numbers kernels may trust, or an error that says what is wrong with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.data import check_table
from gnomon.data.sparse import canonical_csr, check_csr

INDICES, INDPTR = np.array([0, 2, 1, 0, 1]), np.array([0, 2, 2, 3, 5])  # of 4 rows and 3 columns


def test_offsets_and_columns_of_a_matrix_are_those_of_a_matrix():
    check_csr(INDICES, INDPTR, 5, 4, 3)
    check_csr(np.array([2]), np.array([0, 1]), 1, 1, 3)
    check_csr(np.array([2, 0, 1]), np.array([0, 1, 3]), 3, 2, 3)
    check_csr(np.array([], int), np.zeros(5, int), 0, 4, 3)


@pytest.mark.parametrize(
    ("indices", "indptr", "text"),
    [
        (INDICES, [0, 2, 3, 5], "row offsets of X do not lead from 0 to 5 in 4 steps"),
        (INDICES, [1, 2, 2, 3, 5], "row offsets"),
        (INDICES, [0, 2, 2, 3, 4], "row offsets"),
        (INDICES, [0, 3, 2, 3, 5], "row offsets"),
        (INDICES[:4], INDPTR, "X has 5 values and 4 column numbers"),
        ([0, 2, 1, 0, 3], INDPTR, r"column number of X is outside of \[0, 3\)"),
        ([-1, 2, 1, 0, 1], INDPTR, "column number"),
        ([2, 0, 1, 0, 1], INDPTR, "column numbers of a row of X do not ascend"),
        ([0, 2, 1, 1, 1], INDPTR, "do not ascend"),
        ([0, 2, 1, 1, 0], INDPTR, "do not ascend"),
    ],
)
def test_offsets_or_columns_of_no_matrix_are_refused(indices, indptr, text):
    with pytest.raises(ValueError, match=text):
        check_csr(np.array(indices), np.array(indptr), 5, 4, 3)


def test_columns_in_any_order_pass_where_order_does_not_matter():
    check_csr(INDICES[::-1].copy(), INDPTR, 5, 4, 3, ordered=False)


@pytest.mark.parametrize(("axis", "index"), [(0, -1), (0, 4), (1, -1), (1, 3)])
def test_coordinates_outside_the_shape_are_refused(axis, index):
    matrix = sp.coo_array((np.ones(2), ([0, 3], [0, 2])), shape=(4, 3))
    assert check_table(matrix, accept_sparse=True).values.nnz == 2
    matrix.coords[axis][1] = index
    with pytest.raises(ValueError, match=r"X must be a valid sparse matrix \(coo format: an index is outside"):
        check_table(matrix, accept_sparse=True)


def refused(matrix, error=ValueError):
    with pytest.raises(error) as caught:
        check_table(matrix, accept_sparse=True)
    return str(caught.value)


def test_what_is_no_matrix_of_numbers_is_refused():
    line = sp.coo_array(np.array([1.0, 2.0]))
    text = "Expected 2D array, got 1D sparse array instead: shape=(2,)). Reshape your data to one row per sample."
    assert refused(line) == f"gnomon: X must be two-dimensional ({text}"
    objects = sp.csr_array((np.array([1.0], dtype=object), [0], [0, 1]), shape=(1, 2))
    assert refused(objects, TypeError) == "gnomon: X must be a sparse matrix of numbers (found dtype object)."


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_column_numbers_beyond_the_shape_are_refused_in_every_format(kind):
    matrix = getattr(sp, f"{kind}_array")(np.eye(4))
    matrix.indices[1] = 9
    assert f"X must be a valid sparse matrix ({kind} format: " in refused(matrix)


def test_a_matrix_without_an_entry_is_a_matrix():
    for form in (sp.coo_array, sp.csr_array, sp.csc_array, sp.lil_array):
        assert check_table(form((2, 3)), accept_sparse=True).values.nnz == 0


@pytest.mark.parametrize(("width", "kind"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_column_numbers_take_four_bytes_as_long_as_all_sizes_fit(width, kind):
    found = canonical_csr(sp.csr_array((np.ones(1), ([0], [width - 1])), shape=(1, width)))
    assert found.indices.dtype == found.indptr.dtype == kind
    assert found.indices.tolist() == [width - 1]


def test_stored_zeros_are_left_out_unless_they_are_kept():
    given = sp.csr_array((np.array([0.0, 1.0, 2.0, -2.0]), ([0, 0, 1, 1], [1, 2, 0, 0])), shape=(2, 3))
    assert canonical_csr(given).nnz == 1
    kept = canonical_csr(given, keep_zeros=True)
    assert kept.nnz == 3
    assert kept.indices.tolist() == [1, 2, 0]


def test_the_type_is_the_one_asked_for_else_that_of_the_values():
    for given, kind in ((np.int16, np.float32), (np.int32, np.float64), (np.float64, np.float64), (bool, np.float32)):
        assert canonical_csr(sp.csr_array(np.eye(3, dtype=given))).dtype == kind
    for kind in (np.float32, np.float64):
        assert canonical_csr(sp.csr_array(np.eye(3)), dtype=kind).dtype == kind
