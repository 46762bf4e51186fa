"""The loss of sketch-map against independent values, finite differences and its limits."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.kernels import SketchMapKernel
from gnomon.objectives import SigmoidStress, gradient_error

HIGH, LOW = SketchMapKernel(1.4, 4.0, 6.0), SketchMapKernel(1.4, 2.0, 3.0)
# of X8, Y8 of reference.json with the two kernels above
LOSS = 0.2431865896
GRADIENT = [
    [-0.02310556334, 0.02486246535],
    [0.04687476649, -0.003634497243],
    [0.03569773006, 0.002849500231],
    [0.003675793332, -0.02331428413],
    [0.01188075193, -0.01905562717],
    [-0.02649168159, 0.02152009881],
    [-0.02010240776, -0.01946343486],
    [-0.02842938912, 0.01623577901],
]
rng = np.random.default_rng(0)
X = rng.normal(size=(20, 5))
R = cdist(X, X)
Y = rng.normal(size=(20, 2))
U = rng.integers(1, 4, 20).astype(float)


def test_loss_and_gradient_equal_the_reference_values(reference):
    points = np.array(reference["X8"])
    objective = SigmoidStress(cdist(points, points), HIGH, LOW)
    loss, gradient = objective.reference(reference["Y8"])
    assert loss == pytest.approx(LOSS, rel=1e-6)
    np.testing.assert_allclose(gradient, GRADIENT, rtol=1e-5, atol=1e-7)
    assert objective.loss(np.array(reference["Y8"])) == pytest.approx(LOSS, rel=1e-5)


@pytest.mark.parametrize("weights", [None, U, np.outer(U, U)], ids=["none", "points", "pairs"])
@pytest.mark.parametrize("mixture", [0.0, 0.3, 1.0])
def test_the_gradient_is_the_finite_difference_of_the_loss(mixture, weights):
    objective = SigmoidStress(R, HIGH, LOW, mixture=mixture, weights=weights)
    assert gradient_error(objective, Y) < 1e-6
    loss, gradient = objective.loss_and_gradient(Y)
    expected, slopes = objective.reference(Y)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient, slopes, atol=1e-5 * np.abs(slopes).max())


def test_the_loss_is_the_weighted_mean_of_squared_differences():
    i, j = np.triu_indices(20, 1)
    d = cdist(Y, Y)[i, j]
    errors = 0.3 * (HIGH.of_distances(R[i, j]) - LOW.of_distances(d)) ** 2 + 0.7 * (R[i, j] - d) ** 2
    expected = np.average(errors, weights=U[i] * U[j])
    assert SigmoidStress(R, HIGH, LOW, mixture=0.3, weights=U).loss(Y) == pytest.approx(expected, rel=1e-5)


def test_no_loss_where_both_sigmoids_and_all_distances_are_equal():
    angle = 0.7
    turned = X[:, :2] @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) + 5.0
    flat = cdist(X[:, :2], X[:, :2])
    loss, gradient = SigmoidStress(flat, LOW, LOW).reference(turned)
    assert loss < 1e-13
    assert np.abs(gradient).max() < 1e-6


def test_a_very_large_sigma_gives_the_raw_stress():
    # A = a = 1 and B = b: F(R) is about b c R / sigma with c = 2^(1/b) - 1
    sigma, b = 1e4, 3.0
    kernel = SketchMapKernel(sigma, 1.0, b)
    loss = SigmoidStress(R, kernel, kernel).reference(Y)[0]
    raw = SigmoidStress(R, kernel, kernel, mixture=0.0).reference(Y)[0]
    assert loss == pytest.approx((b * (2.0 ** (1.0 / b) - 1.0) / sigma) ** 2 * raw, rel=2e-3)


def test_a_weight_counts_a_point_as_often():
    kept = [0, 1, 2, 3]
    often = [0, 0, 1, 2, 3]  # the first twice, at the same place
    weights = np.array([2.0, 1.0, 1.0, 1.0])
    total = weights.sum() ** 2 - np.square(weights).sum()
    one = SigmoidStress(R[np.ix_(kept, kept)], HIGH, LOW, weights=weights).loss(Y[kept]) * total
    each = SigmoidStress(R[np.ix_(often, often)], HIGH, LOW).loss(Y[often]) * 20
    assert one == pytest.approx(each, rel=1e-5)


def test_data_distances_push_and_those_of_the_map_pull():
    objective = SigmoidStress(R, HIGH, LOW, mixture=0.5, weights=U)
    attraction, repulsion = objective.forces(Y)
    np.testing.assert_allclose(attraction + repulsion, -objective.gradient(Y), atol=1e-6)
    nothing, push = SigmoidStress(np.ones((2, 2)) - np.eye(2), HIGH, LOW).forces(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert push[0, 0] < 0 < push[1, 0]
    assert nothing[0, 0] > 0 > nothing[1, 0]


def test_a_mixture_outside_its_range_is_refused():
    with pytest.raises(ValueError, match=r"SigmoidStress: mixture=2\.0 must be a number >= 0 and <= 1"):
        SigmoidStress(R, HIGH, LOW, mixture=2.0)
