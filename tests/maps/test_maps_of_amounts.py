"""Maps by metrics that take amounts alone: their groups of features, their depth, what their reports say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gnomon as gn


def plots(seed, n=80):
    """Return counts of species along one gradient, of 500 individuals a plot."""
    rng = np.random.default_rng(seed)
    places, optima, heights = rng.uniform(0, 20, n), rng.uniform(-1, 21, 80), np.exp(rng.normal(2, 1, 80))
    means = heights * np.exp(-((places[:, None] - optima) ** 2) / 2.0) + 1e-9
    return np.array([rng.multinomial(500, row / row.sum()) for row in means], dtype=float)


@pytest.mark.parametrize(("metric", "seed"), [("braycurtis", 0), ("braycurtis", 2), ("hellinger", 5), ("ruzicka", 0)])
def test_features_are_grouped_without_asking_the_metric_about_scores(metric, seed):
    found = gn.map(plots(seed), metric=metric, random_state=seed).feature_groups()
    assert len(found.members) <= 80


def test_depth_is_told_in_every_metric_that_it_moves_rows_in():
    rng = np.random.default_rng(0)
    means = np.exp(rng.normal(0, 2, 100) + 0.3 * rng.normal(size=(120, 100)))
    depths = np.exp(rng.uniform(np.log(1e3), np.log(1e5), 120)).astype(int)
    X = np.array([rng.multinomial(n, row / row.sum()) for n, row in zip(depths, means, strict=True)], dtype=float)
    for metric in ("braycurtis", "ruzicka", "canberra"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gn.map(X, metric=metric)
        assert any("depth" in str(one.message) for one in caught), metric


def test_a_report_whose_gaps_are_not_judged_does_not_say_that_they_are():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = gn.map(np.r_[plots(0, 60), plots(1, 60)[:, ::-1]], metric="braycurtis").report()
    assert "not judged: gaps" in told
    assert "is judged above" not in told
