"""When a low-rank gradient leads where the full one does: the corrected condition, and what the printed one misses."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.affinities import Gram
from gnomon.linalg import LowRank
from gnomon.theory import lowrank_alignment


def as_low_rank(B):
    return LowRank(B, "randomized", 0.0, bounded=False)


def spectrum(eigenvalues, n=20, seed=0):
    """Return orthonormal vectors orthogonal to the vector of ones, and the matrix with these eigenvalues."""
    vectors = np.random.default_rng(seed).normal(size=(n, len(eigenvalues)))
    vectors, _ = np.linalg.qr(np.concatenate([np.ones((n, 1)), vectors], axis=1))
    vectors = vectors[:, 1:]
    return vectors, (vectors * np.asarray(eigenvalues)) @ vectors.T


@pytest.fixture
def gram(digits):
    return Gram.from_features(digits[0][:300]).centred()


def test_the_printed_condition_does_not_imply_a_positive_inner_product():
    """The counterexample: the best approximation of rank 2, an embedding off the optimum, and a wrong direction."""
    vectors, T = spectrum([10.0, 9.5, 1.0, 0.9, 0.05, 0.01])
    approximation = as_low_rank(vectors[:, :2] * np.sqrt([10.0, 9.5]))
    Y = np.stack([np.sqrt(10.0) * vectors[:, 0], 0.82 * vectors[:, 2]], axis=1)
    found = lowrank_alignment(Gram.from_matrix(T), approximation, Y, epsilon=0.05)
    assert np.linalg.norm(T - Y @ Y.T) ** 2 == pytest.approx(91, abs=0.3)
    assert 1.05 * (10 / 9.5) * found.residual_frobenius**2 == pytest.approx(2.0, abs=0.01)
    assert found.printed_condition[0]
    assert found.inner_product[0] == pytest.approx(-2.4, abs=0.05)
    assert found.cosine[0] < -0.1
    assert not found.condition[0]
    assert not found.certificate[0]
    assert not found.always_aligned


def test_it_fails_on_digits_too(gram):
    found = lowrank_alignment(gram, gram.approximate("nystrom", rank=4, seed=1), max_iter=200, every=5)
    wrong = found.inner_product < 0
    assert wrong.any()
    assert (found.printed_condition & wrong).any()
    assert not (found.condition & wrong).any()


@pytest.mark.parametrize("method", ["randomized", "nystrom", "cholesky"])
@pytest.mark.parametrize("rank", [3, 20])
def test_the_certificate_implies_the_condition_and_that_a_positive_inner_product(gram, method, rank):
    rng = np.random.default_rng(0)
    approximation = gram.approximate(method, rank=rank)
    size = np.sqrt(gram.centred_bounds[1])
    random = [10 ** rng.uniform(-2, 1) * size / 17 * rng.normal(size=(300, 2)) for _ in range(10)]
    for embeddings in (None, random):  # the descent starts too small and ends too near for rank 3
        found = lowrank_alignment(gram, approximation, embeddings, max_iter=60, every=3)
        assert found.certificate.any() or rank == 3
        assert (found.condition | ~found.certificate).all()
        assert ((found.inner_product > 0) | ~found.condition).all()


def test_inner_products_are_those_of_the_gradients():
    rng = np.random.default_rng(3)
    X, B, Y = rng.normal(size=(30, 5)), rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    H = np.eye(30) - 1 / 30
    full, low = (-4 * H @ (K - Y @ Y.T) @ H @ Y for K in (X @ X.T, B @ B.T))
    found = lowrank_alignment(Gram.from_features(X), as_low_rank(B), Y)
    residual = H @ (B @ B.T - X @ X.T) @ H
    assert found.inner_product[0] == pytest.approx(np.sum(full * low))
    assert found.cosine[0] == pytest.approx(np.sum(full * low) / np.linalg.norm(full) / np.linalg.norm(low))
    assert found.gradient_norm[0] == pytest.approx(np.linalg.norm(full))
    assert found.residual_frobenius == pytest.approx(np.linalg.norm(residual))
    assert 1 <= found.residual_norm / np.linalg.norm(residual, 2) <= 1.05
    assert found.condition[0] == (np.linalg.norm(residual @ H @ Y) < np.linalg.norm(full / 4))


def test_an_exact_factor_leads_the_same_way(gram):
    found = lowrank_alignment(gram, gram.approximate("randomized", rank=64), max_iter=50)
    assert found.residual_norm < 1e-6 * gram.centred_bounds[1]
    assert found.cosine.min() > 1 - 1e-9
    assert found.always_aligned
    assert found.certified_share == 1.0
    assert found.subspace_bound < 1e-5


def test_the_subspaces_are_as_close_as_the_bound_says(gram):
    for rank in (20, 40):
        approximation = gram.approximate("randomized", rank=rank)
        found = lowrank_alignment(gram, approximation, np.zeros((300, 2)))
        own = gram.leading_eigenpairs(2).vectors
        other = Gram.from_factor(approximation).leading_eigenpairs(2).vectors
        cosines = np.linalg.svd(own.T @ other, compute_uv=False)
        assert np.sqrt(max(1 - cosines[-1] ** 2, 0)) <= found.subspace_bound
        assert np.isnan(found.cosine[0])


def test_the_summary_names_the_figures(gram):
    text = str(lowrank_alignment(gram, gram.approximate("cholesky", rank=20), max_iter=30))
    assert "Smallest cosine" in text
    assert "over 31 embeddings" in text
    assert text.splitlines()[3].split()[0] == "0"
    assert text.splitlines()[-1].split()[0] == "30"


def test_errors_name_the_argument_and_the_rule(gram):
    with pytest.raises(ValueError, match=r"approximation of 10 points must be of the similarity's 300 points"):
        lowrank_alignment(gram, as_low_rank(np.zeros((10, 2))))
    with pytest.raises(ValueError, match=r"embeddings of shape \(300,\) must be one of shape"):
        lowrank_alignment(gram, as_low_rank(np.zeros((300, 2))), np.zeros(300))
