from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon._run import running
from gnomon.affinities import Affinities
from gnomon.initialization import initialize
from gnomon.linalg import principal_components


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(300, 6)) * [6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
def test_every_start_has_the_shape_and_is_finite(table, affinities_of, init, n_components):
    start = initialize(init, X=table, affinities=affinities_of(table), n_components=n_components)
    assert start.kind == init
    assert start.note is None
    assert start.embedding.dtype == np.float32
    assert start.embedding.shape == (300, n_components)
    assert start.embedding.flags.c_contiguous
    assert np.isfinite(start.embedding).all()
    assert len(np.unique(start.embedding, axis=0)) == 300


@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
def test_bits_do_not_depend_on_threads_and_data_stay_as_they_are(table, affinities_of, init):
    affinities, before = affinities_of(table), table.copy()
    one = on_threads(1, initialize)(init, X=table, affinities=affinities, seed=4)
    for n_threads in (2, 3, 5):
        many = on_threads(n_threads, initialize)(init, X=table, affinities=affinities, seed=4)
        assert one.embedding.tobytes() == many.embedding.tobytes()
    np.testing.assert_array_equal(table, before)


def test_pca_start_is_the_scores(table):
    start = initialize("pca", X=table)
    np.testing.assert_allclose(start.embedding, principal_components(table, 2).transform(table), rtol=1e-6, atol=1e-6)
    sparse = initialize("pca", X=sp.csr_array(table))
    np.testing.assert_allclose(sparse.embedding, start.embedding, atol=1e-5)


@pytest.mark.parametrize("shape", [(4, 1), (1, 4), (2, 5), (1, 1), (3, 2)])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_pca_start_fills_what_is_missing_with_small_noise(shape, n_components):
    """Fewer rows or columns than dimensions (F25, F29)."""
    X = np.random.default_rng(1).normal(size=shape)
    start = initialize("pca", X=X, n_components=n_components)
    assert start.embedding.shape == (shape[0], n_components)
    rank = min(shape[0] - 1, shape[1], n_components)
    assert (start.note is None) == (rank == n_components)
    if rank < n_components:
        spread = start.embedding[:, 0].std() if rank else 1
        assert 0 < np.abs(start.embedding[:, rank:]).max() < 1e-3 * spread


def test_pca_start_of_identical_rows_is_noise():
    """All rows identical (F07)."""
    start = initialize("pca", X=np.full((50, 3), 0.1))
    assert 0 < start.embedding.std() < 1e-3
    assert "0 of 2 components" in start.note


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_pca_start_stays_in_the_range_of_float32(table, scale):
    start = initialize("pca", X=table * scale).embedding
    plain = initialize("pca", X=table).embedding
    np.testing.assert_allclose(start / np.abs(start).max(), plain / np.abs(plain).max(), atol=1e-6)


def test_random_start_is_uniform_and_a_function_of_seed_and_row():
    X = np.zeros((5000, 1))
    start = initialize("random", X=X, n_components=2, seed=7).embedding
    assert -10 <= start.min() < -9.9
    assert 9.9 < start.max() < 10
    np.testing.assert_allclose(start.std(axis=0), 20 / np.sqrt(12), rtol=0.03)
    np.testing.assert_array_equal(initialize("random", X=X[:100], seed=7).embedding, start[:100])
    assert not np.isin(initialize("random", X=X[:100], seed=8).embedding, start).any()


def test_arrays_are_checked_and_copied():
    X = np.zeros((4, 3))
    given = np.arange(8.0).reshape(4, 2)
    start = initialize(given, X=X)
    assert start.kind == "array"
    np.testing.assert_array_equal(start.embedding, given)
    start.embedding[0] = 5
    assert given[0, 0] == 0
    assert not np.shares_memory(initialize(given.astype(np.float32), X=X).embedding, given)
    np.testing.assert_array_equal(initialize(given.tolist(), X=X).embedding, given)
    with (
        running(name="UMAP"),
        pytest.raises(ValueError, match=r"^UMAP: init of shape \(4, 2\) must be of shape \(4, 3\)"),
    ):
        initialize(given, X=X, n_components=3)
    for bad in (np.nan, np.inf, 1e300):
        given[1, 1] = bad
        with pytest.raises(ValueError, match=r"init must be finite in float32 \(1 entries are not\)"):
            initialize(given, X=X)
    with pytest.raises(TypeError, match="init of type dict must be 'pca', 'spectral', 'random' or an array of numbers"):
        initialize({}, X=X)


def test_what_a_start_needs_is_asked_for(table, affinities_of):
    with pytest.raises(
        ValueError, match=r"init='pca' must be 'spectral', 'random' or an array \(there is no table X\)"
    ):
        initialize("pca", affinities=affinities_of(table))
    with pytest.raises(ValueError, match=r"init='spectral' must be 'pca', 'random' or an array \(no affinities\)"):
        initialize("spectral", X=table)
    with pytest.raises(ValueError, match=r"init='tsne' must be 'pca', 'spectral', 'random' or an array"):
        initialize("tsne", X=table)
    with pytest.raises(ValueError, match="X and affinities must be given, one of them at least"):
        initialize("random")


def test_random_start_needs_affinities_only():
    empty = Affinities(sp.csr_array((5, 5), dtype=np.float32), "membership")
    assert initialize("random", affinities=empty).embedding.shape == (5, 2)
