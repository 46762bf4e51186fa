"""The dimension by growth: the sphere's closed form, intervals that hold with borders and noise, and cautions."""

import json
import math

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import multivariate_normal

from gnomon.geometry import dimension_estimators as estimators
from gnomon.geometry import dimension_growth, intrinsic_dimension
from gnomon.geometry.dimension import _distances_between, _nearest_among_few
from gnomon.geometry.dimension_growth import (
    _log_densities,
    circles_slope,
    growth_beyond_noise,
    linear_dimension,
    log_slopes,
    neighborhood_growth,
    sphere_slope,
)


def _noisy(rows, noise, generator, width=12):
    rows = np.pad(rows, [(0, 0), (0, width - rows.shape[1])])
    spread = math.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())
    return rows + noise * spread / math.sqrt(width) * generator.normal(size=rows.shape)


def _circle(n, generator):
    angle = 2 * np.pi * generator.random(n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _cube(d, n, generator):
    return generator.random((n, d))


def _roll(n, generator):
    angle = 1.5 * np.pi * (1 + 2 * generator.random(n))
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle), 21 * generator.random(n)])


@pytest.mark.parametrize("d", [1, 2, 3, 7.5, 20])
def test_the_slope_of_a_sphere_is_the_derivative_of_its_caps(d):
    squares = np.array([0.3, 0.8, 1.3])  # of the chord
    step = 1e-5
    share = [betainc(d / 2, d / 2, squares * np.exp(2 * sign * step) / 2) for sign in (-1, 1)]
    slope = np.log(share[1] / share[0]) / (2 * step)
    np.testing.assert_allclose(sphere_slope(squares, d), 1 / slope, rtol=1e-4)
    assert sphere_slope(1e-9, d) == pytest.approx(1 / d, rel=1e-6)
    assert np.isfinite(sphere_slope([2.0, 50.0], 400.0)).all()


def test_caps_of_the_sphere_in_space_grow_with_the_square_of_the_chord_exactly():
    np.testing.assert_allclose(sphere_slope(np.linspace(0.01, 1.8, 20), 2.0), 0.5, rtol=1e-12)


@pytest.mark.parametrize("d", [5, 20])
def test_the_slope_of_a_product_of_circles_is_that_of_its_rows(d):
    """By counting a million squared distances of rows; a small neighbourhood is flat."""
    generator = np.random.default_rng(0)
    squares = np.sort((1 - np.cos(2 * np.pi * generator.random((300_000, d)))).mean(axis=1))
    at = np.array([0.6, 0.7])
    ends = [np.searchsorted(squares, at * math.exp(2 * sign * 0.04)) for sign in (-1, 1)]
    expected = 0.08 / np.log(ends[1] / ends[0])
    found = circles_slope(at[None, None, :], np.array([float(d)]), 2.0 * d)[0, 0]
    np.testing.assert_allclose(found, expected, rtol=0.04)
    small = circles_slope(np.full((1, 1, 1), 1e-4), np.array([float(d)]), 2.0 * d)
    assert small[0, 0, 0] == pytest.approx(1 / d, rel=0.01)


def test_straight_directions_are_counted_from_distances():
    generator = np.random.default_rng(1)
    flat = generator.normal(size=(400, 6))
    squared = np.square(flat[:, None] - flat).sum(axis=2)
    assert linear_dimension(np.sqrt(squared)) == pytest.approx(6, rel=0.1)
    circle = _circle(400, generator)
    assert linear_dimension(np.sqrt(np.square(circle[:, None] - circle).sum(axis=2))) == pytest.approx(2, rel=0.02)
    assert math.isnan(linear_dimension(np.zeros((5, 5))))


