"""Springs to given positions: closed form, gradient, what moves with them and what they hold."""

import numpy as np
import pytest

import gnomon
from gnomon.affinities import fuzzy_simplicial_set, gaussian_affinities
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import Anchors, CrossEntropy, KLDivergence, Springs, gradient_error
from gnomon.objectives.added import AddedTerms
from gnomon.objectives.reference_map import ReferenceDistance
from gnomon.objectives.stars import StarAttraction
from gnomon.optimizers import LBFGS, Adam, GradientDescent, SampledDescent


@pytest.fixture
def graph(rng):
    return compute_neighbors(rng.standard_normal((60, 4)), 8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _anchors(n=60):
    positions = np.full((n, 2), np.nan)
    positions[[3, 10, 40]] = [[1.0, 2.0], [-3.0, 0.5], [0.0, 0.0]]
    return positions


def test_loss_and_gradient_of_two_springs_in_closed_form():
    term = Springs([[0.0, 0.0], [np.nan, np.nan], [1.0, 1.0]], strengths=[2.0, 5.0, 1.0])
    Y = np.array([[3.0, 4.0], [9.0, 9.0], [1.0, 2.0]], dtype=np.float32)
    assert term.loss(Y) == pytest.approx((2 * 25 + 1) / 3)
    np.testing.assert_allclose(term.gradient(Y), [[4.0, 16 / 3], [0, 0], [0, 2 / 3]])


@pytest.mark.parametrize("weight", [0.1, 3.0])
def test_gradient_is_that_of_finite_differences_inside_each_loss(graph, rng, weight):
    Y = rng.standard_normal((60, 2)) * 3
    kl = KLDivergence(gaussian_affinities(graph, perplexity=2.5), evaluation="exact")
    ce = CrossEntropy(fuzzy_simplicial_set(graph), UMAPKernel.from_min_dist(0.1), evaluation="exact")
    for objective in (kl, ce):
        plain = objective.loss(Y.astype(np.float32))
        objective.added.join(Anchors(_anchors(), weight=weight))
        assert objective.loss(Y.astype(np.float32)) > plain
        assert gradient_error(objective, Y) < 1e-6


def test_a_weight_means_the_same_for_any_scale_of_the_affinities(graph):
    P = gaussian_affinities(graph, perplexity=2.5)
    Y = np.ones((60, 2), dtype=np.float32)
    losses = []
    for objective in (KLDivergence(P), CrossEntropy(P, UMAPKernel.from_min_dist(0.1))):
        objective.added.join(Anchors(_anchors(), weight=2.0))
        losses.append(objective.added.loss(Y) / objective.added.unit)
    assert losses[0] == pytest.approx(losses[1])
    assert KLDivergence(P).added.unit == pytest.approx(float(P.matrix.sum()), rel=1e-5)


@pytest.mark.parametrize("optimizer", [LBFGS(max_iter=1000), Adam(0.1, max_iter=600), GradientDescent(max_iter=600)])
def test_every_optimizer_comes_to_rest_where_forces_balance(graph, rng, optimizer):
    kl = KLDivergence(gaussian_affinities(graph, perplexity=2.5), evaluation="exact")
    kl.added.join(Anchors(_anchors() + 7.0, weight=1.0))
    start = rng.standard_normal((60, 2)).astype(np.float32) + 7
    Y = optimizer.minimize(kl, start).embedding
    force = np.abs(kl.gradient(Y)).max()
    assert force < 0.02 * np.abs(kl.gradient(start)).max()
    assert np.nanmedian(np.linalg.norm(Y - (_anchors() + 7), axis=1)) < 2.0  # a centred map would lie 10 away


def test_held_points_stay_in_every_bit_and_others_move(graph, rng):
    start = rng.standard_normal((60, 2)).astype(np.float32)
    positions = _anchors()
    held = ~np.isnan(positions[:, 0])
    ce = CrossEntropy(fuzzy_simplicial_set(graph), UMAPKernel.from_min_dist(0.1))
    kl = KLDivergence(gaussian_affinities(graph, perplexity=2.5))
    for objective, optimizer in ((ce, SampledDescent(30)), (kl, GradientDescent(max_iter=60)), (kl, Adam(max_iter=30))):
        objective.added.terms = ()
        objective.added.join(Anchors(positions, weight=np.inf))
        Y = optimizer.minimize(objective, start).embedding
        np.testing.assert_array_equal(Y[held], positions[held].astype(np.float32))
        assert not np.array_equal(Y[~held], start[~held])
    with pytest.raises(ValueError, match="moves each point by itself"):
        LBFGS().minimize(kl, start)


def test_bad_springs_are_refused():
    for positions, text in (([1.0, 2.0], "shape"), ([[np.nan, 1.0]], "NaN in all"), ([[np.inf, 1.0]], "finite")):
        with pytest.raises(ValueError, match=text):
            Springs(positions)
    with pytest.raises(ValueError, match="strengths"):
        Springs([[0.0, 0.0]], strengths=[-1.0])
    with pytest.raises(ValueError, match="weight=-1"):
        Anchors([[0.0, 0.0]], weight=-1)


@pytest.mark.parametrize("term", ["springs", "reference"])
def test_stiffness_is_the_second_derivative(term):
    rng = np.random.default_rng(0)
    Y, where = rng.normal(size=(7, 2)), rng.normal(size=(7, 2))
    if term == "springs":
        where[[1, 4]] = np.nan
        one = Springs(where, strengths=rng.uniform(1, 2, 7), weight=3.0)
    else:
        one = ReferenceDistance(where)
    shift = np.array([1e-4, 0.0])
    for i in range(7):
        step = np.zeros_like(Y)
        step[i] = shift
        slope = (one.gradient(Y + step) - one.gradient(Y - step))[i, 0] / 2e-4
        assert one.stiffness()[i] == pytest.approx(slope, rel=1e-6, abs=1e-9)


def test_stiffness_of_several_terms_adds_up_and_one_unknown_leaves_all_unknown():
    first, second = Springs(np.zeros((5, 2)), weight=2.0), Springs(np.ones((5, 2)), weight=3.0)
    np.testing.assert_allclose(AddedTerms([first, second], 4.0).stiffness, 4.0 * (2.0 + 3.0) * 2.0 / 5.0)
    stars = StarAttraction(np.zeros((2, 2)), np.zeros(5, dtype=np.int64), UMAPKernel(1.0, 1.0))
    assert AddedTerms([first, stars], 4.0).stiffness is None
    assert AddedTerms([], 4.0).stiffness is None
    grown = AddedTerms([first], 4.0)
    alone = grown.stiffness
    grown.join(second)
    np.testing.assert_allclose(grown.stiffness, 2.5 * alone)


def test_stiff_springs_are_at_rest_when_t_sne_ends(digits):
    X, held = digits[0][:300], {i: (3.0 * (i % 5), 2.0 * i / 30.0) for i in range(0, 300, 30)}
    ends = [gnomon.TSNE(anchors=held, anchor_weight=w, random_state=0).fit(X) for w in (1.0, 30.0)]
    soft, stiff = (np.nanmean(one.anchor_distances_) for one in ends)
    assert stiff < 0.1 * soft
