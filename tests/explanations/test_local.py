"""Arrows are axes times local deviations, in the units of the features, whichever way round the fits are."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.explanations import explain
from gnomon.explanations.local import (
    along,
    arrows_with_errors,
    each_local_arrows,
    lengths_with_errors,
    local_arrows,
    local_deviation,
    longest_arrows,
)

UNITS = np.array([1.0, 10.0, 100.0, 1.0, 0.1])


@pytest.fixture(scope="module", params=["forward", "inverse"])
def explanation(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 5)) * UNITS
    X[:, 3] = 2.0
    Y = X[:, :2] * [1.0, 0.05] + 0.1 * rng.normal(size=(70, 2))
    return explain(X, Y, scale="standard", fit=request.param, pooling=2, n_jobs=1)


def test_deviations_are_those_of_the_neighbours_that_make_the_fit(explanation):
    X, places, graph = explanation._X, explanation.places, explanation.graph
    for i in (0, 41):
        if explanation.direction == "inverse":
            near = np.argsort(np.linalg.norm(places - places[i], axis=1))[: explanation.n_neighbors]
            expected = X[near].std(axis=0)
        else:  # averaged once over the point and its neighbours
            own = np.sqrt(np.mean((X[graph.indices] - X[:, None]) ** 2, axis=1))
            expected = own[np.append(i, graph.indices[i])].mean(axis=0)
        np.testing.assert_allclose(local_deviation(explanation, i), expected, rtol=1e-5)


def test_arrows_and_their_errors_are_per_local_deviation(explanation):
    deviation = local_deviation(explanation, 7)
    arrows, errors = arrows_with_errors(explanation, 7)
    np.testing.assert_allclose(arrows, explanation.axes(7) * deviation)
    np.testing.assert_allclose(errors, explanation.axes_error(7) * deviation)
    np.testing.assert_allclose(local_arrows(explanation, 7), arrows)
    lengths = np.linalg.norm(arrows, axis=0)
    np.testing.assert_allclose(lengths, explanation.importance[7], rtol=1e-4, atol=1e-7)
    order = np.argsort(-lengths)[:3]
    top, long, their_errors = longest_arrows(explanation, 7, 3)
    assert top.tolist() == order.tolist()
    np.testing.assert_allclose(long, arrows[:, order])
    np.testing.assert_allclose(their_errors, errors[:, order])


def test_arrows_of_many_points_are_those_of_each(explanation):
    rows = np.arange(69, 0, -2)
    found = list(each_local_arrows(explanation, rows))
    assert len(found) == len(rows)
    for i, arrows in zip(rows, found, strict=True):
        np.testing.assert_allclose(arrows, local_arrows(explanation, int(i)), rtol=1e-6, atol=1e-9)


def test_lengths_have_errors_along_the_arrows_and_in_a_middle_direction_without_length():
    arrows, errors = np.array([[3.0, 0.0, 0.0], [4.0, 0.0, 0.0]]), np.array([[0.1, 0.3, 0.0], [0.2, 0.4, 0.0]])
    lengths, spread = lengths_with_errors(arrows, errors)
    np.testing.assert_array_equal(lengths, [5.0, 0.0, 0.0])
    np.testing.assert_allclose(spread, [np.hypot(0.06, 0.16), np.hypot(0.3, 0.4) / np.sqrt(2.0), 0.0])
    np.testing.assert_allclose(along(np.array([0.6, 0.8]), arrows), [5.0, 0.0, 0.0])
