"""Surfaces: distances, directions and steps are those of the sphere and of the hyperbolic plane, everywhere."""

import numpy as np
import pytest

from gnomon.surfaces import SURFACES, Hyperboloid, Sphere, make_surface

BOTH = pytest.mark.parametrize("surface", [Sphere(2.5), Hyperboloid(1.5)], ids=lambda one: one.name)


def _coordinates(surface, n, seed=0, reach=3.0):
    rng = np.random.default_rng(seed)
    if surface.name == "sphere":
        return np.stack([rng.uniform(-np.pi, np.pi, n), np.arcsin(rng.uniform(-1, 1, n))], axis=1)
    angle, radius = rng.uniform(-np.pi, np.pi, n), np.tanh(0.5 * reach * rng.uniform(size=n))
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _by_ambient(surface, Y):
    """Distances by the textbook: angle between places in space, arcosh of minus their Lorentz product."""
    space = surface.ambient(Y) / surface.radius
    if surface.name == "sphere":
        return surface.radius * np.arccos(np.clip(space @ space.T, -1, 1))
    return surface.radius * np.arccosh(np.maximum(space[:, 2:] @ space[:, 2:].T - space[:, :2] @ space[:, :2].T, 1))


@BOTH
def test_distances_are_those_of_the_textbook(surface):
    Y = _coordinates(surface, 60)
    expected = _by_ambient(surface, Y)
    away = ~np.eye(60, dtype=bool)
    np.testing.assert_allclose(surface.distances(Y)[away], expected[away], rtol=1e-9)
    assert (np.diag(surface.distances(Y)) == 0).all()
    np.testing.assert_allclose(surface.distances(Y[:5], Y[5:]), expected[:5, 5:], rtol=1e-9)


def test_places_in_space_lie_on_the_surface():
    ball = Sphere(2.5).ambient(_coordinates(Sphere(), 20))
    np.testing.assert_allclose(np.square(ball).sum(axis=1), 2.5**2)
    x, y, z = Hyperboloid(1.5).ambient(_coordinates(Hyperboloid(), 20)).T
    np.testing.assert_allclose(z**2 - x**2 - y**2, 1.5**2, rtol=1e-12)
    assert (z > 0).all()


@BOTH
def test_coordinates_and_points_and_shown_places_are_inverse(surface):
    Y = _coordinates(surface, 50)
    np.testing.assert_allclose(surface.coordinates(surface.points(Y)), Y, atol=1e-12)
    np.testing.assert_allclose(surface.read(surface.drawn(Y)), Y, atol=1e-12)


@BOTH
def test_a_step_along_the_vector_to_a_point_arrives_there(surface):
    here, there = (surface.points(_coordinates(surface, 40, seed)) for seed in (1, 2))
    squared, away = surface.meet(here, there)
    np.testing.assert_allclose(np.square(away).sum(axis=1), squared, rtol=1e-9)
    np.testing.assert_allclose(surface.go(here, -away), there, atol=1e-9)
    np.testing.assert_allclose(surface.tangent(here, away), away, atol=1e-9)


@BOTH
def test_the_gradient_of_half_the_squared_distance_leads_away(surface):
    rng = np.random.default_rng(3)
    here, there = (surface.points(_coordinates(surface, 30, seed)) for seed in (1, 2))
    direction = surface.tangent(here, rng.normal(size=here.shape))
    step = 1e-5
    ahead, behind = (surface.meet(surface.go(here, sign * step * direction), there)[0] for sign in (1, -1))
    slope = 0.5 * (ahead - behind) / (2 * step)
    np.testing.assert_allclose(slope, (surface.meet(here, there)[1] * direction).sum(axis=1), rtol=1e-6, atol=1e-8)


@BOTH
def test_displacements_keep_distances_and_angles_at_the_base(surface):
    Y = _coordinates(surface, 50)
    seen = surface.displacements(Y, Y[7])
    np.testing.assert_allclose(np.linalg.norm(seen, axis=1), surface.distances(Y[7:8], Y)[0], atol=1e-12)
    near = Y[7] + 1e-6 * np.array([[1.0, 0.0], [0.0, 1.0]])
    across, up = surface.displacements(near, Y[7])
    assert abs(across @ up) < 1e-4 * np.linalg.norm(across) * np.linalg.norm(up)  # the coordinates are orthogonal
    assert across[0] > 0
    assert up[1] > 0


