"""Stored tables are standardised as tables in memory are."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from tests.stored import SmallBlocks

from gnomon.data.scaling import choose_scaling
from gnomon.data.stored import ScaledTable, TransformedTable
from gnomon.linalg import project_rows
from gnomon.scale import ProjectedTable, choose_stored_scaling, column_moments
from gnomon.scale import scaling as stored_scaling


def _both(X, scale, **options):
    names = [f"c{i}" for i in range(X.shape[1])]
    return choose_scaling(X, scale, names=names), choose_stored_scaling(
        SmallBlocks(X, 50), scale, names=names, **options
    )


@pytest.mark.parametrize("scale", ["auto", "standard", "robust", None])
def test_units_are_found_as_in_memory(scale):
    (wanted, clause, _), (found, told, _) = _both(load_wine().data, scale)
    assert told == clause
    assert (found is None) == (wanted is None)
    if wanted is not None:
        assert found.name == wanted.name
        np.testing.assert_allclose(found.center, wanted.center, rtol=1e-12)
        np.testing.assert_allclose(found.spread, wanted.spread, rtol=1e-12)


def test_columns_without_correlation_have_no_units():
    rng = np.random.default_rng(0)
    axes, _ = np.linalg.qr(rng.normal(size=(300, 5)) - 0.0)
    axes -= axes.mean(axis=0)
    axes, _ = np.linalg.qr(axes)
    X = axes * [1000.0, 1.0, 1.0, 1.0, 1.0]
    (_, clause, _), (found, told, _) = _both(X, "auto")
    assert clause == told == ""
    assert found is None
    X[:, 1] += 1e-2 * X[:, 0] / 1000.0
    (_, clause, _), (found, told, _) = _both(X, "auto")
    assert clause == told != ""
    assert found.name == "standard"


def test_quartiles_of_a_long_table_are_those_of_evenly_spaced_rows(monkeypatch):
    X = np.random.default_rng(1).normal(size=(4000, 2))
    exact = choose_stored_scaling(SmallBlocks(X, 300), "robust", names=["a", "b"])[0]
    monkeypatch.setattr(stored_scaling, "_FEWEST", 1000)
    monkeypatch.setattr(stored_scaling, "_NUMBERS", 0)
    found = choose_stored_scaling(SmallBlocks(X, 300), "robust", names=["a", "b"])[0]
    assert np.array_equal(found.center, np.median(X[::4], axis=0))
    np.testing.assert_allclose(found.center, exact.center, atol=4 * 1.3 / np.sqrt(1000))
    np.testing.assert_allclose(found.spread, exact.spread, atol=4 * 1.6 / np.sqrt(1000))


def test_known_moments_are_not_found_again(monkeypatch):
    table = SmallBlocks(np.random.default_rng(2).normal(size=(300, 2)), 100)
    known, wanted = column_moments(table), choose_stored_scaling(table, "standard", names=["a", "b"])[0]
    monkeypatch.setattr(stored_scaling, "column_moments", None)
    found = choose_stored_scaling(table, "standard", names=["a", "b"], moments=known)[0]
    assert np.array_equal(found.spread, wanted.spread)


def test_sparse_tables_keep_their_zeros_and_have_no_quartiles():
    X = sp.random_array((500, 6), density=0.3, rng=np.random.default_rng(3), format="csr")
    (wanted, *_), (found, *_) = _both(X, "standard")
    assert not found.center.any()
    np.testing.assert_allclose(found.spread, wanted.spread, rtol=1e-12)
    scaled = ScaledTable(SmallBlocks(X, 70), found).read(60, 300)
    assert np.array_equal(scaled.toarray(), found.apply(X[60:300]).toarray())
    with pytest.raises(ValueError, match="scale='robust' must be for a dense table"):
        choose_stored_scaling(SmallBlocks(X, 70), "robust", names=list("abcdef"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_view_reads_the_same_bytes_as_the_table_in_memory(dtype):
    X = np.random.default_rng(4).normal(size=(1000, 7)).astype(dtype)
    table = SmallBlocks(X, 90, names=list("abcdefg"))
    scaling = choose_stored_scaling(table, "standard", names=list("abcdefg"))[0]
    view = pickle.loads(pickle.dumps(ScaledTable(table, scaling)))
    assert (view.shape, view.dtype, view.feature_names) == (X.shape, dtype, list("abcdefg"))
    assert view.read(10, 950).tobytes() == scaling.apply(X[10:950]).tobytes()
    assert view.read(5, 5).shape == (0, 7)
    rows = np.random.default_rng(5).integers(0, 1000, 300)
    assert view.take(rows).tobytes() == scaling.apply(X[rows]).tobytes()
    components = np.linalg.qr(np.random.default_rng(6).normal(size=(7, 7)))[0][:3]
    scores = ProjectedTable(table, scaling.center, components)
    assert scores.shape == (1000, 3)
    assert scores.read(0, 1000).tobytes() == project_rows(X, scaling.center, components).tobytes()


def test_fingerprints_tell_views_apart():
    table = SmallBlocks(np.random.default_rng(7).normal(size=(50, 2)))
    one, other = (choose_stored_scaling(table, scale, names=["a", "b"])[0] for scale in ("standard", "robust"))
    texts = [ScaledTable(table, one).fingerprint, ScaledTable(table, other).fingerprint, table.fingerprint]
    texts += [
        TransformedTable(table, abs, key="abs").fingerprint,
        ProjectedTable(table, one.center, np.eye(2)).fingerprint,
    ]
    assert len(set(texts)) == 5
    assert ScaledTable(table, one).fingerprint == texts[0]
