"""Differences of means in units of the features have the intervals of plain definitions, and hold the truth."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t, ttest_ind, ttest_rel

import gnomon as gn
from gnomon.explanations.contrast.errors import difference_intervals


def bounds(found):
    order = np.argsort(found.indices)
    return np.stack([found.difference, found.difference_low, found.difference_high])[:, order]


def test_of_many_rows_it_is_the_interval_of_welch():
    rng = np.random.default_rng(0)
    X = rng.normal([0.0, 5.0, -2.0], [1.0, 3.0, 0.1], (3000, 3))
    inside = np.arange(3000) < 1000
    X[inside] = X[inside] * 1.5 + 0.3
    difference, low, high = bounds(gn.contrast(X, inside))
    plain = ttest_ind(X[inside], X[~inside], equal_var=False)
    expected = plain.confidence_interval(0.95)
    assert difference == pytest.approx(X[inside].mean(axis=0) - X[~inside].mean(axis=0))
    assert low == pytest.approx(expected.low, rel=2e-3, abs=1e-3)
    assert high == pytest.approx(expected.high, rel=2e-3, abs=1e-3)


def test_of_few_rows_a_side_varies_at_least_as_in_the_error_of_the_effect():
    a, b = np.array([1.0, 1.1, 1.2, 1.05, 1.15, 1.0]), np.array([0.0, 2.0, 4.0, 1.0, 3.0])
    found = gn.contrast(np.concatenate([a, b])[:, None], np.arange(11) < 6)
    variances = a.var(ddof=1), b.var(ddof=1)
    narrow = (5 * variances[0] + 4 * variances[1]) / 9  # the other side's counts as one of four rows
    parts = narrow / 6, variances[1] / 5
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 5 + parts[1] ** 2 / 4)
    half = t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    center = a.mean() - b.mean()
    assert [*bounds(found)[:, 0]] == pytest.approx([center, center - half, center + half])
    pooled = np.sqrt((5 * variances[0] + 4 * variances[1]) / 9)
    of_spread = (5 * variances[0] ** 2 + 4 * variances[1] ** 2) * 2 / 81 / (4 * pooled**4)
    of_means = found.error[0] ** 2 - found.effect[0] ** 2 * of_spread
    assert np.sqrt(sum(parts)) / pooled == pytest.approx(np.sqrt(of_means))  # the same error as that of the effect size


def test_of_a_yes_or_no_it_is_that_of_agresti_and_caffo():
    answers = np.concatenate([np.arange(20) < 19, np.arange(40) < 2]).astype(float)
    found = gn.contrast(answers[:, None], np.arange(60) < 20)
    p, q = 20 / 22, 3 / 42
    half = norm.ppf(0.975) * np.sqrt(p * (1 - p) / 22 + q * (1 - q) / 42)
    assert [*bounds(found)[:, 0]] == pytest.approx([19 / 20 - 2 / 40, p - q - half, p - q + half])
    all_or_none = gn.contrast((np.arange(6) < 3).astype(float)[:, None], np.arange(6) < 3)
    assert (all_or_none.difference[0], all_or_none.difference_high[0]) == (1.0, 1.0)
    assert 0.0 < all_or_none.difference_low[0] < 0.5


def test_units_scale_and_swapping_sides_carry_over():
    rng = np.random.default_rng(1)
    X, inside = rng.normal(size=(50, 4)), np.arange(50) < 12
    X[:, 3] = 7.1
    plain = bounds(gn.contrast(X, inside))
    np.testing.assert_allclose(bounds(gn.contrast(8 * X + 3, inside)), 8 * plain, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(bounds(gn.contrast(X, ~inside)), -plain[[0, 2, 1]], rtol=1e-9, atol=1e-12)
    assert (plain[:, 3] == 0.0).all()


@pytest.mark.parametrize("sizes", [(5, 5), (5, 60), (30, 30)])
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_the_interval_holds_the_truth_in_95_of_100_draws(sizes, spread):
    rng = np.random.default_rng(0)
    X = rng.normal(0.0, 1.0, (sum(sizes), 2000))
    X[: sizes[0]] = 0.5 + spread * X[: sizes[0]]
    found = gn.contrast(X, np.arange(len(X)) < sizes[0])
    held = np.mean((found.difference_low <= 0.5) & (found.difference_high >= 0.5))
    assert 0.935 <= held <= 0.99


def test_between_units_it_is_the_interval_of_student():
    rng = np.random.default_rng(0)
    donors = np.repeat(np.arange(12), 5)
    X = rng.normal(size=(12, 3))[donors] + rng.normal(size=(60, 3))
    means = np.stack([X[donors == k].mean(axis=0) for k in range(12)])
    apart = bounds(gn.contrast(X, donors < 5, units=donors))
    expected = ttest_ind(means[:5], means[5:])
    ends = expected.confidence_interval(0.95)
    np.testing.assert_allclose(apart, [means[:5].mean(axis=0) - means[5:].mean(axis=0), ends.low, ends.high])
    inside = np.arange(60) % 5 < 2
    one, rest = (np.stack([X[(donors == k) & side].mean(axis=0) for k in range(12)]) for side in (inside, ~inside))
    paired = ttest_rel(one, rest).confidence_interval(0.95)
    _, low, high = bounds(gn.contrast(X, inside, units=donors))
    np.testing.assert_allclose([low, high], [paired.low, paired.high])
    few = gn.contrast(X[:20], donors[:20] < 2, units=donors[:20])
    assert np.isnan([few.difference, few.difference_low, few.difference_high]).all()


def test_a_group_of_features_has_the_difference_of_its_representative():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    X = np.column_stack([X, X[:, 0] * 2.0])
    made = gn.Map(X, X[:, :2], feature_names=["a", "b", "c", "a2"])
    inside = X[:, 0] > 0.6
    found = made.contrast(inside, groups="auto")
    assert found.groups
    np.testing.assert_allclose(found.difference, found.mean_selected - found.mean_rest, atol=1e-12)
    plain = bounds(made.contrast(inside))
    np.testing.assert_allclose(found.difference_low, plain[1][found.indices])


def test_the_wide_table_lists_differences_and_rates():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["age", "bmi", "hb"])
    X.loc[:19, "bmi"] += 2.0
    found = gn.contrast(X, np.arange(60) < 20)
    lines = found.table(2).splitlines()
    assert lines[0] == found.headline()
    assert lines[1].split("  ")[-1].strip() == "q"
    assert "difference (95 %)" in lines[1]
    ends = f"({found.difference_low[0]:.4g} to {found.difference_high[0]:.4g})"
    assert lines[2].startswith("bmi")
    assert f"{found.difference[0]:.4g} {ends}" in lines[2]
    assert lines[-1] == "... and 1 more feature"
    assert "log2 fold (95 %)" in found.table(None, log2=True)
    assert "more feature" not in found.table(None).splitlines()[-1]
    with pytest.raises(ValueError, match="n_top"):
        found.table(0)
    assert json.loads(json.dumps(found.to_dict()))["features"][0]["difference_low"] == found.difference_low[0]
    assert [*found.columns()][-3:] == ["difference", "difference_low", "difference_high"]


def test_ends_of_a_constant_and_of_a_single_row():
    means = np.array([2.0, 1.0, 1.0]), np.array([2.0, 0.0, 1.0])
    variances = np.array([0.0, np.nan, 0.0]), np.array([0.0, 4.0, 0.0])
    low, high = difference_intervals(means, variances, (1, 9))
    assert (low[0], high[0]) == (low[2], high[2]) == (0.0, 0.0)
    assert low[1] < 0.0 < 2.0 < high[1]
