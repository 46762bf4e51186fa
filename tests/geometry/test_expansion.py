"""Standard errors of axes are the jackknife written out, whichever way they are computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.geometry import expansion, local_jacobians
from gnomon.neighbors import compute_neighbors


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(120, 4)), np.full(120, 2.0)])
    Y = X[:, :4] @ rng.normal(size=(4, 2)) + 0.2 * rng.normal(size=(120, 2))
    return X, Y, compute_neighbors(X, 12)


def test_the_error_of_one_fit_is_influence_times_left_out_residual(noisy):
    X, Y, graph = noisy
    i, near = 7, graph.indices[7]
    found = local_jacobians(X, Y, graph, ridge=0.0, variance_share=1.0)
    variance = np.zeros((2, 5))
    for j in near:
        moved = Y.copy()
        moved[j, 0] += 1.0  # the axes are linear in the places, so that one step is the derivative
        influence = (local_jacobians(X, moved, graph, ridge=0.0, variance_share=1.0).axes(X, i) - found.axes(X, i))[0]
        others = near[near != j]
        A = np.column_stack([X[others, :4], np.ones(len(others))])
        residual = Y[j] - np.append(X[j, :4], 1.0) @ np.linalg.lstsq(A, Y[others], rcond=None)[0]
        variance += np.outer(residual**2, influence**2)
    np.testing.assert_allclose(found.axes_error(X, i), np.sqrt(variance), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("origin", ["mean", "point"])
@pytest.mark.parametrize("rounds", [0, 2])
def test_both_ways_to_compute_them_agree_and_some_features_equal_those_of_all(noisy, monkeypatch, origin, rounds):
    X, Y, graph = noisy
    found = local_jacobians(X, Y, graph, ridge=0.1, variance_share=0.9, pooling=rounds, origin=origin)
    errors = {}
    for share in (0, 1e9):
        monkeypatch.setattr(expansion, "_DENSE", share)
        errors[share] = found.axes_error(X, 5)
        np.testing.assert_allclose(found.axes_error(X, 5, [3, 4, 0]), errors[share][:, [3, 4, 0]], rtol=1e-12)
        np.testing.assert_allclose(found.axes_error(X, 5, [1, 0, 3, 2]), errors[share][:, [1, 0, 3, 2]], rtol=1e-12)
        np.testing.assert_allclose(found.axes_error(sp.csr_array(X), 5), errors[share], rtol=1e-12)
    np.testing.assert_allclose(errors[0], errors[1e9], rtol=1e-9)
    assert not errors[0][:, 4].any()
    assert (errors[0][:, :4] > 0).all()


@pytest.mark.parametrize("kind", ["floats", "bytes", "sparse"])
def test_foretold_steps_are_those_of_the_axes_of_each_round(noisy, kind):
    X, Y, graph = noisy
    X = np.clip(40.0 * X + 120.0, 0.0, 255.0).astype(np.uint8)
    others = np.array([90, 3, 41])
    given = {"floats": X.astype(np.float64), "bytes": X, "sparse": sp.csr_array(X.astype(np.float64))}[kind]
    found = local_jacobians(X, Y, graph, ridge=0.1, variance_share=1.0, pooling=3)
    steps = expansion.foretell_by_rounds(given, found, 7, others)
    for rounds, foretold in enumerate(steps):
        axes = replace(found, pooling=rounds).axes(X.astype(np.float64), 7)
        expected = (X[others].astype(float) - X[7]) @ axes.T
        np.testing.assert_allclose(foretold, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("rounds", [0, 3])
def test_axes_of_many_rows_are_those_of_each(noisy, rounds):
    X, Y, graph = noisy
    found = local_jacobians(X, Y, graph, ridge=0.1, variance_share=1.0, pooling=rounds)
    rows = np.array([90, 3, 3, 41])
    together = expansion.expand_axes_of_rows(X, found, rows)
    for i, axes in zip(rows, together, strict=True):
        np.testing.assert_allclose(axes, expansion.expand_axes(X, found, int(i)), rtol=1e-9, atol=1e-12)
