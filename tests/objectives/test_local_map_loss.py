"""The loss of LocalMAP: its definition, its gradient, the pairs it draws."""

import numpy as np
import pytest

from gnomon._run import running
from gnomon.affinities import PacmapPairs
from gnomon.affinities.base import sum_of_directions
from gnomon.objectives import LocalmapLoss, NearbyPairs, PacmapLoss

N = 80


@pytest.fixture(scope="module")
def partners():
    """Return near, mid-near and further partners of 80 points."""
    rng = np.random.default_rng(0)
    return [np.array([(i + 1 + rng.permutation(N - 1)[:k]) % N for i in range(N)], dtype=np.int32) for k in (8, 4, 15)]


def joined(partners):
    return PacmapPairs(*map(sum_of_directions, partners))


def made(partners, radius=3.0, seed=0):
    near, _, further = partners
    return LocalmapLoss(joined(partners), NearbyPairs(near, further, radius, seed=seed))


def stated_gradient(near, nearby, radius, Y):
    """The force of each pair as the paper states it, pair by pair."""
    gradient = np.zeros_like(Y)
    for chosen, pull in ((near, True), (nearby, False)):
        for i in range(N):
            for j in chosen[i]:
                d = 1 + np.square(Y[i] - Y[j]).sum()
                w = 20 / (10 + d) ** 2 * (radius / 2) / np.sqrt(d) if pull else -2 / (1 + d) ** 2
                gradient[i] += w * (Y[i] - Y[j])
                gradient[j] -= w * (Y[i] - Y[j])
    return gradient


def drawn(term):
    """Return the pairs of a term as the number of times each was chosen."""
    return term._pairs.matrix.toarray()


def test_the_last_phase_has_the_forces_of_the_paper(partners, random_embedding, relative_error):
    near, _, further = partners
    objective, Y = made(partners), random_embedding(N)
    expected = stated_gradient(near, further, 3.0, Y.astype(float))
    assert relative_error(objective.gradient(Y), expected) < 2e-5
    assert relative_error(objective.reference(Y)[1], expected) < 1e-6  # edges are kept in float32


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_the_gradient_is_the_finite_difference_with_the_pairs_drawn(n_components, partners, random_embedding):
    objective, Y = made(partners), random_embedding(N, n_components)
    objective.nearby.refresh(Y, 40)
    direction = np.random.default_rng(1).normal(size=Y.shape)
    up, down = (objective.reference(Y.astype(float) + h * direction)[0] for h in (1e-5, -1e-5))
    assert np.sum(objective.gradient(Y) * direction) == pytest.approx((up - down) / 2e-5, rel=1e-4)
    assert objective.loss(Y) == pytest.approx(objective.reference(Y)[0], rel=1e-5)


def test_the_first_two_phases_are_those_of_pacmap(partners, random_embedding):
    objective, plain, Y = (
        made(partners),
        PacmapLoss(joined(partners)),
        random_embedding(N),
    )
    for iteration in (0, 10, 19, 25, 39):
        for one in (objective, plain):
            one.at(iteration, 90)
        np.testing.assert_array_equal(objective.gradient(Y), plain.gradient(Y))
        assert objective.loss(Y) == plain.loss(Y)
    objective.at(40, 90)
    assert not np.array_equal(objective.gradient(Y), plain.gradient(Y))


def test_nearby_pairs_are_within_the_radius_and_no_near_pairs(partners, random_embedding):
    near, _, further = partners
    Y = random_embedding(N)
    distances = np.sqrt(np.square(Y[:, None] - Y).sum(-1))
    radius = float(np.quantile(distances, 0.8))
    term = NearbyPairs(near, further, radius)
    stands_in = drawn(term) > 0
    term.refresh(Y, 40)
    chosen = drawn(term) > 0
    far = chosen & (distances > radius * (1 + 1e-6))
    assert (stands_in | ~far).all()  # points that have too few others so near keep some of theirs
    assert far.sum() < 0.1 * chosen.sum()
    assert not chosen.diagonal().any()
    excluded = np.zeros((N, N), bool)
    np.put_along_axis(excluded, near, True, axis=1)
    assert not (chosen & excluded & excluded.T).any()
    assert drawn(term).sum() == further.size


def test_where_none_is_near_the_further_pairs_stand_in(partners, random_embedding):
    near, _, further = partners
    term = NearbyPairs(near, further, 1e-6)
    before = drawn(term)
    term.refresh(random_embedding(N), 40)
    np.testing.assert_array_equal(drawn(term), before)


def test_draws_depend_on_seed_iteration_and_map_alone(partners, random_embedding):
    near, _, further = partners
    Y = random_embedding(N)
    found = {}
    for n_threads in (1, 2, 5):
        with running(n_threads=n_threads):
            for seed, iteration in ((0, 40), (0, 50), (1, 40)):
                term = NearbyPairs(near, further, 2.0, seed=seed)
                term.refresh(Y[::-1].copy(), 90)
                term.refresh(Y, iteration)
                found.setdefault((seed, iteration), set()).add(drawn(term).tobytes())
    assert all(len(bits) == 1 for bits in found.values())
    assert len({bits for one in found.values() for bits in one}) == 3


def test_bad_parameters_are_refused(partners):
    near, _, further = partners
    with pytest.raises(ValueError, match=r"NearbyPairs: radius=0.0 must be a number > 0"):
        NearbyPairs(near, further, 0.0)
    fewer = np.argsort(np.random.default_rng(0).random((40, 40)), axis=1)[:, :4].astype(np.int32)
    with pytest.raises(ValueError, match=r"LocalmapLoss: nearby pairs of 40 points must be of the 80 points"):
        LocalmapLoss(PacmapPairs(*map(sum_of_directions, partners)), NearbyPairs(fewer, fewer, 1.0))


def test_iterations_of_the_last_phase_cost_more(partners):
    ((begin, factor),) = made(partners).costs(450)
    assert begin == 200
    assert factor > 1
