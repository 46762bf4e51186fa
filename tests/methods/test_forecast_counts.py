"""What a forecast counts of a table, and what it takes from the algorithm, agree with the algorithm."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.affinities import Gram, fuzzy_simplicial_set, reconstruction_weights
from gnomon.affinities.gram_sources import FactorSource
from gnomon.affinities.reconstruction import pairs_chosen
from gnomon.linalg.principal.spectra import n_decomposed
from gnomon.methods.forecast import ordered_edges_memory, share_of_edges
from gnomon.neighbors import compute_neighbors
from gnomon.neighbors.forecast import search_seconds, sparse_search_memory, sparse_search_seconds
from gnomon.neighbors.sparse_rows import shared_numbers


@pytest.fixture(autouse=True)
def _pace_of_the_reference(monkeypatch):
    monkeypatch.setattr("gnomon.maps.forecasting.machine_pace", lambda: 1.0)


def pictures(n_varying, n_samples=900, n_features=300):
    """Return rows of which so many columns vary."""
    X = np.zeros((n_samples, n_features), dtype=np.float32)
    X[:, :n_varying] = np.random.default_rng(0).normal(size=(n_samples, n_varying))
    X[:, -1] = 3.0
    return X


def test_columns_that_never_vary_are_not_counted_where_a_fit_leaves_them_out():
    X = pictures(200)
    assert n_decomposed(X) == n_decomposed(X.astype(np.float64)) == 200
    X[-1, -1] = 4.0  # of the last row alone
    assert n_decomposed(X) == 201
    assert n_decomposed(X[:200]) == 300  # fewer rows than columns: inner products of rows, of all columns
    assert n_decomposed(X[:, ::2]) == 150
    assert n_decomposed(sp.csr_array(X)) == 300
    assert n_decomposed(pictures(299, n_features=300)) == 300  # too few to be looked for


@pytest.mark.parametrize("name", ["pca", "tsne", "pacmap", "trimap", "classical_mds", "stiefel_pca"])
def test_a_table_with_constant_columns_takes_less_than_its_shape(name):
    X = pictures(150)
    told = gnomon.forecast(X, name).n_bytes
    assert told < gnomon.forecast(pictures(300), name).n_bytes
    assert told >= gnomon.forecast(np.ascontiguousarray(X[:, :150]), name).n_bytes


def test_the_copy_in_bytes_of_a_table_of_whole_numbers_is_counted():
    of_bytes = np.random.default_rng(0).integers(0, 256, size=(2048, 512)).astype(np.float32)
    others = of_bytes.copy()
    others[:, 0] += 0.5
    told = [gnomon.forecast(X, "umap").stages for X in (of_bytes, others)]
    assert all(told[0][stage] - told[1][stage] >= of_bytes.size for stage in told[0])
    assert (
        gnomon.forecast(of_bytes, "umap", metric="cosine").n_bytes
        == gnomon.forecast(others, "umap", metric="cosine").n_bytes
    )
    assert (
        gnomon.forecast(of_bytes[:2047], "umap").n_bytes <= gnomon.forecast(others, "umap").n_bytes
    )  # small: not kept


def test_components_as_many_as_columns_that_vary_are_found_of_all_columns():
    few, many = (gnomon.forecast(pictures(100), "pca", n_components=k).stages["components"] for k in (2, 100))
    assert many - few > 4 * (300**2 - 100**2)


@pytest.mark.parametrize(("n_samples", "n_features"), [(300, 60), (60, 300), (2000, 800)])
def test_a_full_decomposition_is_forecast_where_one_is_made(n_samples, n_features):
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    small = n_samples * n_features * min(n_samples, n_features) <= 1e9
    assert (FactorSource(X).leading_eigenpairs(2) is not None) == small
    told = Gram.bytes_of_eigenpairs(n_samples, n_features)
    vectors = 8.0 * min(n_samples, n_features) * (n_samples + n_features)
    assert (told > X.nbytes + vectors) == small
    assert Gram.bytes_of_eigenpairs(n_samples, n_features, dense=False) == 1000.0 * n_samples


@pytest.mark.parametrize("n_features", [10, 50])
@pytest.mark.parametrize("weights", ["non_negative", "signed"])
def test_the_pairs_that_weights_choose_together_are_about_as_many_as_are_forecast(n_features, weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8)) @ rng.normal(size=(8, n_features)) + 0.5 * rng.normal(size=(2000, n_features))
    X = X.astype(np.float32)
    found = reconstruction_weights(X, compute_neighbors(X, 15), weights=weights).V.nnz / len(X)
    assert pairs_chosen(*X.shape, 15, weights) == pytest.approx(found, rel=0.25)


@pytest.mark.parametrize("n_neighbors", [3, 5, 10, 15, 30])
@pytest.mark.parametrize("n_features", [2, 3, 5, 10])
def test_of_few_features_or_neighbours_not_fewer_pairs_are_chosen_than_told(n_features, n_neighbors):
    X = np.random.default_rng(0).normal(size=(1000, n_features)).astype(np.float32)
    found = reconstruction_weights(X, compute_neighbors(X, n_neighbors), weights="non_negative").V.nnz / len(X)
    told = pairs_chosen(*X.shape, n_neighbors, "non_negative")
    assert 0.9 * found <= told <= min(n_neighbors**2, 3.0 * found)


def test_few_features_choose_few_pairs():
    assert pairs_chosen(5000, 10**6, 15, "signed") < 15**2
    assert gnomon.TwoKernelLLE().foresee(5000, 10).n_bytes < gnomon.TwoKernelLLE().foresee(5000, 50).n_bytes


@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
def test_the_edges_of_joined_neighbours_are_about_as_many_as_are_forecast(n_features):
    X = np.random.default_rng(0).normal(size=(3000, n_features)).astype(np.float32)
    found = fuzzy_simplicial_set(compute_neighbors(X, 15)).matrix.nnz
    assert 1.4 * share_of_edges(n_features) * 15 * len(X) == pytest.approx(found, rel=0.06)
    assert share_of_edges(784) == 1.0


def test_edges_in_the_order_of_a_map_are_counted_where_there_are_many():
    few, many, deep = (
        gnomon.forecast((n, 50), gnomon.TSNE(n_components=d)).stages["layout"]
        for n, d in ((2_097_151, 2), (2_097_152, 2), (2_097_152, 3))
    )
    ordered = ordered_edges_memory(2_097_152, 90)
    assert ordered_edges_memory(2_097_151, 90) == 0.0
    assert 1.4 * 2_097_152 * 90 * 2 < ordered < 1.4 * 2_097_152 * 90 * 4
    assert many - few == pytest.approx(ordered, rel=0.001)
    assert deep < many


def test_a_mesh_is_counted_where_a_map_has_one():
    sampled, mesh = (
        gnomon.forecast((100_000, 50), gnomon.UMAP(evaluation=evaluation)) for evaluation in ("sampled", "interpolated")
    )
    more = mesh.stages["layout"] - sampled.stages["layout"]
    assert more == pytest.approx(2e6)
    assert gnomon.forecast((100_000, 50), gnomon.UMAP()).stages == mesh.stages
    narrow = gnomon.forecast((100_000, 2), gnomon.UMAP())
    assert narrow.stages["initialization"] < mesh.stages["initialization"]
    few, sampled = (
        gnomon.forecast((1500, 50), gnomon.UMAP(evaluation=evaluation)) for evaluation in ("auto", "sampled")
    )
    assert few == sampled


def test_a_search_takes_longer_the_more_numbers_its_cells_are_told_by():
    seconds = [search_seconds(400_000, n_features, 15) for n_features in (1, 2, 10, 100)]
    assert seconds == sorted(seconds)
    projected = [search_seconds(400_000, n_features, 15) for n_features in (200, 400)]
    assert projected[1] < 2 * projected[0]  # candidates are told by 96 numbers, however many there are


def sparse_table(n_samples, n_columns, n_stored=20, seed=0):
    """Return rows of so many numbers each in columns drawn at random."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.permuted(np.tile(np.arange(n_columns), (n_samples, 1)), axis=1)[:, :n_stored], axis=1)
    offsets = np.arange(0, n_samples * n_stored + 1, n_stored)
    return sp.csr_array((rng.random(columns.size), columns.ravel(), offsets), shape=(n_samples, n_columns))


