"""The loss of TriMap: its definition, its gradient, and equal bytes."""

import numpy as np
import pytest

from gnomon._run import running
from gnomon.affinities import Triplets
from gnomon.objectives import TripletLoss


def random_triplets(n, n_others=21, n_triplets=37, *, seed=0):
    rng = np.random.default_rng(seed)
    others = np.array([rng.permutation(np.delete(np.arange(n), i))[:n_others] for i in range(n)], dtype=np.int32)
    sides = np.array([rng.permutation(n_others)[:2] for _ in range(n_triplets)], dtype=np.int32).reshape(-1, 2)
    weights = rng.uniform(0.0, 3.0, (n, n_triplets)).astype(np.float32)
    return Triplets(others, np.ascontiguousarray(sides[:, 0]), np.ascontiguousarray(sides[:, 1]), weights)


def oracle(triplets, Y):
    """Loss, and the two parts of its gradient, triplet by triplet in float64."""
    Y = np.asarray(Y, dtype=np.float64)
    i, j, k = triplets.to_array().T
    w = triplets.weights.astype(np.float64).ravel()
    closer, farther = 1 + np.square(Y[i] - Y[j]).sum(1), 1 + np.square(Y[i] - Y[k]).sum(1)
    parts = []
    for other, factor in ((j, farther), (k, -closer)):
        step = (2 * w * factor / (closer + farther) ** 2)[:, None] * (Y[i] - Y[other])
        part = np.zeros_like(Y)
        np.add.at(part, i, step)
        np.add.at(part, other, -step)
        parts.append(part)
    return np.sum(w * closer / (closer + farther)), *parts


@pytest.mark.parametrize("n_components", [1, 2, 3, 7])
@pytest.mark.parametrize("n_triplets", [1, 16, 37])
def test_loss_and_gradient_equal_the_oracle(n_triplets, n_components, random_embedding, relative_error):
    triplets, Y = random_triplets(140, n_triplets=n_triplets), random_embedding(140, n_components)
    loss, closer, farther = oracle(triplets, Y)
    objective = TripletLoss(triplets)
    assert objective.loss(Y) == pytest.approx(loss, rel=1e-6)
    assert relative_error(objective.gradient(Y), closer + farther) < 1e-5
    attraction, repulsion = objective.forces(Y)
    assert relative_error(attraction, -closer) < 1e-5
    assert relative_error(repulsion, -farther) < 1e-5


def test_the_oracle_is_the_finite_difference_of_the_loss(random_embedding):
    triplets, Y = random_triplets(30), random_embedding(30).astype(np.float64)
    _, closer, farther = oracle(triplets, Y)
    direction = np.random.default_rng(0).normal(size=Y.shape)
    up, down = (oracle(triplets, Y + step * direction)[0] for step in (1e-5, -1e-5))
    assert (up - down) / 2e-5 == pytest.approx(np.sum((closer + farther) * direction), rel=1e-7)


def test_three_points_by_hand():
    # 1 at squared distance 1 and 2 at 9 from 0: d = 2 and 10; the derivatives are 10 / 144 and -2 / 144.
    others, one = np.array([[1, 2], [0, 2], [1, 0]], dtype=np.int32), np.zeros(1, dtype=np.int32)
    weights = np.array([[1.0], [0.0], [0.0]], dtype=np.float32)
    objective = TripletLoss(Triplets(others, one, one + 1, weights))
    Y = np.array([[0, 0], [1, 0], [0, 3]], dtype=np.float32)
    assert objective.loss(Y) == pytest.approx(1 / 6)
    pull, push = 2 * 10 / 144, 2 * 2 / 144
    np.testing.assert_allclose(objective.gradient(Y), [[-pull, 3 * push], [pull, 0], [0, -3 * push]], rtol=1e-6)


def test_a_triplet_with_equal_distances_costs_half_its_weight():
    others, one = np.array([[1, 2], [0, 2], [1, 0]], dtype=np.int32), np.zeros(1, dtype=np.int32)
    objective = TripletLoss(Triplets(others, one, one + 1, np.full((3, 1), 0.5, np.float32)))
    corner = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]], dtype=np.float32)
    assert objective.loss(corner) == pytest.approx(0.75, rel=1e-6)
    assert objective.loss(np.zeros((3, 2))) == 0.75


def test_moving_and_rotating_the_embedding_changes_nothing(random_embedding, relative_error):
    objective, Y = TripletLoss(random_triplets(100)), random_embedding(100)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]], dtype=np.float32)
    assert objective.loss(Y @ turn + 2) == pytest.approx(objective.loss(Y), rel=1e-5)
    assert relative_error(objective.gradient(Y @ turn + 2), objective.gradient(Y) @ turn) < 1e-5


def test_far_apart_points_have_finite_loss_and_gradient(random_embedding):
    objective, Y = TripletLoss(random_triplets(100)), 1e17 * random_embedding(100)
    assert np.isfinite(objective.loss(Y))
    assert np.isfinite(objective.gradient(Y)).all()


@pytest.mark.parametrize("n_components", [2, 5])
def test_the_same_bytes_for_any_number_of_threads(n_components, random_embedding):
    triplets, Y = random_triplets(700), random_embedding(700, n_components)
    results = set()
    for n_threads in (1, 2, 3, 5):
        with running(n_threads=n_threads):
            objective = TripletLoss(triplets)
            results.add((objective.loss(Y), objective.gradient(Y).tobytes(), objective.gradient(Y).tobytes()))
    assert len(results) == 1


def test_without_triplets_there_is_no_loss_and_no_force():
    others = np.array([[1], [0]], dtype=np.int32)
    none = np.empty(0, dtype=np.int32)
    objective = TripletLoss(Triplets(others, none, none, np.empty((2, 0), dtype=np.float32)))
    Y = np.array([[0, 0], [1, 0]], dtype=np.float32)
    assert objective.loss(Y) == 0
    np.testing.assert_array_equal(objective.gradient(Y), np.zeros((2, 2)))


def test_an_embedding_of_another_shape_is_an_error(random_embedding):
    with pytest.raises(ValueError, match=r"TripletLoss: Y of shape \(99, 2\) must be of shape \(n_samples=100"):
        TripletLoss(random_triplets(100)).gradient(random_embedding(99))
