"""Second derivatives of losses by map and data: finite differences in float64, and agreement with the objectives."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.affinities import (
    ConditionalAffinity,
    DataDistances,
    FuzzyAffinity,
    GaussianAffinity,
    Inputs,
    NeighborAffinity,
    UniformAffinity,
)
from gnomon.extension.sensitivity import DataLoss
from gnomon.kernels import Cauchy, CustomKernel, CustomLaw, Gaussian, StudentT, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import (
    ConditionalDivergence,
    CrossEntropy,
    KLDivergence,
    LinearAttraction,
    PairObjective,
    StatedCrossEntropy,
    Stress,
)
from gnomon.objectives.expansion import flat, unflat
from gnomon.objectives.terms import AllPairs, EdgePairs

_N, _K = 24, 9
_UMAP = UMAPKernel(1.5769, 0.8951)
_X = np.random.default_rng(0).normal(size=(_N, 3)) * [2.0, 1.0, 0.5]
_Y = np.random.default_rng(1).normal(size=(_N, 2)) * [2.0, 1.0]
_GRAPH = compute_neighbors(_X.astype(np.float32), _K)

_SQUARE = CustomKernel(
    lambda s: 1.0 / (1.0 + s) ** 2,
    lambda s: -2.0 / (1.0 + s) ** 3,
    second_derivative=lambda s: 6.0 / (1.0 + s) ** 4,
    bounded=True,
)


class Heat(NeighborAffinity):
    """An affinity of the user's own, which says nothing of derivatives."""

    def of_rows(self, distances):
        return np.exp(-np.square(distances))


class HeatMembership(Heat):
    """The same as memberships."""

    join, set_op_mix_ratio = "membership", 0.8


def _own_loss(affinities):
    edges = EdgePairs(affinities.matrix, _SQUARE, "log")
    pairs = AllPairs(affinities.n_samples, Cauchy(), "value", scale=0.01)
    return PairObjective([edges], [pairs, AllPairs(affinities.n_samples, _SQUARE, "value", link="log")])


_POWER = CustomLaw(lambda k: k**1.5, lambda k: 1.5 * k**0.5, lambda k: 0.75 * k**-0.5)


def _with_law(affinities, law):
    n = affinities.n_samples
    pull = EdgePairs(affinities.matrix, Cauchy(), law, scale=-1.0)
    return PairObjective([pull], [AllPairs(n, Cauchy(), law, scale=0.02), AllPairs(n, Cauchy(), law, link="log")])


def _umap(affinities, **given):
    return CrossEntropy(affinities, _UMAP, **given)


# affinity, loss, and the loss by which the fit's float32 gradient is checked
PARTS = {
    "t-SNE": (GaussianAffinity(4.0), KLDivergence),
    "t-SNE, heavy tails": (GaussianAffinity(4.0), lambda a: KLDivergence(a, StudentT(0.5))),
    "t-SNE, exaggerated": (GaussianAffinity(4.0), lambda a: KLDivergence(a, attraction_weight=3.0)),
    "memberships, exaggerated": (FuzzyAffinity(), lambda a: KLDivergence(a, attraction_weight=0.4)),
    "symmetric SNE": (GaussianAffinity(4.0), lambda a: KLDivergence(a, Gaussian())),
    "SNE": (ConditionalAffinity(4.0), ConditionalDivergence),
    "UMAP": (FuzzyAffinity(), _umap),
    "UMAP, mixed": (FuzzyAffinity(1.5, 0.7), _umap),
    "UMAP as printed": (FuzzyAffinity(), lambda a: StatedCrossEntropy(a, _UMAP)),
    "LargeVis": (GaussianAffinity(4.0), lambda a: CrossEntropy(a, Cauchy(), noise_exponent=0.75)),
    "memberships in t-SNE's loss": (FuzzyAffinity(), KLDivergence),
    "elastic embedding": (FuzzyAffinity(), lambda a: LinearAttraction(a, Gaussian(), charges="uniform")),
    "springs": (FuzzyAffinity(), LinearAttraction),
    "springs and gravity": (FuzzyAffinity(), lambda a: LinearAttraction(a, gravity=0.3)),
    "gravity, charges alike": (FuzzyAffinity(), lambda a: LinearAttraction(a, gravity=0.3, charges="uniform")),
    "own affinity": (Heat(), KLDivergence),
    "own law": (Heat(), lambda a: _with_law(a, _POWER)),
    "own memberships": (HeatMembership(), _umap),
    "own affinity, kernel and loss": (Heat(), _own_loss),
}
LOSSES = {
    name: lambda X, affinity=affinity, loss=loss: DataLoss(affinity.derivative(Inputs(X, _GRAPH)), loss)
    for name, (affinity, loss) in PARTS.items()
} | {
    "MDS": lambda X: DataLoss(DataDistances(X), lambda d: Stress(d, dtype=np.float64)),
    "Sammon": lambda X: DataLoss(DataDistances(X), lambda d: Stress(d, weights="inverse", dtype=np.float64)),
}


