"""Affinities of data and target, against the stated formulas."""

import numpy as np
import pytest

from gnomon.affinities import (
    ConditionalAffinity,
    FuzzyAffinity,
    GaussianAffinity,
    Inputs,
    SupervisedAffinity,
    UniformAffinity,
    membership_weights,
)
from gnomon.data import Target
from gnomon.neighbors import compute_neighbors

X = np.random.default_rng(0).normal(size=(60, 3))
K = 8
inputs = Inputs(X, compute_neighbors(X, K))


def _dense(indices, weights):
    found = np.zeros((len(weights), len(weights)))
    np.put_along_axis(found, indices.astype(np.int64), weights, axis=1)
    return found


def _union(rows):
    return rows + rows.T - rows * rows.T


def _memberships(X):
    graph = compute_neighbors(X, K)
    return _dense(graph.indices, membership_weights(graph.distances)[0])


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.8])
def test_classes_scale_memberships_and_rows_are_scaled_back(weight):
    codes = np.random.default_rng(1).integers(-1, 3, size=60)
    odds = weight / (1 - weight)
    unknown = (codes[:, None] < 0) | (codes < 0)
    factor = np.where(unknown, np.exp(-min(1, odds)), np.where(codes[:, None] == codes, 1.0, np.exp(-5 * odds)))
    rows = _memberships(X) * factor
    rows /= rows.max(axis=1, keepdims=True)
    found = SupervisedAffinity(FuzzyAffinity(), Target("classes", codes), weight)(inputs)
    np.testing.assert_allclose(found.matrix.toarray(), _union(rows), atol=1e-6)
    assert found.normalization == "membership"


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.8])
def test_numbers_intersect_two_fuzzy_sets(weight):
    rng = np.random.default_rng(2)
    y = X[:, 0] + 0.3 * rng.normal(size=60)
    y[::6] = np.nan
    known = np.flatnonzero(np.isfinite(y))
    data, target = _memberships(X), np.zeros((60, 60))
    target[np.ix_(known, known)] = _memberships(y[known, None] / y[known].std())
    odds = weight / (1 - weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(data > 0, min(1, 1 / odds) * np.log(data), np.where(target > 0, -5 / odds, -np.inf))
        second = np.where(target > 0, min(1, odds) * np.log(target), -5 * odds)
    labelled = np.isfinite(y)
    second = np.where(labelled[:, None] & labelled, second, -min(1, odds))
    rows = np.exp(first + second)
    rows /= rows.max(axis=1, keepdims=True)
    found = SupervisedAffinity(FuzzyAffinity(), Target("numbers", y), weight)(inputs)
    np.testing.assert_allclose(found.matrix.toarray(), _union(rows), atol=2e-5)


def test_gaussian_affinities_remain_distributions():
    codes = np.random.default_rng(1).integers(0, 3, size=60)
    found = SupervisedAffinity(GaussianAffinity(3.0), Target("classes", codes), 0.5)(inputs)
    rows = _dense(inputs.graph.indices, GaussianAffinity(3.0).of_rows(inputs.graph.distances))
    rows *= np.where(codes[:, None] == codes, 1.0, np.exp(-5))
    rows /= rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.matrix.toarray(), (rows + rows.T) / 120, atol=1e-7)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("weight", [0.2, 0.5, 1.0])
def test_rows_of_their_own_remain_distributions(kind, weight):
    values = np.arange(60) % 4 - 1 if kind == "classes" else np.where(np.arange(60) % 4, X[:, 1], np.nan)
    found = SupervisedAffinity(ConditionalAffinity(3.0), Target(kind, values), weight)(inputs)
    assert found.normalization == "rows"
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0, rtol=1e-6)
    assert found.matrix.diagonal().max() == 0.0
    total = SupervisedAffinity(GaussianAffinity(3.0), Target(kind, values), weight)(inputs).matrix.toarray()
    rows = found.matrix.toarray()  # the same rows, joined
    np.testing.assert_allclose(total, (rows + rows.T) / 120, atol=1e-7)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize(
    "affinity", [FuzzyAffinity(), GaussianAffinity(3.0), ConditionalAffinity(3.0), UniformAffinity()], ids=str
)
def test_a_small_weight_leads_to_the_affinities_of_the_data(affinity, kind):
    values = np.arange(60) % 3 if kind == "classes" else np.random.default_rng(0).normal(size=60)
    plain = affinity(inputs).matrix.toarray()
    for weight in (1e-2, 1e-4):
        found = SupervisedAffinity(affinity, Target(kind, values), weight)(inputs).matrix.toarray()
        np.testing.assert_allclose(found, plain, atol=20 * weight * plain.max() + 1e-7)


def test_neighbours_that_count_alike_count_by_class():
    codes = np.random.default_rng(1).integers(0, 3, size=60)
    found = SupervisedAffinity(UniformAffinity(), Target("classes", codes), 0.5)(inputs)
    rows = _dense(inputs.graph.indices, np.ones((60, K)))
    rows *= np.where(codes[:, None] == codes, 1.0, np.exp(-5))
    rows /= rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.matrix.toarray(), (rows + rows.T) / 120, atol=1e-7)


def test_at_full_weight_a_row_among_other_classes_keeps_its_neighbours():
    codes = np.ones(60, dtype=np.int64)
    codes[7] = 0
    found = SupervisedAffinity(FuzzyAffinity(), Target("classes", codes), 1.0)(inputs).matrix.toarray()
    np.testing.assert_allclose(
        found[7, inputs.graph.indices[7]], _memberships(X)[7, inputs.graph.indices[7]], atol=1e-6
    )
    others = np.setdiff1d(np.flatnonzero(found[7]), inputs.graph.indices[7])
    assert len(others) == 0
