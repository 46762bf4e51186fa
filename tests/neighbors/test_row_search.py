"""Neighbours of new rows through cells: as found with all rows, each row a function of itself."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon.neighbors import RowSearch, query_neighbors

rng = np.random.default_rng(0)
CENTERS = rng.normal(size=(40, 12)) * 6
TABLE = (CENTERS[rng.integers(0, 40, 6000)] + rng.normal(size=(6000, 12))).astype(np.float32)
NEW = (CENTERS[rng.integers(0, 40, 200)] + rng.normal(size=(200, 12))).astype(np.float32)


@pytest.fixture(scope="module")
def search():
    return RowSearch.of(TABLE, 10, method="approximate", seed=0)


def test_cells_find_most_neighbours_and_say_how_many(search):
    assert search.method == "cells"
    assert search.recall >= 0.98
    true = query_neighbors(TABLE, NEW, 10)[1]
    found = search.find(NEW)[1]
    assert (found <= true[:, -1:]).mean() > 0.95


def test_a_row_finds_the_same_in_any_batch_and_with_any_number_of_threads(search):
    indices, distances = on_threads(1, search.find)(NEW)
    for n_threads in (2, 3):
        again = on_threads(n_threads, search.find)(NEW)
        np.testing.assert_array_equal(again[0], indices)
        np.testing.assert_array_equal(again[1], distances)
    parts = [search.find(part) for part in (NEW[:1], NEW[1:60], NEW[60:])]
    np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), indices)
    np.testing.assert_array_equal(np.concatenate([part[1] for part in parts]), distances)


def test_a_row_of_the_table_finds_itself_first(search):
    indices, distances = search.find(TABLE[::50])
    np.testing.assert_array_equal(indices[:, 0], np.arange(0, 6000, 50))
    assert (distances[:, 0] == 0).all()


def test_many_features_are_searched_along_a_few_directions():
    wide = np.concatenate([TABLE, 0.01 * rng.normal(size=(6000, 190)).astype(np.float32)], axis=1)
    search = RowSearch.of(wide, 5, method="approximate", seed=0)
    indices, distances = search.find(wide[:300])
    np.testing.assert_array_equal(indices[:, 0], np.arange(300))
    assert (distances <= query_neighbors(wide, wide[:300], 5)[1][:, -1:]).mean() > 0.95


def test_small_tables_are_compared_with_all_rows():
    search = RowSearch.of(TABLE[:500], 10)
    assert (search.method, search.recall) == ("exact", 1.0)
    for one, other in zip(search.find(NEW), query_neighbors(TABLE[:500], NEW, 10), strict=True):
        np.testing.assert_array_equal(one, other)


def test_cells_serve_a_smaller_table_where_many_ask_and_miss_one_neighbour_in_a_thousand(monkeypatch):
    assert RowSearch.of(TABLE, 10, many=True).method == "exact"
    monkeypatch.setattr("gnomon.neighbors.row_search._MANY_FROM", len(TABLE))
    search = RowSearch.of(TABLE, 10, many=True)
    assert search.method == "cells"
    assert search.recall >= 0.999
    asked = TABLE[:1000] + np.float32(0.1)
    true = query_neighbors(TABLE, asked, 10)
    indices, distances = search.find(asked)
    assert (distances <= true[1][:, -1:]).mean() >= 0.998
    for start, stop in ((0, 1), (1, 300), (300, 1000)):  # whatever else is asked
        np.testing.assert_array_equal(search.find(asked[start:stop])[0], indices[start:stop])
    assert RowSearch.of(TABLE, 10).method == "exact"
    assert RowSearch.of(TABLE, 10, many=True, method="exact").method == "exact"
    assert RowSearch.of(TABLE, 10, many=True, metric="manhattan").method == "exact"


def test_fewer_neighbours_are_the_first_of_more(search):
    for one, other in zip(search.find(NEW, 3), search.find(NEW), strict=True):
        np.testing.assert_array_equal(one, other[:, :3])


def test_rows_far_out_are_searched_at_a_scale_of_their_own(search):
    far = NEW[:3].copy()
    far[1] *= np.float32(1e20)
    indices, distances = search.find(far)
    np.testing.assert_array_equal(indices[[0, 2]], search.find(NEW[[0, 2]])[0])
    assert np.isfinite(distances).all()


def test_another_number_of_features_is_refused(search):
    with pytest.raises(ValueError, match="X_new with 3 features must be of 12 features"):
        search.find(NEW[:, :3])
