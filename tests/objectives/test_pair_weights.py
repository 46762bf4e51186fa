"""Weights of pairs in the sums with a target for each pair."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon.kernels import EXAMPLES, Cauchy, Distance
from gnomon.objectives import Frobenius
from gnomon.objectives.terms import TargetPairs

KERNELS = [kernel for kernel in EXAMPLES.values() if kernel.name not in ("inverse_power", "logarithmic")]


def problem(n, d, seed=0):
    rng = np.random.default_rng(seed)
    Y, target, weights = rng.normal(size=(n, d)).astype(np.float32), rng.random((n, n)), rng.random((n, n))
    return Y, target + target.T, weights + weights.T, rng.random(n)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize(("n", "d"), [(2, 2), (33, 1), (47, 5)])
def test_weighted_sums_equal_the_plain_ones_in_double(kernel, n, d):
    Y, target, weights, u = problem(n, d)
    for given in (weights, u):
        objective = Frobenius(target, kernel, weights=given)
        loss, gradient = objective.loss_and_gradient(Y)
        expected, slopes = objective.reference(Y)
        assert loss == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(gradient, slopes, rtol=0, atol=2e-5 * np.abs(slopes).max())


def plain_loss(flat, kernel, target, weights):
    Y = flat.reshape(len(target), -1)
    i, j = np.triu_indices(len(target), 1)
    errors = kernel.value(np.square(Y[i] - Y[j]).sum(-1)) - target[i, j]
    return 2.0 * float(weights[i, j] @ np.square(errors))


def test_weighted_sums_beyond_a_tile():
    test_weighted_sums_equal_the_plain_ones_in_double(Distance(), 1030, 2)


@pytest.mark.parametrize("kernel", [Distance(), Cauchy()], ids=lambda kernel: type(kernel).__name__)
def test_the_gradient_is_that_of_the_weighted_loss(kernel):
    Y, target, weights, u = problem(9, 2)
    flat = Y.astype(np.float64).ravel()
    for given, full in ((weights, weights), (u, np.outer(u, u))):
        objective = Frobenius(target, kernel, weights=given)
        rises = [plain_loss(flat + step, kernel, target, full) for step in 1e-6 * np.eye(18)]
        falls = [plain_loss(flat - step, kernel, target, full) for step in 1e-6 * np.eye(18)]
        slopes = (np.array(rises) - falls) / 2e-6
        assert objective.loss(Y) == pytest.approx(plain_loss(flat, kernel, target, full), rel=1e-5)
        np.testing.assert_allclose(objective.gradient(Y).ravel(), slopes, rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(np.sum(objective.forces(Y), axis=0).ravel(), -slopes, rtol=2e-4, atol=2e-5)


def test_a_pair_of_weight_zero_is_left_out():
    Y, target, weights, u = problem(40, 2)
    weights[3, 7] = weights[7, 3] = 0.0
    other = target.copy()
    other[3, 7] = other[7, 3] = 1e6
    for matrix in (target, other):
        found = Frobenius(matrix, Distance(), weights=weights).loss_and_gradient(Y)
        if matrix is target:
            expected = found
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1])
    u[30:] = 0.0
    loss, gradient = Frobenius(target, Distance(), weights=u).loss_and_gradient(Y)
    part = Frobenius(target[:30, :30], Distance(), weights=u[:30]).loss_and_gradient(Y[:30])
    assert loss == pytest.approx(part[0], rel=1e-6)
    np.testing.assert_allclose(gradient[:30], part[1], rtol=1e-4, atol=1e-5)
    assert not gradient[30:].any()


def test_weights_of_one_change_nothing():
    Y, target, _, _ = problem(600, 2)
    plain = Frobenius(target, Distance()).loss_and_gradient(Y)
    for ones in (np.ones((600, 600)), np.ones(600)):
        found = Frobenius(target, Distance(), weights=ones).loss_and_gradient(Y)
        assert found[0] == plain[0]
        np.testing.assert_array_equal(found[1], plain[1])


@pytest.mark.parametrize("n_threads", [2, 3])
def test_weighted_sums_do_not_depend_on_threads(n_threads):
    Y, target, weights, u = problem(500, 2)
    for given in (weights, u):
        one, some = (
            on_threads(count, TargetPairs(target, Distance(), weights=given).energy_and_force)(Y)
            for count in (1, n_threads)
        )
        assert one[0] == some[0]
        assert one[1].tobytes() == some[1].tobytes()


@pytest.mark.parametrize(
    ("weights", "centered", "text"),
    [
        (np.ones((3, 4)), False, r"weights of shape \(3, 4\) must be of shape \(n_samples, n_samples\)"),
        (-np.ones(4), False, "weights must be finite and >= 0"),
        (np.array([1.0, np.nan, 1.0, 1.0]), False, "weights must be finite and >= 0"),
        (np.triu(np.ones((4, 4))), False, "weights must be symmetric"),
        (np.ones(4), True, "weights must be None with centered=True"),
    ],
)
def test_weights_that_are_none_are_refused(weights, centered, text):
    with pytest.raises(ValueError, match=f"Frobenius: {text}"):
        Frobenius(np.zeros((4, 4)), Cauchy(), weights=weights, centered=centered)
