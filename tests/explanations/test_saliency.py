"""Saliency puts the pixels that move a point where they are in the picture, with the sign of the direction."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations import explain
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.paths import path_graph, paths_along, shortest_path
from gnomon.explanations.jackknife import mean_of_blocks, places_in_blocks
from gnomon.explanations.local import each_local_arrows, local_arrows
from gnomon.explanations.mean_errors import error_of_mean
from gnomon.explanations.saliency import _of_point, saliency

SHAPE = (4, 5)


@pytest.fixture(scope="module")
def pictures():
    """Pixel (1, 2) moves the map to the right, pixel (3, 4) to the left, pixel (0, 0) up; pixel (2, 2) is constant."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (400, *SHAPE)) * 0.05
    for r, c in ((1, 2), (3, 4), (0, 0)):
        X[:, r, c] = rng.uniform(0, 1, 400)
    X[:, 2, 2] = 0.5
    Y = np.stack([X[:, 1, 2] - X[:, 3, 4], X[:, 0, 0]], axis=1)
    return X.reshape(400, -1), Y


@pytest.fixture(scope="module")
def explanation(pictures):
    return explain(*pictures, n_jobs=1)


def test_effects_stand_at_their_pixels_with_the_sign_of_the_direction(explanation):
    for of in (7, np.arange(100)):
        found = saliency(explanation, of, image_shape=SHAPE, direction=(3, 0))
        assert found.image.shape == SHAPE
        assert found.image.argmax() == 7
        assert found.image.argmin() == 19
        assert found.image[2, 2] == found.error_image[2, 2] == 0
        plain = saliency(explanation, of, image_shape=SHAPE).image
        assert set(np.argsort(-plain.ravel())[:3]) == {7, 19, 0}
        assert plain.min() == 0


