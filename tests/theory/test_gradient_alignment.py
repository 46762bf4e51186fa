"""Conjecture 1's measure: fields against themselves, against the oracle, and against weights that know nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.affinities import Gram, fuzzy_simplicial_set, reconstruction_weights
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import Frobenius, ReconstructionTrace
from gnomon.theory import expected_umap_gradient, field_agreement, gradient_alignment

KERNEL = UMAPKernel.from_min_dist(0.1)


@pytest.fixture(scope="module")
def rows(digits):
    """Memberships and weights of 300 digits, a random map and a map by the first two principal components."""
    X = digits[0][:300]
    graph = compute_neighbors(X, 15)
    centred = X.astype(float) - X.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    maps = {"random": np.random.default_rng(0).normal(size=(300, 2)) * 3, "pca": U[:, :2] * s[:2] / 5}
    weights = reconstruction_weights(X, graph, weights="membership")
    return X, fuzzy_simplicial_set(graph), weights, maps


def test_a_field_agrees_with_itself_and_is_the_opposite_of_its_reverse():
    field = np.random.default_rng(0).normal(size=(50, 2))
    assert field_agreement(field, 3 * field) == (pytest.approx(3 * np.square(field).sum()), pytest.approx(1), 1)
    assert field_agreement(field, -field)[1:] == (pytest.approx(-1), 0)
    across = field @ np.array([[0, 1], [-1, 0]])
    assert field_agreement(field, across).cosine == pytest.approx(0, abs=1e-15)
    assert field_agreement(field, 0 * field) == (0, 0, 0)
    with pytest.raises(
        ValueError, match=r"field_agreement: fields of shape \(50, 2\) and \(49, 2\) must be of one shape"
    ):
        field_agreement(field, field[1:])


def test_the_figures_are_those_of_the_two_oracles(rows):
    X, memberships, weights, maps = rows
    target = Gram.from_kernel("gaussian", X).dense()
    found = gradient_alignment(memberships, weights, maps, KERNEL, target=target, n_permutations=0)
    for name, Y in maps.items():
        umap = expected_umap_gradient(memberships, Y, KERNEL)
        ours = ReconstructionTrace(weights, KERNEL).reference(Y)[1]
        expected = field_agreement(umap, ours)
        assert found[name].cosine == pytest.approx(expected.cosine, abs=1e-5)
        assert found[name].inner_product == pytest.approx(expected.inner_product, rel=1e-4)
        assert found[name].share_positive == pytest.approx(expected.share_positive, abs=0.01)
        assert found[name].umap_norm == pytest.approx(np.linalg.norm(umap))
        assert found[name].reconstruction_norm == pytest.approx(np.linalg.norm(ours), rel=1e-5)
        control = field_agreement(umap, Frobenius(target, KERNEL).reference(Y)[1])
        assert found[name].control == pytest.approx(control.cosine, abs=1e-5)
        assert np.isnan([found[name].null_mean, found[name].null_std, found[name].z_score]).all()


def test_renaming_the_points_changes_nothing(rows):
    """Rows and columns of memberships, weights and map permuted together."""
    _, memberships, weights, maps = rows
    order = np.random.default_rng(1).permutation(300)
    renamed = type(memberships)(sp.csr_array(memberships.matrix[order][:, order]), memberships.normalization)
    renamed.matrix.sort_indices()
    plain = gradient_alignment(memberships, weights, {"map": maps["pca"]}, KERNEL, n_permutations=0)["map"]
    W = sp.csr_array(weights.W[order][:, order])
    other = gradient_alignment(renamed, W, {"map": maps["pca"][order]}, KERNEL, n_permutations=0)["map"]
    assert other.cosine == pytest.approx(plain.cosine, abs=1e-5)


def test_weights_of_the_data_stand_out_of_the_permuted_ones(rows):
    _, memberships, weights, maps = rows
    found = gradient_alignment(memberships, weights, maps, KERNEL, n_permutations=8, random_state=3)
    for one in found.values():
        assert one.cosine > 0.3
        assert one.share_positive > 0.5
        assert abs(one.null_mean) < 0.15
        assert one.z_score == pytest.approx((one.cosine - one.null_mean) / one.null_std)
        assert one.z_score > 5


def test_permuted_weights_are_a_draw_of_the_null(rows):
    _, memberships, weights, maps = rows
    order = np.random.default_rng(9).permutation(300)
    W = sp.csr_array(weights.W[order][:, order])
    found = gradient_alignment(memberships, W, {"map": maps["random"]}, KERNEL, n_permutations=10)["map"]
    assert abs(found.z_score) < 4


def test_the_seed_repeats_the_null_and_another_differs(rows):
    _, memberships, weights, maps = rows
    one, same, other = (
        on_threads(n_threads, gradient_alignment)(
            memberships, weights, maps, KERNEL, n_permutations=2, random_state=seed
        )
        for seed, n_threads in ((0, 1), (0, 3), (1, 1))
    )
    assert repr(one) == repr(same)
    assert one["random"].null_mean != other["random"].null_mean
    assert one["random"].cosine == other["random"].cosine


def test_what_does_not_fit_is_refused(rows):
    _, memberships, weights, maps = rows
    with pytest.raises(ValueError, match="gradient_alignment: embeddings must be at least one map"):
        gradient_alignment(memberships, weights, {}, KERNEL)
    with pytest.raises(ValueError, match=r"weights of shape \(5, 5\) must be of shape \(300, 300\)"):
        gradient_alignment(memberships, sp.eye_array(5).tocsr(), maps, KERNEL)
