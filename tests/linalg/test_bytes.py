"""Tables of whole numbers up to 255 are looked at as bytes, and say the same."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon._entrance import entrance
from gnomon.explanations import explanation as explanations
from gnomon.explanations.contrast import groups
from gnomon.linalg import table
from gnomon.linalg.table import as_bytes, table_as_bytes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_numbers_up_to_255_become_bytes(dtype):
    X = np.arange(256.0).reshape(64, 4).astype(dtype)
    found = as_bytes(X)
    assert found.dtype == np.uint8
    assert np.array_equal(found, X)


@pytest.mark.parametrize("other", [256.0, -1.0, 0.5, np.nan, np.inf])
def test_a_table_with_another_number_stays_as_it_is(other):
    X = np.zeros((700_000, 3), np.float32)  # more than one block
    X[-1, 1] = other
    assert as_bytes(X) is X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_at_the_edge_of_bytes_are_told_apart(dtype):
    one = np.finfo(dtype)
    inside = np.array([[0.0, -0.0, 1.0, 254.0, 255.0]], dtype)
    assert as_bytes(inside).tolist() == [[0, 0, 1, 254, 255]]
    for other in (np.nextafter(dtype(255), dtype(256)), np.nextafter(dtype(0), dtype(-1)), one.tiny, one.max, -np.inf):
        assert as_bytes(np.array([[1.0], [other]], dtype)).dtype == dtype


def test_sparse_tables_and_bytes_stay_as_they_are():
    for X in (sp.csr_array(np.eye(3)), np.eye(3, dtype=np.uint8), np.eye(3, dtype=np.int64)):
        assert as_bytes(X) is X


@pytest.fixture
def pixels():
    rng = np.random.default_rng(0)
    X = np.clip(40.0 * rng.normal(size=(160, 9)) + 90.0, 0.0, 255.0).round()
    X[:, 4] = 7.0  # a feature that never varies
    return X, X[:, :2] + rng.normal(size=(160, 2)), np.arange(160) % 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_explanation_of_bytes_is_that_of_the_numbers(pixels, monkeypatch, dtype):
    X, Y, _ = pixels
    found = gnomon.explain(X.astype(dtype), Y)
    monkeypatch.setattr(explanations, "table_as_bytes", lambda values: values)
    expected = gnomon.explain(X.astype(dtype), Y)
    for name in ("r2", "r2_error", "ellipses", "global_importance", "importance"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()


def test_profiles_of_bytes_are_those_of_the_numbers(pixels, monkeypatch):
    X, _, labels = pixels
    found = gnomon.cluster_profiles(X, labels, n_top=None)
    monkeypatch.setattr(groups, "table_as_bytes", lambda values: values)
    expected = gnomon.cluster_profiles(X, labels, n_top=None)
    for label, one in expected.items():
        assert found[label].indices.tolist() == one.indices.tolist()
        for name in ("auc", "mean_selected", "mean_rest", "fidelity"):
            assert np.array_equal(getattr(found[label], name), getattr(one, name))
        np.testing.assert_allclose(found[label].effect, one.effect, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_profiles_of_bytes_count_rows_without_a_group_out(pixels, n_jobs):
    X, _, labels = pixels
    known = labels != 2
    some = gnomon.cluster_profiles(X, np.where(known, labels, np.nan), n_jobs=n_jobs, n_top=None)
    alone = gnomon.cluster_profiles(X[known], labels[known].astype(float), n_jobs=n_jobs, n_top=None)
    for label, one in alone.items():
        assert np.array_equal(some[label].auc, one.auc)
        assert np.array_equal(some[label].effect, one.effect)


def test_a_table_is_turned_into_bytes_once_in_a_call_and_anew_in_the_next(monkeypatch):
    monkeypatch.setattr(table, "_WORTH_KEEPING", 1)
    X = np.arange(200.0).reshape(20, 10)

    @entrance("inner")
    def inner(values):
        return table_as_bytes(values)

    @entrance("outer")
    def outer():
        first, second = inner(X), table_as_bytes(X)
        assert first is second
        assert inner(X[::2].copy()).tolist() == X[::2].tolist()  # another table, though that one has ended
        assert inner(X[1::2].copy()).tolist() == X[1::2].tolist()
        return first

    assert outer().tolist() == X.tolist()
    X[3] += 1.0
    assert outer().tolist() == X.tolist()
    X[3] += 0.5
    assert outer() is X
    assert table_as_bytes(X) is not table_as_bytes(np.ones((3, 3)))
