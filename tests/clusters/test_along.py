"""Few rows that a gap along one direction parts from all others are told; one cloud has no such gap."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.clusters.along import rows_beyond_gaps

N = 120


def expression(rng, few, n_genes=600):
    """Ten factors and noise, and some rows that differ in a tenth of the genes."""
    factors = rng.normal(size=(10, n_genes)) * (rng.random((10, n_genes)) < 0.15)
    X = rng.normal(size=(N, 10)) @ factors * 0.4 + rng.normal(size=(N, n_genes)) * 0.7 + 7.0
    X[:few] += rng.normal(size=n_genes) * (rng.random(n_genes) < 0.1) * 2.5
    return X


@pytest.mark.parametrize("few", [8, 12, 15])
@pytest.mark.parametrize("components", [None, 10])
def test_a_subtype_of_few_rows_is_told_though_distances_hide_it(few, components):
    for seed in range(2):
        X = expression(np.random.default_rng(seed), few)
        if components:
            X = gn.PCA(n_components=components).fit_transform(X)
        assert rows_beyond_gaps(X, 24).tolist() == list(range(few))
        moved = X[::-1] * 3.0 + 1.0
        assert rows_beyond_gaps(moved, 24).tolist() == list(range(N - few, N))


def test_clusters_tell_them_as_apart_and_the_summary_says_so():
    X = expression(np.random.default_rng(0), 8)
    found = gn.find_clusters(X)
    assert len(found) == 0
    assert found.apart.tolist() == list(range(8))
    assert "8 rows lie with few others apart from the rest, too few to be shown a cluster (apart)" in found.summary()
    assert gn.find_clusters(expression(np.random.default_rng(0), 0)).apart.tolist() == []


def clouds(rng, n, p):
    path = np.sort(rng.uniform(0, 6, n))
    yield rng.normal(size=(n, p))
    yield rng.standard_t(2, (n, p))
    yield np.exp(rng.normal(size=(n, p)))
    yield rng.uniform(size=(n, p))
    yield np.exp(rng.normal(size=(n, 5)) * 0.8) @ rng.normal(size=(5, p)) + 0.5 * rng.normal(size=(n, p))
    yield rng.normal(size=(n, p)) * np.where(rng.random(n) < 0.1, 3, 1)[:, None]
    yield np.c_[np.cos(path), np.sin(path), path] @ rng.normal(size=(3, p)) + 0.1 * rng.normal(size=(n, p))
    yield rng.poisson(0.05, (n, p)).astype(float)
    yield np.c_[rng.normal(size=(n, p)), rng.random((n, 3)) < 0.07]
    yield np.c_[rng.normal(size=(n, p)), np.eye(8)[rng.integers(0, 8, n)]]
    yield rng.poisson(rng.gamma(0.5, 6, (n, p))).astype(float)


@pytest.mark.parametrize(("n", "p"), [(60, 4), (120, 6), (120, 30), (300, 5)])
def test_one_cloud_has_none_whatever_its_tails_and_steps(n, p):
    for seed in range(2):
        for X in clouds(np.random.default_rng(seed), n, p):
            assert rows_beyond_gaps(X, 24).tolist() == []


def test_groups_of_five_and_of_more_than_asked_are_left_alone():
    X = np.random.default_rng(0).normal(size=(N, 4))
    X[:5] += 30.0
    assert rows_beyond_gaps(X, 24).tolist() == []
    X[:12] += 30.0
    X[:5] -= 30.0
    assert rows_beyond_gaps(X, 24).tolist() == list(range(12))
    assert rows_beyond_gaps(X, 11).tolist() == []
    assert rows_beyond_gaps(np.zeros((N, 3)), 24).tolist() == []
    assert rows_beyond_gaps(X.astype(np.float32), 24).tolist() == list(range(12))
