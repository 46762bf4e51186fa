"""Kernels, affinities and losses of the user's own: mapped, transformed and differentiated without another line."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gnomon import NeighborEmbedding, sensitivity
from gnomon.affinities import NeighborAffinity
from gnomon.exceptions import DataWarning
from gnomon.extension.sensitivity.solve import rigid_motions, without
from gnomon.kernels import Cauchy, CustomKernel
from gnomon.objectives import AddedTerm, PairObjective
from gnomon.objectives.expansion import flat, unflat
from gnomon.objectives.terms import AllPairs, EdgePairs
from gnomon.optimizers import Newton

_X = np.random.default_rng(0).normal(size=(50, 4)) * [3.0, 2.0, 0.7, 0.3]
_NEW = np.random.default_rng(1).normal(size=(6, 4)) * [3.0, 2.0, 0.7, 0.3]


def _value(s):
    return 1.0 / (1.0 + s) ** 1.5


def _first(s):
    return -1.5 / (1.0 + s) ** 2.5


def _second(s):
    return 3.75 / (1.0 + s) ** 3.5


KERNEL = CustomKernel(_value, _first, second_derivative=_second, bounded=True)


class Heat(NeighborAffinity):
    """Weights exp(-d^2 / 4), all that a user writes."""

    def of_rows(self, distances):
        return np.exp(-np.square(distances) / 4.0)


def springs(affinities, kernel):
    """Attraction by the logarithm, two repulsions: a plain sum, and that of another kernel."""
    n = affinities.n_samples
    repulsions = [AllPairs(n, kernel, "value", scale=1.0 / n**2), AllPairs(n, Cauchy(), "value", link="log", scale=0.8)]
    return PairObjective([EdgePairs(affinities.matrix, kernel, "log")], repulsions)


CHOICES = {
    "kernel": {"affinity": "gaussian", "affinity_params": {"perplexity": 15.0}, "kernel": KERNEL},
    "affinity": {"affinity": Heat(), "kernel": "cauchy"},
    "loss": {
        "affinity": "gaussian",
        "affinity_params": {"perplexity": 15.0},
        "kernel": "cauchy",
        "loss": springs,
        "optimizer": "lbfgs",
    },
    "all three": {"affinity": Heat(), "kernel": KERNEL, "loss": springs, "optimizer": "lbfgs"},
    "memberships, all pairs": {
        "loss": "cross_entropy",
        "kernel": KERNEL,
        "loss_params": {"evaluation": "exact"},
        "optimizer": "lbfgs",
    },
}


@pytest.fixture(scope="module")
def fitted():
    return {
        name: NeighborEmbedding(n_neighbors=30, random_state=0, n_jobs=1, start_spread=1.0, **choice).fit(_X)
        for name, choice in CHOICES.items()
    }


@pytest.mark.parametrize("name", CHOICES)
def test_new_rows_lie_where_their_own_loss_has_no_slope(name, fitted):
    estimator = fitted[name]
    places, placement = estimator.place(_NEW), estimator.placement_
    indices, distances = placement.search.find(_NEW)
    weights = placement.affinities(placement.rows, _NEW, indices, distances)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-5)

    def losses(at):
        return placement.field.losses(indices, weights, at)

    step = np.float32(2.0**-6)
    found, unit = losses(places)[1], np.abs(losses(places + np.float32(1.0))[1]).max()
    for axis in range(2):
        move = np.zeros(2, dtype=np.float32)
        move[axis] = step
        expected = (losses(places + move)[0] - losses(places - move)[0]) / (2.0 * step)
        np.testing.assert_allclose(found[:, axis], expected, atol=3e-3 * unit)
    np.testing.assert_allclose(found, 0.0, atol=3e-3 * unit)


@pytest.mark.parametrize("name", CHOICES)
def test_a_fitted_row_is_placed_at_its_point_and_after_pickling_alike(name, fitted):
    estimator = fitted[name]
    np.testing.assert_array_equal(estimator.place(_X[:5]), estimator.embedding_[:5])
    if name == "affinity":
        again = pickle.loads(pickle.dumps(estimator))
        np.testing.assert_array_equal(again.place(_NEW), estimator.place(_NEW))


@pytest.mark.parametrize("name", CHOICES)
def test_sensitivities_are_what_a_new_fit_of_changed_data_does(name, fitted):
    estimator, i = fitted[name], 3
    answer = sensitivity(estimator, _X, rows=[i], polish=True)
    assert answer.stationarity.is_minimum
    direction, step, ends = np.array([0.5, -0.3, 0.8, 0.2]), 1e-4, []
    for sign in (1.0, -1.0):
        X = _X.copy()
        X[i] += sign * step * direction
        loss = estimator._loss_of_data(X)
        ends.append(Newton(max_iter=60, tol=1e-14).minimize(loss, answer.embedding).embedding)
    motions = rigid_motions(answer.embedding)
    actual = unflat(without(motions, flat(ends[0] - ends[1])[:, None])[:, 0], 2) / (2.0 * step)
    predicted = answer.others(i) @ direction
    assert np.linalg.norm(predicted - actual) < 1e-3 * np.linalg.norm(actual)
    np.testing.assert_allclose(answer.own[0] @ direction, predicted[i], rtol=1e-6, atol=1e-9)


def test_what_a_part_of_ones_own_lacks_is_named(fitted):
    flatless = CustomKernel(_value, _first, bounded=True)
    estimator = NeighborEmbedding(affinity=Heat(), kernel=flatless, n_jobs=1, optimizer_params={"max_iter": 5}).fit(_X)
    with pytest.raises(TypeError, match="second_derivative must be given"):
        sensitivity(estimator, _X)
    plain = NeighborEmbedding(affinity=lambda inputs: Heat()(inputs), n_jobs=1, optimizer_params={"max_iter": 5})
    with pytest.raises(TypeError, match="must be of affinities that know their derivatives"):
        sensitivity(plain.fit(_X), _X)
    with pytest.raises(ValueError, match=r"place must be used with an affinity that weighs new rows"):
        plain.place(_NEW)


def test_weights_of_ones_own_are_checked():
    class Wrong(NeighborAffinity):
        def of_rows(self, distances):
            return -np.asarray(distances)

    with pytest.raises(ValueError, match=r"Wrong: weights of shape \(50, 15\) must be finite, >= 0"):
        NeighborEmbedding(affinity=Wrong(), n_jobs=1).fit(_X)


def test_a_dense_array_is_an_affinity_as_a_callable_returning_it_is():
    squares = np.square(_X[:, None] - _X[None]).sum(axis=2)
    K = np.exp(-squares / 4.0)
    given = {"kernel": "cauchy", "loss": "frobenius", "random_state": 0, "n_jobs": 1}
    one = NeighborEmbedding(affinity=K, **given).fit(_X)
    other = NeighborEmbedding(affinity=lambda inputs: K, **given).fit(_X)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.fill_diagonal(K, 0.0)
    graph = NeighborEmbedding(affinity=K, random_state=0, n_jobs=1, optimizer_params={"max_iter": 20}).fit(_X)
    assert graph.affinities_.matrix.nnz == 50 * 49
    with pytest.raises(ValueError, match="affinity of 40 rows must be one row each"):
        NeighborEmbedding(affinity=K[:40, :40], **given).fit(_X)


def test_frobenius_says_that_it_needs_a_dense_similarity():
    with pytest.raises(TypeError, match=r"Frobenius: target must be dense.*found Affinities.*Pass an array"):
        NeighborEmbedding(affinity="fuzzy", loss="frobenius", n_jobs=1).fit(_X)


class Level(AddedTerm):
    """Mean square of the last coordinate, all that a user writes; it learns the height of each point and their mean."""

    def loss(self, Y):
        return float(np.square(Y[:, -1], dtype=np.float64).mean())

    def gradient(self, Y):
        return np.pad(2 * Y[:, -1:] / len(Y), ((0, 0), (Y.shape[1] - 1, 0)))

    def learned(self, Y, copies=None):
        heights = Y[:, -1] if copies is None else Y[copies, -1]
        return {"heights_": heights, "mean_height_": float(heights.mean())}


def test_a_term_of_ones_own_acts_and_what_it_learned_is_a_fitted_attribute():
    make = {"loss": "cross_entropy", "n_neighbors": 8, "optimizer_params": {"max_iter": 60}, "random_state": 0}
    plain = NeighborEmbedding(**make, n_jobs=1).fit(_X)
    assert not hasattr(plain, "heights_")
    model = NeighborEmbedding(**make, n_jobs=1, loss_params={"added": (Level(),)}).fit(_X)
    np.testing.assert_array_equal(model.heights_, model.embedding_[:, 1])
    assert np.square(model.heights_).mean() < 0.5 * np.square(plain.embedding_[:, 1]).mean()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.heights_, model.heights_)
    with pytest.warns(DataWarning, match="60 rows hold 50 distinct"):
        model.fit(np.concatenate([_X, _X[:10]]))
    np.testing.assert_array_equal(model.heights_, model.embedding_[:, 1])
    assert model.mean_height_ == float(model.embedding_[:, 1].mean())


@pytest.mark.parametrize(
    "change", [{"loss_params": None}, {"loss_params": None, "loss": "kl", "optimizer_params": None}, "one row"]
)
def test_what_an_earlier_fit_learned_is_gone_after_one_that_does_not_learn_it(change):
    make = {"loss": "cross_entropy", "n_neighbors": 8, "optimizer_params": {"max_iter": 10}, "random_state": 0}
    model = NeighborEmbedding(**make, n_jobs=1, loss_params={"added": (Level(),)}).fit(_X)
    before = set(vars(model))
    if change == "one row":
        with pytest.warns(DataWarning, match="1 distinct row"):
            model.fit(np.ones((5, 4)))
    else:
        model.set_params(**change)
        model.fit(_X)
    assert before - set(vars(model)) == {"heights_", "mean_height_", "_learned"}
