"""Distortion ellipses of maps whose stretching, and whose cut, is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse.csgraph
import scipy.spatial.distance
import scipy.stats
from sklearn.neighbors import NearestNeighbors

from gnomon import _core
from gnomon.geometry import distortion, local_jacobians
from gnomon.neighbors import NeighborGraph


@pytest.fixture
def tears():
    """Shapes that are cut, and what is found of the cut."""
    return pytest.importorskip("benchmarks.tears", reason="a source distribution has no benchmarks")


def neighbor_graph(X, n_neighbors=12):
    distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))


def plane(n=200, seed=0):
    """A plane in five dimensions and its coordinates."""
    rng = np.random.default_rng(seed)
    coordinates = rng.uniform(-1, 1, (n, 2))
    basis, _ = np.linalg.qr(rng.normal(size=(5, 2)))
    return coordinates @ basis.T + 3.0, coordinates


def cylinder(n=1500, seed=0):
    """A cylinder, its angle in (-pi, pi] and its height; the cut is at pi."""
    rng = np.random.default_rng(seed)
    angle, height = rng.uniform(-np.pi, np.pi, n), rng.uniform(0, 2, n)
    return np.column_stack([np.cos(angle), np.sin(angle), height]), angle, height


def found(X, Y, *, variance_share=1.0, **parameters):
    graph = neighbor_graph(X)
    jacobians = local_jacobians(X, Y, graph, ridge=0.0, variance_share=variance_share)
    return distortion(jacobians, Y=Y, graph=graph, **parameters), graph


def test_an_isometry_gives_circles_of_radius_one_everywhere():
    X, coordinates = plane()
    turn = scipy.stats.special_ortho_group.rvs(2, random_state=1)
    result, _ = found(X, coordinates @ turn + 7.0)
    np.testing.assert_allclose(result.semi_axes, 1.0, rtol=1e-9)
    np.testing.assert_allclose(result.area, 1.0, rtol=1e-9)
    np.testing.assert_allclose(result.anisotropy, 1.0, rtol=1e-9)
    np.testing.assert_allclose(result.log_area, 0.0, atol=1e-9)
    assert not result.lost_direction.any()
    assert not result.tear.any()


def test_an_affine_map_gives_its_known_ellipse():
    X, coordinates = plane()
    angle = 0.6
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    result, _ = found(X, coordinates @ np.diag([3.0, 0.5]) @ turn.T)
    np.testing.assert_allclose(result.semi_axes, [[3.0, 0.5]] * len(X), rtol=1e-9)
    np.testing.assert_allclose(result.area, 1.5, rtol=1e-9)
    np.testing.assert_allclose(result.anisotropy, 6.0, rtol=1e-9)
    np.testing.assert_allclose(result.angle, angle, atol=1e-9)
    np.testing.assert_allclose(result.directions, [turn * np.sign(turn[:, 1][1])] * len(X), atol=1e-9)


@pytest.mark.parametrize(("angle", "reported"), [(2.5, 2.5 - np.pi), (-1.0, -1.0), (np.pi / 2, np.pi / 2)])
def test_angles_lie_in_half_a_turn(angle, reported):
    X, coordinates = plane()
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    result, _ = found(X, coordinates @ np.diag([2.0, 1.0]) @ turn.T)
    assert np.all((result.angle > -np.pi / 2) & (result.angle <= np.pi / 2))
    np.testing.assert_allclose(np.cos(2 * (result.angle - reported)), 1.0, atol=1e-9)


def test_a_map_onto_a_line_loses_a_direction():
    X, coordinates = plane()
    result, _ = found(X, np.column_stack([coordinates[:, 0], np.zeros(len(X))]))
    assert result.lost_direction.all()
    assert np.all(np.isinf(result.anisotropy))
    assert np.all(result.area == 0.0)
    assert np.all(result.log_area == -np.inf)


@pytest.mark.parametrize(("ratio", "lost"), [(0.3, True), (0.2, False)])
def test_the_ratio_at_which_a_direction_is_lost_is_a_parameter(ratio, lost):
    X, coordinates = plane()
    result, _ = found(X, coordinates * [4.0, 1.0], lost_ratio=ratio)
    assert np.all(result.lost_direction == lost)


def test_log_area_compares_with_the_median_of_the_map():
    X, coordinates = plane()
    right = coordinates[:, 0] > -0.2
    Y = coordinates.copy()
    Y[right, 0] = 2 * Y[right, 0] + 0.2  # without a step between the two sides
    result, graph = found(X, Y)
    on_right, on_left = right[graph.indices].all(axis=1) & right, ~right[graph.indices].any(axis=1) & ~right
    assert on_right.mean() > 0.5
    assert on_left.mean() > 0.1
    np.testing.assert_allclose(result.log_area[on_right], 0.0, atol=1e-8)
    np.testing.assert_allclose(result.log_area[on_left], -np.log(2.0), atol=1e-8)


def test_the_points_along_the_cut_of_a_cylinder_are_torn_and_no_others():
    X, angle, height = cylinder()
    result, graph = found(X, np.column_stack([angle, height]), variance_share=0.9)
    across = (np.abs(angle[graph.indices] - angle[:, None]) > np.pi).any(axis=1)
    assert 50 < across.sum() < 400
    np.testing.assert_array_equal(result.tear, across)


def test_the_cut_is_found_where_a_map_gives_little_room():
    X, angle, height = cylinder()
    Y = np.column_stack([angle, height]) * np.exp(-height)[:, None]  # scales differ by e^2, continuously
    result, graph = found(X, Y, variance_share=0.9)
    across = (np.abs(angle[graph.indices] - angle[:, None]) > np.pi).any(axis=1)
    np.testing.assert_array_equal(result.tear, across)


def test_a_smooth_map_that_squeezes_one_direction_is_no_tear():
    X, coordinates = plane()
    result, _ = found(X, coordinates * [100.0, 1.0])
    assert np.max(result.gap) > 5.0
    assert not result.tear.any()


@pytest.mark.parametrize("name", ["ring, cut", "sphere, cut at a meridian", "sphere, cut at the equator"])
def test_nine_in_ten_points_at_a_cut_are_found_and_few_others_flagged(tears, name):
    shares = [tears.judge(*tears.cut_shape(name, 1500, noise, seed=3)) for noise in (0.0, 0.05)]
    assert min(share for share, _ in shares) > 0.88
    assert max(false for _, false in shares) < 0.05


@pytest.mark.parametrize("name", ["ring, whole", "half a sphere, whole"])
def test_where_nothing_is_cut_no_more_is_flagged_than_the_level_says(tears, name):
    X, Y, _ = tears.cut_shape(name, 1500, 0.05, seed=3)
    flagged = [found(X, Y, variance_share=0.9, tear_level=level)[0].tear.mean() for level in (0.2, 0.05, 0.002)]
    assert np.all(flagged <= [0.2, 0.05, 0.002])
    assert flagged[0] > flagged[1] > flagged[2]


def test_the_r2_below_which_a_gap_is_a_tear_is_a_parameter():
    X, angle, height = cylinder()
    Y = np.column_stack([angle, height])
    assert not found(X, Y, tear_r2=0.0)[0].tear.all()
    assert found(X, Y, tear_r2=0.3)[0].tear.sum() < found(X, Y, tear_r2=0.9)[0].tear.sum()


def test_the_gap_is_the_longest_edge_of_the_shortest_tree_over_the_mean_of_the_others():
    X, angle, height = cylinder(300)
    Y = np.column_stack([angle, height])
    graph = neighbor_graph(X)
    mask = np.random.default_rng(0).uniform(size=graph.indices.shape) < 0.7
    graph = replace(graph, mask=mask)
    result = distortion(local_jacobians(X, Y, graph), Y=Y, graph=graph)
    for i in range(300):
        members = np.append(i, graph.indices[i][mask[i]])
        lengths = scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(Y[members]))
        edges = np.sort(scipy.sparse.csgraph.minimum_spanning_tree(lengths).data)
        assert result.gap[i] == pytest.approx(edges[-1] / edges[:-1].mean(), rel=1e-9)


def test_the_torn_neighbours_are_those_across_the_cut():
    X, angle, height = cylinder()
    result, graph = found(X, np.column_stack([angle, height]), variance_share=0.9)
    across = np.abs(angle[graph.indices] - angle[:, None]) > np.pi
    assert np.mean(result.torn_neighbors[result.tear] == across[result.tear]) > 0.99
    assert not result.torn_neighbors[~result.tear].any()


def test_a_map_on_a_grid_is_whole():
    Y = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=2).reshape(-1, 2)
    jacobians = local_jacobians(Y, Y, neighbor_graph(Y, 8))
    noisy = replace(jacobians, predicted_r2=np.zeros_like(jacobians.predicted_r2))
    assert not distortion(noisy, Y=Y, graph=neighbor_graph(Y, 8)).tear.any()


def test_neighbours_that_do_not_exist_tear_nothing():
    X, angle, height = cylinder(400)
    Y = np.column_stack([angle, height])
    graph = neighbor_graph(X)
    across = np.abs(angle[graph.indices] - angle[:, None]) > np.pi
    graph = replace(graph, mask=~across)
    result = distortion(local_jacobians(X, Y, graph), Y=Y, graph=graph)
    assert not result.torn_neighbors[across].any()
    assert result.tear[across.any(axis=1)].mean() < 0.05


def test_points_without_a_jacobian_have_no_ellipse():
    X, coordinates = plane()
    Y = coordinates.copy()
    Y[3] = np.nan
    result, _ = found(X, Y)
    assert np.isnan(result.semi_axes[3]).all()
    assert np.isnan([result.area[3], result.log_area[3], result.anisotropy[3], result.angle[3]]).all()
    assert not result.lost_direction[3]
    assert not result.tear[3]
    assert np.isfinite(np.delete(result.semi_axes, 3, axis=0)).all()


def test_neighbours_on_one_place_give_a_point_for_an_ellipse():
    X, _ = plane()
    result, _ = found(X, np.zeros((len(X), 2)))
    assert np.all(result.semi_axes == 0)
    assert result.lost_direction.all()
    assert not result.tear.any()


def test_tears_are_left_out_without_the_places():
    X, coordinates = plane()
    result = distortion(local_jacobians(X, coordinates, neighbor_graph(X)))
    assert result.tear is None
    assert result.gap is None
    assert result.torn_neighbors is None


def test_a_map_of_three_components_has_no_angle():
    X, coordinates = plane()
    result, _ = found(X, np.column_stack([coordinates, coordinates[:, 0]]))
    assert np.isnan(result.angle).all()
    np.testing.assert_allclose(result.semi_axes, [[np.sqrt(2), 1.0, 0.0]] * len(X), atol=1e-9)


def test_wrong_arguments_are_refused():
    X, coordinates = plane()
    graph = neighbor_graph(X)
    jacobians = local_jacobians(X, coordinates, graph)
    for name in ("lost_ratio", "tear_level", "tear_r2"):
        for value in (-1, np.nan, "many"):
            with pytest.raises((TypeError, ValueError), match=f"distortion: {name}="):
                distortion(jacobians, **{name: value})
    with pytest.raises(ValueError, match="Y and graph must be given together"):
        distortion(jacobians, Y=coordinates)
    with pytest.raises(ValueError, match="graph must be the one that the Jacobians were fitted with"):
        distortion(jacobians, Y=coordinates, graph=neighbor_graph(X, 5))
    with pytest.raises(ValueError, match="Y of shape"):
        distortion(jacobians, Y=coordinates[:5], graph=graph)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_trees_of_neighbourhoods_are_the_shortest(n_threads):
    rng = np.random.default_rng(3)
    Y, near = rng.normal(size=(40, 2)), np.stack([rng.permutation(40)[:7] for _ in range(40)]).astype(np.int32)
    used = rng.random((40, 7)) < 0.8
    used[5] = False
    Y[6] = np.nan
    used &= near != 6
    edges, joined = _core.shortest_trees(Y, near, used, np.arange(40), n_threads)
    for i in np.delete(np.arange(40), 6):
        others = near[i][used[i]]
        distances = scipy.spatial.distance.cdist(*[Y[np.append(i, others)]] * 2)
        shortest = scipy.sparse.csgraph.minimum_spanning_tree(distances)
        found = edges[i][np.isfinite(edges[i])]
        tied = len(np.unique(np.append(i, others))) <= len(others)  # SciPy leaves edges of length 0 out
        assert len(found) == len(others)
        assert tied or np.sort(found) == pytest.approx(np.sort(shortest.data))
        assert sorted(joined[i][: len(found)]) == (np.flatnonzero(used[i]) + 1).tolist()
    assert np.isnan(edges[6]).all()
    assert np.isnan(edges[5]).all()
