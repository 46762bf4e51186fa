"""Data with known driving features are what they say, and gnomon's explanation finds the features."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.explanations import compare, make_map
from benchmarks.known_drivers import MANIFOLDS, TABLES, KnownMap, driven_manifold, driven_table

import gnomon
from gnomon.evaluation import recovery_of_drivers, shuffle_columns, sign_agreement
from gnomon.exceptions import DataWarning
from gnomon.explanations import explain


@pytest.mark.parametrize("name", MANIFOLDS)
def test_features_have_one_variance_and_move_as_their_derivatives_say(name):
    data = driven_manifold(name, 400, n_features=24, signal_to_noise=4, random_state=3)
    np.testing.assert_allclose(data.X.var(axis=0), 1.0, rtol=1e-9)
    rows = data.on_surface[::7]
    regions, step = data.regions[rows], 1e-6
    for a in range(2):
        ahead, behind = data.u[rows].copy(), data.u[rows].copy()
        ahead[:, a] += step
        behind[:, a] -= step
        slope = (data.surface(ahead, regions) - data.surface(behind, regions)) / (2 * step)
        # a curve's second derivative may jump where it joins another, so a few rows are less exact
        assert np.quantile(np.abs(slope - data.derivative[rows][:, :, a]), 0.99) < 1e-6
    assert not np.any(data.derivative[~(data.drivers | data.faint)])
    assert not data.drivers[data.regions < 0].any()
    np.testing.assert_allclose(data.surface(data.u[rows], regions) + data.noise[rows], data.X[rows], atol=1e-12)


@pytest.mark.parametrize("name", ["cylinders", "ribbon"])
def test_features_that_nearly_stand_still_at_a_row_are_faint_and_no_drivers(name):
    data = driven_manifold(name, 300, n_features=24, random_state=2)
    assert data.faint.any()
    for i in data.on_surface[::5]:
        size = np.linalg.norm(np.linalg.qr(data.derivative[i])[0], axis=1)  # along orthonormal directions
        moves = size > 1e-12
        bound = 0.2 * np.sqrt(np.mean(size[moves] ** 2))
        np.testing.assert_array_equal(data.drivers[i], size >= bound)
        np.testing.assert_array_equal(data.faint[i], moves & (size < bound))


def test_noise_is_as_strong_as_asked_for_in_each_region():
    data = driven_manifold("sheets", 3000, n_features=30, signal_to_noise=2, random_state=0)
    for r in range(3):
        here = data.regions == r
        signal = (data.X - data.noise)[here].var(axis=0)
        drives = data.drivers[here].any(axis=0)
        assert drives.sum() == 10
        np.testing.assert_allclose(signal[drives] / data.noise.var(axis=0)[drives], 2.0, rtol=0.15)
        assert np.all(signal[~drives] < 1e-20)


def test_a_push_changes_the_data_by_its_length_along_the_surface():
    data = driven_manifold("caps", 400, n_features=24, random_state=0)
    rows = data.on_surface[::20]
    features = np.argmax(data.drivers[rows], axis=1)
    moved, _ = data.push(rows, features, 1e-4)
    step = moved - data.X[rows]
    np.testing.assert_allclose(np.linalg.norm(step, axis=1), 1e-4, rtol=1e-2)
    assert np.all(step[np.arange(len(rows)), features] > 0)


def test_directions_are_unit_steps_projected_on_the_tangent_space():
    data = driven_manifold("tori", 300, n_features=24, random_state=0)
    for i in data.on_surface[::40]:
        Q = np.linalg.qr(data.derivative[i])[0]
        np.testing.assert_allclose(data.derivative[i] @ data.directions()[i].T, Q @ Q.T, atol=1e-10)


def test_same_seed_same_rows_and_wrong_arguments_are_refused():
    one, two = (driven_manifold("tree", 200, random_state=5).X for _ in range(2))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != driven_manifold("tree", 200, random_state=6).X.tobytes()
    with pytest.raises(ValueError, match="name='plane' must be one of"):
        driven_manifold("plane")
    with pytest.raises(ValueError, match="n_features=13 must be at least 4 \\* n_regions=20"):
        driven_manifold("caps", n_features=13, n_regions=5)
    with pytest.raises(ValueError, match=r"signal_to_noise=0\.0 must be a number > 0"):
        driven_manifold("caps", signal_to_noise=0.0)


@pytest.mark.parametrize("name", ["sheets", "caps"])
def test_gnomon_finds_drivers_signs_and_pushes_at_a_signal_to_noise_of_two_ahead_of_the_baselines(name):
    data = driven_manifold(name, 600, n_features=40, signal_to_noise=2, random_state=1)
    names = ["gnomon", "regression, 15 neighbours", "featMAP-style", "global variance"]
    found = compare(data, make_map("umap", data), names, n_rows=60)
    ours = found["gnomon"]
    assert ours["auc"] > 0.98
    assert ours["sign"] > 0.95
    assert ours["push cosine"] > 0.9
    for other in names[1:]:
        assert ours["auc"] > found[other]["auc"] + 0.03
    assert 0.4 < found["global variance"]["auc"] < 0.6


def test_explanations_of_shuffled_data_lose_their_fidelity():
    data = driven_manifold("sheets", 400, n_features=24, signal_to_noise=4, random_state=0)
    Y = make_map("umap", data)
    real, shuffled = explain(data.X, Y), explain(shuffle_columns(data.X), Y)
    assert np.median(real.r2) > 0.5
    assert np.median(shuffled.r2) < 0.2
    assert recovery_of_drivers(real.importance, data.drivers).auc > 0.9
    assert recovery_of_drivers(shuffled.importance, data.drivers).auc < 0.6


def test_the_known_map_of_a_linear_map_of_the_surface_is_exact():
    data = driven_manifold("ribbon", 400, n_features=24, random_state=0)
    A = np.array([[2.0, 1.0], [-1.0, 3.0]])
    known = KnownMap(data, data.u @ A)
    on = data.on_surface
    np.testing.assert_allclose(known.derivative[on], np.broadcast_to(A.T, (len(on), 2, 2)), atol=1e-9)
    features = np.argmax(data.drivers[on], axis=1)
    before, after, step = known.pushes(on, features, 0.01)
    np.testing.assert_allclose(known.place(after) - known.place(before), (after - before)[:, :2] @ A, atol=1e-9)
    assert step.shape == data.X[on].shape


def test_a_known_map_averages_over_as_many_rows_as_its_noise_asks_for():
    table = driven_table("counts", 800, random_state=0)
    noise = np.random.default_rng(0).normal(size=table.u.shape)
    assert KnownMap(table, np.sin(9.0 * table.u)).n_neighbors == 40
    assert KnownMap(table, table.u + noise).n_neighbors >= 160


def test_the_side_of_an_arrow_is_known_where_the_map_tells_it_and_nowhere_else():
    table = driven_table("binary", 800, random_state=0)
    noise = np.random.default_rng(0).normal(size=table.u.shape)
    known, exact = (KnownMap(table, Y, n_neighbors=40) for Y in (table.u + 0.5 * noise, table.u))
    sure = known.determined() & table.drivers
    assert 0.05 < sure.sum() / table.drivers.sum() < 0.5
    assert exact.determined()[table.drivers].all()
    assert sign_agreement(known.arrows(), exact.arrows(), sure) > 0.98
    assert sign_agreement(known.arrows(), exact.arrows(), table.drivers & ~sure) < 0.97
    nothing = KnownMap(table, noise, n_neighbors=40)
    assert 0.005 < np.mean(nothing.determined()[table.drivers]) < 0.03


def test_pushes_are_judged_between_rows_only():
    table = driven_table("clean", 400, random_state=0)
    known = KnownMap(table, table.u)
    points = np.column_stack([table.u, table.regions])
    assert known.inside(points).all()
    assert not known.inside(points + np.array([1.0, 0.0, 0.0])).any()
    centred = table.surface(table.u, table.regions)
    centred -= np.array([centred[table.regions == r].mean(axis=0) for r in range(4)])[table.regions]
    np.testing.assert_allclose(table.extent() ** 2, np.mean(np.sum(centred**2, axis=1)), rtol=1e-9)


def test_a_table_of_unlike_units_is_standardised_and_explained_as_gnomon_map_does():
    raw = driven_table("units", 400, random_state=0)
    with pytest.warns(DataWarning, match="standardised"):
        result = gnomon.map(raw.X, method="pca")
    assert result.scale is not None
    table = raw.standardised(result.scale)
    np.testing.assert_allclose(table.X.std(axis=0), 1.0, rtol=1e-9)
    np.testing.assert_allclose(table.surface(table.u, table.regions) + table.noise, table.X, atol=1e-9)
    ours = explain(table.X, result.embedding)
    np.testing.assert_allclose(result.explain().importance, ours.importance, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(result.explain().axes(3) * result.scale.spread, ours.axes(3), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", TABLES)
def test_tables_move_as_their_derivatives_say_and_their_noise_has_mean_zero(kind):
    table = driven_table(kind, 4000, random_state=1)
    units = table.X.std(axis=0)
    rows, step = np.arange(0, 4000, 41), 1e-4
    for a in range(2):
        ahead, behind = table.u[rows].copy(), table.u[rows].copy()
        ahead[:, a] += step
        behind[:, a] -= step
        regions = table.regions[rows]
        slope = (table.surface(ahead, regions) - table.surface(behind, regions)) / (2 * step)
        np.testing.assert_allclose(slope / units, table.derivative[rows][:, :, a] / units, atol=1e-4)
    assert np.all(table.drivers.sum(axis=1) == 6)
    assert not np.any(table.derivative[~table.drivers])
    assert np.max(np.abs(table.noise.mean(axis=0) / table.noise.std(axis=0))) < 0.08
    if kind == "units":
        assert units.max() / units.min() > 1000
    if kind == "binary":
        assert set(np.unique(table.X)) == {0.0, 1.0}
