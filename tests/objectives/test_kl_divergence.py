"""The divergence of t-SNE: oracles, references, invariances and equal bytes."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy, CustomKernel, Gaussian, StudentT, UMAPKernel
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives import KLDivergence
from gnomon.objectives.pairs import repulsive_stiffness
from gnomon.objectives.terms.all_pairs import INTERPOLATION_FROM, TREE_FROM

KERNELS = [Cauchy(), UMAPKernel(1.5769, 0.8951), UMAPKernel(0.58, 1.334)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_components", [1, 2, 3, 7])
def test_exact_equals_the_oracle(kernel, n_components, random_affinities, random_embedding, oracle, relative_error):
    affinities, Y = random_affinities(133), random_embedding(133, n_components)
    objective = KLDivergence(affinities, kernel, evaluation="exact")
    expected = oracle(affinities, kernel, Y)
    assert objective.loss(Y) == pytest.approx(expected.divergence(), rel=1e-5)
    assert relative_error(objective.gradient(Y), expected.divergence_gradient()) < 3e-5


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_oracle_is_the_finite_difference_of_the_loss(kernel, random_affinities, random_embedding, oracle):
    affinities, Y = random_affinities(20, 4), random_embedding(20).astype(np.float64)
    gradient = oracle(affinities, kernel, Y).divergence_gradient()
    direction = np.random.default_rng(0).normal(size=Y.shape)
    up, down = (oracle(affinities, kernel, Y + step * direction).divergence() for step in (1e-5, -1e-5))
    assert (up - down) / 2e-5 == pytest.approx(np.sum(gradient * direction), rel=1e-7)


def test_exact_equals_the_reference_values(reference, relative_error):
    X, Y = np.array(reference["X8"]), np.array(reference["Y8"], dtype=np.float32)
    squared = np.square(X[:, None] - X[None]).sum(-1)
    conditional = np.exp(-np.array(reference["tsne"]["beta"])[:, None] * squared)
    np.fill_diagonal(conditional, 0)
    conditional /= conditional.sum(1, keepdims=True)
    P = sp.csr_array(((conditional + conditional.T) / 16).astype(np.float32))
    objective = KLDivergence(Affinities(P, "total"), evaluation="exact")
    assert objective.loss(Y) == pytest.approx(reference["tsne"]["kl"], rel=1e-5)
    assert relative_error(objective.gradient(Y), np.array(reference["tsne"]["grad"])) < 1e-5


@pytest.mark.parametrize("evaluation", ["exact", "interpolated"])
def test_forces_sum_to_minus_the_gradient_and_to_zero(evaluation, random_affinities, random_embedding):
    objective, Y = KLDivergence(random_affinities(200), evaluation=evaluation), random_embedding(200)
    objective.exaggeration = 3.0
    attraction, repulsion = objective.forces(Y)
    gradient = objective.gradient(Y)
    np.testing.assert_allclose(attraction + repulsion, -gradient, atol=1e-7)
    limit = 1e-5 if evaluation == "exact" else 0.01
    assert np.abs(gradient.sum(0)).max() < limit * np.abs(gradient).sum()


@pytest.mark.parametrize("weight", [0.25, 1.0, 4.0])
def test_a_weight_of_the_attraction_is_part_of_the_loss(weight, random_affinities, random_embedding):
    affinities, Y = random_affinities(30, 5), random_embedding(30)
    plain, weighted = KLDivergence(affinities), KLDivergence(affinities, attraction_weight=weight)
    P = affinities.matrix.toarray().astype(np.float64) / affinities.matrix.data.sum(dtype=np.float64)
    logs = -np.log1p(np.square(Y[:, None] - Y[None]).sum(-1).astype(np.float64))
    assert weighted.loss(Y) == pytest.approx(plain.loss(Y) - (weight - 1.0) * float((P * logs).sum()), rel=1e-5)
    plain.exaggeration = weight
    np.testing.assert_allclose(weighted.gradient(Y), plain.gradient(Y), rtol=1e-5, atol=1e-8)
    direction = np.random.default_rng(0).normal(size=Y.shape)
    up, down = (weighted.reference(Y + step * direction)[0] for step in (1e-6, -1e-6))
    assert (up - down) / 2e-6 == pytest.approx(float((weighted.reference(Y)[1] * direction).sum()), rel=1e-6)


@pytest.mark.parametrize("weight", [0.3, 0.9, 1.0, 2.0])
@pytest.mark.parametrize(("kernel", "power"), [(Cauchy(), 2.0), (StudentT(0.5), 1.5), (UMAPKernel(1.5, 0.8), 1.6)])
def test_with_less_attraction_the_loss_falls_with_the_logarithm_of_the_size(kernel, power, weight, random_affinities):
    objective = KLDivergence(random_affinities(30, 5), kernel, attraction_weight=weight)
    large = 1e6 * np.random.default_rng(0).normal(size=(30, 2))
    change = objective.reference(8.0 * large)[0] - objective.reference(large)[0]
    assert change == pytest.approx(-(1.0 - weight) * power * np.log(8.0), abs=1e-5)
    assert objective.falls_without_end == (weight < 1.0)


def test_with_a_kernel_that_has_no_such_tail_nothing_is_said_of_a_minimum(random_affinities):
    assert not KLDivergence(random_affinities(30, 5), Gaussian(), attraction_weight=0.5).falls_without_end


def test_exaggeration_multiplies_the_attraction_alone(random_affinities, random_embedding):
    objective, Y = KLDivergence(random_affinities(150)), random_embedding(150)
    attraction, repulsion = objective.forces(Y)
    loss = objective.loss(Y)
    objective.exaggeration = 12.0
    exaggerated, same = objective.forces(Y)
    np.testing.assert_allclose(exaggerated, 12 * attraction, atol=1e-6)
    np.testing.assert_array_equal(same, repulsion)
    assert objective.loss(Y) == loss


def test_moving_and_rotating_the_embedding_changes_nothing(random_affinities, random_embedding, relative_error):
    objective, Y = KLDivergence(random_affinities(150)), random_embedding(150)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]], dtype=np.float32)
    assert objective.loss(Y @ turn + 2) == pytest.approx(objective.loss(Y), rel=1e-5)
    assert relative_error(objective.gradient(Y @ turn + 2), objective.gradient(Y) @ turn) < 1e-4


def test_two_points_are_at_rest_at_any_distance():
    # p = q = 1/2 whatever the distance: the loss is 0 and so is the gradient.
    objective = KLDivergence(Affinities(sp.csr_array(np.array([[0, 0.5], [0.5, 0]], np.float32)), "total"))
    for distance in (0.0, 1e-3, 1.0, 100.0):
        Y = np.array([[0.0, 0.0], [distance, 0.0]], dtype=np.float32)
        assert objective.loss(Y) == pytest.approx(0.0, abs=1e-5)
        assert np.abs(objective.gradient(Y)).max() < 1e-5


def test_affinities_of_any_sum_are_normalised(random_affinities, random_embedding):
    affinities, Y = random_affinities(100), random_embedding(100)
    doubled = Affinities(sp.csr_array(affinities.matrix * np.float32(2)), "total")
    assert KLDivergence(doubled).loss(Y) == pytest.approx(KLDivergence(affinities).loss(Y), rel=1e-6)


@pytest.mark.parametrize("evaluation", ["exact", "interpolated"])
def test_equal_bytes_for_any_number_of_threads(evaluation, random_affinities, random_embedding):
    affinities, Y = random_affinities(3001), random_embedding(3001, scale=5.0)
    results = []
    for n_threads in (1, 2, 3, 5):
        with running(n_threads=n_threads):
            objective = KLDivergence(affinities, evaluation=evaluation)
            results.append((objective.gradient(Y).tobytes(), objective.loss(Y)))
    assert results.count(results[0]) == 4


def test_auto_switches_where_it_says(random_affinities):
    few, some, most, many = map(
        random_affinities, (TREE_FROM - 1, TREE_FROM, INTERPOLATION_FROM[2] - 1, INTERPOLATION_FROM[2])
    )
    rough = UMAPKernel(1.5, 0.8)
    assert [KLDivergence(few).evaluation_for(d) for d in (1, 2, 3, 4)] == ["exact"] * 4
    for one in (some, most):
        assert [KLDivergence(one).evaluation_for(d) for d in (1, 2, 3, 4)] == ["interpolated", "tree", "tree", "exact"]
    assert [KLDivergence(many).evaluation_for(d) for d in (1, 2, 3, 4)] == ["interpolated"] * 2 + ["tree", "exact"]
    assert [KLDivergence(many, rough).evaluation_for(d) for d in (1, 2, 3, 4)] == ["tree"] * 3 + ["exact"]


@pytest.mark.parametrize(
    ("n_components", "n"), [(1, TREE_FROM), (2, TREE_FROM), (3, TREE_FROM), (2, INTERPOLATION_FROM[2])]
)
def test_both_sides_of_each_switch_agree(n_components, n, random_affinities, random_embedding, relative_error):
    affinities, Y = random_affinities(n), random_embedding(n, n_components, scale=3.0)
    exact, approximate = KLDivergence(affinities, evaluation="exact"), KLDivergence(affinities)
    assert approximate.loss(Y) == pytest.approx(exact.loss(Y), rel=1e-3)
    assert relative_error(approximate.gradient(Y), exact.gradient(Y)) < 0.02


def test_what_cannot_be_interpolated_is_refused(random_affinities, random_embedding):
    affinities = random_affinities(50)
    with pytest.raises(ValueError, match=r"kernel of bounded slope .*UMAPKernel.*Use evaluation='exact'"):
        KLDivergence(affinities, UMAPKernel(1.5, 0.8), evaluation="interpolated")
    with pytest.raises(ValueError, match=r"n_components=3 must be at most 2"):
        KLDivergence(affinities, evaluation="interpolated").gradient(random_embedding(50, 3))
    with pytest.raises(ValueError, match=r"Y of shape \(49, 2\) must be of shape \(n_samples=50"):
        KLDivergence(affinities).gradient(random_embedding(49))
    with pytest.raises(ValueError, match="affinities must be a matrix with at least one entry"):
        KLDivergence(Affinities(sp.csr_array((5, 5), dtype=np.float32), "total"))


@pytest.mark.parametrize("n_components", [2, 3])
def test_loss_and_gradient_are_those_of_scikit_learn(n_components, random_affinities, random_embedding, relative_error):
    from scipy.spatial.distance import squareform
    from sklearn.manifold._t_sne import _kl_divergence

    affinities, Y = random_affinities(90), random_embedding(90, n_components)
    dense = affinities.matrix.toarray().astype(np.float64)
    np.fill_diagonal(dense, 0.0)
    pairs = np.maximum(squareform(dense / dense.sum(), checks=False), np.finfo(np.float64).eps)
    loss, gradient = _kl_divergence(Y.ravel().astype(np.float64), pairs, 1.0, 90, n_components)
    objective = KLDivergence(affinities, evaluation="exact")
    assert objective.loss(Y) == pytest.approx(loss, rel=1e-5)
    assert relative_error(objective.gradient(Y), gradient.reshape(Y.shape)) < 1e-5


@pytest.mark.parametrize("dof", [0.2, 0.5, 1.0, 2.0])
def test_kernels_with_the_cauchy_s_tails_or_heavier_are_as_stiff_as_their_attractions(dof, random_affinities):
    affinities = random_affinities(60)
    slope = abs(evaluate_law("log", StudentT(dof), np.array([0.01]))[1][0])
    expected = KLDivergence(affinities).pull * np.float32(slope / (1 / 1.01))
    np.testing.assert_allclose(KLDivergence(affinities, StudentT(dof)).pull, expected, rtol=1e-6)


def test_lighter_tails_make_forces_stiffer_up_to_the_gaussian(random_affinities):
    """By the exponent e = (dof + 1) / 2 of the tail, which is looked at at 100 over the slope at 0."""
    found = [repulsive_stiffness(StudentT(dof), (dof + 1) / (2 * dof)) for dof in (2, 3, 5, 10, 50, 1e9)]
    assert found[0] == 1.0
    assert found == sorted(found)
    for dof, one in zip((3, 5, 10, 50), found[1:], strict=False):
        s = 100 * 2 * dof / (dof + 1)
        fall = (dof + 1) / 2 * s / (dof + s)
        assert one == pytest.approx(1 / (0.3 + 0.8 / (fall - 0.5)))
    # In units of its own scale a kernel is the same, and the Gaussian is the limit.
    gaussians = [repulsive_stiffness(Gaussian(scale), 1 / scale) for scale in (0.1, 1.0, 30.0)]
    np.testing.assert_allclose(gaussians, found[-1], rtol=1e-6)
    assert (
        repulsive_stiffness(CustomKernel(lambda s: np.exp(-(s**2)), lambda s: -2 * s * np.exp(-(s**2))), 1.0) == 1 / 0.3
    )
    assert repulsive_stiffness(Gaussian(), 0.0) == 1.0
