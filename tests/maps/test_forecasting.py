"""What a fit would take is told from the shape of a table, and rises with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon

LINEAR = ["umap", "tsne", "pca", "largevis", "pacmap", "trimap", "laplacian_eigenmaps", "densmap", "featmap"]
PAIRS = ["sne", "symmetric_sne", "kernel_pca", "classical_mds", "mds", "isomap", "phate", "lle", "sketch_map"]


@pytest.mark.parametrize("method", [*LINEAR, *PAIRS])
def test_a_forecast_rises_with_rows_and_columns(method):
    by_rows = [gnomon.forecast((n, 50), method).n_bytes for n in (1000, 4000, 30_000, 100_000)]
    assert by_rows == sorted(by_rows)
    assert by_rows[0] < by_rows[-1]
    by_columns = [gnomon.forecast((6000, d), method).n_bytes for d in (10, 50, 300, 784)]
    assert by_columns == sorted(by_columns)


@pytest.mark.parametrize("method", ["umap", "tsne", "densmap", "featmap", "trimap", "laplacian_eigenmaps"])
def test_the_peak_is_that_of_the_greediest_stage(method):
    found = gnomon.forecast((5000, 20), method)
    assert found.n_bytes == max(found.stages.values())
    assert all(name in str(found) for name in found.stages)
    assert "MB beyond the table at the peak" in str(found)


def test_stages_have_the_names_of_the_timings():
    X = np.random.default_rng(0).normal(size=(200, 4))
    for estimator in (gnomon.UMAP(max_iter=5), gnomon.TSNE(max_iter=5), gnomon.PaCMAP(max_iter=5)):
        assert set(estimator.foresee(200, 4).stages) == set(estimator.fit(X).timings_)


def test_a_table_is_as_good_as_its_shape():
    X = np.zeros((3000, 40))
    told = gnomon.forecast(X, n_neighbors=30)
    assert told == gnomon.forecast((3000, 40), n_neighbors=30) == gnomon.forecast(X, gnomon.UMAP(n_neighbors=30))
    assert told.n_bytes > gnomon.forecast(X, n_neighbors=15).n_bytes
    sparse = sp.random_array((3000, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    assert gnomon.forecast(sparse).n_bytes < gnomon.forecast(X).n_bytes


def test_given_distances_are_not_searched():
    assert gnomon.forecast((5000, 5000), metric="precomputed").n_bytes < gnomon.forecast((5000, 5000)).n_bytes


@pytest.mark.parametrize(
    ("X", "method", "parameters", "error", "text"),
    [
        ((5, 3, 2), "umap", {}, ValueError, "X must be a table or its shape"),
        ([[1.0]], "umap", {}, ValueError, r"X must be a table or its shape, .* \(list\)"),
        ((1, 3), "umap", {}, ValueError, "n_samples"),
        ((10, 0), "umap", {}, ValueError, "n_features"),
        ((10, 3), "umap", {"perplexity": 3}, TypeError, "perplexity must be a parameter of umap"),
        ((10, 3), "umap", {"n_neighbors": 0}, ValueError, "n_neighbors=0 must be"),
        ((10, 3), "nothing", {}, ValueError, "nothing"),
        ((10, 3), object(), {}, TypeError, "must be one of gnomon's methods"),
        ((10, 3), gnomon.UMAP(), {"n_neighbors": 3}, ValueError, "n_neighbors must be left out"),
        ((10, 3), gnomon.NeighborEmbedding(), {}, ValueError, "must be one that tells what it takes"),
        ((10, 3), "umap", {"then": ("film",)}, ValueError, "then=.* must be a sequence of 'explanation'"),
        ((10, 3), "umap", {"then": "page"}, ValueError, "then=.* must be a sequence"),
    ],
)
def test_bad_input_is_refused(X, method, parameters, error, text):
    with pytest.raises(error, match=text):
        gnomon.forecast(X, method, **parameters)