def test_a_point_gets_its_own_arrows(explanation):
    arrows = local_arrows(explanation, 5)
    found = saliency(explanation, 5, image_shape=SHAPE)
    np.testing.assert_allclose(found.image.ravel(), np.linalg.norm(arrows, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.image.ravel(), explanation.importance[5], rtol=1e-5)
    along = saliency(explanation, 5, image_shape=SHAPE, direction=(0, 1))
    np.testing.assert_allclose(along.image.ravel(), arrows[1], rtol=1e-12)
    assert along.fidelity == explanation.r2[5]


def test_the_headline_tells_how_many_points_and_along_which_direction(explanation):
    one, two = (saliency(explanation, of, image_shape=SHAPE, direction=(0, 2)).headline() for of in (5, [5, 6]))
    assert one == "effects of 20 pixels on 1 point along (0.00, 1.00); mean R2 1.00"
    assert two.startswith("effects of 20 pixels on 2 points along")


def test_a_selection_gets_the_mean_of_its_points(explanation):
    rows = np.arange(0, 400, 7)
    found = saliency(explanation, rows, image_shape=SHAPE, direction=(0, 1))
    mean = np.mean([local_arrows(explanation, int(i))[1] for i in rows], axis=0)
    np.testing.assert_allclose(found.image.ravel(), mean, rtol=1e-9, atol=1e-15)
    assert found.n_points == len(rows)


def test_towards_rows_is_what_changes_on_the_way_to_the_nearest_of_them(pictures, explanation):
    _, Y = pictures
    right = np.flatnonzero((Y[:, 0] > 0.5) & (abs(Y[:, 1] - 0.5) < 0.2))
    left = np.flatnonzero((Y[:, 0] < -0.5) & (abs(Y[:, 1] - 0.5) < 0.2))
    for of in (left, int(left[0])):
        there = saliency(explanation, of, image_shape=SHAPE, toward=right)
        assert there.direction[0] > 0.9
        assert (there.image.argmax(), there.image.argmin()) == (7, 19)
        assert there.image[2, 2] == there.error_image[2, 2] == 0
        assert np.delete(np.abs(there.effect), [0, 1, 2]).max() < 0.1 * there.image.max()
    back = saliency(explanation, right, image_shape=SHAPE, toward=left)
    assert (back.image.argmax(), back.image.argmin()) == (19, 7)


def test_of_a_linear_map_the_way_adds_up_to_the_change_times_the_axes(pictures, explanation):
    X, _ = pictures
    start, end = np.argmin(X[:, 7] - X[:, 19]), np.argmax(X[:, 7] - X[:, 19])
    found = saliency(explanation, int(start), image_shape=SHAPE, toward=int(end))
    around = X[np.append(explanation.graph.indices[end], end)].mean(axis=0)
    drivers = [7, 19]
    np.testing.assert_allclose(found.image.ravel()[drivers], (around - X[start])[drivers], rtol=0.1)
    assert (found.error_image.ravel()[drivers] > 0).all()
    assert (found.error_image.ravel()[drivers] < np.abs(found.image.ravel()[drivers])).all()
    assert found.fidelity == explanation.r2[start]


def test_there_is_no_way_to_another_piece_of_a_graph_without_distances(pictures):
    from gnomon.neighbors import NeighborGraph

    X, Y = pictures
    near = np.array([[(i + s) % 40 + 40 * (i // 40) for s in range(1, 6)] for i in range(400)], np.int32)
    graph = NeighborGraph(near, np.ones(near.shape, np.float32), metric="precomputed")
    apart = explain(X, Y, graph=graph, n_jobs=1)
    assert saliency(apart, 5, image_shape=SHAPE, toward=20).n_points == 1
    with pytest.raises(ValueError, match="toward must be rows outside of the selection that a path"):
        saliency(apart, 5, image_shape=SHAPE, toward=60)


def test_colours_have_a_picture_each(pictures):
    X, Y = pictures
    tinted = np.repeat(X.reshape(400, *SHAPE, 1), 3, axis=3)
    tinted[..., 1:] = 0
    found = saliency(explain(tinted.reshape(400, -1), Y, n_jobs=1), 5, image_shape=(*SHAPE, 3))
    assert found.image.shape == (*SHAPE, 3)
    assert not found.image[..., 1:].any()


def test_the_figure_shows_the_effects(pictures, explanation, tmp_path):
    from gnomon.plot import plot_saliency, save_saliency

    found = saliency(explanation, 5, image_shape=SHAPE, direction=(1, 0))
    ax = plot_saliency(found.image, picture=pictures[0][5].reshape(SHAPE), title="5").ax_
    drawn = ax.get_images()[0]
    np.testing.assert_array_equal(drawn.get_array(), found.image)
    assert drawn.norm.vmin == -drawn.norm.vmax  # zero is the middle of the colours
    save_saliency(tmp_path / "s.png", np.zeros((3, 4, 3)))
    assert (tmp_path / "s.png").stat().st_size > 1000
    assert matplotlib.__version__
    with pytest.raises(ValueError, match=r"picture of shape \(3, 3\)"):
        plot_saliency(found.image, picture=np.eye(3))
    with pytest.raises(ValueError, match=r"image of shape \(4,\)"):
        plot_saliency(np.zeros(4))


def test_wrong_questions_are_refused(pictures, explanation):
    X, Y = pictures
    for options, text in (
        ({"of": 5, "image_shape": (3, 3)}, r"image_shape=\(3, 3\) must be of n_features=20 pixels"),
        ({"of": 5, "image_shape": None}, "image_shape=None must be the shape of a picture"),
        ({"of": np.zeros(400, bool), "image_shape": SHAPE}, "of with 0 rows"),
        ({"of": 5, "image_shape": SHAPE, "direction": (0, 0)}, "must be 2 finite numbers, not all zero"),
        ({"of": 5, "image_shape": SHAPE, "toward": 5}, "must be 2 finite numbers, not all zero"),
        ({"of": 5, "image_shape": SHAPE, "toward": 6, "direction": (1, 0)}, "toward and direction must be one given"),
    ):
        with pytest.raises(ValueError, match=text):
            saliency(explanation, **options)
    with pytest.raises(IndexError, match="row 400"):
        saliency(explanation, 400, image_shape=SHAPE)
    with pytest.raises(TypeError, match=r"row 1\.5 must be an integer"):
        saliency(explanation, 1.5, image_shape=SHAPE)
    places = Y.copy()
    places[5] = np.nan
    with pytest.raises(ValueError, match="of=5 must be points that have an explanation"):
        saliency(explain(X, places, n_jobs=1), 5, image_shape=SHAPE)


def test_arrows_of_many_points_together_are_those_of_each(pictures):
    X, Y = pictures
    for pooling in (0, 2):
        for table in (X, sp.csr_array(X)):
            explanation = explain(table, Y, pooling=pooling, n_jobs=1)
            rows = np.arange(3, 400, 9)
            for i, arrows in zip(rows, each_local_arrows(explanation, rows), strict=True):
                np.testing.assert_allclose(arrows, local_arrows(explanation, int(i)), rtol=1e-9, atol=1e-14)
                assert not arrows[:, 12].any()


def test_a_picture_of_a_point_is_the_length_of_the_pixels_arrows_or_their_part_along_a_direction(monkeypatch):
    arrows, errors = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, -2.0]]), np.array([[0.1, 0.3, 0.2], [0.2, 0.4, 0.1]])
    monkeypatch.setattr("gnomon.explanations.saliency.arrows_with_errors", lambda explanation, i: (arrows, errors))
    effect, error = _of_point(None, 0, None)
    np.testing.assert_allclose(effect, [5.0, 0.0, np.sqrt(5.0)])
    along = [np.hypot(0.6 * 0.1, 0.8 * 0.2), np.hypot(0.3, 0.4) / np.sqrt(2.0), np.hypot(0.2, 2 * 0.1) / np.sqrt(5.0)]
    np.testing.assert_allclose(error, along)
    effect, error = _of_point(None, 0, np.array([0.6, 0.8]))
    np.testing.assert_allclose(effect, [5.0, 0.0, -1.0], atol=1e-12)
    np.testing.assert_allclose(error, np.hypot(0.6 * errors[0], 0.8 * errors[1]))


def test_of_a_large_selection_some_points_evenly_are_averaged():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (950, 9))
    found = explain(X, X[:, [4, 7]].copy(), n_jobs=1)
    mean = saliency(found, np.arange(0, 950), image_shape=(3, 3), direction=(1, 0))
    rows = np.linspace(0, 949, 400).astype(int)
    assert mean.n_points == 400
    expected = np.mean([arrows[0] for arrows in each_local_arrows(found, rows)], axis=0)
    np.testing.assert_allclose(mean.image.ravel(), expected, rtol=1e-9, atol=1e-15)
    assert mean.fidelity == pytest.approx(float(np.mean(found.r2[rows])))
    assert saliency(found, np.arange(400), image_shape=(3, 3)).n_points == 400
    right = np.flatnonzero(X[:, 4] > 0.95)
    left = np.setdiff1d(np.flatnonzero(X[:, 4] < 0.5), right)[:70]
    chosen = left[np.linspace(0, 69, 50).astype(int)]
    one, other = (saliency(found, rows, image_shape=(3, 3), toward=right) for rows in (left, chosen))
    assert (one.n_points, other.n_points) == (50, 50)
    np.testing.assert_allclose(one.image, other.image, rtol=1e-12)


def test_on_the_way_each_change_counts_by_the_mean_length_of_the_axes_at_its_ends(pictures):
    X, Y = pictures[0][:150], pictures[1][:150].copy()
    Y[::5] = np.nan  # rows without axes on the paths leave their changes to the other end
    found = explain(X, Y, n_neighbors=8, pooling=0, n_jobs=1)
    graph, target = path_graph(X, found.graph), np.array([11, 12, 14])
    lengths = graph.lengths_from(target[None].astype(np.int32))[0]

    def written_out(i, errors):
        passed = shortest_path(graph, lengths, i)[::-1]
        stations = paths_along(X, found.graph, passed, RowMetric("euclidean"))[1].stations
        total = np.zeros(20)
        for step, change in enumerate(np.diff(stations, axis=0)):
            ends = [row for row in passed[step : step + 2].tolist() if found.mask[row]]
            sizes = [np.linalg.norm((found.axes_error if errors else found.axes)(row), axis=0) for row in ends]
            total += np.sum(sizes, axis=0) / max(len(ends), 1) * (np.abs(change) if errors else change)
        return total, passed

    far = np.array([1, 2, 3, 4, 6, 7, 8])
    passed = [written_out(int(i), False)[1] for i in far]
    assert any(not found.mask[rows].all() for rows in passed)
    one = saliency(found, 3, image_shape=SHAPE, toward=target)
    np.testing.assert_allclose(one.image.ravel(), written_out(3, False)[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.error_image.ravel(), written_out(3, True)[0], rtol=1e-9, atol=1e-12)
    several = saliency(found, [*far, 12], image_shape=SHAPE, toward=target)
    each = np.array([written_out(int(i), False)[0] for i in far])
    np.testing.assert_allclose(several.image.ravel(), each.mean(axis=0), rtol=1e-9, atol=1e-12)
    blocks = places_in_blocks(Y[far])
    _, error = mean_of_blocks(np.array([each[b].sum(axis=0) for b in blocks]), np.array([len(b) for b in blocks]))
    np.testing.assert_allclose(several.error_image.ravel(), error, rtol=1e-6, atol=1e-12)
    assert (several.n_points, several.fidelity) == (7, pytest.approx(float(np.mean(found.r2[far]))))
    toward = np.median(Y[target], axis=0) - np.median(Y[[*far, 12]], axis=0)
    np.testing.assert_allclose(several.direction, toward / np.linalg.norm(toward))
    for wrong in (0, [0, 5]):
        with pytest.raises(ValueError, match="toward must be rows with a place in the map"):
            saliency(found, 3, image_shape=SHAPE, toward=wrong)
    with pytest.raises(ValueError, match="toward must be rows outside of the selection"):
        saliency(found, target, image_shape=SHAPE, toward=[11, 12, 14, 16])


def test_a_selection_has_the_error_of_a_mean_and_an_answer_is_told(explanation):
    rows = np.arange(0, 400, 40)
    for direction in (None, (3.0, 4.0)):
        found = saliency(explanation, rows, image_shape=SHAPE, direction=direction)
        arrows = np.array([local_arrows(explanation, int(i)) for i in rows])
        each = np.linalg.norm(arrows, axis=1) if direction is None else np.array([0.6, 0.8]) @ arrows
        toward = None if direction is None else np.tile([0.6, 0.8], (10, 1))
        error = error_of_mean(explanation, rows, np.full(10, 0.1), each.mean(axis=0), toward)
        np.testing.assert_allclose(found.error_image.ravel(), error, rtol=1e-6, atol=1e-12)
        assert found.features[0] == f"feature {found.indices[0]}"
        assert (np.diff(np.abs(found.effect)) <= 0).all()
        facts = {"n_points": 10, "direction": None if direction is None else [0.6, 0.8], "image_shape": (4, 5)}
        document = found.to_dict()
        del document["features"]
        assert document == {"question": "saliency", "fidelity": found.fidelity, **facts}
    assert "n_features" not in repr(found)
    first = found.head(2)
    assert first.image.shape == SHAPE
    assert np.count_nonzero(first.image) == 2
    for wrong in ((1.0,), (np.inf, 1.0)):
        with pytest.raises(ValueError, match="must be 2 finite numbers, not all zero"):
            saliency(explanation, 5, image_shape=SHAPE, direction=wrong)
