"""New rows in a map on a surface: each where its own part of the loss is least, and a function of itself."""

import pickle

import numpy as np
import pytest

from gnomon.extension.placement import on_surface
from gnomon.extension.placement.on_surface import SurfacePlacement
from gnomon.kernels import Cauchy
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives import PairTerm, Repulsion, RowLoss, repulsion_on_surface
from gnomon.surfaces import Hyperboloid, Sphere

_N = 240
_RNG = np.random.default_rng(0)
ROWS = _RNG.normal(size=(_N, 4)).astype(np.float32)
NEW = _RNG.normal(size=(12, 4)).astype(np.float32)
LOSS = RowLoss((PairTerm(Cauchy(), "log", 1.5),), (Repulsion(Cauchy(), "value", 1.0 / _N),))
SURFACES = pytest.mark.parametrize("surface", [Sphere(), Hyperboloid()], ids=["sphere", "hyperboloid"])


def _even(rows, new, indices, distances):
    """Return weights that differ from neighbour to neighbour."""
    return np.linspace(0.3, 0.05, indices.shape[1], dtype=np.float32) * np.ones((len(indices), 1), np.float32)


def placement(surface, n_neighbors, loss=LOSS):
    width = 3 if isinstance(surface, Sphere) else 2
    Y = surface.coordinates(surface.start(0.5 * ROWS[:, :width].astype(np.float64)))
    return SurfacePlacement(ROWS, Y, n_neighbors, _even, loss, surface=surface)


def loss_at(made, points, indices, weights):
    """Return the loss of rows at points by its definition."""
    (pull,), every = LOSS.attractions, made.surface.points(made.Y)
    squared, _ = made.surface.meet(points[:, None], every[indices])
    pushed, _ = repulsion_on_surface(made.surface, LOSS, points, every)
    return pushed + pull.scale * (weights * evaluate_law("log", Cauchy(), squared)[0]).sum(axis=1)


@SURFACES
@pytest.mark.parametrize("n_neighbors", [1, 5, 15, 20])
def test_a_row_rests_where_its_loss_is_least_near_its_neighbours(surface, n_neighbors):
    made = placement(surface, n_neighbors)
    places = made.place(NEW)
    points, every = surface.points(places.astype(np.float64)), surface.points(made.Y)
    indices = made.ready().search.find(NEW)[0][:, :n_neighbors]
    weights = _even(None, None, indices, None).astype(np.float64)
    found = loss_at(made, points, indices, weights)
    starts = [loss_at(made, every[indices[:, k]], indices, weights) for k in range(min(n_neighbors, 15))]
    assert (found <= np.min(starts, axis=0) + 1e-9).all()
    for step in 0.02 * np.concatenate([np.eye(points.shape[1]), -np.eye(points.shape[1])]):
        along = surface.tangent(points, np.tile(step, (len(points), 1)))
        assert (loss_at(made, surface.go(points, along), indices, weights) >= found - 1e-7).all()


@SURFACES
def test_a_row_is_placed_alike_in_any_batch_and_after_pickling(surface, monkeypatch):
    made = placement(surface, 7)
    places = made.place(NEW)
    assert places.shape == (12, 2)
    monkeypatch.setattr(on_surface, "_ROWS", 5)
    np.testing.assert_array_equal(made.place(NEW), places)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).place(NEW[4:]), places[4:])
    np.testing.assert_allclose(made.place(ROWS[:3]), made.Y[:3], atol=1e-6)


@pytest.mark.parametrize("charges", [None, np.linspace(0.5, 2.0, _N)])
def test_some_of_very_many_points_repel_like_all(charges, monkeypatch):
    surface = Hyperboloid()

    def points(scale):
        loss = RowLoss(LOSS.attractions, (Repulsion(Cauchy(), "value", scale / _N, charges=charges),))
        return surface.points(placement(surface, 7, loss).place(NEW).astype(np.float64))

    def apart(one, other):
        return np.median([np.sqrt(surface.meet(a, b)[0]) for a, b in zip(one, other, strict=True)])

    every, unmoved = points(3.0), points(0.0)
    monkeypatch.setattr(on_surface, "EXACT_UP_TO", 160)
    assert 0.0 < apart(points(3.0), every) < 0.2 * apart(unmoved, every)