@pytest.mark.parametrize("d", [5, 10])
def test_products_of_circles_are_not_taken_for_twice_as_many_dimensions(d):
    """Their neighbours at 500 rows are too far to see the circles, but they fill two directions each."""
    angles = 2 * np.pi * np.random.default_rng(d).random((500, d))
    found = intrinsic_dimension(np.column_stack([np.cos(angles), np.sin(angles)]))
    assert found.low < d < found.high
    assert found.value < 1.25 * d


def test_log_slopes_of_the_model_have_the_inverse_dimension_as_mean():
    generator = np.random.default_rng(0)
    d = 3.0
    distances = np.cumsum(generator.exponential(size=(20000, 16)), axis=1) ** (1 / d)
    slopes, squares = log_slopes(distances)
    assert slopes.shape == squares.shape == (20000, 4)
    np.testing.assert_allclose(slopes.mean(axis=0), 1 / d, rtol=0.03)
    np.testing.assert_allclose(squares[:, 1], distances[:, 1] * distances[:, 3])


def test_clusters_far_apart_have_the_dimension_within_them():
    generator = np.random.default_rng(1)
    X = _cube(2, 600, generator) + 1000.0 * generator.integers(0, 12, (600, 1))
    found = intrinsic_dimension(X)
    assert found.low < 2 == found.high
    assert found.by_growth == pytest.approx(2, rel=0.2)


def test_densities_are_those_of_gaussians():
    generator = np.random.default_rng(2)
    root = generator.normal(size=(5, 7, 4, 4))
    total = root @ root.transpose(0, 1, 3, 2) + np.eye(4)
    residual = generator.normal(size=(5, 7, 4))
    expected = multivariate_normal.logpdf(residual[2, 3], cov=total[2, 3]) + 2 * np.log(2 * np.pi)
    found = _log_densities(total.transpose(2, 3, 0, 1), residual.transpose(2, 0, 1))
    assert found.shape == (5, 7)
    assert found[2, 3] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "d", "noise", "rows"),
    [
        (lambda n, g: _cube(3, n, g), 3, 0.0, 600),
        (lambda n, g: _cube(8, n, g), 8, 0.02, 600),
        (_circle, 1, 0.05, 600),
        (_roll, 2, 0.02, 600),
    ],
    ids=["cube", "noisy 8-cube", "noisy circle", "noisy roll"],
)
def test_intervals_hold_with_borders_and_noise(make, d, noise, rows):
    found = []
    for seed in range(6):
        generator = np.random.default_rng([seed, d])
        found.append(intrinsic_dimension(_noisy(make(rows, generator), noise, generator)))
    assert sum(one.low <= d <= one.high for one in found) >= 5
    assert np.mean([one.value for one in found]) == pytest.approx(d, rel=0.15)
    assert all(one.low < one.value < one.high for one in found)


def test_more_rows_than_are_sampled_count_at_small_scales():
    generator = np.random.default_rng(8)
    X = _noisy(_cube(2, 2600, generator), 0.03, generator)
    found = intrinsic_dimension(X)
    assert found.low < 2 < found.high
    fewer = intrinsic_dimension(X[:2000])
    assert found.resolution < 0.95 * fewer.resolution


def test_noise_is_told_from_the_set_and_none_is_found_where_there_is_none():
    generator = np.random.default_rng(0)
    rows = _circle(800, generator)
    plain, noisy = intrinsic_dimension(rows), intrinsic_dimension(_noisy(rows, 0.05, generator))
    assert plain.noise == 0.0
    assert plain.caution == ""
    assert noisy.noise == pytest.approx(0.05, rel=0.5)
    assert "taken for noise" in noisy.caution
    assert noisy.estimates["two_nn"].value > 4


