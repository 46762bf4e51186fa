"""Maps in three dimensions: turned by mouse, finger and key, every point is drawn and found where an eye sees it."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from gnomon.viewer import PageContent, write_html

pytestmark = pytest.mark.browser

EYE = 5.0


@pytest.fixture(scope="module")
def space():
    rng = np.random.default_rng(8)
    return (rng.normal(size=(120, 3)) * [3.0, 2.0, 4.0] + 10.0).astype(np.float32)


@pytest.fixture(scope="module")
def path(space, tmp_path_factory):
    path = tmp_path_factory.mktemp("space") / "page.html"
    labels = np.array(["near", "far"])[(space[:, 2] < 10).astype(int)]
    write_html(path, PageContent(embedding=space, labels=labels, title="Space"))
    return path


def seen(space, rotation):
    """Positions in the plane of an eye at a distance of `EYE`, in units of half the largest side of the map."""
    low, high = space.min(axis=0), space.max(axis=0)
    plane = (space - (low + high) / 2) / (np.ptp(space, axis=0).max() / 2) @ np.reshape(rotation, (3, 3)).T
    return plane[:, :2] * (EYE / (EYE - plane[:, 2:]))


def assert_seen(opened, space):
    state, places = opened.state, opened.places(np.arange(len(space)))
    plane = (seen(space, state["rotation"]) - [state["view"]["x"], state["view"]["y"]]) * [1, -1]
    box = opened.page.locator("#overlay").bounding_box()
    offset = places - places.mean(axis=0)
    zoom = (offset * (plane - plane.mean(axis=0))).sum() / ((plane - plane.mean(axis=0)) ** 2).sum()
    np.testing.assert_allclose(offset, zoom * (plane - plane.mean(axis=0)), atol=0.1)
    return box, places


def turn_of(opened):
    return np.reshape(opened.state["rotation"], (3, 3))


def assert_rotation(R):
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)


@pytest.mark.parametrize("webgl", [True, False])
def test_a_drag_turns_the_map_and_points_are_found_where_they_are_seen(open_again, path, space, webgl):
    opened = open_again(path, webgl=webgl)
    mouse = opened.page.mouse
    box, _ = assert_seen(opened, space)
    x, y = box["x"] + 300, box["y"] + 400
    for dx, dy in ((150, 0), (0, 420), (180, 160)):  # over the pole and on: no side is out of reach
        before = turn_of(opened)
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + dx, y + dy, steps=2)
        mouse.up()
        step = turn_of(opened) @ before.T
        assert dx == 0 or step[0, 2] > 0.1  # to the right: what is on the left comes to the front
        assert dy == 0 or abs(step[1, 2]) > 0.1
    assert_rotation(turn_of(opened))
    _, places = assert_seen(opened, space)
    inside = (places > [60, 140]).all(axis=1) & (places < [700, 600]).all(axis=1)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 99 * np.eye(len(space))
    for i in np.flatnonzero(inside & (apart.min(axis=1) > 6))[:3]:
        opened.hover(i)
        assert opened.state["hovered"] == i
    corners = np.array([[150, 200], [600, 200], [600, 500], [150, 500]])
    opened.lasso(corners)
    np.testing.assert_array_equal(opened.state["selection"], np.flatnonzero(Polygon(corners).contains_points(places)))
    shown = np.isin(np.arange(len(space)), opened.state["selection"])
    plane = seen(space, opened.state["rotation"])
    for name in opened.state["names"]:  # names go with their classes
        members = shown & ((space[:, 2] < 10) == (name["name"] == "far"))
        assert np.isclose(plane[members, 0], name["x"]).any()
    assert (opened.problems, opened.requests) == ([], [])


def test_keys_and_buttons_turn_the_map_and_bring_it_back(open_again, path, space):
    opened = open_again(path)
    keyboard = opened.page.keyboard
    opened.page.focus("#overlay")
    a = 22 * 0.008
    keyboard.press("Alt+ArrowRight")
    np.testing.assert_allclose(
        turn_of(opened), [[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]], atol=1e-12
    )
    for _ in range(12):
        keyboard.press("Alt+ArrowDown")
    assert_rotation(turn_of(opened))
    assert_seen(opened, space)
    before = opened.state
    keyboard.press("ArrowRight")  # without Alt the map moves and does not turn
    assert opened.state["rotation"] == before["rotation"]
    assert opened.state["view"] != before["view"]
    opened.page.click(".front")
    np.testing.assert_array_equal(turn_of(opened), np.eye(3))
    assert opened.page.evaluate("document.querySelector('.front').textContent") == "Front"
    opened.page.click("#export")
    with opened.page.expect_download() as download:
        opened.page.click("#save-menu button >> nth=0")
    assert download.value.suggested_filename == "space.png"


def test_the_map_spins_until_it_is_touched(open_page, path):
    opened = open_page(path)
    opened.page.click(".spin")
    assert opened.state["spinning"]
    assert opened.page.get_attribute(".spin", "aria-pressed") == "true"
    opened.page.wait_for_timeout(120)
    turned = turn_of(opened)
    assert turned[0, 2] > 0.005  # about the upright axis of the screen
    np.testing.assert_allclose(turned[1], [0, 1, 0], atol=1e-12)
    opened.page.mouse.move(300, 500)
    opened.page.mouse.down()
    opened.page.mouse.up()
    assert not opened.state["spinning"]
    still = opened.state["rotation"]
    opened.page.wait_for_timeout(60)
    assert opened.state["rotation"] == still
    opened.page.click(".spin")
    opened.page.emulate_media(reduced_motion="reduce")
    assert not opened.state["spinning"]  # and as soon as the device asks for little motion
    assert opened.page.is_disabled(".spin")


@pytest.mark.slow
def test_nothing_spins_for_those_who_asked_for_little_motion(open_page, path):
    opened = open_page(path, reduced_motion="reduce")
    assert opened.page.is_disabled(".spin")
    assert "little motion" in opened.page.get_attribute(".spin", "title")


def test_one_finger_turns_and_two_move_and_zoom(open_page, path, space):
    opened = open_page(path, has_touch=True, is_mobile=True)
    session = opened.page.context.new_cdp_session(opened.page)

    def touch(kind, *points):
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]},
        )

    touch("touchStart", (300, 400))
    for step in range(1, 6):
        touch("touchMove", (300 + 20 * step, 400))
    touch("touchEnd")
    turned = turn_of(opened)
    assert turned[0, 2] > 0.1
    assert opened.state["view"] == {"x": 0, "y": 0, "zoom": 1}
    assert_seen(opened, space)
    touch("touchStart", (300, 400))
    touch("touchStart", (300, 400), (400, 400))
    for step in range(1, 6):  # apart, and both to the right
        touch("touchMove", (300 + 4 * step, 400), (400 + 24 * step, 400))
    touch("touchEnd")
    view = opened.state["view"]
    assert view["zoom"] == pytest.approx(2.0, rel=0.02)
    np.testing.assert_array_equal(turn_of(opened), turned)
    assert view["x"] != 0


@pytest.mark.parametrize("webgl", [True, False])
def test_far_points_are_smaller_and_fade_into_the_paper(open_page, tmp_path, webgl):
    """A near point and a far one, in one colour, as pixels of the screen."""
    image = pytest.importorskip("PIL.Image")
    Y = np.array([[-1, 0, 1], [1, 0, -1], [0, 1, 0], [0, -1, 0]], dtype=float)
    write_html(tmp_path / "page.html", PageContent(embedding=Y, labels=["a"] * 4))
    opened = open_page(tmp_path / "page.html", webgl=webgl)
    inked, darkest = [], []
    for x, y in opened.places([0, 1]):
        clip = {"x": x - 15, "y": y - 15, "width": 30, "height": 30}
        with image.open(BytesIO(opened.page.screenshot(clip=clip))) as shot:
            light = np.asarray(shot.convert("L"), dtype=float)
        inked.append((light < light.max() - 10).sum())
        darkest.append(light.min())
    assert inked[0] > 1.5 * inked[1] > 0
    assert darkest[1] > darkest[0] + 5