def test_rows_of_a_sparse_table_share_as_many_columns_as_their_product_counts():
    X = sparse_table(60, 50)
    ones = (X.toarray() != 0).astype(float)
    assert shared_numbers(X) == pytest.approx(np.mean(ones @ ones.T))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(("n_samples", "n_columns"), [(1200, 300), (300, 5000)])
def test_a_search_among_sparse_rows_takes_what_was_foreseen(n_samples, n_columns, metric):
    X = sparse_table(n_samples, n_columns)
    compute_neighbors(X[:50], 5, metric=metric)
    told = sparse_search_memory(n_samples, 20, n_columns, shared_numbers(X), 15)
    tracemalloc.start()
    compute_neighbors(X, 15, metric=metric)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.4 * told < peak < 1.1 * told


def test_columns_of_a_sparse_table_are_not_counted_as_if_rows_were_written_out():
    """A table that takes a hundredth of a budget is mapped under it, however many its columns are."""
    X = sparse_table(150, 2000)
    wide = sp.csr_array((X.data, X.indices, X.indptr), shape=(150, 200_000))
    told = [gnomon.forecast(table, "umap", n_jobs=2).n_bytes for table in (X, wide)]
    assert told[0] + 3e6 < told[1] < told[0] + 1e7  # offsets of columns, in a few copies
    gnomon.map(wide, max_iter=5, memory_budget="40 MB", n_jobs=2)
    with pytest.raises(MemoryError, match=r"Use fewer rows or columns\.$"):
        gnomon.map(wide, max_iter=5, memory_budget="10 kB", n_jobs=2)


