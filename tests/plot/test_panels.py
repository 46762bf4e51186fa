"""Panels share colours and one legend, and each shows its own embedding."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from gnomon.plot import plot_map, plot_panels, save_panels


@pytest.fixture(name="maps")
def three_maps():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(300, d)) * 10.0**k for k, d in enumerate((2, 2, 3))]


def panels(figure):
    return [ax for ax in figure.axes if ax.collections and ax.get_label() != "<colorbar>"]


def colors_by_point(ax, Y):
    """Colours in the order of the rows, whatever the order of drawing."""
    (points,) = ax.collections
    drawn = {tuple(place): color for place, color in zip(points.get_offsets(), points.get_facecolors(), strict=True)}
    return np.array([drawn[tuple(row[:2])] for row in Y])


def test_every_panel_shows_its_map_in_the_same_colours(maps):
    labels = np.repeat(["a", "b", "c"], 100)
    figure = plot_panels(maps, labels=labels, titles=["x", 2, "$ {"], suptitle="three _$").figure_
    colors = [colors_by_point(ax, Y) for ax, Y in zip(panels(figure), maps, strict=True)]
    np.testing.assert_array_equal(colors[0], colors[1])
    np.testing.assert_array_equal(colors[0], colors[2])
    assert len(np.unique(colors[0], axis=0)) == 3
    single = colors_by_point(plot_map(maps[0], labels=labels).ax_, maps[0])
    np.testing.assert_array_equal(colors[0][:, :3], single[:, :3])
    assert [ax.get_title(loc="left") for ax in panels(figure)] == ["x", "2", "$ {"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a  (100)", "b  (100)", "c  (100)"]
    assert not any(ax.get_legend() for ax in figure.axes)


def test_every_panel_names_the_classes_at_members_of_its_own(maps):
    labels = np.repeat([0, 1, 2], 100)
    figure = plot_panels(maps, labels=labels).figure_
    for ax, Y in zip(panels(figure), maps, strict=True):
        names = {text.get_text(): text.get_position() for text in ax.texts}
        assert list(names["2"]) in Y[200:, :2].tolist()
    assert not any(ax.texts for ax in panels(plot_panels(maps, labels=labels, annotate=False).figure_))


def test_values_share_one_scale(maps):
    values = np.linspace(5.0, 6.0, 300)
    values[7] = np.nan
    figure = plot_panels(maps, values=values).figure_
    colors = [colors_by_point(ax, Y) for ax, Y in zip(panels(figure), maps, strict=True)]
    np.testing.assert_array_equal(colors[0], colors[2])
    np.testing.assert_array_equal(colors[0][7, :3], 0.75)
    (bar,) = [ax for ax in figure.axes if ax.get_label() == "<colorbar>"]
    np.testing.assert_allclose(bar.get_ylim(), np.nanpercentile(values, [1, 99]))


@pytest.mark.parametrize(
    ("n", "asked", "grid"),
    [(1, None, (1, 1)), (4, None, (1, 4)), (5, None, (2, 3)), (6, None, (2, 3)), (20, None, (4, 6)), (3, 2, (2, 2))],
)
def test_equal_panels_fill_a_grid(n, asked, grid):
    Y = np.random.default_rng(1).normal(size=(30, 2)) * [5, 1]
    figure = plot_panels([Y] * n, n_columns=asked).figure_
    figure.canvas.draw()
    shown = [ax for ax in figure.axes if ax.axison]
    assert len(shown) == n
    places = np.array([ax.get_position().bounds for ax in shown])
    assert (len(np.unique(places[:, 1].round(3))), len(np.unique(places[:, 0].round(3)))) == grid
    size = figure.get_size_inches()
    np.testing.assert_allclose(places[:, 2] * size[0], places[:, 3] * size[1])  # square
    np.testing.assert_allclose(places[:, 2:], np.tile(places[0, 2:], (n, 1)))


def test_many_points_are_pictures_in_a_vector_file(tmp_path):
    Y = np.random.default_rng(2).normal(size=(6000, 2))
    save_panels(tmp_path / "a.svg", [Y, -Y], labels=np.arange(6000) % 3)
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<image") == 2
    assert len(text) < 1_000_000


def test_lost_points_are_counted_where_they_are_lost(maps):
    maps[1][:4] = np.nan
    texts = [[text.get_text() for text in ax.texts] for ax in panels(plot_panels(maps).figure_)]
    assert texts == [[], ["4 points have no position"], []]


def test_the_picture_has_the_points(maps, tmp_path):
    save_panels(tmp_path / "a.png", maps, labels=np.arange(300) % 2, titles="abc", suptitle="maps", dpi=50)
    with Image.open(tmp_path / "a.png") as image:
        picture = np.asarray(image.convert("RGB"))
    assert picture.shape[1] > 2.5 * picture.shape[0]
    colored = np.ptp(picture.astype(int), axis=2) > 60
    thirds = np.array_split(colored[:, : int(0.85 * picture.shape[1])], 3, axis=1)
    assert all(part.sum() > 100 for part in thirds)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"embeddings": []}, "0 embeddings must be at least 1"),
        ({"embeddings": [np.zeros((300, 5))]}, "embedding 0 of shape"),
        ({"embeddings": [np.zeros((300, 2)), np.zeros((299, 2))]}, "embedding 1 of 299 rows must be of 300"),
        ({"titles": ["a"]}, "1 titles must be 3"),
        ({"labels": [1]}, "1 labels, 300 rows"),
        ({"values": [1.0]}, "values of shape"),
        ({"labels": np.zeros(300), "values": np.zeros(300)}, "one at a time"),
        ({"n_columns": 0}, "n_columns=0 must be at least 1"),
    ],
)
def test_wrong_arguments_are_refused(maps, change, text):
    with pytest.raises(ValueError, match=text):
        plot_panels(**({"embeddings": maps} | change))
