"""The loss of PaCMAP: its definition, its gradient, its phases."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.affinities import PacmapPairs
from gnomon.objectives import PacmapLoss
from gnomon.objectives.pacmap import phase_weights

PHASES = [  # iterations of 450, and the weights that hold there
    (0, (2.0, 1000.0, 1.0)),
    (50, (2.0, 501.5, 1.0)),
    (150, (3.0, 3.0, 1.0)),
    (300, (1.0, 0.0, 1.0)),
]


def halved(n, chosen):
    rows, columns = np.array(chosen).T
    C = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    matrix = sp.csr_array(((C + C.T) / 2).astype(np.float32))
    matrix.sort_indices()
    return matrix


@pytest.fixture(scope="module")
def random_pairs():
    """Return the chosen pairs of 60 points, as lists, and as the objective takes them."""
    rng = np.random.default_rng(0)
    lists = [[(i, (i + j) % 60) for i in range(60) for j in rng.permutation(59)[:k] + 1] for k in (8, 4, 15)]
    return lists, PacmapPairs(*(halved(60, chosen) for chosen in lists))


def stated_loss(lists, weights, Y):
    """The sum in the paper over the pairs as they were chosen."""
    near, mid_near, further = (1 + np.square(Y[i] - Y[j]).sum(1) for i, j in (np.array(chosen).T for chosen in lists))
    parts = near / (10 + near), mid_near / (10000 + mid_near), 1 / (1 + further)
    return sum(weight * part.sum() for weight, part in zip(weights, parts, strict=True))


def stated_gradient(lists, weights, Y):
    """Central differences of the sum in the paper."""
    gradient = np.zeros_like(Y)
    for place in np.ndindex(*Y.shape):
        step = np.zeros_like(Y)
        step[place] = 1e-5
        gradient[place] = (stated_loss(lists, weights, Y + step) - stated_loss(lists, weights, Y - step)) / 2e-5
    return gradient


@pytest.mark.parametrize(("iteration", "weights"), PHASES)
def test_loss_and_gradient_are_those_of_the_paper(iteration, weights, random_pairs, random_embedding, relative_error):
    lists, pairs = random_pairs
    objective, Y = PacmapLoss(pairs), random_embedding(60)
    objective.at(iteration, 450)
    assert objective.weights == pytest.approx(weights)
    assert objective.loss(Y) == pytest.approx(stated_loss(lists, weights, Y.astype(float)), rel=1e-5)
    assert relative_error(objective.gradient(Y), stated_gradient(lists, weights, Y.astype(float))) < 2e-5


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_the_gradient_is_the_finite_difference_in_any_dimension(
    n_components, random_pairs, random_embedding, relative_error
):
    lists, pairs = random_pairs
    Y, weights = random_embedding(60, n_components), phase_weights(150, 450)
    objective = PacmapLoss(pairs)
    objective.at(150, 450)
    direction = np.random.default_rng(0).normal(size=Y.shape)
    up, down = (stated_loss(lists, weights, Y.astype(float) + h * direction) for h in (1e-5, -1e-5))
    assert np.sum(objective.gradient(Y) * direction) == pytest.approx((up - down) / 2e-5, rel=1e-4)


def test_three_points_by_hand():
    # 0 and 1 near at squared distance 4, 0 and 2 further at 1, 1 and 2 mid-near at 5; d = 5, 2, 6.
    pairs = PacmapPairs(halved(3, [(0, 1), (1, 0)]), halved(3, [(1, 2)]), halved(3, [(2, 0)]))
    objective, Y = PacmapLoss(pairs), np.array([[0, 0], [2, 0], [0, 1]], dtype=np.float32)
    objective.at(150, 450)
    assert objective.loss(Y) == pytest.approx(3 * 2 * 5 / 15 + 3 * 6 / 10006 + 1 / 3, rel=1e-6)
    near, mid_near, further = 3 * 2 * 20 / 15**2, 3 * 20000 / 10006**2, -2 / 9
    expected = [
        [-2 * near, -further],
        [2 * near + 2 * mid_near, -mid_near],
        [-2 * mid_near, mid_near + further],
    ]
    np.testing.assert_allclose(objective.gradient(Y), expected, rtol=1e-5, atol=1e-8)


def test_phases_of_450_iterations_are_those_of_the_paper():
    assert phase_weights(0, 450) == (2.0, 1000.0, 1.0)
    assert phase_weights(99, 450) == pytest.approx((2.0, 1000 - 997 * 0.99, 1.0))
    assert phase_weights(100, 450) == phase_weights(199, 450) == (3.0, 3.0, 1.0)
    assert phase_weights(200, 450) == phase_weights(449, 450) == (1.0, 0.0, 1.0)
    assert [phase_weights(i, 9)[0] for i in range(9)] == [2, 2, 3, 3, 1, 1, 1, 1, 1]
    assert phase_weights(0, 1) == (1.0, 0.0, 1.0)


def test_before_any_iteration_the_weights_are_those_of_the_end(random_pairs):
    assert PacmapLoss(random_pairs[1]).weights == (1.0, 0.0, 1.0)


def test_forces_sum_to_minus_the_gradient_and_to_zero(random_pairs, random_embedding):
    objective, Y = PacmapLoss(random_pairs[1]), random_embedding(60)
    objective.at(10, 450)
    attraction, repulsion = objective.forces(Y)
    gradient = objective.gradient(Y)
    np.testing.assert_allclose(attraction + repulsion, -gradient, rtol=1e-5, atol=1e-6)
    assert np.abs(gradient.sum(0)).max() < 1e-5 * np.abs(gradient).sum()


def test_the_same_bytes_for_any_number_of_threads(random_embedding):
    rng = np.random.default_rng(1)
    lists = [[(i, (i + j) % 900) for i in range(900) for j in rng.permutation(899)[:k] + 1] for k in (8, 4, 15)]
    pairs, Y = PacmapPairs(*(halved(900, chosen) for chosen in lists)), random_embedding(900)
    results = set()
    for n_threads in (1, 2, 3, 5):
        with running(n_threads=n_threads):
            objective = PacmapLoss(pairs)
            objective.at(0, 450)
            results.add((objective.loss(Y), objective.gradient(Y).tobytes()))
    assert len(results) == 1


def test_pairs_of_different_numbers_of_points_are_an_error(random_pairs):
    pairs = random_pairs[1]
    with pytest.raises(ValueError, match="PacmapLoss: pairs must be three matrices of one shape"):
        PacmapLoss(PacmapPairs(pairs.near, pairs.mid_near, halved(5, [(0, 1)])))


def test_iterations_cost_what_their_pairs_do(random_pairs):
    assert PacmapLoss(random_pairs[1]).costs(450) == [(200, pytest.approx((8 + 15) / (8 + 4 + 15)))]
