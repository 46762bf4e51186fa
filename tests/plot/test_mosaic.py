"""Mosaics: every picture once, near its place; fast and exact agree as stated."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from gnomon.plot import assign_to_grid, mosaic, mosaic_picture
from gnomon.plot.mosaic import _on_grid

rng = np.random.default_rng(0)
CLUSTERS = np.concatenate([rng.normal(size=(60, 2)) + centre for centre in ([0, 0], [9, 2], [3, 8])])


def _cost(Y, cells, shape):
    return float(((_on_grid(np.asarray(Y, dtype=float), *shape) - cells) ** 2).sum())


@pytest.mark.parametrize("method", ["exact", "fast"])
@pytest.mark.parametrize("shape", [None, (18, 10), (12, 20), (180, 1), (200, 2)])
def test_every_point_gets_a_cell_of_its_own(method, shape):
    cells = assign_to_grid(CLUSTERS, shape, method=method)
    assert len({tuple(cell) for cell in cells}) == len(CLUSTERS)
    assert (cells >= 0).all()
    if shape is not None:
        assert (cells < shape).all()


@pytest.mark.parametrize("method", ["exact", "fast"])
def test_a_grid_is_mapped_to_itself_with_its_top_above(method):
    rows, columns = np.mgrid[0:7, 0:5].reshape(2, -1)
    order = rng.permutation(35)
    Y = np.stack([3.0 * columns, -2.0 * rows], axis=1)[order]
    np.testing.assert_array_equal(assign_to_grid(Y, (7, 5), method=method), np.stack([rows, columns], axis=1)[order])


def test_the_corners_of_the_map_are_those_of_the_grid():
    corners = _on_grid(np.array([[2.0, 5.0], [6.0, 5.0], [2.0, 1.0], [6.0, 1.0]]), 4, 9)
    np.testing.assert_array_equal(corners, [[0, 0], [0, 8], [3, 0], [3, 8]])


def test_the_exact_assignment_is_the_best():
    Y = rng.random((12, 2))
    cells = np.stack(np.unravel_index(np.arange(12), (3, 4)), axis=1)
    places = _on_grid(Y, 3, 4)
    costs = ((places[:, None] - cells) ** 2).sum(axis=2)
    best = costs[linear_sum_assignment(costs)].sum()
    assert _cost(Y, assign_to_grid(Y, (3, 4)), (3, 4)) == pytest.approx(best)


@pytest.mark.parametrize(
    "Y", [CLUSTERS, rng.random((200, 2)), rng.normal(size=(300, 2))], ids=["clusters", "even", "normal"]
)
def test_the_fast_assignment_costs_little_more(Y):
    shape = (20, 18)
    exact = _cost(Y, assign_to_grid(Y, shape, method="exact"), shape)
    assert exact <= _cost(Y, assign_to_grid(Y, shape, method="fast"), shape) <= 1.15 * exact


def test_auto_is_exact_for_few_cells_and_fast_for_many():
    few, many = rng.random((100, 2)), rng.random((1800, 2))
    np.testing.assert_array_equal(assign_to_grid(few), assign_to_grid(few, method="exact"))
    np.testing.assert_array_equal(assign_to_grid(many), assign_to_grid(many, method="fast"))


@pytest.mark.parametrize("Y", [np.zeros((5, 2)), np.arange(5.0)[:, None] * [1.0, 0.0], np.ones((1, 2))])
def test_equal_points_and_lines_have_a_mosaic(Y):
    cells = assign_to_grid(Y)
    assert len({tuple(cell) for cell in cells}) == len(Y)


def test_pictures_stand_in_their_cells():
    images = np.arange(6, dtype=np.uint8)[:, None, None] * np.ones((6, 3, 4), dtype=np.uint8)
    rows, columns = np.mgrid[0:2, 0:3].reshape(2, -1)
    picture = mosaic_picture(images, np.stack([columns, -rows], axis=1), shape=(2, 3), gap=1, background=9)
    assert picture.shape == (7, 14)
    np.testing.assert_array_equal(picture[0, ::5], [0, 1, 2])
    np.testing.assert_array_equal(picture[6, ::5], [3, 4, 5])
    np.testing.assert_array_equal(picture[3], 9)
    np.testing.assert_array_equal(picture[:, 4], 9)
    colour = mosaic_picture(np.stack([images] * 3, axis=3), np.stack([columns, -rows], axis=1), shape=(3, 3))
    assert colour.shape == (9, 12, 3)
    assert (colour == 255).all(axis=(1, 2)).sum() == 3  # one row of cells is empty


def test_a_figure_is_drawn_and_closed_over_nothing(tmp_path):
    images = rng.integers(0, 255, (30, 8, 8, 3)).astype(np.uint8)
    ax = mosaic(images, rng.random((30, 2)), title="thirty").ax_
    ax.figure.savefig(tmp_path / "mosaic.png")
    assert (tmp_path / "mosaic.png").stat().st_size > 1000
    assert ax.get_title() == "thirty"
    assert mosaic(images, rng.random((30, 2)), ax=ax).ax_ is ax


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"images": np.zeros((4, 2, 2))}, "images of shape .* and type float64 must be uint8"),
        ({"images": np.zeros((4, 2, 2, 4), dtype=np.uint8)}, r"images of shape \(4, 2, 2, 4\)"),
        ({"Y": np.zeros((3, 2))}, r"Y of shape \(3, 2\) must be of 4 rows"),
        ({"Y": np.zeros((4, 3))}, r"Y of shape \(4, 3\) must be of shape \(n_samples, 2\)"),
        ({"Y": np.full((4, 2), np.nan)}, r"mosaic: Y must be finite \(4 rows are not\)"),
        ({"shape": (1, 3)}, r"shape=\(1, 3\) must be a grid of at least n_samples=4 cells"),
        ({"method": "best"}, "method='best' must be one of"),
        ({"gap": -1}, "gap=-1 must be"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(arguments, text):
    given = {"images": np.zeros((4, 2, 2), dtype=np.uint8), "Y": rng.random((4, 2)), **arguments}
    with pytest.raises(ValueError, match=text):
        mosaic_picture(given.pop("images"), given.pop("Y"), **given)
