"""The line between groups where a few columns, or directions, vary far more than the others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.evaluation import are_apart
from gnomon.evaluation.gaps.lines import Line, _direction, neighbors_in_order
from gnomon.linalg.within import variation_within


def signals(seed, n=600):
    """Six wide directions in 40 columns of little noise, and a direction of noise alone."""
    rng = np.random.default_rng(seed)
    mix = 2 * rng.normal(size=(6, 40))
    X = rng.normal(size=(n, 6)) @ mix + 0.3 * rng.normal(size=(n, 40))
    along = np.linalg.qr(np.column_stack([mix.T, rng.normal(size=(40, 2))]))[0][:, 6:]
    return rng, X, along.T


@pytest.mark.parametrize("seed", [0, 1])
def test_labels_at_random_over_one_cloud_are_not_apart(seed):
    rng, X, _ = signals(seed)
    first = rng.permutation(600) < 300
    found = are_apart(X, None, first, ~first, n_nulls=19)
    assert (found.answer, found.finding) == ("no", "one group")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_gap_in_a_direction_of_little_variance_is_not_denied(seed):
    rng, X, (along, across) = signals(seed)
    first = rng.permutation(600) < 300
    assert are_apart(X + 1.5 * np.outer(first, along), None, first, ~first, n_nulls=19).answer != "no"
    signs = rng.choice([-0.75, 0.75], size=(600, 2))  # four parts, of which those at opposite corners are one group
    crossed = X + signs @ np.stack([along, across])
    first = signs.prod(axis=1) > 0
    assert are_apart(crossed, None, first, ~first, n_nulls=19).answer != "no"


def test_a_gap_in_little_variance_is_seen_along_the_line():
    rng, X, (along, _) = signals(0)
    first = rng.permutation(600) < 300
    assert Line.of(X + 1.5 * np.outer(first, along), first, ~first, 0).in_order > 0.99
    assert abs(Line.of(X, first, ~first, 0).in_order - 0.5) < 0.1


def test_few_rows_are_shrunk_to_one_variance_and_many_to_that_of_each():
    rng = np.random.default_rng(0)
    units = np.exp(rng.normal(size=8))
    few, many = (rng.normal(size=(2, n, 8)) * units for n in (4, 20000))
    variances, axes = variation_within(*few)
    plain = axes @ (axes.T @ (few[1].mean(axis=0) - few[0].mean(axis=0)) / variances)
    np.testing.assert_allclose(_direction(*few), plain)  # as many columns as rows: all is shrunk, nothing rescaled
    within = np.cov(np.concatenate([side - side.mean(axis=0) for side in many]).T)
    exact = np.linalg.solve(within, many[1].mean(axis=0) - many[0].mean(axis=0))
    found = _direction(*many)
    assert found @ exact / math.sqrt(found @ found * (exact @ exact)) > 0.999
    assert _direction(np.ones((3, 2)), np.zeros((3, 2))).tolist() == [-1.0, -1.0]


def test_neighbours_tell_groups_of_several_parts_that_no_line_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    signs = rng.choice([-1.0, 1.0], size=(400, 2))
    first = signs.prod(axis=1) > 0
    X[:, :2] += 3 * signs
    assert neighbors_in_order(X, first, ~first, 0) > Line.of(X, first, ~first, 0).in_order + 0.3
    dealt = rng.permutation(first)
    assert abs(neighbors_in_order(X, dealt, ~dealt, 0) - 0.5) < 0.1
    stretched = X * np.exp(rng.normal(size=10)) @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    assert neighbors_in_order(stretched, first, ~first, 0) > 0.8
