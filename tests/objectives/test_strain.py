"""The strain: stored numbers, finite differences, forces of pairs, and the promise of the safe step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._threads import single_threaded_blas
from gnomon.affinities import Gram
from gnomon.objectives import Strain

i, j = np.indices((8, 3))
X8 = np.sin(1 + 1.7 * i + 0.9 * j + 0.31 * i * j)
Y8 = np.cos(0.5 + 1.1 * i + 2.3 * j + 0.17 * i * j)[:, :2]
N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 6)) + 2.0
K = (lambda Z: Z + Z.T)(RNG.normal(size=(N, N)))
Y = RNG.normal(size=(N, 3)) + 1.0
H = np.eye(N) - 1 / N

GRAMS = {
    "linear": (Gram.from_features(X), X @ X.T),
    "sparse": (Gram.from_features(sp.csr_array(X)), X @ X.T),
    "gaussian": (Gram.from_kernel("gaussian", X), Gram.from_kernel("gaussian", X).dense()),
    "indefinite": (Gram.from_matrix(K), K),
}
each = pytest.mark.parametrize(("gram", "matrix"), GRAMS.values(), ids=GRAMS)


def test_agrees_with_stored_reference():
    strain = Strain(Gram.from_features(X8))
    assert strain.loss(Y8) == pytest.approx(100.3105832, rel=1e-6)
    gradient = strain.gradient(Y8)
    np.testing.assert_allclose(gradient[[0, 7]], [[18.73829258, -22.44133375], [-17.37121898, 19.24099691]], rtol=1e-6)
    safe = strain.safe_bound(Y8)
    assert safe.radius == pytest.approx(7.400168265, rel=1e-6)
    assert safe.gamma == pytest.approx(0.04504402081, rel=1e-6)
    assert strain.loss(Y8 - safe.learning_rate * gradient) == pytest.approx(58.32693621, rel=1e-6)


@each
def test_the_loss_is_the_norm_of_the_difference(gram, matrix):
    assert Strain(gram).loss(Y) == pytest.approx(np.sum((H @ (matrix - Y @ Y.T) @ H) ** 2), rel=1e-12)


@each
def test_the_gradient_is_the_derivative_of_the_loss(gram, matrix):
    strain, step = Strain(gram), 1e-5
    gradient = strain.gradient(Y)
    assert gradient.dtype == strain.dtype == np.float64
    for row, column in ((0, 0), (7, 2), (39, 1)):
        move = np.zeros_like(Y)
        move[row, column] = step
        slope = (strain.loss(Y + move) - strain.loss(Y - move)) / (2 * step)
        assert gradient[row, column] == pytest.approx(slope, rel=1e-5)


@each
def test_forces_are_sums_over_pairs(gram, matrix):
    """Entries of HKH attract and those of HYY'H repel, each along y_i - y_j; negative ones swap roles."""
    attraction, repulsion = Strain(gram).forces(Y)
    pairs = Y[:, None] - Y[None]
    pulls = -4 * np.einsum("ij,ijd->id", H @ matrix @ H, pairs)
    pushes = 4 * np.einsum("ij,ijd->id", H @ Y @ Y.T @ H, pairs)
    np.testing.assert_allclose(attraction, pulls, atol=1e-9 * np.abs(pulls).max())
    np.testing.assert_allclose(repulsion, pushes, atol=1e-9 * np.abs(pushes).max())
    np.testing.assert_allclose(attraction + repulsion, -Strain(gram).gradient(Y), rtol=1e-12)


def test_moving_and_turning_the_points_changes_nothing():
    strain = Strain(Gram.from_features(X))
    turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    assert strain.loss(Y @ turn + 5.0) == pytest.approx(strain.loss(Y), rel=1e-12)
    np.testing.assert_allclose(strain.gradient(Y @ turn + 5.0), strain.gradient(Y) @ turn, atol=1e-9)


@pytest.mark.parametrize("indefinite", [False, True])
def test_a_safe_step_lowers_the_loss_by_what_it_promises(indefinite):
    rng = np.random.default_rng(int(indefinite))
    for _ in range(40):
        n, d = int(rng.integers(3, 12)), int(rng.integers(1, 3))
        Z = rng.normal(size=(n, n))
        strain = Strain(Gram.from_matrix(Z + Z.T if indefinite else Z @ Z.T))
        points = rng.normal(size=(n, d)) * 10 ** rng.uniform(-2, 1)
        with single_threaded_blas():  # once: each entry takes a millisecond
            safe = strain.safe_bound(points)
            for _ in range(20):
                gradient, before = strain.gradient(points), strain.loss(points)
                points = points - safe.learning_rate * gradient
                promised = 0.0 if indefinite else safe.learning_rate / 2 * np.sum(gradient**2)
                assert strain.loss(points) <= before - promised + 1e-12 * strain.gram.centred_squared_norm
                spread = np.linalg.norm(points - points.mean(0), 2) ** 2
                assert spread <= safe.radius * (1 + 1e-12)


def test_three_times_the_safe_step_can_fail():
    """The bound is of the right size: beyond 1/rho the largest component overshoots at its own scale."""
    strain = Strain(Gram.from_matrix(np.diag([4.0, 0.0, 0.0]) - 4 / 3))
    best = strain.gram.leading_eigenpairs(1)
    optimum = best.vectors * np.sqrt(best.values)
    safe = strain.safe_bound(optimum)
    points = optimum * 1.01
    for _ in range(30):
        points = points - 3.5 * safe.learning_rate * strain.gradient(points)
    assert strain.loss(points) > 10 * strain.loss(optimum * 1.01)


def test_indefinite_similarities_get_a_shorter_step_within_a_larger_ball():
    matrix = np.diag([2.0, -5.0, 1.0, 2.0])
    matrix -= matrix.mean(0)
    matrix = (matrix + matrix.T) / 2
    eigenvalues = np.linalg.eigvalsh((np.eye(4) - 0.25) @ matrix @ (np.eye(4) - 0.25))
    safe = Strain(Gram.from_matrix(matrix)).safe_bound(np.zeros((4, 2)))
    assert -eigenvalues[0] <= safe.radius <= -1.05 * eigenvalues[0]
    assert safe.gamma == pytest.approx(1 / (4 * safe.radius))


def test_a_constant_similarity_needs_no_step():
    safe = Strain(Gram.from_features(np.ones((5, 2)))).safe_bound(np.zeros((5, 2)))
    assert (safe.gamma, safe.learning_rate, safe.radius) == (0, 0, 0)


def test_a_wrong_shape_is_named():
    with pytest.raises(
        ValueError, match=r"Strain: Y of shape \(3, 2\) must be of shape \(n_samples=40, n_components\)"
    ):
        Strain(Gram.from_features(X)).loss(np.zeros((3, 2)))