def _moved(i, f, step):
    X = _X.copy()
    X[i, f] += step
    return X


@pytest.mark.parametrize("name", LOSSES)
def test_loss_and_gradient_are_those_of_the_objective_that_methods_minimise(name):
    loss = LOSSES[name](_X)
    if name in PARTS:
        affinity, made = PARTS[name]
        objective = made(affinity.weights(_GRAPH))
    else:
        delta = loss.affinities.values
        objective = Stress(delta, weights=None if name == "MDS" else 1.0 / (delta + np.diag(np.full(_N, np.inf))))
    energy, expected = objective.reference(_Y)
    np.testing.assert_allclose(loss.gradient(_Y), expected, rtol=2e-4, atol=2e-5 * np.abs(expected).max())
    assert loss.loss(_Y) == pytest.approx(energy, rel=1e-4)


def test_neighbors_that_are_all_alike_do_not_follow_the_data():
    loss = DataLoss(UniformAffinity().derivative(Inputs(_X, _GRAPH)), KLDivergence)
    assert not loss.push(_Y, 3).any()


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_the_slope_of_the_loss(name):
    loss, V = LOSSES[name](_X), np.random.default_rng(2).normal(size=_Y.shape)
    step = 1e-6
    slope = (loss.loss(_Y + step * V) - loss.loss(_Y - step * V)) / (2 * step)
    assert slope == pytest.approx(float((loss.gradient(_Y) * V).sum()), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", LOSSES)
def test_the_hessian_is_the_slope_of_the_gradient(name):
    loss, V = LOSSES[name](_X), np.random.default_rng(2).normal(size=_Y.shape)
    step = 1e-6
    expected = flat((loss.gradient(_Y + step * V) - loss.gradient(_Y - step * V)) / (2 * step))
    H = loss.hessian(_Y)
    np.testing.assert_allclose(H, H.T, atol=1e-12 * np.abs(H).max())
    np.testing.assert_allclose(H @ flat(V), expected, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(loss.expand(_Y).product(flat(V)), H @ flat(V), atol=1e-12 * np.abs(expected).max())
    shaped = H.reshape(2, _N, 2, _N)
    own = np.array([shaped[:, i, :, i] for i in range(_N)])
    np.testing.assert_allclose(loss.expand(_Y).own_blocks(), own, atol=1e-12 * np.abs(own).max())


@pytest.mark.parametrize("name", LOSSES)
def test_mixed_derivatives_are_the_slopes_of_the_gradient_by_the_data(name):
    loss, step = LOSSES[name](_X), 1e-6
    Z = np.random.default_rng(3).normal(size=(_N, 2, 3))
    for i in (0, 7):
        expected = np.stack(
            [
                (LOSSES[name](_moved(i, f, step)).gradient(_Y) - LOSSES[name](_moved(i, f, -step)).gradient(_Y))
                / (2 * step)
                for f in range(_X.shape[1])
            ],
            axis=2,
        )
        found = loss.push(_Y, i)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
        both = np.einsum("idq,idf->qf", Z, found)
        np.testing.assert_allclose(loss.pull(_Y, Z, i, loss.share(_Y, Z)), both, atol=1e-12 * np.abs(found).max() * _N)


def test_flat_and_back():
    assert np.array_equal(unflat(flat(_Y), 2), _Y)