def test_a_search_among_sparse_rows_takes_longer_the_more_columns_rows_share():
    seconds = [sparse_search_seconds(10_000, 60, n_shared, 15) for n_shared in (0.0, 2.0, 10.0)]
    assert seconds == sorted(seconds)
    assert seconds[2] > 2.0 * seconds[0]
    told = gnomon.UMAP(n_jobs=1).foresee(10_000, 60, n_columns=5000, n_shared=2.0).durations["neighbors"]
    assert told == sparse_search_seconds(10_000, 60, 2.0, 15)
    of_all, asked = (sparse_search_seconds(10_000, 60, 2.0, 15, n_asked=n) for n in (10_000, 1000))
    assert of_all == told
    once = 10_000 * 60 * 255e-9  # rows are sorted by columns, however few are asked for
    assert asked - once == pytest.approx((of_all - once) / 10)
    assert sparse_search_memory(50_000, 30, 50_000, 0.02, 15) > 4 * sparse_search_memory(20_000, 30, 50_000, 0.02, 15)


def test_candidates_by_directions_are_counted_where_a_search_among_sparse_rows_tries_them():
    """Directions of 20,000 columns cost more than those of 2,000; of few rows none are sought."""
    (few, all_few), (narrow, all_pairs), (wide, _) = (
        [sparse_search_seconds(n, 40, 3.0, 15, n_columns=width, n_asked=asked) for asked in (None, n)]
        for n, width in ((5000, 2000), (20_000, 2000), (20_000, 20_000))
    )
    assert few == all_few
    assert 1.5 * all_pairs < narrow < 4.0 * all_pairs
    assert wide - narrow == pytest.approx(18_000 * 96**2 * 9e-9)


def test_phate_of_a_sparse_table_counts_landmarks_and_wider_searches():
    sparse = {"n_columns": 5000, "n_shared": 8.0}
    one, half = (gnomon.PHATE(n_jobs=1).foresee(5000, stored, **sparse).durations for stored in (100, 50))
    assert one["landmarks"] == pytest.approx(2000 * 5000 * 100 * 18e-9)  # pairs are walked through one by one
    assert half["landmarks"] == pytest.approx(one["landmarks"] / 2)
    again = sparse_search_seconds(5000, 100, 8.0, 80, n_asked=5000) + sparse_search_seconds(5000, 100, 8.0, 320)
    assert 0.7 * again < one["affinities"] < 1.5 * again
    assert one["neighbors"] == sparse_search_seconds(5000, 100, 8.0, 20)
    few = gnomon.PHATE(n_jobs=1).foresee(15, 100, **sparse).durations
    assert few["affinities"] < 1e-5  # all others are neighbours already
    assert "landmarks" not in few
    given = gnomon.PHATE(n_jobs=1, metric="precomputed").foresee(5000, 100, **sparse).durations
    assert given["affinities"] < 0.01
    assert given["landmarks"] < 0.01


@pytest.mark.parametrize("method", ["Isomap", "PHATE", "LaplacianEigenmaps", "UMAP"])
def test_a_search_among_sparse_rows_is_counted_by_every_method_that_does_one(method):
    estimator, columns = getattr(gnomon, method)(n_neighbors=10), {"n_columns": 20_000, "n_shared": 8.0}
    few, many = (estimator.foresee(2000, stored, **columns).n_bytes for stored in (10_000.0, 20_000.0))
    more = [sparse_search_memory(2000, stored, 20_000, 8.0, 10) for stored in (10_000.0, 20_000.0)]
    assert many - few == pytest.approx(more[1] - more[0], rel=0.02)
    assert many > more[1]
    dense = [estimator.foresee(2000, stored).n_bytes for stored in (10_000.0, 20_000.0)]
    assert dense[1] - dense[0] < 0.5 * (many - few)


def test_metrics_with_kernels_of_their_own_take_the_time_of_all_their_pairs():
    names = ("jaccard", "dice", "ruzicka", "hamming", "cosine")
    times = {name: search_seconds(20_000, 2048, 15, metric=name) for name in names}
    assert times["cosine"] == search_seconds(20_000, 2048, 15)
    assert 4 * times["cosine"] < times["jaccard"] == times["dice"] < times["hamming"] < times["ruzicka"]
    for name in ("jaccard", "ruzicka"):  # twice the rows, four times the pairs
        assert 3.8 < search_seconds(40_000, 2048, 15, metric=name) / times[name] < 4.0
    durations = gnomon.UMAP(metric="tanimoto", n_jobs=1).foresee(20_000, 2048).durations
    assert durations["neighbors"] == pytest.approx(times["ruzicka"], rel=0.01)
    assert search_seconds(10**6, 10, 15, metric="periodic(360)") == search_seconds(10**6, 10, 15)
