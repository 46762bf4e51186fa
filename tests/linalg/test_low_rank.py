"""Low-rank factors: what they recover, what their bound promises, what they read."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_limits

from gnomon.linalg import nystrom, pivoted_cholesky, randomized_factor
from gnomon.linalg.draws import draw_by_weight


class Matrix:
    """A dense matrix behind the door that low-rank factors use; counts what is read."""

    def __init__(self, K):
        self.K = K
        self.n_samples = len(K)
        self.columns_read = 0

    def matvec(self, Y):
        return self.K @ Y

    def block(self, rows, columns):
        assert rows is None
        self.columns_read += len(columns)
        return self.K[:, columns]

    def diagonal(self):
        return np.diag(self.K).copy()


def gaussian_matrix(n=150, sigma=1.5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-np.square(X[:, None] - X[None]).sum(-1) / (2 * sigma**2))


def matrix_of_rank(rank, n=80):
    B = np.random.default_rng(1).normal(size=(n, rank))
    return B @ B.T


FACTORS = [
    pytest.param(lambda A, r, **o: randomized_factor(A, r, semidefinite=True, **o), id="randomized"),
    pytest.param(lambda A, r, **o: randomized_factor(A, r, **o), id="randomized-indefinite"),
    pytest.param(nystrom, id="nystrom"),
    pytest.param(lambda A, r, **o: nystrom(A, r, landmarks="k-means++", **o), id="nystrom-k-means++"),
    pytest.param(pivoted_cholesky, id="cholesky"),
    pytest.param(lambda A, r, **o: pivoted_cholesky(A, r, pivots="greedy", **o), id="cholesky-greedy"),
]
BOUNDED = [one for one in FACTORS if one.id != "randomized-indefinite"]


@pytest.mark.parametrize("factor", FACTORS)
def test_a_matrix_of_that_rank_is_recovered_exactly(factor):
    K = matrix_of_rank(6)
    for rank in (6, 15):
        found = factor(Matrix(K), rank)
        np.testing.assert_allclose(found.B @ found.B.T, K, atol=1e-9 * np.abs(K).max())
        assert found.rank == 6
        assert found.residual_trace <= 1e-9 * np.trace(K)
    np.testing.assert_allclose(found.matvec(np.eye(80)[:, :3]), K[:, :3], atol=1e-9 * np.abs(K).max())


@pytest.mark.parametrize("factor", BOUNDED)
@pytest.mark.parametrize("rank", [3, 10, 40])
def test_the_residual_trace_is_free_and_bounds_the_error(factor, rank):
    K = gaussian_matrix()
    found = factor(Matrix(K), rank)
    residual = K - found.B @ found.B.T
    eigenvalues = np.linalg.eigvalsh(residual)
    assert found.residual_trace == pytest.approx(np.trace(residual), abs=1e-10)
    assert found.error_bound == found.residual_trace
    assert eigenvalues[0] > -1e-9
    assert eigenvalues[-1] <= found.error_bound + 1e-12
    centred = np.eye(150) - 1 / 150
    assert np.linalg.norm(centred @ residual @ centred, 2) <= found.centred().error_bound + 1e-12


def test_a_projected_matrix_claims_no_bound():
    # K - Q Q' K Q Q' has blocks Q' K off the diagonal, which its trace does not see.
    K = gaussian_matrix(sigma=20)
    plain = {"n_oversamples": 0, "n_power_iterations": 0}
    found = randomized_factor(Matrix(K), 5, **plain)
    assert np.linalg.norm(K - found.B @ found.B.T, 2) > 1.1 * found.residual_trace
    assert found.error_bound == np.inf
    assert randomized_factor(Matrix(K), 5, semidefinite=True, **plain).error_bound < np.inf


def test_randomized_is_close_to_the_best_of_its_rank():
    K = gaussian_matrix()
    eigenvalues = np.linalg.eigvalsh(K)[::-1]
    found = randomized_factor(Matrix(K), 12, semidefinite=True)
    assert found.residual_trace <= 1.0001 * eigenvalues[12:].sum()
    np.testing.assert_allclose(np.square(found.B).sum(axis=0), eigenvalues[:12], rtol=1e-6)


def test_randomized_keeps_the_positive_part_of_an_indefinite_matrix():
    vectors, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 5)))
    K = (vectors * [5.0, 3.0, -4.0, 1.0, -2.0]) @ vectors.T
    found = randomized_factor(Matrix(K), 5)
    positive = (vectors[:, [0, 1, 3]] * [5.0, 3.0, 1.0]) @ vectors[:, [0, 1, 3]].T
    assert found.rank == 3
    np.testing.assert_allclose(found.B @ found.B.T, positive, atol=1e-12)


@pytest.mark.parametrize("factor", [nystrom, pivoted_cholesky])
def test_methods_for_semidefinite_matrices_refuse_others(factor):
    K = gaussian_matrix(60)
    K[:30, 30:] *= -3
    K[30:, :30] *= -3
    with pytest.raises(ValueError, match=r"the similarity must be positive semidefinite .*method='randomized'"):
        factor(Matrix(K), 40)


@pytest.mark.parametrize("factor", FACTORS[2:])
def test_only_the_columns_asked_for_are_read(factor):
    A = Matrix(gaussian_matrix())
    found = factor(A, 20)
    assert A.columns_read == 20
    assert len(set(found.landmarks.tolist())) == 20


def test_greedy_pivots_are_those_of_lapack():
    K = gaussian_matrix(40)
    factor, pivots, _, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=1e-8)
    found = pivoted_cholesky(Matrix(K), 10, pivots="greedy")
    np.testing.assert_array_equal(found.landmarks, pivots[:10] - 1)
    np.testing.assert_allclose(found.B[pivots - 1], np.tril(factor)[:, :10], atol=1e-10)


def test_random_pivots_are_drawn_by_the_diagonal():
    K = np.diag([8.0, 0.0, 1.0, 1.0])
    first = [int(pivoted_cholesky(Matrix(K), 1, seed=seed).landmarks[0]) for seed in range(400)]
    assert np.bincount(first, minlength=4)[1] == 0
    assert np.bincount(first, minlength=4)[0] / 400 == pytest.approx(0.8, abs=0.06)


def test_seeds_of_k_means_fall_into_different_clusters():
    labels = np.repeat(np.arange(5), 20)
    X = 100.0 * np.random.default_rng(0).normal(size=(5, 4))[labels] + np.random.default_rng(1).normal(size=(100, 4))
    for seed in range(5):
        chosen = nystrom(Matrix(X @ X.T), 5, landmarks="k-means++", seed=seed).landmarks
        assert len(set(labels[chosen])) == 5


def test_small_eigenvalues_of_the_core_are_left_out():
    B = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 1e-2, 1e-7]
    assert nystrom(Matrix(B @ B.T), 50).rank == 2


def test_cholesky_ends_at_the_tolerance():
    K = gaussian_matrix()
    found = pivoted_cholesky(Matrix(K), 150, tol=0.05)
    assert found.residual_trace <= 0.05 * np.trace(K)
    assert 5 < found.rank < 60


def test_a_matrix_of_zeros_has_rank_zero():
    for factor in (nystrom, pivoted_cholesky, randomized_factor):
        found = factor(Matrix(np.zeros((10, 10))), 3)
        assert found.B.shape == (10, 0)
        assert found.residual_trace == 0


@pytest.mark.parametrize("factor", FACTORS)
def test_a_seed_gives_the_same_bytes_for_any_number_of_blas_threads(factor):
    K = gaussian_matrix(400)
    found = []
    for threads in (1, 2, 3, 5):
        with threadpool_limits(limits=threads):
            found.append(factor(Matrix(K), 25, seed=7).B.tobytes())
    assert len(set(found)) == 1


def test_another_seed_draws_other_columns():
    K = gaussian_matrix()
    for factor in (nystrom, pivoted_cholesky):
        chosen = [tuple(sorted(factor(Matrix(K), 10, seed=seed).landmarks)) for seed in range(3)]
        assert len(set(chosen)) == 3


def test_the_rank_is_checked():
    for factor in (nystrom, pivoted_cholesky, randomized_factor):
        with pytest.raises(ValueError, match=r"rank=11 must be at most n_samples=10\. Lower rank\."):
            factor(Matrix(np.eye(10)), 11)


def test_an_index_without_weight_is_never_drawn():
    weights = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    drawn = [draw_by_weight(weights, u) for u in (0.0, 0.2999, 0.3001, 0.9999, np.nextafter(1.0, 0.0), 1.0)]
    assert drawn == [1, 1, 3, 3, 3, 3]
