"""Names stand near what they name, never over each other nor outside, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.plot import plot_map
from gnomon.plot.placement import Crowd, densest_members, place_names

BOUNDS = np.array([0.0, 0.0, 600.0, 400.0])


def _boxes(middles, sizes):
    shown = np.isfinite(middles).all(axis=1)
    return np.hstack([middles[shown] - sizes[shown] / 2, middles[shown] + sizes[shown] / 2])


def _disjoint(boxes):
    over = (boxes[:, None, :2] < boxes[None, :, 2:]) & (boxes[None, :, :2] < boxes[:, None, 2:])
    return not (over.all(axis=2) & ~np.eye(len(boxes), dtype=bool)).any()


@pytest.mark.parametrize("n", [10, 60, 160])
def test_no_two_names_overlap_and_none_leaves_the_picture(n):
    rng = np.random.default_rng(n)
    anchors, sizes = rng.uniform(0, 1, (n, 2)) * BOUNDS[2:], rng.uniform((20, 8), (90, 20), (n, 2))
    middles = place_names(anchors, sizes, BOUNDS)
    boxes = _boxes(middles, sizes)
    assert _disjoint(boxes)
    assert (boxes[:, :2] >= -1e-9).all()
    assert (boxes[:, 2:] <= BOUNDS[2:] + 1e-9).all()
    assert len(boxes) >= min(n, 40)
    assert place_names(anchors, sizes, BOUNDS).tobytes() == middles.tobytes()


def test_a_name_alone_stands_on_its_anchor_and_the_second_beside_it():
    anchors, sizes = np.array([[300.0, 200.0]] * 2), np.array([[60.0, 12.0]] * 2)
    np.testing.assert_array_equal(place_names(anchors[:1], sizes[:1], BOUNDS), anchors[:1])
    both = place_names(anchors, sizes, BOUNDS)
    assert _disjoint(_boxes(both, sizes))
    assert (abs(both - anchors) <= [60.0, 24.0]).all()


def test_names_that_cannot_stand_are_left_out():
    anchors = np.array([[5.0, 5.0], [np.nan, 1.0], [300.0, 200.0]])
    sizes = np.array([[30.0, 10.0], [30.0, 10.0], [700.0, 10.0]])
    middles = place_names(anchors, sizes, BOUNDS)
    np.testing.assert_array_equal(middles[0], [15.0, 5.0])  # moved inside
    assert np.isnan(middles[1:]).all()
    small = place_names(np.zeros((40, 2)) + 20.0, np.full((40, 2), 18.0), np.array([0.0, 0.0, 40.0, 40.0]), gap=0.0)
    assert 1 <= np.isfinite(small[:, 0]).sum() <= 4  # as many as there is room for


def test_a_name_moves_off_the_points_of_other_classes():
    rng = np.random.default_rng(0)
    own, other = rng.normal((300, 200), 2, (200, 2)), rng.normal((330, 200), 8, (800, 2))
    crowd = Crowd(np.vstack([own, other]), np.repeat([0, 1], [200, 800]), BOUNDS, 4.0)
    anchor, size = np.array([[300.0, 200.0]]), np.array([[90.0, 12.0]])
    blind, seeing = (place_names(anchor, size, BOUNDS, covered=one)[0] for one in (None, crowd.cost))
    np.testing.assert_array_equal(blind, anchor[0])
    costs = crowd.cost(0, _boxes(np.array([blind, seeing]), size.repeat(2, axis=0)))
    assert costs[1] < 0.2 * costs[0]


def test_the_cost_of_a_box_is_what_it_covers():
    places = np.array([[1.0, 1.0], [3.0, 1.0], [5.0, 1.0], [7.0, 1.0]])
    crowd = Crowd(places, np.array([0, 0, 1, 1]), np.array([0.0, 0.0, 8.0, 2.0]), 2.0)  # four cells
    boxes = np.array([[0.0, 0.0, 4.0, 2.0], [4.0, 0.0, 8.0, 2.0], [2.0, 0.0, 6.0, 2.0]])
    np.testing.assert_allclose(crowd.cost(0, boxes), [3.0, 7.0, 3.5 + 1.5])


def test_the_anchor_of_a_class_is_a_member_where_it_is_densest():
    rng = np.random.default_rng(0)
    ring = np.stack([np.cos(t := rng.uniform(0, 2 * np.pi, 300)), np.sin(t)], axis=1) * 10
    lump = rng.normal((10.0, 0.0), 0.2, (200, 2))
    Y, codes = np.vstack([ring, lump, [[np.nan, 0.0]]]), np.array([0] * 500 + [2])
    rows = densest_members(Y, codes, 3)
    assert 300 <= rows[0] < 500  # not in the middle of the ring, where nothing lies
    assert rows.tolist()[1:] == [-1, -1]


@pytest.mark.parametrize(("n_classes", "sizes"), [(10, (60, 150)), (60, (80,)), (300, (60,))])
def test_names_of_a_figure_do_not_overlap_at_any_size(n_classes, sizes):
    rng = np.random.default_rng(1)
    codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, 3 * n_classes))
    Y = rng.normal(size=(n_classes, 2))[codes] * 5 + rng.normal(size=(len(codes), 2)) * 0.4
    display = plot_map(Y, labels=np.array([f"class number {k}" for k in range(n_classes)])[codes], legend=False)
    places = []
    for dpi in sizes:
        display.figure_.set_dpi(dpi)
        display.figure_.canvas.draw()
        window = display.ax_.get_window_extent()
        texts = {text.get_text(): text for text in display.ax_.texts if text.get_visible()}
        boxes = np.array([text.get_window_extent().extents for text in texts.values()])
        assert _disjoint(boxes)
        assert (boxes[:, :2] >= window.min - 0.51).all()
        assert (boxes[:, 2:] <= window.max + 0.51).all()
        assert len(boxes) >= min(n_classes, 12)
        places.append({name: text.get_position() for name, text in texts.items()})
    display.figure_.canvas.draw()
    assert {text.get_text(): text.get_position() for text in display.ax_.texts if text.get_visible()} == places[-1]


def test_a_name_that_moved_has_a_line_to_its_anchor():
    Y = np.repeat([[0.0, 0.0], [0.01, 0.0], [10.0, 10.0]], 30, axis=0)
    display = plot_map(Y, labels=np.repeat(["first of all", "second", "third"], 30))
    display.figure_.canvas.draw()
    (leaders,) = (line for line in display.ax_.lines if len(line.get_xdata()))
    starts = leaders.get_xydata()[::3]
    assert len(starts) >= 1
    assert all(np.isclose(start, [[0.0, 0.0], [0.01, 0.0], [10.0, 10.0]]).all(axis=1).any() for start in starts)
