"""What is drawn on the map besides the points: names, contours and pictures agree with NumPy and with each other."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from gnomon.viewer import PageContent, PageLevel, write_html
from gnomon.viewer.write import bundle

pytestmark = pytest.mark.browser


def at_rest(opened):
    """The state once nothing moves."""
    opened.page.evaluate(
        "() => new Promise((done) => {"
        "  const look = () => (window.gnomon.state().moving ? setTimeout(look, 20) : done()); look(); })"
    )
    return opened.state


def zoom(opened, x, y, delta):
    opened.page.mouse.move(x, y)
    opened.page.mouse.wheel(0, delta)
    opened.settle()
    return at_rest(opened)


def scattered(n_classes, per_class, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_classes), per_class)
    centers = rng.normal(size=(n_classes, 2)) * 10
    return (centers[labels] + rng.normal(size=(len(labels), 2))).astype(np.float32), labels


def assert_apart(names, width, height):
    """No box covers another or leaves the stage."""
    boxes = np.array([name["box"] for name in names])
    left, top, right, bottom = boxes.T
    beside = (right[:, None] <= left) | (right <= left[:, None])
    below = (bottom[:, None] <= top) | (bottom <= top[:, None])
    assert (beside | below | np.eye(len(boxes), dtype=bool)).all()
    assert boxes.min() >= -1e-3
    assert right.max() <= width + 1e-3
    assert bottom.max() <= height + 1e-3


def density(Y, at, width):
    """Gaussian kernel density of some points at others."""
    squares = ((Y[None, :, :] - Y[at][:, None, :]) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * width**2)).sum(axis=1)


@pytest.mark.parametrize("n_classes", [3, pytest.param(60, marks=pytest.mark.slow), 300])
def test_names_lie_on_dense_members_and_never_cover_each_other(open_page, tmp_path, n_classes):
    Y, labels = scattered(n_classes, 900 // n_classes + 7)
    captions = {f"class {k}": f"high feature {k}, low feature {k + 1}" for k in range(n_classes)}
    text = np.array([f"class {k}" for k in labels])
    write_html(tmp_path / "m.html", PageContent(embedding=Y, labels=text, captions=captions))
    opened = open_page(tmp_path / "m.html")
    stage = opened.page.locator("#stage").bounding_box()
    views = [at_rest(opened), zoom(opened, 500, 350, -500), zoom(opened, 500, 350, -500)]
    for state in views:
        assert state["names"]
        assert_apart(state["names"], stage["width"], stage["height"])
        rows = [name["place"] for name in state["names"]]
        assert [name["name"] for name in state["names"]] == text[rows].tolist()
    for name in views[0]["names"]:
        members = np.flatnonzero(text == name["name"])
        dense = density(Y[members], np.arange(len(members)), 1.0)
        assert dense[members == name["place"]] > 0.5 * dense.max()
    pixels = opened.places(np.arange(len(Y)))
    seen = np.unique(labels[((pixels > 0) & (pixels < [stage["width"], stage["height"]])).all(axis=1)])
    shares = [len(views[0]["names"]) / n_classes, len(views[2]["names"]) / len(seen)]
    assert shares[0] == 1.0 if n_classes == 3 else shares[1] > shares[0]  # more of them fit when one zooms in
    if n_classes == 300:
        opened.show(tmp_path / "m.html")
        assert at_rest(opened)["names"] == views[0]["names"]
    assert opened.problems == []


def test_names_keep_their_places_while_the_map_moves_and_hidden_classes_have_none(open_page, blobs_page):
    opened = open_page(blobs_page)
    before = {name["name"]: name for name in at_rest(opened)["names"]}
    mouse = opened.page.mouse
    mouse.move(300, 700)
    mouse.down()
    mouse.move(310, 690)
    mouse.move(330, 700)
    moving = opened.state
    for name in moving["names"]:
        assert name["place"] == before[name["name"]]["place"]
        shift = np.subtract(name["box"], before[name["name"]]["box"])
        np.testing.assert_allclose(shift, [30, 0, 30, 0], atol=1e-6)
    mouse.up()
    after = {name["name"]: name["place"] for name in at_rest(opened)["names"]}
    assert after == {name: one["place"] for name, one in before.items()}
    row = opened.page.locator('#legend [data-class="1"]')
    row.hover()
    row.locator(".eye").click()
    assert {name["name"] for name in at_rest(opened)["names"]} == set(before) - {"alpha"}
    row.locator(".class").click()
    assert {name["name"] for name in at_rest(opened)["names"]} == {"alpha"}


def test_a_class_in_two_islands_has_its_name_on_both(open_page, tmp_path):
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [10, 0], [5, 8]])
    Y = centers[np.arange(300) % 3] + rng.normal(scale=0.5, size=(300, 2))
    names = np.array(["twice", "twice", "عربي: a name that is much too long to be drawn"])
    write_html(tmp_path / "m.html", PageContent(embedding=Y, labels=names[np.arange(300) % 3]))
    opened = open_page(tmp_path / "m.html")
    told = at_rest(opened)["names"]
    assert sorted(name["place"] % 3 for name in told if name["name"] == "twice") == [0, 1]
    [long] = [name["drawn"] for name in told if name["name"] != "twice"]
    assert len(long) == 28
    assert long == "عربي: a name that…o be drawn"


def test_a_cluster_in_two_islands_is_told_to_be_one(open_page, tmp_path):
    rng = np.random.default_rng(0)
    Y = np.array([[0, 0], [10, 0], [5, 8], [10, 0]])[np.arange(400) % 4] + rng.normal(scale=0.5, size=(400, 2))
    names = np.array(["high price of all that is to be had", "low price"])
    kind = names[[0, 0, 1, 0]][np.arange(400) % 4]
    for found in (True, False):
        levels = [PageLevel("cluster", unlabelled="in no cluster", found=found)]
        content = PageContent(embedding=Y, labels=kind, label_name="cluster", levels=levels)
        write_html(tmp_path / "m.html", content)
        drawn = sorted(name["drawn"] for name in at_rest(open_page(tmp_path / "m.html"))["names"])
        twice = [f"high price … be had ({k} of 2)" if found else "high price of all… to be had" for k in (1, 2)]
        assert drawn == [*twice, "low price"]


@pytest.fixture(scope="module")
def nested_page(tmp_path_factory):
    """Two groups far apart, each in two that lie side by side; ten rows are in none."""
    rng = np.random.default_rng(0)
    inner = np.arange(400) % 4
    Y = np.array([[0, 0], [2, 0], [30, 0], [32, 0]])[inner] + rng.normal(scale=0.4, size=(400, 2))
    fine = np.array(["a low", "a high", "b low", "b high"], dtype=object)[inner]
    coarse = np.array(["a", "a", "b", "b"], dtype=object)[inner]
    fine[:10], coarse[:10] = "", ""
    parents = {name: name[0] for name in ("a low", "a high", "b low", "b high")}
    levels = [
        PageLevel("2 clusters", {"a": "x +3.0 SD"}, unlabelled="in no cluster"),
        PageLevel("cluster", {"a low": "y +2.0 SD"}, parents, unlabelled="in no cluster"),
    ]
    content = PageContent(
        embedding=Y, labels=fine, label_name="cluster", metadata={"2 clusters": coarse}, levels=levels
    )
    path = tmp_path_factory.mktemp("layers") / "nested.html"
    write_html(path, content)
    return path


def test_finer_names_appear_when_one_zooms_in_and_each_level_can_be_chosen(open_page, nested_page):
    opened = open_page(nested_page)
    state = at_rest(opened)
    assert state["level"] == "auto"
    assert sorted((name["name"], name["level"]) for name in state["names"]) == [("a", 0), ("b", 0)]
    assert opened.page.locator("#legend li").last.inner_text().split("\n")[:2] == ["in no cluster", "10"]
    x, y = opened.place(200)  # a row of "a low"
    views = [zoom(opened, x, y, -300) for _ in range(8)]
    near = [{name["name"]: (name["level"], name["caption"]) for name in view["names"]} for view in views]
    assert near[5]["a low"] == (1, "")
    assert near[7]["a low"] == (1, "y +2.0 SD")
    opened_up = [max(level for level, _ in told.values()) for told in near]
    assert opened_up == sorted(opened_up)  # finer and finer
    assert "a" not in near[5]
    opened.page.click("#reset")
    buttons = opened.page.locator("#levels button")
    assert buttons.all_inner_texts() == ["auto", "1", "2"]
    buttons.nth(2).focus()
    opened.page.keyboard.press("Enter")
    state = at_rest(opened)
    assert (state["level"], state["colorBy"]) == (1, "cluster")
    assert sorted(name["name"] for name in state["names"]) == ["a high", "a low", "b high", "b low"]
    buttons.nth(1).click()
    state = at_rest(opened)
    assert (state["level"], state["colorBy"]) == (0, "2 clusters")
    assert {name["name"] for name in state["names"]} == {"a", "b"}
    assert opened.page.locator("#legend li").all_inner_texts()[0].split("\n")[:2] == ["a", "x +3.0 SD"]
    assert buttons.evaluate_all("(all) => all.map((one) => one.getAttribute('aria-pressed'))") == [
        "false",
        "true",
        "false",
    ]
    buttons.nth(0).click()
    assert at_rest(opened)["level"] == "auto"
    page_id = opened.state["address"]["id"]
    opened.page.evaluate(f"() => {{ location.hash = '#gnomon=1&id={page_id}&level=1&contours=on'; }}")
    opened.page.wait_for_selector('#contours[aria-pressed="true"]')
    state = at_rest(opened)
    assert (state["level"], len(state["contours"])) == (1, 3)
    assert {"level=1", "contours=on"} <= set(state["address"]["text"].split("&"))
    assert opened.problems == []


def enclosed(rings, plane):
    """Which points lie within the lines of a contour: those around which an odd number of rings goes."""
    inside = np.zeros(len(plane), dtype=int)
    for ring in rings:
        inside += Polygon(ring).contains_points(plane)
    return inside % 2 == 1


def assert_contours_hold(opened, chosen, points):
    """The lines hold the shares of the chosen points that they state, and the denser ones of them."""
    state = at_rest(opened)
    contours = opened.page.evaluate("window.gnomon.contours()")
    assert [one["mass"] for one in state["contours"]] == [0.5, 0.8, 0.95]
    assert [one["rings"] for one in state["contours"]] == [len(one["rings"]) for one in contours]
    plane = np.array(opened.page.evaluate("(ids) => ids.map((i) => window.gnomon.planePos(i))", points))[chosen]
    dense = density(plane, np.arange(len(plane)), 0.08)
    for one in contours:
        inside = enclosed(one["rings"], plane)
        assert abs(inside.mean() - one["mass"]) < 0.02
        assert dense[inside].mean() > dense[~inside].mean()


@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_contours_hold_the_shares_that_they_state(open_page, tmp_path, d):
    rng = np.random.default_rng(1)
    labels = np.arange(2000) % 2
    Y = rng.normal(size=(2000, d)) * np.where(labels, 1.0, 0.4)[:, None] + 5 * labels[:, None] * np.eye(d)[0]
    write_html(tmp_path / "m.html", PageContent(embedding=Y, labels=np.array(["one", "two"])[labels]))
    opened = open_page(tmp_path / "m.html")
    points = list(range(2000))
    assert at_rest(opened)["contours"] == []
    opened.page.click("#contours")
    assert_contours_hold(opened, np.full(2000, True), points)
    if d == 3:
        opened.page.mouse.move(300, 600)
        opened.page.mouse.down()
        opened.page.mouse.move(420, 560, steps=3)
        opened.page.mouse.up()
        assert_contours_hold(opened, np.full(2000, True), points)
        return
    opened.page.click('#legend [data-class="1"] .class')
    assert_contours_hold(opened, labels == 1, points)
    opened.page.click("#contours")
    assert at_rest(opened)["contours"] == []
    assert opened.problems == []


def test_pictures_appear_on_zoom_at_their_points_and_cover_no_other(open_page, tmp_path):
    rng = np.random.default_rng(2)
    n = 600
    labels = np.arange(n) % 2
    shades = (np.arange(n) * 37 % 200 + 20).astype(np.uint8)
    images = np.broadcast_to(shades[:, None, None], (n, 8, 8)).copy()
    write_html(tmp_path / "m.html", PageContent(embedding=rng.normal(size=(n, 2)), labels=labels, images=images))
    opened = open_page(tmp_path / "m.html")
    assert at_rest(opened)["pictures"] == {"rows": [], "size": 0}
    state = zoom(opened, 400, 400, -600)
    rows, size = state["pictures"]["rows"], state["pictures"]["size"]
    assert len(rows) > 20
    assert 28 <= size <= 64
    places = opened.places(rows) - opened.spot(0, 0)
    apart = np.abs(places[:, None, :] - places[None, :, :]).max(axis=2) + size * np.eye(len(rows))
    assert apart.min() >= size
    opened.page.mouse.move(*opened.spot(3, -3))
    opened.settle()
    stage = opened.page.locator("#stage").bounding_box()
    margin = size / 2 + 60
    clear = [k for k, (x, y) in enumerate(places) if margin < x < stage["width"] - margin and 80 < y < 700]
    boxes = np.array([name["box"] for name in state["names"]])
    clear = [k for k in clear if not covered(places[k], boxes, size)]
    assert len(clear) > 10
    seen = opened.page.evaluate(
        """([places, half]) => { const g = document.getElementById("overlay").getContext("2d");
        return places.map(([x, y]) => [[x, y], [x - half, y]].map(([px, py]) =>
          [...g.getImageData(Math.round(px), Math.round(py), 1, 1).data].slice(0, 3))); }""",
        [places[clear].tolist(), size / 2],
    )
    drawn = np.array(seen)[:, 0, 0]
    np.testing.assert_allclose(drawn, shades[np.array(rows)[clear]], atol=2)
    frames = {tuple(color) for color in np.array(seen)[:, 1].tolist()}
    assert len(frames) >= 2
    opened.page.click("#pictures")
    assert at_rest(opened)["pictures"]["rows"] == []
    opened.page.click("#pictures")
    assert at_rest(opened)["pictures"]["rows"] == rows
    assert opened.problems == []


def covered(place, boxes, size):
    """Whether a name lies over a picture."""
    (x, y), half = place, size / 2 + 2
    left, top, right, bottom = boxes.T
    return bool(((left < x + half) & (right > x - half) & (top < y + half) & (bottom > y - half)).any())


def test_contours_of_counts_hold_the_shares_of_all_points(open_tab):
    """Where the page holds a sample, the counts of all points in cells say where these lie."""
    rng = np.random.default_rng(3)
    plane = np.concatenate([rng.normal(size=(30_000, 2)) * 0.1, rng.normal(size=(10_000, 2)) * 0.2 + 0.7])
    low, high = plane.min(axis=0), plane.max(axis=0)
    counts, *_ = np.histogram2d(plane[:, 1], plane[:, 0], bins=(96, 128), range=[[low[1], high[1]], [low[0], high[0]]])
    told = {"counts": counts.ravel().tolist(), "width": 128, "height": 96, "low": low.tolist(), "high": high.tolist()}
    contours = open_tab().page.evaluate(
        "(told) => {" + bundle("drawing/contours") + "return contoursOfAll(told, (place) => place); }", told
    )
    for one in contours:
        assert abs(enclosed(one["rings"], plane).mean() - one["mass"]) < 0.02
