"""Rows, labels and shapes of pictures are read once for all questions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations.rows import check_image_shape, classes_of, dense_rows_of, find_row


def test_rows_count_from_either_end():
    assert [find_row(i, 5) for i in (0, 4, -1, -5, np.int8(3))] == [0, 4, 4, 0, 3]
    for i in (5, -6):
        with pytest.raises(IndexError, match=f"row {i} must be below n_samples=5"):
            find_row(i, 5)
    for i in (True, 1.0, "1"):
        with pytest.raises(TypeError, match="must be an integer"):
            find_row(i, 5)


@pytest.mark.parametrize("shape", [(1, 12), (12, 1), (3, 4), [2, 2, 3], (12, 1, 1)])
def test_pictures_have_two_sides_and_may_have_channels(shape):
    assert check_image_shape(shape, 12) == tuple(shape)


@pytest.mark.parametrize("shape", [(12,), (3, 3), (0, 4), (-3, -4), (1, 2, 2, 3), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="image_shape="):
        check_image_shape(shape, 12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_some_columns_of_some_rows_are_dense_and_double(form):
    X = np.arange(24, dtype=np.float32).reshape(4, 6)
    for rows, columns in (([2, 0], [5, 1]), ([3], np.array([0]))):
        found = dense_rows_of(form(X), rows, columns)
        np.testing.assert_array_equal(found, X[np.ix_(rows, columns)])
        assert found.dtype == np.float64
    np.testing.assert_array_equal(dense_rows_of(form(X), [1, 1]), X[[1, 1]])


def test_classes_are_at_least_two():
    assert classes_of(["b", "a", None, "b"], 4).values == ["a", "b"]
    for labels, found in ((["a", "a"], "1 value "), ([None, None], "0 values ")):
        with pytest.raises(ValueError, match=f"labels with {found}must be of at least two values"):
            classes_of(labels, 2)
