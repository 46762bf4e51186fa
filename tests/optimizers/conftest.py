"""A small problem with structure: points in clusters and the affinities of their neighbours."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Affinities


@pytest.fixture(scope="session")
def clusters():
    """Return affinities of 300 points in 5 clusters in 10 dimensions, the labels, and a small start."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 60)
    X = 6 * rng.normal(size=(5, 10))[labels] + rng.normal(size=(300, 10))
    squared = np.square(X[:, None] - X[None]).sum(-1)
    np.fill_diagonal(squared, np.inf)
    neighbors = np.argsort(squared, 1)[:, :10]
    matrix = sp.lil_array((300, 300))
    for i, row in enumerate(neighbors):
        matrix[i, row] = np.linspace(1.0, 0.3, 10)
    union = sp.csr_array(matrix.tocsr().maximum(matrix.tocsr().T).astype(np.float32))
    union.sort_indices()
    total = sp.csr_array(union / union.sum())
    start = (1e-4 * X[:, :2] / X[:, 0].std()).astype(np.float32)
    return {
        "membership": Affinities(union, "membership"),
        "total": Affinities(sp.csr_array(total.astype(np.float32)), "total"),
        "labels": labels,
        "start": start,
    }


@pytest.fixture(scope="session")
def separation():
    """Return a function: share of points whose nearest point in the embedding has their label."""

    def measure(Y, labels):
        squared = np.square(Y[:, None] - Y[None]).sum(-1)
        np.fill_diagonal(squared, np.inf)
        return np.mean(labels[squared.argmin(1)] == labels)

    return measure
