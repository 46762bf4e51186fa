"""How far rows thin out between two groups, computed anew from its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from gnomon.clusters.thinning import thinning
from gnomon.linalg.within import variation_within

WINDOWS = {  # place and half width between the medians, half width at these: its share of the chance of an error
    (1 / 2, 0.3, 0.15): 1 / 3,
    (1 / 2, 0.25, 0.25): 1 / 6,
    (3 / 8, 1 / 8, 1 / 8): 1 / 6,
    (1 / 2, 1 / 8, 1 / 8): 1 / 6,
    (5 / 8, 1 / 8, 1 / 8): 1 / 6,
}


def by_definition(along, low, high):
    """Return the least p-value of the windows over their weights, the share there, and in which it is."""
    found = []
    for (place, half, beside), weight in WINDOWS.items():
        centers, widths = np.array([place, 0.0, 1.0]), np.array([half, beside, beside])
        places = (along - low) / (high - low)
        between, *peaks = np.count_nonzero(np.abs(places[:, None] - centers) <= widths, axis=0).tolist()
        p_values = [binom.cdf(between, between + peak, half / (half + beside)) for peak in peaks]
        found.append((max(p_values) / weight, (between / half) / (max(1, min(peaks)) / beside)))
    best = min(range(5), key=lambda k: found[k][0])
    return *found[best], best


def test_the_least_of_five_windows_counts_by_the_binomial_distribution():
    assert sum(WINDOWS.values()) == pytest.approx(1.0)
    a = -1.0 + 0.01 * np.linspace(-1, 1, 41)[:, None]
    told = set()
    for seed in range(60):
        draw = np.random.default_rng(seed)
        grid = (np.arange(-64, 64) + 0.5) / 64.0  # none at the end of a window
        hole = np.abs(grid - draw.choice([-0.25, 0.0, 0.25])) <= draw.choice([0.25, 0.5, 0.6])
        rows = draw.choice(grid[~hole], 100)
        rows = np.r_[rows, draw.choice(grid[hole], draw.integers(0, 9))]
        sides = [rows[rows < 0], rows[rows >= 0]]  # and as many farther out, so that medians are -1 and 1
        sides = [
            np.r_[side, np.full(25, at), np.full(len(side), 2 * at)] for side, at in zip(sides, (-1, 1), strict=True)
        ]
        held_out = np.concatenate(sides)
        p_value, share, window = by_definition(held_out, *(np.median(side) for side in sides))
        found = thinning(a, -a, np.empty((0, 1)), held_out[:, None])
        assert found.n_rows == tuple(len(side) for side in sides)
        if p_value < 1.0:
            assert (found.p_value, found.share) == pytest.approx((p_value, share), rel=1e-9, abs=0.0)
            told.add(window)
        else:
            assert (found.p_value, found.share) == (1.0, 1.0)
    assert told == {0, 1, 2, 3, 4}


def test_rows_count_in_the_tube_and_nearer_to_the_line_than_to_any_other_group():
    for seed in range(10):
        draw = np.random.default_rng(seed)
        a, b = draw.normal(size=(2, 60, 3)) + np.array([[[-4.0, 0, 0]], [[4.0, 0, 0]]])
        others = draw.uniform(-12, 12, size=(6, 3)) * [1.0, 0.6, 0.6]
        held_out = draw.uniform(-9, 9, size=(3000, 3)) * [1.0, 0.4, 0.4]
        variances, axes = variation_within(a, b)
        a, b, *rest = (rows @ (axes / np.sqrt(variances)) for rows in (a, b, others, held_out))
        start, way = a.mean(axis=0), b.mean(axis=0) - a.mean(axis=0)

        def to_line(rows, start=start, way=way):
            return (rows - start) @ way / (way @ way)

        def aside(rows, start=start, way=way):
            return np.linalg.norm(rows - start - to_line(rows, start, way)[:, None] * way, axis=1)

        inside = aside(rest[1]) <= max(np.quantile(aside(side), 0.95) for side in (a, b))
        for other in rest[0]:
            nearest = start + np.clip(to_line(other[None]), 0.0, 1.0)[:, None] * way
            inside &= np.linalg.norm(rest[1] - nearest, axis=1) <= np.linalg.norm(rest[1] - other, axis=1)
        counts = [int(np.count_nonzero(inside & (side == (to_line(rest[1]) < 0.5)))) for side in (True, False)]
        asked = [rows @ np.linalg.inv(axes / np.sqrt(variances)) for rows in (a, b)]
        assert list(thinning(*asked, others, held_out).n_rows) == counts
        assert 5 < min(counts) < 800
