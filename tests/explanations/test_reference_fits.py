"""What rows and reference rows share: who is near, what is largest, and how much memory it takes."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations import explain
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
    table, near = np.arange(3.0 * 2**18, dtype=np.float32).reshape(3, -1), np.array([[2, 0, 1], [1, 1, 0]], np.int32)
    np.testing.assert_array_equal(fits_of(3, 3, 1, 2, 0)._around(table, near), table[near].sum(axis=1))  # row by row


@pytest.fixture(scope="module")
def scattered():
    """Forty reference rows of seventy, twelve of them copies without a fit; fits are averaged twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 4)).astype(np.float32)
    X[:12] = X[0]
    Y = (X[:, :2] + 0.1 * rng.normal(size=(70, 2))).astype(float)
    rows = np.arange(0, 40)
    return X, Y, ReferenceFits(rows, X[rows], explain(X[rows], Y[rows], n_neighbors=5, pooling=2), "euclidean", 70)


def test_kept_neighbours_are_those_that_data_and_map_share(scattered):
    X, Y, fits = scattered
    places = Y.copy()
    places[[3, 60]] = np.nan
    numbers = np.arange(70)
    near = fits.nearest(X, numbers)
    away = np.linalg.norm(Y[:, None] - Y[None, :40], axis=2)
    away[np.arange(40), np.arange(40)] = np.inf
    in_map = np.argsort(away, axis=1)[:, :5]
    expected = np.array([len(np.intersect1d(one, other)) / 5 for one, other in zip(near, in_map, strict=True)])
    expected[[3, 60]] = np.nan
    np.testing.assert_allclose(fits._kept(near, numbers, places), expected, rtol=1e-6)
    assert len(set(expected[np.isfinite(expected)])) > 2


@pytest.mark.parametrize("weighted", [False, True])
def test_importances_are_added_to_the_group_of_each_row_with_its_weight(scattered, weighted):
    X, Y, fits = scattered
    groups = np.arange(70) % 4 - 1
    places = Y.copy()
    places[[9, 61]] = np.nan
    asked = {"groups": groups, "n_groups": 4, "weighted": weighted}
    found = fits.explain_rows(X, np.arange(70), places, n_top=4, **asked)
    assert not found.mask.all()
    lengths = np.zeros((70, 4))
    np.put_along_axis(lengths, found.top.astype(int), found.importance.astype(float), axis=1)
    weights = np.where(found.mask, found.r2 if weighted else 1.0, 0.0)
    for group in range(4):
        own = (groups == group) & found.mask
        np.testing.assert_allclose(found.weights[group], weights[own].sum(), rtol=1e-6)
        np.testing.assert_allclose(found.sums[group], weights[own] @ lengths[own], rtol=1e-5)
    assert np.isnan(found.importance[~found.mask]).all()
    assert np.isnan(found.r2[[9, 61]]).all()
    assert ((found.r2 >= 0) & (found.r2 <= 1))[found.mask].all()


def test_fits_are_averaged_over_a_row_and_the_reference_rows_around_it_that_have_one(scattered):
    X, Y, fits = scattered
    whole = fits.explanation
    assert not whole.mask.all()
    numbers, groups = np.arange(40, 70), np.zeros(30, int)
    found = fits.explain_rows(X[40:], numbers, Y[40:], n_top=4, groups=groups, n_groups=1, weighted=False)
    own = fits.extended(X[40:], fits.nearest(X[40:], numbers), Y[40:])

    def axes_of(coefficients, near, row):
        return coefficients.T @ (X[near].astype(float) - row)

    jacobians, m = fits.fits, 40
    table = {0: [axes_of(jacobians.coefficients[j], jacobians.indices[j], X[j]) for j in range(m)]}
    deviation = np.array([np.sqrt(np.mean((X[jacobians.indices[j]] - X[j]) ** 2, axis=0)) for j in range(m)])
    known = jacobians.mask
    around = [[j, *(int(k) for k in jacobians.indices[j] if known[k])] for j in range(m)]
    table[1] = [np.mean([table[0][k] for k in around[j]], axis=0) if known[j] else None for j in range(m)]
    for row in range(30):
        i, near = 40 + row, own.indices[40 + row]
        fitted = [int(j) for j in near if known[j]]
        first = axes_of(own.coefficients[row], near, X[i])
        once = np.mean([first, *(table[0][j] for j in fitted)], axis=0)
        twice = np.mean([once, *(table[1][j] for j in fitted)], axis=0)
        spread = np.sqrt(np.mean((X[near] - X[i]) ** 2, axis=0))
        lengths = np.linalg.norm(twice, axis=0) * np.mean([spread, *deviation[fitted]], axis=0)
        order = np.argsort(-lengths)
        assert found.top[row].tolist() == order.tolist()
        np.testing.assert_allclose(found.importance[row], lengths[order], rtol=1e-3)


def test_what_is_made_at_the_first_question_is_not_sent_to_workers(scattered):
    _, _, fits = scattered
    assert fits._search is fits._search
    sent = pickle.loads(pickle.dumps(fits))
    assert set(sent.__dict__) == {"rows", "values", "explanation", "metric", "n_samples", "representatives"}


def test_features_move_rows_along_one_component_though_not_along_the_other(scattered):
    X, Y, _ = scattered
    flat, rows = Y * [0.0, 1.0], np.arange(40)
    fits = ReferenceFits(rows, X[rows], explain(X[rows], flat[rows], n_neighbors=5, pooling=0), "euclidean", 70)
    found = fits.explain_rows(X, np.arange(70), flat, n_top=4, groups=np.zeros(70, int), n_groups=1, weighted=False)
    assert (found.importance[found.mask] > 0).all()
