"""Maps by metrics that take amounts alone: their groups of features, their depth, what their reports say."""

from __future__ import annotations

import warnings
from dataclasses import replace

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


def test_a_contrast_of_shares_says_where_sides_were_read_unlike_and_its_remedy_works():
    rng = np.random.default_rng(0)
    pool, treated = np.exp(rng.normal(0, 1, 40)), np.arange(100) < 50

    def counts(of_treated):
        depths = np.where(treated, of_treated, 1000)
        mixed = np.where((np.arange(40) < 2) & treated[:, None], 4.0 * pool, pool) * np.exp(
            rng.normal(0, 0.3, (100, 40))
        )
        return np.array(
            [rng.multinomial(n, row / row.sum()) for n, row in zip(depths, mixed, strict=True)], dtype=float
        )

    X = counts(8000)
    made = gn.map(X, method="laplacian_eigenmaps", metric="hellinger")
    found = made.contrast(treated)
    assert "The selected rows sum to 8,000 and the rest to 1,000 (medians)" in found.caution
    assert found.n_beyond_chance > 30
    shares = made.with_features(X / X.sum(axis=1, keepdims=True)).contrast(treated)
    assert shares.n_beyond_chance < 12
    assert {"feature 0", "feature 1"} <= {
        name for name, sure in zip(shares.features, shares.beyond_chance, strict=True) if sure
    }
    assert "sum to" not in shares.caution
    even = gn.map(counts(1000), method="laplacian_eigenmaps", metric="hellinger").contrast(treated)
    assert "sum to" not in even.caution
    assert "The selected rows sum to" in replace(made, labels=np.where(treated, "a", "b")).report(verdicts=False)