def test_a_circle_has_one_dimension_beyond_the_noise_that_its_nearest_neighbours_lie_in():
    generator = np.random.default_rng(1)
    found = intrinsic_dimension(_noisy(_circle(2000, generator), 0.15, generator, width=20))
    near = found.within_noise
    assert near.value > 10.0
    assert found.value == pytest.approx(1.0, abs=0.5)
    assert found.low < 1.0 < near.high <= found.high <= 20.0
    assert found.noise == pytest.approx(0.15, rel=0.25)
    assert found.n_components <= 2
    assert f"at their distances there are {near.value:.1f} dimensions" in found.caution
    assert f"beyond it {found.value:.1f}" in found.caution
    assert "noise" in found.summary()
    assert found.to_dict()["within_noise"]["value"] == pytest.approx(near.value, abs=1e-4)


def test_few_rows_are_looked_at_among_themselves():
    X = np.random.default_rng(2).normal(size=(300, 3))
    mixed = np.random.default_rng(3).permutation(300)
    few, rows = _nearest_among_few(_distances_between(X, "euclidean"), mixed)
    assert rows.tolist() == mixed[:256].tolist()
    one = X[rows[128:]]
    expected = np.sort(np.linalg.norm(one[:, None] - one, axis=2), axis=1)[:, 1:33]
    np.testing.assert_allclose(few[128:], expected, rtol=1e-5)


def test_beyond_noise_nothing_is_looked_for_where_dimensions_do_not_fall(monkeypatch):
    """A cube's slope is the same at all scales, and clusters of more dimensions than lie between them have no noise."""
    generator = np.random.default_rng(4)
    groups = np.arange(512) % 20
    between = _distances_between(_cube(4, 512, generator), "euclidean").astype(float)
    few, _ = _nearest_among_few(between, np.arange(512))
    among = np.sort(between, axis=1)[:, 1:129]
    cube = neighborhood_growth(np.empty((512, 0)), few, 4 / 6, groups, confidence=0.95)
    apart = np.kron(10.0 * generator.random((40, 2)), np.ones((50, 1)))
    clusters = intrinsic_dimension(np.pad(apart, [(0, 0), (0, 4)]) + 0.02 * generator.normal(size=(2000, 6)))
    assert clusters.within_noise is None
    assert clusters.low <= 6 <= clusters.high
    monkeypatch.setattr(dimension_growth, "neighborhood_growth", None)
    assert growth_beyond_noise(cube, among, few, 4 / 6, groups, confidence=0.95) is None
    unknown = cube._replace(estimate=cube.estimate.__class__(math.nan, math.nan, math.nan))
    assert growth_beyond_noise(unknown, among, few, 4 / 6, groups, confidence=0.95) is None


def test_the_answer_and_its_interval_are_those_of_growth():
    found = intrinsic_dimension(_cube(2, 300, np.random.default_rng(3)))
    growth = found.estimates["growth"]
    assert (found.value, found.low, found.high) == (growth.value, growth.low, growth.high)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["low"] == pytest.approx(found.low, abs=1e-4)
    assert told["caution"] == found.caution
    assert f"interval {found.low:.1f} to {found.high:.1f}" in found.summary()


def test_more_confidence_is_a_wider_interval_around_the_same_value():
    X = _cube(4, 300, np.random.default_rng(4))
    one, two = (intrinsic_dimension(X, confidence=confidence) for confidence in (0.5, 0.99))
    assert one.value == two.value
    assert two.low < one.low < one.high < two.high


def test_too_sparse_a_table_is_cautioned_in_words():
    found = intrinsic_dimension(np.random.default_rng(5).normal(size=(150, 25)))
    assert found.resolution > 0.4
    assert "First neighbours are 0." in found.caution
    assert found.caution in found.summary()


def test_few_rows_fall_back_on_the_median_without_an_interval():
    found = intrinsic_dimension(_cube(2, 39, np.random.default_rng(6)))
    others = [found.estimates[name].value for name in ("mle", "levina_bickel", "two_nn", "correlation", "local_pca")]
    assert found.value == np.median(others)
    assert math.isnan(found.low)
    assert "(estimates from " in found.summary()


