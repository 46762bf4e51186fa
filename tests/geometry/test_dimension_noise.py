"""Noise in all directions: principal components above it, what is taken for it, and the dimension beyond it."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from gnomon.geometry import intrinsic_dimension
from gnomon.geometry.dimension_noise import components_above_noise, is_seen_above


def _well(n, generator):
    """Two states along one coordinate, a harmonic one beside it, as their energies of 4 kT fill them."""
    grid = np.linspace(-2.5, 2.5, 2001)
    shares = np.cumsum(np.exp(-4.0 * np.square(grid**2 - 1.0)))
    along = np.interp(generator.random(n), shares / shares[-1], grid)
    return np.column_stack([along, np.sqrt(0.5) * generator.normal(size=n)])


def _gaussian(n, generator):
    return generator.normal(size=(n, 2))


def _noisy(rows, noise, generator, width=30):
    """Turned into a number of columns, each with as much noise; its length a share of the spread."""
    frame, _ = np.linalg.qr(generator.normal(size=(width, rows.shape[1])))
    spread = np.sqrt(rows.var(axis=0).sum())
    return rows @ frame.T + noise * spread / np.sqrt(width) * generator.normal(size=(len(rows), width))


def _seen(X, above):
    apart = cdist(above.rows, above.rows)
    return is_seen_above(above, apart, cdist(X, X), float(np.square(np.sort(apart, axis=1)[:, 20]).mean()))


@pytest.mark.parametrize("noise", [0.08, 0.15])
@pytest.mark.parametrize("make", [_well, _gaussian])
def test_sets_dense_in_the_middle_have_their_dimension_beyond_noise(make, noise):
    """Their nearest neighbours lie within the noise, where 2.4 to 7 dimensions are found."""
    generator = np.random.default_rng(3)
    found = intrinsic_dimension(_noisy(make(1500, generator), noise, generator))
    assert found.value == pytest.approx(2.0, abs=0.2)
    assert found.low <= 2.0 <= found.high
    assert found.within_noise.value > 1.1 * found.value
    assert found.low <= found.within_noise.low <= found.within_noise.high <= found.high
    assert found.noise == pytest.approx(noise, rel=0.1)
    assert found.n_components == found.n_above_noise == found.to_dict()["n_above_noise"] == 2
    assert "only 2 principal components stand above it: in all directions there are" in found.caution
    assert f"beyond the noise {found.value:.1f}" in found.summary()


def test_noise_in_the_components_of_a_circle_adds_no_dimension():
    """The nearest of all rows lie within it, those of a few rows do not."""
    generator = np.random.default_rng(0)
    angle = 2 * np.pi * generator.random(1200)
    found = intrinsic_dimension(_noisy(np.column_stack([np.cos(angle), np.sin(angle)]), 0.13, generator))
    assert found.n_above_noise == 2
    assert found.value == pytest.approx(1.0, abs=0.3)
    assert found.low <= 1.0 < found.within_noise.value


def test_components_above_noise_are_those_of_the_covariance():
    generator = np.random.default_rng(0)
    X = _noisy(generator.normal(size=(400, 3)), 0.1, generator) + 7.0
    above = components_above_noise(X)
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / 399)
    scores = centred @ vectors[:, -3:]
    np.testing.assert_allclose(above.rows @ above.rows.T, scores @ scores.T, atol=1e-9)
    assert above.below == pytest.approx(2 * values[:-3].sum())
    assert above.above == pytest.approx(2 * 3 * values[:-3].mean())
    assert above.noise == pytest.approx(np.sqrt(30 * values[:-3].mean() / values.sum()))
    assert _seen(X, above)
    np.testing.assert_allclose(components_above_noise(sparse.csr_array(X)).rows, above.rows)
    np.testing.assert_allclose(components_above_noise(1e30 * X).rows, 1e30 * above.rows, rtol=1e-6, atol=1e20)


def test_spectra_without_a_floor_have_no_components_above_it():
    generator = np.random.default_rng(1)
    even = generator.random((300, 12))
    assert components_above_noise(even) is None
    assert components_above_noise(even / np.arange(1, 13) ** 2) is None  # the largest falls are the first
    assert components_above_noise(np.pad(even[:, :2], [(0, 0), (0, 3)], constant_values=4)) is None  # no noise
    assert components_above_noise(even * np.repeat([1.0, 0.4], [4, 8])) is None  # falls by six
    assert components_above_noise(even * np.repeat([1.0, 0.1], [9, 3])) is None  # fills three directions
    assert components_above_noise(even * np.repeat([1.0, 0.25], [1, 11])) is None  # two fifths of the variance
    assert components_above_noise(even * np.repeat([1.0, 0.1], [4, 8])) is not None
    assert components_above_noise(even[:20] * np.repeat([1.0, 0.1], [4, 8])) is None  # fewer than two rows a column
    assert components_above_noise(np.zeros((30, 8))) is None


def test_directions_into_which_a_set_folds_are_no_noise():
    """The same numbers below, once of the rows and once of others."""
    generator = np.random.default_rng(2)
    at = generator.random((600, 2))
    waves = 6.0 * at @ np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, -1.0]])
    folds = np.column_stack([np.sin(waves), np.cos(waves)])
    folds = 0.5 * np.linalg.qr(folds - folds.mean(axis=0))[0]  # as much in all directions
    tables = [np.column_stack([at, one]) for one in (folds, generator.permutation(folds))]
    assert [_seen(X, components_above_noise(X)) for X in tables] == [False, True]
    assert intrinsic_dimension(tables[0]).n_above_noise is None


def test_clusters_as_wide_as_noise_have_the_dimension_within_them():
    generator = np.random.default_rng(4)
    X = 20.0 * generator.normal(size=(4, 10))[generator.integers(0, 4, 600)] + generator.normal(size=(600, 10))
    above = components_above_noise(X)
    assert above.rows.shape == (600, 3)
    assert not _seen(X, above)
    found = intrinsic_dimension(X)
    assert found.n_above_noise is None
    assert found.high == 10.0
