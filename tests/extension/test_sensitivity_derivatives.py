"""Second derivatives of losses by map and data: finite differences in float64, and agreement with the objectives."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.affinities import conditional_affinities, fuzzy_simplicial_set, gaussian_affinities
from gnomon.extension.sensitivity.affinities import DataAffinities
from gnomon.extension.sensitivity.graph_losses import GraphLoss
from gnomon.extension.sensitivity.pairs import flat, unflat
from gnomon.extension.sensitivity.stress_loss import StressLoss
from gnomon.kernels import Cauchy, Gaussian, StudentT, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import ConditionalDivergence, CrossEntropy, KLDivergence, StatedCrossEntropy, Stress

_N, _K = 24, 9
_UMAP = UMAPKernel(1.5769, 0.8951)
_X = np.random.default_rng(0).normal(size=(_N, 5)) * [2.0, 1.0, 1.0, 0.5, 0.3]
_Y = np.random.default_rng(1).normal(size=(_N, 2)) * [2.0, 1.0]
_GRAPH = compute_neighbors(_X.astype(np.float32), _K)

LOSSES = {
    "t-SNE": lambda X: GraphLoss(DataAffinities.gaussian(X, _GRAPH, perplexity=4.0), Cauchy(), "kl"),
    "t-SNE, heavy tails": lambda X: GraphLoss(DataAffinities.gaussian(X, _GRAPH, perplexity=4.0), StudentT(0.5), "kl"),
    "symmetric SNE": lambda X: GraphLoss(DataAffinities.gaussian(X, _GRAPH, perplexity=4.0), Gaussian(), "kl"),
    "SNE": lambda X: GraphLoss(DataAffinities.conditional(X, _GRAPH, perplexity=4.0), Gaussian(), "conditional_kl"),
    "UMAP": lambda X: GraphLoss(DataAffinities.fuzzy(X, _GRAPH), _UMAP, "cross_entropy"),
    "UMAP, mixed": lambda X: GraphLoss(
        DataAffinities.fuzzy(X, _GRAPH, local_connectivity=1.5, set_op_mix_ratio=0.7), _UMAP, "cross_entropy"
    ),
    "UMAP as printed": lambda X: GraphLoss(DataAffinities.fuzzy(X, _GRAPH), _UMAP, "stated_cross_entropy"),
    "MDS": StressLoss,
    "Sammon": lambda X: StressLoss(X, weights="inverse"),
}


def _moved(i, f, step):
    X = _X.copy()
    X[i, f] += step
    return X


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_that_of_the_objective_that_methods_minimise(name):
    loss = LOSSES[name](_X)
    objective = {
        "t-SNE": lambda: KLDivergence(gaussian_affinities(_GRAPH, perplexity=4.0)),
        "t-SNE, heavy tails": lambda: KLDivergence(gaussian_affinities(_GRAPH, perplexity=4.0), StudentT(0.5)),
        "symmetric SNE": lambda: KLDivergence(gaussian_affinities(_GRAPH, perplexity=4.0), Gaussian()),
        "SNE": lambda: ConditionalDivergence(conditional_affinities(_GRAPH, perplexity=4.0)),
        "UMAP": lambda: CrossEntropy(fuzzy_simplicial_set(_GRAPH), _UMAP, evaluation="exact"),
        "UMAP, mixed": lambda: CrossEntropy(
            fuzzy_simplicial_set(_GRAPH, local_connectivity=1.5, set_op_mix_ratio=0.7), _UMAP, evaluation="exact"
        ),
        "UMAP as printed": lambda: StatedCrossEntropy(fuzzy_simplicial_set(_GRAPH), _UMAP),
        "MDS": lambda: Stress(loss._delta),
        "Sammon": lambda: Stress(loss._delta, weights=loss._weights_of(slice(None))[0]),
    }[name]()
    expected = objective.reference(_Y)[1]
    np.testing.assert_allclose(loss.gradient(_Y), expected, rtol=2e-4, atol=2e-5 * np.abs(expected).max())


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
    np.testing.assert_allclose(loss.product(_Y, flat(V)), H @ flat(V), atol=1e-12 * np.abs(expected).max())
    shaped = H.reshape(2, _N, 2, _N)
    own = np.array([shaped[:, i, :, i] for i in range(_N)])
    np.testing.assert_allclose(loss.own_blocks(_Y), own, atol=1e-12 * np.abs(own).max())


@pytest.mark.parametrize("name", LOSSES)
def test_mixed_derivatives_are_the_slopes_of_the_gradient_by_the_data(name):
    loss, step = LOSSES[name](_X), 1e-6
    Z = np.random.default_rng(3).normal(size=(_N, 2, 3))
    pairs = loss.pairs_at(_Y)
    for i in (0, 7):
        expected = np.stack(
            [
                (LOSSES[name](_moved(i, f, step)).gradient(_Y) - LOSSES[name](_moved(i, f, -step)).gradient(_Y))
                / (2 * step)
                for f in range(_X.shape[1])
            ],
            axis=2,
        )
        found = loss.push(pairs, i)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
        both = np.einsum("idq,idf->qf", Z, found)
        np.testing.assert_allclose(
            loss.pull(pairs, Z, i, loss.share(pairs, Z)), both, atol=1e-12 * np.abs(found).max() * _N
        )


def test_flat_and_back():
    assert np.array_equal(unflat(flat(_Y), 2), _Y)
