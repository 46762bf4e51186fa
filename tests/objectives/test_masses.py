"""Points that stand for several rows: losses are those of all pairs of rows, written down row by row in float64."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy, Gaussian, StudentT, UMAPKernel
from gnomon.objectives import (
    ConditionalDivergence,
    CrossEntropy,
    InfoNCE,
    KLDivergence,
    LinearAttraction,
    gradient_error,
)
from gnomon.objectives.terms import AllPairs
from gnomon.optimizers import GradientDescent

N = 30
MASSES = np.random.default_rng(5).integers(1, 5, N).astype(np.float64)


@pytest.fixture
def rows(random_affinities, random_embedding):
    """Return affinities with masses, places, and the same row by row: affinities of pairs, places, different points."""

    def make(normalization="total", d=2):
        found = random_affinities(N, 8, normalization="membership" if normalization == "membership" else "total")
        matrix = found.matrix
        if normalization == "rows":
            matrix = sp.csr_array(matrix / matrix.sum(axis=1)[:, None], dtype=np.float32)
        Y = random_embedding(N, d)
        at = np.repeat(np.arange(N), MASSES.astype(int))
        dense = matrix.toarray().astype(np.float64)[np.ix_(at, at)]
        shares = np.ones(N) if normalization == "rows" else MASSES
        dense /= shares[at][:, None] * MASSES[at]
        return Affinities(matrix, normalization, masses=MASSES), Y, dense, Y.astype(np.float64)[at], at[:, None] != at

    return make


def squares(Z):
    return np.square(Z[:, None] - Z[None]).sum(-1)


def assert_second_order(objective, Y):
    """Compare the loss to second order with differences of the plain gradient."""
    points, Z = Y.astype(np.float64), np.random.default_rng(0).normal(size=Y.shape)
    found = objective.expand(points)
    np.testing.assert_allclose(found.gradient, objective.reference(points)[1], atol=1e-9)
    ahead, behind = (objective.reference(points + step * Z)[1] for step in (1e-5, -1e-5))
    exact = ((ahead - behind) / 2e-5).T.ravel()
    np.testing.assert_allclose(found.product(Z.T.ravel()), exact, atol=1e-6)
    np.testing.assert_allclose(found.hessian() @ Z.T.ravel(), exact, atol=1e-6)


def plogp(p, q):
    return np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))


@pytest.mark.parametrize("kernel", [Cauchy(), Gaussian(), StudentT(2.0)], ids=str)
@pytest.mark.parametrize("evaluation", ["exact", "tree", "interpolated"])
def test_the_divergence_is_that_of_the_rows(rows, kernel, evaluation, relative_error):
    affinities, Y, P, Z, apart = rows()
    k = np.where(apart, kernel.value(squares(Z)), 0.0)
    exact = plogp(P, np.where(apart, k, 1.0) / k.sum())
    objective = KLDivergence(affinities, kernel, evaluation=evaluation, theta=0.0, spacing=0.1)
    assert objective.reference(Y)[0] == pytest.approx(exact, rel=1e-6)
    assert objective.loss(Y) == pytest.approx(exact, rel=1e-4)
    assert gradient_error(objective, Y) < 1e-6
    assert relative_error(objective.gradient(Y), objective.reference(Y)[1]) < (1e-3 if evaluation != "exact" else 1e-5)
    assert_second_order(type(objective)(replace(affinities, matrix=affinities.matrix.astype(np.float64)), kernel), Y)


def test_the_conditional_divergence_is_that_of_the_rows(rows, relative_error):
    affinities, Y, P, Z, apart = rows("rows")
    k = np.where(apart, Gaussian().value(squares(Z)), 0.0)
    exact = plogp(P, np.where(apart, k, 1.0) / k.sum(axis=1, keepdims=True))
    objective = ConditionalDivergence(affinities)
    assert objective.loss(Y) == pytest.approx(exact, rel=1e-5)
    assert objective.reference(Y)[0] == pytest.approx(exact, rel=1e-6)
    assert gradient_error(objective, Y) < 1e-6
    assert relative_error(objective.gradient(Y), objective.reference(Y)[1]) < 1e-5
    assert_second_order(type(objective)(replace(affinities, matrix=affinities.matrix.astype(np.float64))), Y)


@pytest.mark.parametrize("exponent", [0.0, 0.75])
@pytest.mark.parametrize("evaluation", ["exact", "tree"])
def test_the_cross_entropy_is_that_of_the_rows(rows, exponent, evaluation, relative_error):
    affinities, Y, mu, Z, apart = rows("membership")
    kernel = UMAPKernel(1.5769, 0.8951)
    k = np.where(apart, kernel.value(squares(Z)), 0.5)
    degree = mu.sum(axis=1)
    noise = degree**exponent / (degree**exponent).sum()
    repulsion = 5.0 * (np.outer(degree, noise) + np.outer(noise, degree)) / 4.0 * apart
    exact = np.sum(-mu * np.log(k) - repulsion * np.log(1.0 - k))
    objective = CrossEntropy(affinities, kernel, noise_exponent=exponent, evaluation=evaluation, theta=0.0)
    assert objective.loss(Y) == pytest.approx(exact, rel=1e-4)
    assert gradient_error(objective, Y) < 1e-6
    assert relative_error(objective.gradient(Y), objective.reference(Y)[1]) < 1e-4


def test_the_sampled_cross_entropy_has_the_mean_forces_of_the_rows(rows, relative_error):
    affinities, Y, *_ = rows("membership")
    kernel, Y = UMAPKernel(1.5769, 0.8951), 5.0 * Y  # no force is cut
    sampled = CrossEntropy(affinities, kernel, n_draws=16, seed=3)
    total = np.zeros(Y.shape)
    for epoch in range(3000):
        sampled.at(epoch, 3000)
        total += sampled.forces(Y)[1]
    # a point is pushed by those drawn for it alone, twice as strongly: the mean is that of u_i v_j
    u, v = (weight.astype(np.float64) for weight in sampled.sampling_weights)
    s = squares(Y.astype(np.float64))
    np.fill_diagonal(s, np.inf)
    slope = kernel.derivative(np.where(np.isfinite(s), s, 1.0)) / (1.0 - kernel.value(s))
    push = np.where(np.isfinite(s), -2.0 * sampled.repulsion / N * u[:, None] * v * slope, 0.0)
    mean = push.sum(axis=1)[:, None] * Y - push @ Y
    np.testing.assert_allclose(v, N * MASSES / MASSES.sum(), rtol=1e-6)
    assert relative_error(total / 3000, mean) < 0.05


@pytest.mark.parametrize("charges", ["degree", "uniform"])
@pytest.mark.parametrize("gravity", [0.0, 0.1])
def test_springs_are_those_of_the_rows(rows, charges, gravity, relative_error):
    affinities, Y, a, Z, apart = rows("membership")
    h = a.sum(axis=1) + 1.0 if charges == "degree" else np.ones(len(Z))
    s = np.where(apart, squares(Z), 1.0)
    middle = np.average(Z, axis=0, weights=h)
    exact = 0.25 * np.sum(a * s) - 0.25 * np.sum(apart * np.outer(h, h) * np.log(s))
    exact += gravity * np.sum(h[:, None] * (Z - middle) ** 2)
    objective = LinearAttraction(affinities, charges=charges, gravity=gravity)
    assert objective.loss(Y) == pytest.approx(exact, rel=1e-5)
    assert gradient_error(objective, Y) < 1e-6
    assert relative_error(objective.gradient(Y), objective.reference(Y)[1]) < 1e-5


def test_noise_counts_by_mass(rows, relative_error):
    affinities, Y, *_ = rows()
    objective = InfoNCE(affinities, n_noise=4, seed=2)
    loss, gradient = objective.reference(Y)
    drawn = (np.arange(N)[:, None] + objective.shifts()) % N
    k = Cauchy().value(squares(Y.astype(np.float64)))
    noise = (MASSES[drawn] * np.take_along_axis(k, drawn, axis=1)).sum(axis=1)
    dense = affinities.matrix.toarray().astype(np.float64)
    assert loss == pytest.approx(np.sum(dense * (np.log(k + noise[:, None]) - np.log(k))), rel=1e-10)
    assert gradient_error(objective, Y) < 1e-6
    found, slope = objective.loss_and_gradient(Y)
    assert found == pytest.approx(loss, rel=1e-5)
    assert relative_error(slope, gradient) < 1e-5


@pytest.mark.parametrize("scale", [1.0, 1e-3], ids=["wide", "within a kernel"])
@pytest.mark.parametrize("d", [1, 2])
def test_a_mesh_of_charges_is_the_sum_over_pairs(scale, d, random_embedding, relative_error):
    Y, masses = random_embedding(500, d, scale=scale), np.random.default_rng(0).uniform(0.1, 9.0, 500)
    mesh = AllPairs(500, Cauchy(), masses=masses, link="log", evaluation="interpolated", spacing=0.1)
    exact = AllPairs(500, Cauchy(), masses=masses, link="log")
    assert mesh.energy(Y) == pytest.approx(exact.energy(Y), rel=1e-4)
    assert relative_error(mesh.force(Y), exact.reference(Y.astype(np.float64))[1]) < 2e-3


def test_a_descent_steps_by_the_gradient_of_one_row(rows):
    affinities, Y, *_ = rows()
    objective = KLDivergence(affinities)
    step = GradientDescent(0.5, max_iter=1, gains=False, centered=False, early_exaggeration_iter=0, max_step_norm=None)
    moved = step.minimize(objective, Y).embedding - Y
    np.testing.assert_allclose(moved, -0.5 * objective.gradient(Y) / MASSES[:, None].astype(np.float32), atol=1e-6)


def test_a_new_row_meets_points_by_their_masses(rows):
    total, row, membership = (rows(name)[0] for name in ("total", "rows", "membership"))
    Y, kernel = rows()[1], UMAPKernel(1.5769, 0.8951)
    for objective, charges in (
        (KLDivergence(total), MASSES * MASSES.mean()),  # of a point of mean mass
        (ConditionalDivergence(row), MASSES),
        (CrossEntropy(membership, kernel), MASSES / MASSES.mean()),
        (LinearAttraction(membership, charges="uniform"), MASSES),
        (InfoNCE(total), MASSES),
    ):
        (found,) = objective.row_loss(Y).repulsions
        np.testing.assert_allclose(found.charges, charges, rtol=1e-5)
    # the linear part of log Z in a row that joins, over what the attraction of a mean row does
    k = np.where(~np.eye(N, dtype=bool), Cauchy().value(squares(Y.astype(np.float64))), 0.0)
    (found,) = KLDivergence(total).row_loss(Y).repulsions
    assert found.strength == pytest.approx(N / (MASSES @ k @ MASSES), rel=1e-5)
