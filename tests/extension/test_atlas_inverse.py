"""Rows found from places: near the data, for any number of components, with a round trip that says how near."""

import numpy as np
import pytest

from gnomon.extension import AffineAtlas

pytestmark = pytest.mark.filterwarnings("ignore:AffineAtlas.*out of range:gnomon.exceptions.DataWarning")


@pytest.fixture(scope="module")
def arc():
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (500, 2))
    X = np.c_[np.cos(3 * T[:, 0]), np.sin(3 * T[:, 0]), T[:, 1]] + 0.01 * rng.normal(size=(500, 3))
    return X, T, AffineAtlas(X, T)


def test_a_chart_of_a_curved_sheet_is_inverted(arc):
    atlas = arc[2]
    rng = np.random.default_rng(1)
    places = rng.uniform(0.1, 0.9, (60, 2))
    rows, error = atlas.inverse_transform(places, return_error=True)
    truth = np.c_[np.cos(3 * places[:, 0]), np.sin(3 * places[:, 0]), places[:, 1]]
    assert np.sqrt(np.square(rows - truth).sum(axis=1).mean()) < 0.03
    assert np.median(error) < 0.02


def test_far_from_the_map_rows_stay_near_the_data(arc):
    X, T, atlas = arc
    for away in (10.0, 1e6):
        rows = atlas.inverse_transform(T[:20] + away)
        nearest = np.sqrt(np.square(rows[:, None] - X).sum(axis=2)).min(axis=1)
        assert nearest.max() < 0.3


@pytest.mark.parametrize("n_components", [1, 3, 5])
def test_maps_of_any_number_of_components_are_inverted(n_components):
    rng = np.random.default_rng(0)
    inner = rng.normal(size=(300, n_components))
    X = inner @ rng.normal(size=(n_components, 8)) + 0.01 * rng.normal(size=(300, 8))
    atlas = AffineAtlas(X, inner)
    new = 0.5 * rng.normal(size=(30, n_components))
    rows, error = atlas.inverse_transform(new, return_error=True)
    assert rows.shape == (30, 8)
    assert np.median(error) < 0.1


def test_the_round_trip_leaves_each_row_out_and_tells_noise_from_structure(arc):
    X, T, atlas = arc
    trip = atlas.round_trip()
    assert trip.rows.shape == (500,)
    assert np.median(trip.map_error) < 0.02
    assert np.median(trip.relative_map_error) < 0.5
    assert np.median(trip.relative_data_error) < 0.3
    shuffled = np.random.default_rng(0).permutation(T)
    broken = AffineAtlas(X, shuffled).round_trip(np.arange(100))
    assert np.median(broken.relative_data_error) > 5.0
    assert np.median(broken.relative_map_error) > np.median(trip.relative_map_error)
    some = atlas.round_trip([3, 8])
    np.testing.assert_array_equal(some.map_error, trip.map_error[[3, 8]])
    np.testing.assert_array_equal(some.data_error, trip.data_error[[3, 8]])
    with pytest.raises(ValueError, match="rows must be row numbers below n_samples=500"):
        atlas.round_trip([500])


def test_points_on_top_of_each_other_in_the_map_share_their_place():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    rows = AffineAtlas(X, Y, n_neighbors=5).inverse_transform(Y[:6])
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows[0], rows[1])