@BOTH
def test_equal_points_and_small_distances_are_exact(surface):
    here = surface.points(_coordinates(surface, 20))
    squared, away = surface.meet(here, here)
    assert (squared == 0).all()
    assert (away == 0).all()
    assert np.array_equal(surface.go(here, np.zeros_like(here)), here) or surface.name == "sphere"
    direction = surface.tangent(here, np.ones_like(here))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    near = surface.go(here, 1e-9 * direction)
    np.testing.assert_allclose(np.sqrt(surface.meet(here, near)[0]), 1e-9, rtol=1e-4)


def test_antipodes_are_half_a_turn_apart_and_have_no_direction():
    here = Sphere().points(_coordinates(Sphere(), 20))
    squared, away = Sphere(3.0).meet(here, -here)
    np.testing.assert_allclose(np.sqrt(squared), 3.0 * np.pi)
    assert np.isfinite(away).all()
    assert (np.linalg.norm(away, axis=1) <= 3.0 * np.pi + 1e-9).all()


def test_far_out_on_the_hyperboloid_neighbours_stay_apart():
    surface = Hyperboloid()
    out = surface.go(np.zeros((1, 2)), np.array([[15.0, 0.0]]))
    np.testing.assert_allclose(surface.distances(np.zeros((1, 2)), out), 15.0, rtol=1e-9)
    for direction in ([[0.01, 0.0]], [[0.0, 0.01]]):
        near = surface.go(out, np.array(direction))
        np.testing.assert_allclose(np.sqrt(surface.meet(out, near)[0]), 0.01, rtol=1e-4)
    rim = surface.go(out, np.array([[1e6, 0.0]]))
    np.testing.assert_allclose(surface.distances(np.zeros((1, 2)), rim), 16.0, rtol=1e-6)
    assert np.isfinite(np.array(surface.meet(rim, -rim)[1])).all()


def test_pictures_keep_areas_or_angles():
    ball, step = Sphere(2.0), 1e-5
    Y = _coordinates(ball, 50) * [0.95, 0.95]
    right, up = (
        (ball.picture(Y + step * np.array(e)) - ball.picture(Y - step * np.array(e))) / (2 * step)
        for e in ([1.0, 0.0], [0.0, 1.0])
    )
    area = right[:, 0] * up[:, 1] - right[:, 1] * up[:, 0]
    np.testing.assert_allclose(area, 4.0 * np.cos(Y[:, 1]), rtol=1e-4)
    x, y = ball.picture(_coordinates(ball, 500)).T
    assert ((x / 2) ** 2 + y**2 <= 2.0 * 2.0**2 + 1e-9).all()
    assert np.isfinite(ball.picture([[1.0, np.pi / 2], [1.0, -np.pi / 2]])).all()


@BOTH
def test_starts_lie_on_the_surface_without_nan(surface):
    rng = np.random.default_rng(0)
    for positions in (rng.normal(size=(30, surface.width)), np.zeros((5, surface.width))):
        points = surface.start(positions)
        assert np.isfinite(points).all()
        np.testing.assert_allclose(surface.points(surface.coordinates(points)), points, atol=1e-12)


def test_usual_radii_and_names():
    assert make_surface("sphere", None, 1000) == Sphere(2.0)
    assert make_surface("sphere", None, 10) == Sphere(1.5)
    assert make_surface("hyperboloid", None, 1000, 3.0) == Hyperboloid(6.0)
    assert make_surface("sphere", 7.0, 1000, 3.0) == Sphere(7.0)
    assert set(SURFACES) == {"sphere", "hyperboloid"}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Sphere(0.0), r"^Sphere: radius=0\.0 must be .*> 0"),
        (lambda: Sphere().distances([[0.0, 2.0]]), r"latitude must be at most pi/2.*row 0 has 2"),
        (lambda: Sphere().distances([[0.0, 1.0, 2.0]]), r"coordinates of shape \(1, 3\) must be of two columns"),
        (lambda: Hyperboloid().distances([[0.0, 0.5], [1.0, 0.5]]), r"inside the unit circle \(row 1 is 1, 0\.5\)"),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()
