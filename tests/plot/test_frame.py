"""Pictures of surfaces: every point inside a rim, areas of the sphere kept, the seam of the halves where it is said."""

import numpy as np
import pytest

from gnomon.plot.frame import frame_of
from gnomon.surfaces import Hyperboloid, Sphere

MIDDLE = 1.06  # of a half, from the middle of the picture


def _everywhere(n=20000):
    rng = np.random.default_rng(0)
    return np.stack([rng.uniform(-np.pi, np.pi, n), np.arcsin(rng.uniform(-1, 1, n))], axis=1)


def test_halves_of_a_sphere_are_unit_disks_that_keep_areas():
    Y = _everywhere()
    places = frame_of(Sphere(3.0), Y).places
    front = np.abs(Y[:, 0]) <= np.pi / 2
    inner = []
    for half, middle in ((front, -MIDDLE), (~front, MIDDLE)):
        radius = np.linalg.norm(places[half] - [middle, 0.0], axis=1)
        assert radius.max() <= 1.0 + 1e-9
        inner.append(np.mean(radius < 0.5))
    np.testing.assert_allclose(inner, 0.25, atol=0.02)  # a uniform sphere fills its disks evenly


def test_known_places():
    places = frame_of(Sphere(), [[0.0, 0.0], [np.pi, 0.0], [0.0, np.pi / 2], [0.5, 0.0]]).places
    np.testing.assert_allclose(places[:3], [[-MIDDLE, 0.0], [MIDDLE, 0.0], [-MIDDLE, 1.0]], atol=1e-9)
    assert places[3, 0] > -MIDDLE  # east is to the right
    back = frame_of(Sphere(), [[np.pi - 0.5, 0.0], [-np.pi + 0.5, 0.0]]).places
    assert back[0, 0] < MIDDLE < back[1, 0]


@pytest.mark.parametrize("surface", [Sphere(), Hyperboloid()], ids=lambda one: one.name)
def test_rows_without_a_place_have_none_in_the_picture(surface):
    places = frame_of(surface, [[0.1, 0.2], [np.nan, 0.0]]).places
    assert np.isfinite(places[0]).all()
    assert np.isnan(places[1]).all()
