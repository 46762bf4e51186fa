"""Single points: placed where they belong, moved only where the loss falls."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from tests.threads import on_threads

from gnomon.kernels import CustomKernel, Distance, SketchMapKernel
from gnomon.objectives import SigmoidStress
from gnomon.optimizers import LBFGS, minimize_in_stages, move_points, place_points

KERNEL = SketchMapKernel(1.0, 2.0, 3.0)


def _anchors(n, d):
    return np.random.default_rng(1).normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("kernel", [KERNEL, Distance(), SketchMapKernel(0.7, 1.0, 2.0)], ids=str)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_a_point_of_the_map_is_found_again_from_its_distances(kernel, d):
    anchors = _anchors(1100, d)  # more than a tile
    true = 0.8 * np.random.default_rng(2).normal(size=(6, d)).astype(np.float32)
    targets = kernel.value(cdist(true, anchors, "sqeuclidean"))
    places, energies = place_points(targets, anchors, kernel)
    np.testing.assert_allclose(places, true, atol=2e-4)
    assert energies.max() < 1e-6 * 1100


def test_the_loss_is_that_of_an_independent_search_or_less():
    anchors, rng = _anchors(40, 2), np.random.default_rng(3)
    targets, weights = rng.random((12, 40)), rng.uniform(0.5, 2.0, 40)
    places, energies = place_points(targets, anchors, KERNEL, weights=weights)

    def loss(y, i):
        return float(weights @ (KERNEL.value(np.square(anchors - y).sum(axis=1)) - targets[i]) ** 2)

    for i in range(12):
        assert energies[i] == pytest.approx(loss(places[i], i), rel=1e-5)
        best = min(minimize(loss, start, args=(i,), method="Nelder-Mead").fun for start in anchors[::8])
        assert energies[i] <= best * (1 + 1e-4)


def test_a_point_leaves_its_own_anchor_out():
    anchors, rng = _anchors(30, 2), np.random.default_rng(4)
    targets = rng.random((3, 30))
    own = np.array([5, -1, 7])
    places, energies = place_points(targets, anchors, KERNEL, own=own)
    for i, left_out in enumerate(own):
        weights = np.ones(30)
        if left_out >= 0:
            weights[left_out] = 0.0
        alone, energy = place_points(targets[[i]], anchors, KERNEL, weights=weights)
        assert energy[0] == pytest.approx(energies[i], rel=1e-5)
        if left_out < 0:
            np.testing.assert_array_equal(alone[0], places[i])


def test_each_place_is_a_function_of_its_row_and_threads_change_nothing():
    anchors, targets = _anchors(200, 2), np.random.default_rng(5).random((50, 200))
    results = {on_threads(n, place_points)(targets, anchors, KERNEL)[0].tobytes() for n in (1, 2, 3)}
    assert len(results) == 1
    places = place_points(targets, anchors, KERNEL)[0]
    np.testing.assert_array_equal(place_points(targets[[17]], anchors, KERNEL)[0][0], places[17])


def test_a_kernel_in_python_alone_is_refused():
    with pytest.raises(ValueError, match=r"place_points: kernel=.* must be a compiled one"):
        place_points(np.ones((1, 5)), _anchors(5, 2), CustomKernel(np.square, lambda s: 2 * s))


def test_a_point_on_the_wrong_side_is_moved_and_the_loss_falls():
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 8.0])
    wrong = X.copy()
    wrong[[3, 40]] = wrong[[40, 3]] + 0.3
    R, weights = cdist(X, X), rng.integers(1, 4, 60)
    loss = SigmoidStress(R, KERNEL, KERNEL, weights=weights).loss
    Y, n_moved = move_points(KERNEL.of_distances(R), wrong, KERNEL, weights=weights)
    assert n_moved >= 2
    assert loss(Y) < 0.05 * loss(wrong)
    assert np.linalg.norm(Y[3] - X[3]) < 0.5
    again, n_again = move_points(KERNEL.of_distances(R), X, KERNEL, weights=weights)
    assert n_again == 0
    np.testing.assert_array_equal(again, X.astype(np.float32))


@pytest.mark.parametrize("seed", range(4))
def test_moves_never_raise_the_loss(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(40, 6)), rng.normal(size=(40, 2))
    R = cdist(X, X)
    loss = SigmoidStress(R, SketchMapKernel(2.0, 6.0, 6.0), SketchMapKernel(2.0, 2.0, 3.0)).loss
    low = SketchMapKernel(2.0, 2.0, 3.0)
    for _ in range(3):
        moved, n_moved = move_points(SketchMapKernel(2.0, 6.0, 6.0).of_distances(R), Y, low)
        assert n_moved == 0 or loss(moved) < loss(Y)
        Y = moved


def test_stages_follow_each_other_and_add_up():
    rng = np.random.default_rng(7)
    R = cdist(*[rng.normal(size=(30, 4))] * 2)
    first, second = SigmoidStress(R, KERNEL, KERNEL, mixture=0.0), SigmoidStress(R, KERNEL, KERNEL)
    start, optimizer = rng.normal(size=(30, 2)), LBFGS(max_iter=10)
    one = optimizer.minimize(first, start)
    two = optimizer.minimize(second, one.embedding)
    both = minimize_in_stages([(lambda: first, optimizer), (lambda: second, optimizer)], start)
    np.testing.assert_array_equal(both.embedding, two.embedding)
    assert both.n_iter == one.n_iter + two.n_iter
    assert both.loss == two.loss
