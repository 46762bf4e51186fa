"""What rows and reference rows share: who is near, what is largest, and how much memory it takes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations.reference_fits import ReferenceFits, _longest, _without, stacked


@pytest.mark.parametrize("n_top", [1, 3, 7, 20])
def test_the_longest_come_first_and_of_equal_ones_the_first_column(n_top):
    lengths = np.random.default_rng(0).integers(0, 4, size=(50, 7)).astype(np.float32) / 3
    columns, values = _longest(lengths, n_top)
    expected = np.argsort(-lengths, axis=1, kind="stable")[:, :n_top]
    np.testing.assert_array_equal(columns, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(lengths, expected, axis=1))
    assert columns.dtype == np.int32


def test_a_row_is_left_out_of_its_neighbours_and_else_the_last():
    found = np.array([[4, 2, 7], [2, 4, 7], [7, 2, 4]])
    near = _without(found, np.array([4, -1, 4]), 2)
    assert near.tolist() == [[2, 7], [2, 4], [7, 2]]
    assert near.dtype == np.int32


def test_rows_stand_where_they_are_among_the_reference_rows():
    fits = ReferenceFits(np.array([3, 5, 9]), None, None, "euclidean", 20)
    assert fits._own_places(np.array([5, 4, 0, 9, 3, 19])).tolist() == [1, -1, -1, 2, 0, -1]


def test_tables_of_one_kind_are_stacked():
    one, two = np.eye(3)[:2], np.eye(3)[1:]
    np.testing.assert_array_equal(stacked(one, two), [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    both = stacked(sp.csr_array(one), sp.csr_array(two))
    np.testing.assert_array_equal(both.toarray(), stacked(one, two))
    assert both.format == "csr"


def fits_of(n_rows, k, n_features, n_components, pooling):
    jacobians = SimpleNamespace(indices=np.zeros((n_rows, k), np.int32), n_components=n_components, pooling=pooling)
    values = np.zeros((n_rows, n_features), np.float32)
    return ReferenceFits(np.arange(n_rows), values, SimpleNamespace(jacobians=jacobians), "euclidean", 1000)


def test_memory_is_that_of_a_block_its_neighbours_the_search_and_the_averages():
    table = SimpleNamespace(
        blocks=lambda: [range(300), range(300, 1000)], n_features=20, reading_bytes=5000, block_bytes=4000
    )
    beside = 5000 + 1.5 * 4000
    search = 50 * (3 * 4 * 20 + 200)  # three copies of 50 reference rows in single precision, and 200 bytes each
    neighbors = 700 * 6 * (8 * 2 + 48)  # of the longest block
    assert fits_of(50, 6, 20, 2, 0).needed(table) == beside + search + neighbors
    averages = 50 * 8 * 4 * (2 + 1) * 20
    assert fits_of(50, 6, 20, 2, 3).needed(table) == beside + search + neighbors + averages


def test_rows_are_worked_on_in_parts_of_half_a_million_numbers_and_sixteen_rows_at_least():
    near = np.zeros((100, 8), np.int32)
    wide, narrow = fits_of(50, 8, 100_000, 2, 0)._parts(near), fits_of(50, 8, 1000, 2, 0)._parts(near)
    assert [(part.start, part.stop) for part in wide] == [(at, min(at + 16, 100)) for at in range(0, 100, 16)]
    step = 2**19 // (8 * 1000 * 3)
    assert [(part.start, part.stop) for part in narrow] == [(at, min(at + step, 100)) for at in range(0, 100, step)]
