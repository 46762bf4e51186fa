"""Stress, its gradient, and the step that never raises it."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from tests.threads import on_threads

from gnomon.objectives import OrdinalStress, Stress
from gnomon.optimizers import Majorization, place_by_distances

rng = np.random.default_rng(0)
N = 25
X = rng.normal(size=(N, 5)).astype(np.float32)
DELTA = cdist(X, X) / 6.0
Y = (0.2 * rng.normal(size=(N, 2))).astype(np.float32)
W = rng.uniform(0.1, 1.0, size=(N, N))
W = W + W.T
U = rng.uniform(0.1, 1.0, size=N)
WEIGHTS = {"none": None, "matrix": W, "factors": U, "holes": np.where(W > 0.8, W, 0.0)}


def full(weights):
    if weights is None:
        return np.ones((N, N))
    return np.outer(weights, weights) if weights.ndim == 1 else weights


def plain_stress(points, weights, delta=DELTA):
    i, j = np.triu_indices(N, 1)
    d = np.linalg.norm(points[i] - points[j], axis=1)
    return float((weights[i, j] * np.square(delta[i, j] - d)).sum())


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_stress_and_gradient_are_those_of_the_formula(weights):
    objective, w = Stress(DELTA, weights=weights), full(weights)
    assert objective.loss(Y) == pytest.approx(plain_stress(Y, w), rel=1e-5)
    slopes = []
    for step in 1e-6 * np.eye(2 * N):
        rise = plain_stress(Y + step.reshape(N, 2), w) - plain_stress(Y - step.reshape(N, 2), w)
        slopes.append(rise / 2e-6)
    np.testing.assert_allclose(objective.gradient(Y).ravel(), slopes, atol=1e-4)
    errors, squares = objective.of_points(Y)
    assert errors.sum() == pytest.approx(plain_stress(Y, w), rel=1e-6)
    assert squares.sum() == pytest.approx((w * np.square(cdist(Y, Y)))[np.triu_indices(N, 1)].sum(), rel=1e-6)


@pytest.mark.parametrize("weights", [None, W, U, WEIGHTS["holes"]], ids=WEIGHTS)
def test_the_majorizing_step_is_the_guttman_transform(weights):
    w = full(weights).copy()
    np.fill_diagonal(w, 0.0)
    d = cdist(Y, Y)
    B = -w * DELTA / np.where(d > 0.0, d, 1.0)
    B -= np.diag(B.sum(axis=1))
    expected = np.linalg.pinv(np.diag(w.sum(axis=1)) - w) @ B @ Y
    found = Stress(DELTA, weights=weights).majorize(Y)[1]
    if weights is U:  # the transform up to a shift
        found = found - found.mean(axis=0)
    np.testing.assert_allclose(found - found.mean(axis=0), expected, atol=1e-5)


@pytest.mark.parametrize("memory", [0, 5])
@pytest.mark.parametrize("kind", [Stress, OrdinalStress])
@pytest.mark.parametrize("weights", [None, W, U], ids=["none", "matrix", "factors"])
def test_the_stress_never_rises(kind, weights, memory):
    objective = kind(DELTA, weights=weights)
    losses = [loss for _, loss in Majorization(memory=memory, block=1, max_iter=80).minimize(objective, Y).loss]
    assert len(losses) > 5
    assert all(after <= before for before, after in itertools.pairwise(losses))


@pytest.mark.parametrize("memory", [0, 5])
@pytest.mark.parametrize("weights", [None, W], ids=["none", "matrix"])
def test_the_gradient_is_zero_at_the_end(weights, memory):
    objective = Stress(DELTA, weights=weights)
    solution = Majorization(memory=memory, tol=0.0, max_iter=3000).minimize(objective, Y)
    assert solution.converged
    assert np.abs(objective.gradient(solution.embedding)).max() < 2e-3 * np.abs(objective.gradient(Y)).max()


def test_points_that_coincide_have_no_term_in_the_gradient():
    points = np.repeat(Y[:5], 5, axis=0)
    assert np.isfinite(Stress(DELTA).gradient(points)).all()
    assert not Stress(DELTA).gradient(np.zeros((N, 2), np.float32)).any()


def test_a_run_that_was_cut_and_resumed_is_one_run():
    objective, optimizer = Stress(DELTA), Majorization(max_iter=30, tol=0.0)
    whole = optimizer.minimize(objective, Y)
    half = optimizer.minimize(objective, Y, stop_after=13)
    resumed = optimizer.minimize(objective, Y, state=half.state)
    assert resumed.embedding.tobytes() == whole.embedding.tobytes()


def test_disparities_are_the_nearest_numbers_of_the_same_order():
    objective = OrdinalStress(DELTA)
    found = objective.disparities(Y)
    order = np.argsort(pdist(X), kind="stable")
    assert (np.diff(found[order]) >= 0.0).all()
    assert np.square(found).mean() == pytest.approx(1.0)
    isotonic = pytest.importorskip("sklearn.isotonic").isotonic_regression(pdist(Y)[order])
    np.testing.assert_allclose(found[order], isotonic / np.sqrt(np.square(isotonic).mean()), rtol=1e-5)

    def loss(points):
        return np.square(objective.disparities(points) - pdist(points)).sum()

    steps = 1e-6 * np.eye(2 * N).reshape(2 * N, N, 2)
    slopes = [(loss(Y + step) - loss(Y - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(objective.gradient(Y).ravel(), slopes, atol=1e-3)


def test_ties_may_part():
    objective = OrdinalStress(np.ones((N, N)) - np.eye(N))
    distances = pdist(Y)
    np.testing.assert_allclose(
        objective.disparities(Y), distances / np.sqrt(np.square(distances).mean()), rtol=1e-5
    )  # all equal: any distances have the right order


def test_weights_that_leave_pieces_are_refused():
    apart = np.kron(np.eye(2), np.ones((5, 5)))
    with pytest.raises(
        ValueError, match=r"^Stress: the pairs of positive weight must be enough .* \(they leave 2 pieces\)"
    ):
        Stress(np.ones((10, 10)), weights=apart)


def test_new_points_go_where_their_distances_put_them():
    anchors, wanted = rng.normal(size=(30, 2)), rng.normal(size=(6, 2))
    delta = cdist(wanted, anchors)
    found = place_by_distances(anchors, delta, wanted + 0.05, max_iter=3000, tol=1e-12)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    weights = np.where(np.arange(30) < 10, 1.0, 0.0) * np.ones((6, 1))
    spoiled = np.where(weights > 0.0, delta, 50.0)
    np.testing.assert_allclose(
        place_by_distances(anchors, spoiled, wanted + 0.05, weights=weights, max_iter=3000, tol=1e-12),
        wanted,
        atol=1e-8,
    )
    one, three = (on_threads(n, place_by_distances)(anchors, delta, wanted + 0.05) for n in (1, 3))
    assert one.tobytes() == three.tobytes()
    assert place_by_distances(anchors, delta[2:3], wanted[2:3] + 0.05).tobytes() == one[2:3].tobytes()


def test_squareform_of_targets_is_what_the_sums_see():
    objective = OrdinalStress(DELTA)
    expected = np.square(objective.disparities(Y) - pdist(Y)).sum()
    assert objective.loss(Y) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(objective.pairs.target, squareform(objective.disparities(Y)), rtol=1e-5)
