"""Parts of the user's own that are none: one error each, which names the part, what was found and what to do."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.affinities import Affinities, NeighborAffinity, uniform_affinities
from gnomon.kernels import Cauchy, CustomKernel
from gnomon.objectives import KLDivergence, PairObjective
from gnomon.objectives.terms import AllPairs, EdgePairs
from gnomon.optimizers import Adam, Solution

_X = np.random.default_rng(0).normal(size=(40, 3))


def fit(**parts):
    return gn.NeighborEmbedding(n_neighbors=5, random_state=0, n_jobs=1, **parts).fit(_X)


class Own:
    """An optimizer that returns whatever is made of a solution."""

    max_iter = 5

    def __init__(self, change):
        self.change = change

    def minimize(self, objective, Y0, reporter=None):
        return self.change(Adam(max_iter=5).minimize(objective, Y0))


def _positions(change):
    return Own(lambda solution: replace(solution, embedding=change(solution.embedding.copy())))


def _lost(rows):
    def change(Y):
        Y[rows] = np.nan
        return Y

    return change


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (_lost(slice(None)), ValueError, r"must be finite \(40 of 40 rows hold NaN or infinity, the first is row 0\)"),
        (_lost([7, 9]), ValueError, r"must be finite \(2 of 40 rows hold NaN or infinity, the first is row 7\)"),
        (lambda Y: Y + 1j, TypeError, r"must be an array of numbers of shape \(40, 2\) \(found complex"),
        (lambda Y: Y[:30], ValueError, r"must be an array of numbers of shape \(40, 2\) \(found shape \(30, 2\)\)"),
        (lambda Y: Y[:, :1], ValueError, r"must be an array of numbers of shape \(40, 2\) \(found shape \(40, 1\)\)"),
        (lambda _: None, TypeError, r"must be an array of numbers of shape \(40, 2\) \(found NoneType\)"),
    ],
    ids=["NaN", "two rows", "complex", "short", "narrow", "None"],
)
def test_positions_of_an_optimizer_that_are_none_are_refused_at_the_fit(change, error, text):
    with pytest.raises(error, match=rf"NeighborEmbedding: the embedding of minimize\(\.\.\.\) of Own {text}"):
        fit(optimizer=_positions(change))
    assert fit(optimizer=_positions(lambda Y: Y)).embedding_.shape == (40, 2)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda Y: Y * np.nan, r"must be finite \(40 of 40 rows"),
        (_lost([3]), r"must be finite \(1 of 40 rows hold NaN or infinity, the first is row 3\)"),
        (lambda Y: Y[:9], r"of shape \(40, n_components\) \(found shape \(9, 2\)\)"),
        (lambda Y: Y[:, 0], r"of shape \(40, n_components\) \(found shape \(40,\)\)"),
        (lambda Y: Y[:, :0], r"of shape \(40, n_components\) \(found shape \(40, 0\)\)"),
        (lambda Y: Y + 1j, r"of shape \(40, n_components\) \(found complex128\)"),
    ],
    ids=["NaN", "one row", "short", "flat", "empty", "complex"],
)
def test_positions_of_another_estimator_that_are_none_are_refused_at_the_map(change, text):
    class Mine:
        def fit_transform(self, X):
            return change(np.array(X[:, :2]))

    with pytest.raises((ValueError, TypeError), match=rf"map: fit_transform\(X\) of Mine .*{text}"):
        gn.map(_X, method=Mine())


class WithoutLimit:
    def minimize(self, objective, Y0, reporter=None):
        return Adam(max_iter=5).minimize(objective, Y0)


@pytest.mark.parametrize(
    ("optimizer", "text"),
    [
        (Own(lambda solution: solution.embedding), r"minimize\(\.\.\.\) of Own must be a gnomon\.optimizers\.Solution"),
        (WithoutLimit(), "optimizer=WithoutLimit must be an object with .* and max_iter .it has no max_iter"),
        (object(), "or an object with minimize.objective, Y0, reporter=.... and max_iter"),
    ],
    ids=["array", "no max_iter", "no minimize"],
)
def test_an_optimizer_that_is_none_is_refused(optimizer, text):
    with pytest.raises(TypeError, match=f"NeighborEmbedding: .*{text}"):
        fit(optimizer=optimizer)


def _named(inputs):
    return uniform_affinities(inputs.graph)


def test_what_an_affinity_function_returns_is_looked_at():
    assert fit(affinity=_named).affinities_.n_samples == 40
    for result, kind in ((None, "NoneType"), (np.ones((40, 40)), "ndarray"), (3.0, "float")):
        text = rf"affinity\(inputs\) of <lambda> must be gnomon.*\(found {kind}\)\. Return Affinities"
        with pytest.raises(TypeError, match=text):
            fit(affinity=lambda inputs, result=result: result)
    with pytest.raises(TypeError, match=r"affinity\(inputs\) of .* must be gnomon.*\(found NoneType\)"):
        fit(affinity=lambda inputs: None, loss=lambda a, k: KLDivergence(a, k))
    few = Affinities(sp.csr_array(np.ones((9, 9), dtype=np.float32)), "membership")
    with pytest.raises(ValueError, match=r"for 9 rows must be for inputs\.X, one row each .there are 40 distinct rows"):
        fit(affinity=lambda inputs: few)


def test_the_class_of_an_affinity_is_no_affinity():
    class Heat(NeighborAffinity):
        def of_rows(self, distances):
            return np.exp(-np.square(distances))

    with pytest.raises(TypeError, match=r"affinity=Heat must be an instance of that class\. Pass Heat\(\)"):
        fit(affinity=Heat)
    fit(affinity=Heat())


class Bare:
    """Some of what a loss needs."""

    def __init__(self, affinities, kernel):
        self.n_samples = affinities.n_samples

    def loss(self, Y):
        return float(np.square(Y).sum())


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (
            lambda affinities, kernel: 3,
            r"<lambda> must be an objective .*found int without n_samples, loss, gradient, ev",
        ),
        (lambda affinities, kernel: None, r"<lambda> must be an objective .*found NoneType without n_samples"),
        (
            Bare,
            r"Bare must be an objective .*found Bare without gradient, evaluation_for\)\. See gnomon\.objectives\.Obj",
        ),
    ],
    ids=["number", "None", "without gradient"],
)
def test_a_loss_that_makes_no_objective_is_refused(loss, text):
    with pytest.raises(TypeError, match=rf"loss\(affinities, kernel\) of {text}"):
        fit(loss=loss)


def test_an_optimizer_of_ones_own_may_do_without_a_gradient():
    class Flat(Bare):
        def evaluation_for(self, n_components):
            return "exact"

    def stay(objective, Y0, reporter=None):
        return Solution(Y0, [], True, "It stays.", 0)

    optimizer = Own(None)
    optimizer.minimize = stay
    assert fit(loss=Flat, optimizer=optimizer).embedding_.shape == (40, 2)


def test_terms_of_unlike_numbers_of_points_are_no_sum():
    edges = EdgePairs(sp.csr_array(np.ones((30, 30))), Cauchy())
    with pytest.raises(ValueError, match="PairObjective: terms of 29 and 30 points must be of the same points"):
        PairObjective([edges], [AllPairs(29, Cauchy())])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda s: 1 / (1 + s) if s > 0 else 1.0, r"value must be a function of an array .*ambiguous.*Use np\.where"),
        (lambda s: math.exp(-s), r"value must be a function of an array .*it raises: .*NumPy's functions"),
        (
            lambda s: s / (1 + s),
            r"value must be one that falls with the distance .*0\.0001037 at s=.* and 0\.9999 at s=.*1 - k",
        ),
    ],
    ids=["if", "math", "rising"],
)
def test_kernels_of_single_numbers_and_similarities_that_rise_are_refused(value, text):
    with pytest.raises((ValueError, TypeError), match=f"CustomKernel: {text}"):
        CustomKernel(value, lambda s: (1 + s) ** -2.0, bounded=True)
    if "falls" in text:
        CustomKernel(value, lambda s: (1 + s) ** -2.0)


@pytest.mark.parametrize(("distance", "kind"), [(None, "NoneType"), ("far", "str"), (1j, "complex")])
def test_a_metric_that_gives_no_numbers_is_refused(distance, kind):
    def mine(a, b):
        return distance

    text = rf"metric='mine' must be a number >= 0 for all rows \(found {kind} between row 0 and row 0\)"
    with pytest.raises(TypeError, match=text):
        fit(metric=mine)
