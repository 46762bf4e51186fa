"""Similarities given where distances are asked for are refused, and distances of any kind pass."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

import gnomon as gn
from gnomon.affinities import fuzzy_simplicial_set
from gnomon.neighbors import compute_neighbors
from gnomon.neighbors.similarities import refuse_similarities

TABLES = {
    "clusters": np.concatenate([np.random.default_rng(c).normal(10.0 * c, 1.0, (60, 5)) for c in range(4)]),
    "square": np.random.default_rng(1).random((200, 2)),
    "noise": np.random.default_rng(2).normal(size=(300, 40)),
    "few": np.random.default_rng(3).normal(size=(25, 3)),
}


def graph_of(X, k=15, metric="euclidean"):
    graph = compute_neighbors(X.astype(np.float32), k, metric=metric)
    rows = np.repeat(np.arange(len(X)), k)
    return graph, sp.csr_array((graph.distances.ravel(), (rows, graph.indices.ravel())), shape=(len(X), len(X)))


@pytest.mark.parametrize("name", TABLES)
def test_graphs_of_similarities_are_refused(name):
    graph, distances = graph_of(TABLES[name])
    heat = distances.copy()
    heat.data = np.exp(-((heat.data / np.median(heat.data)) ** 2))
    for similarities in (fuzzy_simplicial_set(graph).matrix, heat):
        with pytest.raises(ValueError, match="rows with large values between them share more neighbours"):
            refuse_similarities(similarities)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("name", TABLES)
def test_graphs_of_distances_pass(name, metric):
    _, distances = graph_of(TABLES[name], metric=metric)
    distances.data /= distances.data.max()
    refuse_similarities(distances)
    refuse_similarities(sp.csr_array(distances.maximum(distances.T)))
    hops = distances.copy()
    hops.data[:] = 1.0
    refuse_similarities(hops)


def test_random_distances_between_few_rows_pass():
    for seed in range(25):
        for n, density in ((12, 0.6), (25, 0.5), (60, 0.2)):
            refuse_similarities(sp.random_array((n, n), density=density, rng=seed, format="csr"))


def test_a_complete_matrix_of_similarities_is_refused():
    X = TABLES["clusters"]
    for similarities in (rbf_kernel(X), 5.0 * rbf_kernel(X), 2.0 - pairwise_distances(X, metric="cosine")):
        with pytest.raises(ValueError, match="in every row the entry on the diagonal is the largest"):
            gn.UMAP(metric="precomputed").fit(similarities)
        with pytest.raises(ValueError, match="in every row the entry on the diagonal is the largest"):
            gn.ClassicalMDS(metric="precomputed").fit(similarities)


@pytest.mark.parametrize("name", ["clusters", "digits"])
@pytest.mark.parametrize("diagonal", [0.0, 0.05])
def test_similarities_are_refused_whatever_their_diagonal(name, diagonal):
    X = load_digits().data[:200] if name == "digits" else TABLES[name]
    d = pairwise_distances(X)
    heat = np.exp(-np.square(d / np.median(d)))
    for similarities in (heat, 1.0 / (1.0 + d), d.max() - d, cosine_similarity(X) + 1.0):
        np.fill_diagonal(similarities, diagonal)
        for method in (gn.UMAP, gn.MDS):
            with pytest.raises(ValueError, match=r"given distances \(entries of two rows are the more alike"):
                method(metric="precomputed").fit(similarities)


METRICS = ["euclidean", "sqeuclidean", "cosine", "correlation", "canberra", "hamming", "jaccard"]


@pytest.mark.parametrize("metric", METRICS)
def test_dissimilarities_of_any_kind_are_taken(metric):
    rng = np.random.default_rng(0)
    circle = np.linspace(0.0, 6.2, 60)
    tables = [*TABLES.values(), rng.normal(size=(60, 1000)), rng.standard_cauchy((60, 5)), rng.random((25, 60)) < 0.1]
    for X in (*tables, np.cos(np.add.outer(circle, np.arange(6.0)))):
        distances = np.nan_to_num(pairwise_distances(X != 0.0 if metric == "jaccard" else X, metric=metric))
        for given in (distances, 1.0 - np.exp(-distances), np.round(5.0 * distances), np.sqrt(distances)):
            refuse_similarities(given)
    noise = rng.random((80, 80))
    refuse_similarities(noise + noise.T)


def test_a_diagonal_that_is_ignored_may_hold_anything_else():
    distances = pairwise_distances(TABLES["few"])
    for diagonal in (0.0, 1e-7, np.inf):
        matrix = distances.copy()
        np.fill_diagonal(matrix, diagonal)
        refuse_similarities(matrix)
    refuse_similarities(np.zeros((4, 4)))
