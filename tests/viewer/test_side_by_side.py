"""Maps side by side: one file, the same rows in every map, and a mark in one is a mark in all."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from conftest import HOSTILE
from gnomon.viewer import write_side_by_side


@pytest.fixture(scope="module")
def maps(blobs):
    other = blobs.Y[:, ::-1] * [1.0, -2.0] + 5.0
    other[3] = np.nan
    return {"one": blobs.Y, f"other {HOSTILE}": other}


@pytest.fixture(scope="module")
def path(maps, blobs, tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "page.html"
    labels = np.array(["a", "b", HOSTILE])[blobs.group]
    names = [f"row {i}" for i in range(blobs.n)]
    write_side_by_side(path, maps, captions=["first", HOSTILE], labels=labels, point_names=names, title=HOSTILE)
    return path


def _places(opened, k, n):
    return np.array(
        opened.page.evaluate("([k, n]) => [...Array(n).keys()].map((i) => window.gnomon.screenPos(k, i))", [k, n]),
        dtype=float,
    )


@pytest.mark.browser
def test_hover_and_lasso_in_one_map_mark_the_same_rows_in_all(open_page, path, blobs):
    opened = open_page(path)
    first = _places(opened, 0, blobs.n)
    opened.page.mouse.move(*first[10])
    nearest = np.argmin(((first - first[10]) ** 2).sum(axis=1))
    assert opened.state["row"] in (10, nearest)
    assert f"row {opened.state['row']}" in opened.page.inner_text("#told")
    center = np.median(first[blobs.group == 1], axis=0)
    corners = center + 60 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    opened.lasso(corners)
    wanted = Polygon(corners[:4]).contains_points(first)
    np.testing.assert_array_equal(np.array(opened.state["chosen"], bool), wanted)
    assert f"{wanted.sum()} rows marked" in opened.page.inner_text("#told")
    opened.page.keyboard.press("Escape")
    assert opened.state["chosen"] is None
    assert (opened.problems, opened.requests) == ([], [])
    assert opened.page.evaluate("window.broken") is None


@pytest.mark.browser
def test_maps_keep_their_shape_and_rows_without_a_place_have_none(open_page, path, maps, blobs):
    opened = open_page(path)
    for k, Y in enumerate(maps.values()):
        shown = _places(opened, k, blobs.n)
        known = np.isfinite(Y).all(axis=1)
        assert not np.isfinite(shown[~known]).any()
        flat = Y[known] * [1.0, -1.0]
        scale = np.ptp(shown[known], axis=0) / np.ptp(flat, axis=0)
        assert scale[0] == pytest.approx(scale[1], rel=1e-4)
        np.testing.assert_allclose(
            shown[known] - shown[known].mean(axis=0), scale * (flat - flat.mean(axis=0)), atol=0.1
        )


@pytest.mark.parametrize(
    ("maps", "options", "text"),
    [
        ({}, {}, r"write_side_by_side: 0 maps must be at least 1"),
        ({"a": np.zeros((4, 1))}, {}, r"map 'a' of shape \(4, 1\) must be numbers"),
        ({"a": np.zeros((4, 2)), "b": np.zeros((5, 2))}, {}, r"map 'b' of 5 rows must be of 4"),
        ({"a": np.zeros((4, 2))}, {"captions": []}, r"0 captions must be 1"),
        ({"a": np.zeros((4, 2))}, {"point_names": ["x"]}, r"1 point_names must be 4"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(tmp_path, maps, options, text):
    with pytest.raises(ValueError, match=text):
        write_side_by_side(tmp_path / "page.html", maps, **options)
    assert not list(tmp_path.iterdir())
