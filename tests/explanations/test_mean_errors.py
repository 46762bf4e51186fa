"""Errors of means of arrows know that fits share rows: they are the spread over draws, and each part is exact."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations import explain, mean_errors, mean_importance
from gnomon.explanations.axis import axis
from gnomon.explanations.mean_errors import error_of_mean
from gnomon.geometry import local_jacobians
from gnomon.geometry.expansion import place_influences, shares_of_fits
from gnomon.geometry.inverse import regress_features
from gnomon.neighbors import compute_neighbors

DRAWS, ROWS, NOISE = 6, 200, 8


@pytest.fixture(scope="module", params=["forward", "inverse"])
def draws(request):
    """Pushes and importances with errors, (2, draws, features); two features drive the maps, the others are noise."""
    pushes, importances = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        Y = rng.normal(size=(ROWS, 2))
        X = np.column_stack([Y + 0.3 * rng.normal(size=(ROWS, 2)), rng.normal(size=(ROWS, NOISE))])
        explanation = explain(X, Y, n_jobs=1, fit=request.param)
        found = axis(explanation, path=[(-1.5, 0), (1.5, 0)], width=0.7)
        order = np.argsort(found.indices)
        pushes.append([found.push[order], found.push_error[order]])
        mean = mean_importance(explanation)
        order = np.argsort(mean.indices)
        importances.append([mean.effect[order], mean.error[order]])
    return np.swapaxes(pushes, 0, 1), np.swapaxes(importances, 0, 1)


def test_pushes_of_noise_lie_within_two_errors_of_zero(draws):
    push, error = draws[0]
    assert np.mean(np.abs(push[:, 2:]) > 1.96 * error[:, 2:]) < 0.15
    assert 0.6 < error[:, 2:].mean() / np.sqrt(np.mean(push[:, 2:] ** 2)) < 1.6


def test_errors_of_importances_are_about_their_spread_over_draws_and_not_below_it(draws):
    effect, error = draws[1]
    spread = np.sqrt(effect.var(axis=0, ddof=1))
    assert 0.6 < error[:, :2].mean() / np.sqrt(np.mean(spread[:2] ** 2)) < 2.0
    assert 0.9 < error[:, 2:].mean() / np.sqrt(np.mean(spread[2:] ** 2)) < 3.0


def test_the_arrows_without_a_row_are_those_of_the_other_rows():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(20, 2))
    values = np.concatenate([places @ rng.normal(size=(2, 3)), rng.normal(size=(20, 2))], axis=1)
    values += 0.1 * rng.normal(size=values.shape)
    near = np.stack([np.arange(20), np.roll(np.arange(20), 5)])
    fits = regress_features(values, near, places)
    hoods, rows = np.array([0, 1, 1]), np.array([3, 3, 19])
    for hood, row, arrows in zip(hoods, rows, fits.arrows_without(hoods, rows), strict=True):
        others = regress_features(values, np.delete(near[hood], row)[None], places)
        np.testing.assert_allclose(arrows, others.arrows()[0], rtol=1e-6)


@pytest.mark.parametrize("pooling", [0, 2])
def test_a_step_of_a_row_in_the_map_moves_the_sum_of_jacobians_as_foretold(pooling):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4))
    Y = X[:, :2] + 0.1 * rng.normal(size=(40, 2))
    graph = compute_neighbors(X, 6)
    weights, rows = rng.uniform(size=7), np.arange(0, 35, 5)

    def summed(places):
        fits = local_jacobians(X, places, graph, pooling=pooling, ridge=0.1, variance_share=1.0)
        return fits, sum(w * fits.axes(X, int(i)) for w, i in zip(weights, rows, strict=True))

    fits, before = summed(Y)
    shares = shares_of_fits(fits, rows, weights[:, None])[:, 0]
    assert shares.sum() == pytest.approx(weights.sum())
    coefficients, _ = place_influences(X, fits, np.arange(40))
    for r in (1, 5, 30):
        moved = Y.copy()
        moved[r] += [0.5, -1.0]
        centre, j = np.nonzero(fits.indices == r)
        steps = X[fits.indices[centre]] - X[centre][:, None]
        foretold = np.einsum("c,cl,clf->f", shares[centre], coefficients[centre, j], steps)
        np.testing.assert_allclose(summed(moved)[1] - before, np.outer([0.5, -1.0], foretold), rtol=1e-8, atol=1e-12)


def _wide(n_columns):
    """Return 120 sparse rows of a table, one of them empty, and places that two of its columns drive."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(120, 40)) * (rng.random((120, 40)) < 0.3)
    X[4] = 0.0
    Y = X[:, :2] + 0.2 * rng.normal(size=(120, 2))
    wide = sp.lil_array((120, n_columns))
    wide[:, np.sort(rng.choice(n_columns, 40, replace=False))] = X
    return sp.csr_array(wide), Y


@pytest.mark.parametrize("fit", ["forward", "inverse"])
def test_means_and_errors_of_sparse_rows_are_those_of_dense_also_by_blocks_of_columns(fit, monkeypatch):
    monkeypatch.setattr(mean_errors, "_COLUMNS", 25)
    X, Y = _wide(60)
    found, right = [], []
    for answers, table in ((found, X), (right, X.toarray())):
        explanation = explain(table, Y, n_jobs=1, fit=fit)
        line, mean = axis(explanation, path=[(0, 0), (2, 1)], width=1.0), mean_importance(explanation)
        answers += [one[np.argsort(line.indices)] for one in (line.push, line.push_error, line.slope)]
        answers += [one[np.argsort(mean.indices)] for one in (mean.effect, mean.error)]
        answers += [line.fidelity]
    assert right[1].max() > 0 < right[4].max()
    for one, other in zip(found, right, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(other).max())


@pytest.mark.parametrize("fit", ["forward", "inverse"])
def test_errors_of_wide_sparse_rows_are_found_without_writing_these_out(fit):
    X, Y = _wide(10_000)
    explanation = explain(X, Y, n_jobs=1, fit=fit)
    known = np.flatnonzero(explanation.mask)[::3]
    tracemalloc.start()
    error_of_mean(explanation, known, np.full(len(known), 1.0 / len(known)), np.zeros(X.shape[1]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * X.shape[1] * 8