def test_an_interval_without_end_says_so():
    """Neighbours all about equally far: the inverse dimension cannot be told from 0."""
    generator = np.random.default_rng(7)
    distances = np.sort(1 + 1e-3 * generator.random((60, 20)), axis=1)
    found = estimators.extrapolated(distances, range(3, 21))
    assert math.isnan(found.value) or found.high > found.value
    growth = neighborhood_growth(np.empty((60, 0)), distances, 1.0, np.arange(60) % 20, confidence=0.95).estimate
    assert math.isnan(growth.value) or growth.high == math.inf


def _grid(levels, jitter, generator):
    places = np.stack(np.meshgrid(*[np.arange(n) for n in levels], indexing="ij"), axis=-1).reshape(-1, len(levels))
    return generator.permutation(places + jitter * generator.normal(size=places.shape))


@pytest.mark.parametrize("jitter", [0.0, 1e-6, 0.05, 0.2])
@pytest.mark.parametrize("levels", [(20, 20), (10, 60), (7, 7, 7), (5, 5, 5, 5)])
def test_a_grid_has_as_many_dimensions_as_columns_and_no_noise(levels, jitter):
    found = intrinsic_dimension(_grid(levels, jitter, np.random.default_rng(0)))
    assert found.low <= len(levels) <= found.high
    assert found.value > len(levels) - 0.5
    if jitter <= 0.05:  # of 0.2 in four columns hardly any evenness is left
        assert "noise" not in found.caution


def test_a_grid_bent_into_a_roll_has_two_dimensions_and_a_replicated_one_as_many():
    grid = _grid((30, 30), 0.05, np.random.default_rng(0)) / 30.0
    angle = 1.5 * np.pi * (1.0 + 2.0 * grid[:, 0])
    rolled = intrinsic_dimension(np.column_stack([angle * np.cos(angle), 21.0 * grid[:, 1], angle * np.sin(angle)]))
    assert rolled.low <= 2.0 <= rolled.high
    plain = _grid((20, 20), 0.0, np.random.default_rng(0))
    once, twice = intrinsic_dimension(plain), intrinsic_dimension(np.concatenate([plain, plain]))
    assert (once.low, once.value, once.high) == (twice.low, twice.value, twice.high)


def test_shells_of_a_lattice_are_those_that_are_counted():
    """Of the plane: with k rows within, another squared distance adds pi rows on the mean, and two ends count."""
    at = int(np.argmin(np.abs(dimension_growth._GRID - 2.0)))
    d = dimension_growth._GRID[at]
    found = dimension_growth._of_shells([256])[:, at] * d
    side = np.arange(-20, 21)
    squares = np.sort((side[:, None] ** 2 + side**2).ravel())
    within = np.searchsorted(squares, np.arange(1, 300), side="right")
    mean_shell = np.diff(within).mean()
    for k in (16, 64, 128):
        expected = mean_shell / k * math.sqrt(2.0 / 12.0) / math.log(2.0)
        assert found[int(math.log2(k))] == pytest.approx(expected, rel=0.1)
    assert found[0] == pytest.approx(1.0)


@pytest.mark.parametrize("draw", [_circle, _roll, lambda n, generator: _cube(3, n, generator)])
def test_independent_rows_are_not_taken_for_set_out_evenly(monkeypatch, draw):
    asked, is_even = [], dimension_growth._is_even
    monkeypatch.setattr(dimension_growth, "_is_even", lambda *given: asked.append(is_even(*given)) or asked[-1])
    for seed in range(5):
        intrinsic_dimension(draw(300, np.random.default_rng(seed)))
    assert asked
    assert not any(asked)


def test_answers_in_steps_that_repeat_by_chance_are_no_grid(monkeypatch):
    answers = np.random.default_rng(0).integers(1, 6, (300, 3))
    given = []
    monkeypatch.setattr(dimension_growth, "_is_even", lambda *ones: bool(given.append(ones[2])))
    intrinsic_dimension(answers)
    assert given
    assert np.isinf(given).all()
