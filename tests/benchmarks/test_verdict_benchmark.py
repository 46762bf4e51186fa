"""The benchmark of verdicts knows the widest gap of a map, and its baselines tell a good map from a shuffled one."""

from __future__ import annotations

import numpy as np

from benchmarks import verdicts as benchmark


def test_the_widest_gap_parts_two_islands():
    Y = np.random.default_rng(0).normal(size=(200, 2))
    Y[:80, 0] += 20
    side = benchmark.widest_gap(Y)
    assert set(map(tuple, [side, ~side])) >= {tuple(np.arange(200) < 80)}


def test_the_baselines_trust_a_map_that_keeps_the_data_and_no_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    shuffled = rng.permutation(X)
    p_values = benchmark.embedr_p_values(X, X, X, shuffled)
    assert np.median(p_values) < 0.05
    assert benchmark.scdeed_scores(X, X).min() > 0.999
    assert abs(np.median(benchmark.scdeed_scores(X, shuffled))) < 0.3


def test_affinities_have_the_perplexity():
    squares = np.square(np.random.default_rng(0).normal(size=(60, 60)))
    P = benchmark._conditional(squares, 20.0)
    entropy = -np.sum(P * np.log(np.maximum(P, 1e-300)), axis=1)
    np.testing.assert_allclose(np.exp(entropy), 20.0, rtol=1e-6)
    assert np.all(np.diag(P) == 0)
