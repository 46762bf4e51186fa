"""The benchmarks' evaluators agree with scikit-learn's and with closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.divergence import (
    joint_affinities,
    kl_divergence,
    nearest_neighbor_affinities,
    normalizer,
)
from benchmarks.quality import compare_neighborhoods, fixed_sample, label_accuracy, map_quality
from sklearn.manifold import trustworthiness
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier


@pytest.fixture
def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 12)) * 3
    return (centres[np.arange(300) % 4] + rng.normal(size=(300, 12))).astype(np.float32)


def test_trustworthiness_and_continuity_agree_with_scikit_learn(table):
    Y = table[:, :2]
    found = compare_neighborhoods(table, Y, 15)
    assert found.trustworthiness == pytest.approx(trustworthiness(table, Y, n_neighbors=15), abs=1e-6)
    assert found.continuity == pytest.approx(trustworthiness(Y, table, n_neighbors=15), abs=1e-6)


def test_preservation_is_the_share_of_common_neighbours(table):
    Y = table[:, :2]
    near = [np.argsort(pairwise_distances(Z), axis=1)[:, 1:11] for Z in (table, Y)]
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*near, strict=True)])
    assert compare_neighborhoods(table, Y, 10).preservation == pytest.approx(share, abs=1e-9)


def test_a_copy_of_the_table_far_from_the_origin_is_a_perfect_map(table):
    found = compare_neighborhoods(table, table + 1000.0, 5)
    assert found.trustworthiness > 0.9999
    assert found.preservation > 0.999
    assert compare_neighborhoods(table, 2 * table, 5).preservation == 1.0


def test_neighborhoods_must_be_smaller_than_half_the_table(table):
    with pytest.raises(ValueError, match="n_neighbors=150 must be at least 1 and below n_samples/2=150"):
        compare_neighborhoods(table, table, 150)


def test_label_accuracy_is_leave_one_out_accuracy(table):
    labels = np.arange(100) % 4
    Y = table[:100, :2]
    expected = cross_val_score(KNeighborsClassifier(10), Y, labels, cv=LeaveOneOut()).mean()
    assert label_accuracy(Y, labels, np.arange(100)) == pytest.approx(expected, abs=1e-12)


def test_label_accuracy_survives_identical_points():
    Y = np.zeros((50, 2), np.float32)
    assert label_accuracy(Y, np.zeros(50, int), np.arange(50)) == 1.0


def test_the_sample_is_fixed_and_all_rows_of_a_small_table():
    assert np.array_equal(fixed_sample(5), np.arange(5))
    sample = fixed_sample(1000, 100)
    assert len(np.unique(sample)) == 100
    assert np.array_equal(sample, fixed_sample(1000, 100))


def test_quality_without_labels_has_no_accuracy(table):
    assert "label_accuracy" not in map_quality(table, table[:, :2])
    assert "label_accuracy" in map_quality(table, table[:, :2], np.arange(300) % 4)


def test_affinities_agree_with_scikit_learn_and_have_the_perplexity(table):
    from sklearn.manifold._t_sne import _joint_probabilities_nn
    from sklearn.neighbors import NearestNeighbors

    distances, indices = NearestNeighbors(n_neighbors=60).fit(table).kneighbors()
    P = joint_affinities(distances, indices, 20.0)
    graph = sp.csr_matrix((distances.ravel() ** 2, indices.ravel(), np.arange(0, 300 * 60 + 1, 60)), (300, 300))
    expected = _joint_probabilities_nn(graph, 20.0, 0)
    assert P.sum() == pytest.approx(1.0, abs=1e-12)
    assert abs(P - sp.csr_array(expected)).max() < 1e-7  # scikit-learn bisects to 1e-5 in the entropy
    assert abs(P - nearest_neighbor_affinities(table, 20.0)).max() < 1e-9


def test_kl_divergence_agrees_with_scikit_learn(table):
    from scipy.spatial.distance import squareform
    from sklearn.manifold._t_sne import _kl_divergence

    Y = (table[:, :2] * 10).astype(np.float32)
    P = nearest_neighbor_affinities(table, 20.0)
    dense = np.maximum(P.toarray(), np.finfo(np.float64).eps)
    expected, _ = _kl_divergence(Y.ravel().astype(float), squareform(dense, checks=False), 1, 300, 2)
    assert kl_divergence(P, Y) == pytest.approx(expected, rel=1e-5)


def test_normalizer_of_three_points_is_a_closed_form():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    assert normalizer(Y).value == pytest.approx(2 * (1 / 2 + 1 / 5 + 1 / 6), rel=1e-6)
    assert normalizer(Y).standard_error == 0.0


def test_normalizer_of_a_sample_of_rows_is_within_its_stated_error():
    Y = np.random.default_rng(1).normal(size=(3000, 2)) * 20
    exact, estimate = normalizer(Y), normalizer(Y, 400)
    assert 0 < estimate.standard_error < 0.1 * exact.value
    assert abs(estimate.value - exact.value) < 4 * estimate.standard_error


def test_perplexity_must_be_below_the_number_of_neighbours():
    with pytest.raises(ValueError, match=r"perplexity=3.0 must be between 1 and n_neighbors=3"):
        joint_affinities(np.ones((5, 3)), np.zeros((5, 3), int), 3.0)
