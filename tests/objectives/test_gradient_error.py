"""The test of gradients finds right ones right and wrong ones wrong."""

import numpy as np
import pytest

from gnomon.kernels import CustomKernel
from gnomon.objectives import KLDivergence, gradient_error


@pytest.fixture(scope="module")
def Y():  # noqa: N802
    return np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), -1).reshape(-1, 2)


def test_a_right_kernel_passes_and_a_wrong_derivative_does_not(random_affinities, Y):
    affinities = random_affinities(12, 4)

    def value(s):
        return 1.0 / (1.0 + s) ** 2

    right = CustomKernel(value, lambda s: -2.0 / (1.0 + s) ** 3, bounded=True)
    wrong = CustomKernel(value, right.derivative, bounded=True)
    object.__setattr__(wrong, "derivative_function", lambda s: -1.9 / (1.0 + s) ** 3)  # which it would refuse
    assert gradient_error(KLDivergence(affinities, right), Y) < 1e-8
    assert gradient_error(KLDivergence(affinities, wrong), Y) > 1e-3


def test_an_objective_of_ones_own_needs_no_more_than_loss_and_gradient(Y):
    class Bowl:
        def loss(self, Y):
            return float(np.square(Y).sum())

        def gradient(self, Y):
            return 2.0 * Y

    assert gradient_error(Bowl(), Y) < 1e-8
    Bowl.gradient = lambda self, Y: 2.0 * Y + 0.1
    assert gradient_error(Bowl(), Y) > 1e-3


def test_parameters_are_checked(Y, random_affinities):
    with pytest.raises(ValueError, match="gradient_error: step=0 must be"):
        gradient_error(KLDivergence(random_affinities(12, 4)), Y, step=0)
