"""The distance from a reference map, and a loss that is shared with it."""

import numpy as np
import pytest

from gnomon._run import running
from gnomon.affinities import gaussian_affinities
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import KLDivergence, ReferenceDistance, SharedLoss
from gnomon.objectives.anchors import Springs
from gnomon.optimizers import GradientDescent


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)).astype(np.float32)
    affinities = gaussian_affinities(compute_neighbors(X, n_neighbors=15), perplexity=5.0)
    return affinities, rng.normal(size=(60, 2)), rng.normal(size=(60, 2)).astype(np.float32) * 3


def stated(Y, R, m):
    """Return the mean squared distance, R scaled to the size of Y."""
    R = R - np.average(R, axis=0, weights=m)
    size = [np.sqrt(np.average(np.square(Z).sum(1), weights=m)) for Z in (Y - np.average(Y, axis=0, weights=m), R)]
    return np.average(np.square(Y - size[0] / size[1] * R).sum(1), weights=m)


@pytest.mark.parametrize("by_mass", [False, True])
def test_the_loss_is_the_mean_squared_distance_from_the_scaled_reference(by_mass, tables):
    _, R, Y = tables
    m = np.random.default_rng(1).uniform(0.5, 3.0, 60) if by_mass else np.ones(60)
    term = ReferenceDistance(R, masses=m if by_mass else None)
    term.refresh(Y, 0)
    assert term.loss(Y) == pytest.approx(stated(Y.astype(float), R, m), rel=1e-12)


def test_the_gradient_is_the_finite_difference_with_the_factor_held(tables):
    _, R, Y = tables
    term = ReferenceDistance(R, masses=np.random.default_rng(1).uniform(0.5, 3.0, 60))
    term.refresh(Y, 0)
    gradient = term.gradient(Y)
    for place in [(0, 0), (7, 1), (59, 0)]:
        step = np.zeros(Y.shape)
        step[place] = 1e-5
        assert gradient[place] == pytest.approx((term.loss(Y + step) - term.loss(Y - step)) / 2e-5, rel=1e-6)


def test_neither_the_scale_of_the_reference_nor_its_place_matters(tables):
    _, R, Y = tables
    losses = []
    for reference in (R, 1e3 * R + 7.0, 1e-3 * R):
        term = ReferenceDistance(reference)
        term.refresh(Y, 0)
        losses.append(term.loss(Y))
    np.testing.assert_allclose(losses, losses[0], rtol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_shared_loss_is_the_weighted_sum_of_both(share, tables, relative_error):
    affinities, R, Y = tables
    base, term = KLDivergence(affinities), ReferenceDistance(R)
    term.refresh(Y, 0)
    shared = SharedLoss(base, term, share)
    assert shared.loss(Y) == pytest.approx((1 - share) * base.loss(Y) + share * term.loss(Y), rel=1e-5)
    expected = (1 - share) * base.reference(Y)[1] + share * term.gradient(Y)
    assert relative_error(shared.gradient(Y), expected) < 1e-5
    direction = np.random.default_rng(2).normal(size=Y.shape)
    up, down = (shared.reference(Y.astype(float) + h * direction)[0] for h in (1e-5, -1e-5))
    assert np.sum(shared.gradient(Y) * direction) == pytest.approx((up - down) / 2e-5, rel=1e-4)
    assert shared.row_loss(Y) == base.row_loss(Y)


def test_exaggeration_multiplies_the_attractions_alone(tables, relative_error):
    affinities, R, Y = tables
    base, term = KLDivergence(affinities), ReferenceDistance(R)
    shared = SharedLoss(base, term, 0.25)
    shared.exaggeration = base.exaggeration = 12.0
    assert relative_error(shared.gradient(Y), 0.75 * base.gradient(Y) + 0.25 * term.gradient(Y)) < 1e-5


def test_a_share_of_nothing_descends_as_the_loss_alone_does(tables):
    affinities, R, Y = tables
    base = KLDivergence(affinities)
    shared = SharedLoss(base, ReferenceDistance(R), 0.0)
    np.testing.assert_array_equal(shared.pull, base.pull)
    np.testing.assert_allclose(SharedLoss(base, ReferenceDistance(R), 0.25).pull, 0.75 * base.pull)
    optimizer = GradientDescent.annealed(learning_rate=5.0, centered=False, max_iter=30, early_exaggeration_iter=10)
    ends = [optimizer.minimize(one, Y).embedding for one in (shared, base)]
    np.testing.assert_allclose(*ends, rtol=1e-4, atol=1e-4)


def test_the_same_bytes_for_any_number_of_threads(tables):
    affinities, R, Y = tables
    found = set()
    for n_threads in (1, 2, 5):
        with running(n_threads=n_threads):
            shared = SharedLoss(KLDivergence(affinities), ReferenceDistance(R), 0.1)
            found.add((shared.loss(Y), shared.gradient(Y).tobytes()))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda R: ReferenceDistance(R[:, 0]), r"reference of shape \(60,\) must be of shape"),
        (lambda R: ReferenceDistance(np.full_like(R, np.nan)), "reference must be finite"),
        (lambda R: ReferenceDistance(np.ones_like(R)), "must be a map of different points"),
        (lambda R: ReferenceDistance(R, masses=np.zeros(60)), "masses must be a positive number for each of 60"),
    ],
)
def test_bad_references_are_refused(make, said, tables):
    with pytest.raises(ValueError, match=said):
        make(tables[1])


def test_bad_shares_and_losses_with_terms_are_refused(tables):
    affinities, R, _ = tables
    with pytest.raises(ValueError, match=r"SharedLoss: share=1.5 must be"):
        SharedLoss(KLDivergence(affinities), ReferenceDistance(R), 1.5)
    base = KLDivergence(affinities)
    base.added.join(Springs(R))
    with pytest.raises(ValueError, match="must be a loss without added terms"):
        SharedLoss(base, ReferenceDistance(R), 0.5)
