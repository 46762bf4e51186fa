"""A sparse matrix whose offsets and column numbers kernels may trust, or an error that says what is wrong with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.data import check_table
from gnomon.data.sparse import check_csr

INDICES, INDPTR = np.array([0, 2, 1, 0, 1]), np.array([0, 2, 2, 3, 5])  # of 4 rows and 3 columns


def test_offsets_and_columns_of_a_matrix_are_those_of_a_matrix():
    check_csr(INDICES, INDPTR, 5, 4, 3)
    check_csr(np.array([2]), np.array([0, 1]), 1, 1, 3)
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
