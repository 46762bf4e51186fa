"""Maps side by side: one file, the same rows in every map, and a mark in one is a mark in all."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.path import Path as Polygon
from test_payload import read_page

import gnomon
from conftest import HOSTILE
from gnomon.evaluation import point_changes
from gnomon.viewer import document, write_side_by_side

PHONE = {"width": 390, "height": 844}


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
def test_hover_and_lasso_in_one_map_mark_the_same_rows_in_all(open_again, path, blobs):
    opened = open_again(path)
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
def test_maps_keep_their_shape_and_rows_without_a_place_have_none(open_again, path, maps, blobs):
    opened = open_again(path)
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


def _center(opened, selector):
    box = opened.page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.browser
@pytest.mark.parametrize("webgl", [True, False])
def test_each_map_zooms_and_moves_by_itself_and_tools_reach_all(open_again, path, blobs, webgl):
    opened = open_again(path, webgl=webgl)
    kind = "webgl" if webgl else "raster"
    assert opened.state["renderers"] == [kind, kind]
    before = opened.state["views"]
    x, y = _center(opened, ".map:nth-of-type(2) .overlay")
    opened.page.mouse.move(x, y)
    opened.page.mouse.wheel(0, -200)
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 40, y - 30, steps=3)
    opened.page.mouse.up()
    views = opened.state["views"]
    assert views[0] == before[0]
    assert views[1]["zoom"] == pytest.approx(np.exp(200 * 0.0018), rel=1e-6)
    assert abs(views[1]["x"] - before[1]["x"]) > 1e-3
    opened.page.click("#zoomin")
    assert [v["zoom"] for v in opened.state["views"]] == pytest.approx([1.5, 1.5 * views[1]["zoom"]])
    opened.page.click("#reset")
    assert opened.state["views"] == before
    opened.page.focus(".map:nth-of-type(1) .overlay")
    opened.page.keyboard.press("+")
    assert opened.state["views"][0]["zoom"] == pytest.approx(1.4)
    opened.page.keyboard.press("0")
    assert opened.state["views"] == before
    assert (opened.problems, opened.requests) == ([], [])


@pytest.mark.browser
def test_what_moved_most_is_listed_coloured_and_drawn_where_python_says(open_page, path, maps, blobs):
    opened = open_page(path)
    page = opened.page
    A, B = (np.asarray(one, dtype=np.float32).astype(float) for one in maps.values())
    found = point_changes(A, B)
    for measure, by in (("lost", "neighbors_lost"), ("shift", "shift")):
        page.select_option("#measure", measure)
        state = opened.state
        assert state["moved"]["most"] == [int(i) for i in found.most(20, by=by) if getattr(found, by)[i] > 0]
        page.click("#most > button")  # colour by it
        assert page.input_value("#measure") == measure
        assert opened.state["colorBy"].startswith({"lost": "Neighbours lost", "shift": "Distance moved"}[measure])
    assert "root mean square distance" in page.inner_text("#most")
    assert page.evaluate("window.broken") is None
    page.locator("#most li button").first.focus()
    page.keyboard.press("Enter")
    state = opened.state
    row = state["moved"]["most"][0]
    assert state["pinned"] == row
    assert page.locator("#most li button").first.get_attribute("aria-pressed") == "true"
    assert f"row {row}" in page.inner_text("#row")
    said = page.locator("#most li button").first.aria_snapshot()
    assert f"row {row} {['a', 'b', HOSTILE][blobs.group[row]]} "[:14] in said
    page.fill("#search", f"Row {row}")
    assert np.flatnonzero(opened.state["chosen"]).tolist() == [i for i in range(blobs.n) if f"{i}".startswith(f"{row}")]
    page.fill("#search", "")
    assert f"{round(found.neighbors_lost[row] * 15)} of 15" in page.inner_text("#told")
    laid = A[row] @ found.matrix + found.translation
    np.testing.assert_allclose(state["ghosts"][1], laid, atol=1e-4)
    back = (B[row] - found.translation) @ np.linalg.inv(found.matrix)
    np.testing.assert_allclose(state["ghosts"][0], back, atol=1e-4)
    known = np.isfinite(B).all(axis=1)
    nearest = [np.argsort(np.where(known, ((Y - Y[row]) ** 2).sum(axis=1), np.inf))[1:16] for Y in (A, B)]
    assert state["neighbors"] == {
        "missing": [int(j) for j in nearest[0] if j not in nearest[1]],
        "wrong": [int(j) for j in nearest[1] if j not in nearest[0]],
    }
    assert len(state["neighbors"]["missing"]) == round(found.neighbors_lost[row] * 15)
    page.keyboard.press("Escape")
    assert opened.state["pinned"] == -1


@pytest.mark.browser
def test_turning_maps_alike_brings_a_mirrored_map_back(open_page, blobs, tmp_path):
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    write_side_by_side(tmp_path / "page.html", {"a": blobs.Y, "b": 3 * blobs.Y @ turn + 7})
    opened = open_page(tmp_path / "page.html")
    assert opened.state["moved"]["most"] == []
    assert "No point changed" in opened.page.inner_text("#most")
    opened.page.click("#turn")
    assert opened.page.get_attribute("#turn", "aria-pressed") == "true"
    one, other = (_places(opened, k, blobs.n) for k in (0, 1))
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    np.testing.assert_allclose(one, other, atol=0.5)
    opened.page.click("#turn")
    assert np.abs(_places(opened, 1, blobs.n) - _places(opened, 1, blobs.n).mean(axis=0) - one).max() > 20


@pytest.mark.browser
def test_classes_are_isolated_and_hidden_in_all_maps_by_keyboard(open_page, path, blobs):
    opened = open_page(path)
    page = opened.page
    page.focus("#legend li:nth-child(3) .class")  # (the hostile name comes first)
    page.keyboard.press("Enter")
    assert np.array_equal(np.flatnonzero(opened.state["chosen"]), np.flatnonzero(blobs.group == 1))
    assert page.evaluate("document.activeElement.closest('li').dataset.class") == "2"  # focus stays
    page.keyboard.press("Enter")
    assert opened.state["chosen"] is None
    page.focus("#legend li:nth-child(1) .class")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert opened.state["shown"] == 400
    page.fill("#search", "row 17")
    chosen = np.flatnonzero(opened.state["chosen"])
    assert chosen.tolist() == [17, *range(170, 180)]
    page.keyboard.press("Enter")
    assert opened.state["pinned"] == 17
    named = page.evaluate(
        "() => [...document.querySelectorAll('button, [role=img], input, select')].filter((one) => !("
        "one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length)).length"
    )
    assert named == 0
    unlike = page.evaluate(
        "() => [...document.querySelectorAll('#toolbar button')].filter((one) => one.getAttribute('aria-label') &&"
        " !one.getAttribute('aria-label').includes(one.textContent)).length"
    )
    assert unlike == 0


@pytest.mark.browser
def test_a_phone_stacks_the_maps_and_takes_touch(open_page, path, blobs):
    opened = open_page(path, has_touch=True, is_mobile=True, device_scale_factor=2, viewport=PHONE)
    page = opened.page
    boxes = [page.locator(".overlay").nth(k).bounding_box() for k in (0, 1)]
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    assert boxes[1]["y"] + boxes[1]["height"] < 844  # both are seen at once
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    x, y = _places(opened, 0, 11)[10]
    page.touchscreen.tap(float(x), float(y))
    assert opened.state["pinned"] >= 0
    assert page.inner_text("#row h2") == f"row {opened.state['pinned']}"
    page.set_viewport_size({"width": 320, "height": 640})
    spills = "() => [...document.querySelectorAll('#toolbar button')].some((e) => e.scrollWidth > e.clientWidth)"
    assert not page.evaluate(spills)


@pytest.mark.slow
@pytest.mark.browser
def test_maps_in_space_turn_beside_flat_ones_and_pictures_are_shown(open_page, blobs, tmp_path):
    space = np.c_[blobs.Y, np.random.default_rng(0).normal(size=blobs.n)]
    images = np.random.default_rng(1).integers(0, 256, size=(blobs.n, 4, 5), dtype=np.uint8)
    write_side_by_side(tmp_path / "page.html", {"flat": blobs.Y, "space": space}, images=images)
    opened = open_page(tmp_path / "page.html")
    flat, deep = (_places(opened, k, blobs.n) for k in (0, 1))
    x, y = _center(opened, ".map:nth-of-type(2) .overlay")
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 60, y + 20, steps=3)
    opened.page.mouse.up()
    assert np.abs(_places(opened, 1, blobs.n) - deep).max() > 5
    np.testing.assert_array_equal(_places(opened, 0, blobs.n), flat)
    opened.page.locator("#most li button").first.click()
    row = opened.state["pinned"]
    shades = opened.page.evaluate(
        "() => [...document.querySelector('#row canvas').getContext('2d').getImageData(0, 0, 5, 4).data]"
    )
    np.testing.assert_array_equal(np.reshape(shades, (20, 4))[:, 0], images[row].ravel())
    with opened.page.expect_download() as download:
        opened.page.click("#export")
    assert download.value.suggested_filename == "maps-side-by-side.png"
    assert opened.problems == []


def test_a_map_brings_its_labels_names_and_pictures(tmp_path):
    X = np.random.default_rng(0).integers(0, 255, size=(40, 6)).astype(float)
    one = gnomon.Map(X, X[:, :2], labels=np.arange(40) % 3, label_name="kind", point_names=[f"p{i}" for i in range(40)])
    write_side_by_side(tmp_path / "page.html", {"a": X[:, 1:3], "b": one})
    header, _ = read_page(tmp_path / "page.html")
    assert [column["name"] for column in header["columns"]] == ["kind"]
    assert header["pointNames"][3] == "p3"
    assert header["changes"][0]["lost"]["most"] == point_changes(X[:, 1:3], X[:, :2]).most(20).tolist()


def test_more_than_six_maps_are_compared_with_the_first_and_the_page_says_so(tmp_path):
    rng = np.random.default_rng(0)
    for count, pairs in ((2, 1), (6, 15), (7, 6)):
        write_side_by_side(tmp_path / "page.html", {str(k): rng.normal(size=(30, 2)) for k in range(count)})
        assert len(read_page(tmp_path / "page.html")[0]["changes"]) == pairs
    assert "from the first map to each other one" in (tmp_path / "page.html").read_text()


def test_of_very_many_rows_those_shown_that_moved_most_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(document, "MAX_POINTS", 50)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 400, 2))
    write_side_by_side(tmp_path / "page.html", {"a": A, "b": B})
    header, columns = read_page(tmp_path / "page.html")
    found = point_changes(A, B)
    wanted = [i for i in found.most(400, by="shift") if i in columns["rows"]][:20]
    assert columns["rows"][header["changes"][0]["shift"]["most"]].tolist() == wanted


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
