"""Slider, keys and play button move the points where NumPy says, and everything else goes on working there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from conftest import HOSTILE, until
from gnomon.viewer import PageContent, Sequence, write_html

pytestmark = pytest.mark.browser

LABELS = ["16", "8", "4", f"1 {HOSTILE}"]
MAIN = 1


@pytest.fixture(scope="module")
def frames(blobs):
    """Four embeddings, neither of the same size nor of the same shape; some points have no position in some."""
    rng = np.random.default_rng(11)
    noise = rng.normal(size=(4, blobs.n, 2))
    made = [(0.6 + 0.3 * k) * blobs.Y[:, :: 1 if k % 2 else -1] + noise[k] for k in range(4)]
    made[MAIN] = blobs.Y.copy()
    made[0][3] = np.nan
    made[2][[3, 8], 0] = np.nan
    return [one.astype(np.float32) for one in made]


@pytest.fixture(scope="module")
def path(blobs, frames, tmp_path_factory):
    path = tmp_path_factory.mktemp("sequence") / "page.html"
    sequence = Sequence(
        f"exaggeration {HOSTILE}", LABELS, frames, MAIN, explanations=[None, None, None, blobs.explanation]
    )
    write_html(
        path,
        PageContent(
            embedding=blobs.Y,
            title="Sequence",
            labels=np.array(["alpha", "beta", "gamma"])[blobs.group],
            X=blobs.X,
            feature_names=blobs.feature_names,
            explanation=blobs.explanation,
            evaluation=blobs.evaluation,
        ),
        sequence=sequence,
    )
    return path


@pytest.fixture(name="still")
def page_without_motion(open_again, path):
    """The page as shown to those who asked for little motion: keys lead to a frame at once."""
    return open_again(path, reduced_motion="reduce")


def between(frames, position):
    k = min(int(position), len(frames) - 2)
    t = position - k
    return frames[k + 1] if t == 1 else frames[k] if t == 0 else (1 - t) * frames[k] + t * frames[k + 1]


def assert_drawn(opened, main, expected):
    """The pixels of all points are those of the embedding in the plane of the main one; returns pixels per unit."""
    known = np.flatnonzero(np.isfinite(expected).all(axis=1))
    pixels, view, stage = opened.places(known), opened.state["view"], opened.box("#stage")
    low, high = main.min(axis=0), main.max(axis=0)
    plane = (expected[known] - (low + high) / 2) / (np.ptp(main, axis=0).max() / 2)
    offsets = (plane - [view["x"], view["y"]]) * [1, -1]
    found = pixels - [(stage[0] + stage[2]) / 2, stage[1] + np.floor(stage[3] - stage[1]) / 2]
    zoom = (offsets * found).sum() / (offsets**2).sum()
    np.testing.assert_allclose(zoom * offsets, found, atol=0.1)
    return zoom


def slide(opened, position, *, let_go=True):
    left, top, right, bottom = opened.box("#slider")
    x = left + 8 + (right - left - 16) * position / 3
    opened.page.mouse.move(x, (top + bottom) / 2, steps=3)
    if let_go:
        opened.page.mouse.up()
    return opened.state["position"]


def grab(opened):
    left, top, right, bottom = opened.box("#slider")
    opened.page.mouse.move(left + 8 + (right - left - 16) * opened.state["position"] / 3, (top + bottom) / 2)
    opened.page.mouse.down()


def arrive(opened, position):
    """Wait until the points have come to rest at a position."""
    resting = "!gnomon.state().playing && !gnomon.state().gliding"
    until(f"gnomon.state().position === {position} && {resting}", opened.page)


@pytest.mark.parametrize("webgl", [True, False])
def test_dragging_moves_every_point_on_a_straight_line(open_again, path, frames, webgl):
    opened = open_again(path, webgl=webgl)
    assert opened.state["position"] == MAIN
    assert_drawn(opened, frames[MAIN], frames[MAIN])
    grab(opened)
    for goal in (1.3, 2.6, 0.45):
        position = slide(opened, goal, let_go=False)
        assert abs(position - goal) < 0.02
        assert opened.state["frame"] is None
        assert_drawn(opened, frames[MAIN], between(frames, position))
    opened.page.mouse.up()
    assert opened.state["position"] == position  # far from a frame it stays between two
    grab(opened)
    slide(opened, 1.95)
    arrive(opened, 2)  # near one it goes there
    assert_drawn(opened, frames[MAIN], frames[2])
    assert opened.problems == []
    assert opened.requests == []


def test_hover_lasso_and_search_work_between_two_embeddings(open_again, path, frames, blobs):
    opened = open_again(path)
    grab(opened)
    position = slide(opened, 2.5)
    pixels = opened.places(range(blobs.n))
    known = np.isfinite(between(frames, position)).all(axis=1)
    gaps = np.linalg.norm(pixels[:, None] - pixels[None], axis=2) + 1e9 * np.eye(blobs.n)
    alone = np.flatnonzero(known & (gaps.min(axis=1) > 8) & (pixels[:, 0] > 200))[:3]
    assert len(alone) == 3
    for i in alone:
        opened.hover(i)
        assert opened.state["hovered"] == i
    corners = np.array([[200, 200], [500, 180], [520, 500], [210, 480]])
    opened.lasso(corners)
    inside = np.flatnonzero(Polygon(corners).contains_points(pixels) & known)
    assert 10 < len(inside) < blobs.n
    np.testing.assert_array_equal(opened.state["selection"], inside)
    grab(opened)
    slide(opened, 0.5)
    np.testing.assert_array_equal(opened.state["selection"], inside)  # the points are selected, not the place
    opened.page.keyboard.press("Escape")
    opened.page.fill("#search", "#17")
    opened.page.keyboard.press("Enter")
    assert opened.state["pinned"] == 17
    assert opened.state["position"] != 0  # arrows and letters in the search box stay there


def test_names_lie_on_members_in_the_midst_of_what_is_shown(still, frames, blobs):
    still.page.keyboard.press("ArrowRight")
    arrive(still, 2)
    names = {row["name"]: row["place"] for row in still.state["names"]}
    for k, name in enumerate(("alpha", "beta", "gamma")):
        assert blobs.group[names[name]] == k
        away = np.linalg.norm(frames[2] - np.nanmedian(frames[2][blobs.group == k], axis=0), axis=1)
        assert away[names[name]] < np.nanmedian(away[blobs.group == k])


def test_keys_step_and_the_slider_says_where_it_is(still):
    slider = still.page.get_by_role("slider")
    assert slider.get_attribute("aria-label").startswith("exaggeration")
    assert slider.get_attribute("aria-valuetext") == "8"
    still.page.keyboard.press("ArrowRight")
    arrive(still, 2)
    assert slider.get_attribute("aria-valuetext") == "4"
    still.page.mouse.click(*still.spot(20, -20))  # nothing there: the map has the focus, and steps all the same
    still.page.keyboard.press("ArrowLeft")
    arrive(still, 1)
    still.page.click("#words > summary")
    still.page.wait_for_selector("#words .told")
    told = still.page.inner_text("#words")
    slider.focus()
    for key, position in [("End", 3), ("ArrowRight", 3), ("ArrowDown", 2), ("Home", 0), ("ArrowLeft", 0)]:
        still.page.keyboard.press(key)
        arrive(still, position)
    assert slider.input_value() == "0"
    assert still.page.inner_text("#words") != told  # the map that is shown is told
    told = still.page.inner_text("#words")
    still.page.evaluate("() => { const words = document.querySelector('#words'); words.ontoggle(); }")
    assert still.page.inner_text("#words") == told
    still.page.locator(".tick >> nth=2").click()
    arrive(still, 2)


def test_steps_glide(open_page, path):
    opened = open_page(path)
    opened.page.evaluate(
        "() => { window.seen = []; const look = () => { seen.push(gnomon.state().position);"
        " requestAnimationFrame(look); }; look(); }"
    )
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    arrive(opened, 3)  # the second key counts from where the first one leads
    seen = opened.page.evaluate("window.seen")
    assert seen == sorted(seen)
    assert any(1 < position < 3 for position in seen)


def test_shift_and_arrows_still_move_the_map(still):
    still.page.mouse.click(*still.spot(20, -20))
    before = np.array(still.place(100))
    still.page.keyboard.press("Shift+ArrowLeft")
    assert still.state["position"] == MAIN
    np.testing.assert_allclose(still.place(100) - before, [40, 0], atol=1e-6)


def test_play_goes_to_the_end_and_pause_stops(open_again, path):
    opened = open_again(path)
    opened.page.select_option("#speed", "0.25")  # not over before a slow machine has pressed the next button
    button = opened.page.get_by_role("button", name="Play")
    button.click()
    until(f"gnomon.state().position > {MAIN}", opened.page)
    assert opened.state["playing"]
    opened.page.get_by_role("button", name="Pause").click()
    position = opened.state["position"]
    assert MAIN < position < 3
    opened.page.wait_for_timeout(120)
    assert opened.state["position"] == position
    opened.page.select_option("#speed", "2")
    opened.page.focus("#slider")
    opened.page.keyboard.press("End")
    arrive(opened, 3)
    button.click()  # from the end it starts over
    until("gnomon.state().position < 3", opened.page)
    opened.page.keyboard.press("End")
    arrive(opened, 3)
    grab(opened)
    slide(opened, 2.6)
    opened.page.focus("#slider")
    opened.page.keyboard.press("Space")
    assert opened.state["playing"]
    arrive(opened, 3)
    assert opened.page.get_by_role("button", name="Play").count() == 1


def test_arrows_and_scores_belong_to_their_embedding(still, blobs):
    page = still.page
    still.hover(250)
    assert still.state["explanation"] is not None
    assert "Trust in this point" in page.inner_text("#card")
    page.keyboard.press("ArrowLeft")
    arrive(still, 0)
    assert still.state["hovered"] == 250  # a hovered point is followed
    assert still.state["explanation"] is None
    assert "Arrows are known at exaggeration" in page.inner_text("#card")
    assert "What moves this point" not in page.inner_text("#card")
    assert "not to what is shown now" in page.inner_text("#trust")
    assert "not to what is shown now" in page.inner_text("#importance")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    arrive(still, 3)  # explained, not evaluated
    top = still.state["explanation"]["top"]
    np.testing.assert_array_equal([row["feature"] for row in top], blobs.top.indices[250])
    assert "How far the map moves" in page.inner_text("#importance")
    page.click("#trust button")
    arrive(still, MAIN)
    assert "close together are close in the data" in page.inner_text("#trust")
    assert still.problems == []
    assert page.evaluate("window.broken") is None


def test_points_without_a_position_are_listed_where_they_lack_it(still):
    assert still.page.is_hidden("#tray")
    still.page.keyboard.press("ArrowRight")
    arrive(still, 2)
    assert still.page.is_visible("#tray")
    assert "2 points have no position" in still.page.inner_text("#tray")
    assert min(np.abs(still.place(3))) > 1e4  # not drawn: far outside of the page
    assert still.state["lost"] == [3, 8]
    still.page.keyboard.press("ArrowRight")
    arrive(still, 3)
    assert still.state["lost"] == []
    assert still.page.is_hidden("#tray")


@pytest.mark.slow
def test_the_view_follows_until_it_is_moved(still, frames):
    stage = still.page.locator("#stage").bounding_box()
    room = np.array([stage["width"], stage["height"]]) - 2 * 64
    for position in (1, 2, 3):
        known = np.flatnonzero(np.isfinite(frames[position]).all(axis=1))
        wide = np.ptp(still.places(known), axis=0)
        np.testing.assert_allclose((wide / room).max(), 1.0, rtol=1e-3)  # the whole map fills the page everywhere
        zoom = assert_drawn(still, frames[MAIN], frames[position])
        if position < 3:
            still.page.keyboard.press("ArrowRight")
            arrive(still, position + 1)
    still.page.mouse.move(400, 400)
    still.page.mouse.wheel(0, -300)
    zoom = assert_drawn(still, frames[MAIN], frames[3])
    still.page.keyboard.press("ArrowLeft")
    arrive(still, 2)
    np.testing.assert_allclose(assert_drawn(still, frames[MAIN], frames[2]), zoom, rtol=1e-3)


@pytest.mark.slow
def test_the_picture_is_of_the_present_position(still, tmp_path):
    from PIL import Image

    pictures = {}
    for name in ("main", "next"):
        pictures[name] = still.save("PNG 2", tmp_path / name)
        still.page.keyboard.press("ArrowRight")
        arrive(still, 2 if name == "main" else 3)
    assert pictures["main"].endswith("-8.png")
    assert pictures["next"].endswith("-4.png")
    with Image.open(tmp_path / "main") as a, Image.open(tmp_path / "next") as b:
        assert a.size == b.size
        different = (np.asarray(a.convert("RGB"), dtype=int) != np.asarray(b.convert("RGB"), dtype=int)).any(axis=2)
    assert different[200:].mean() > 0.01  # other places
    assert different[:120].any()  # another subtitle


def drive(opened, act, times):
    """Positions at given milliseconds after an action, by a clock of our own."""
    return opened.page.evaluate(
        "([act, times]) => { const waiting = []; const { requestAnimationFrame: ask } = window, now = performance.now;"
        " window.requestAnimationFrame = (tick) => waiting.push(tick); performance.now = () => 0;"
        " document.querySelector(act).click();"
        " const found = times.map((time) => { for (const tick of waiting.splice(0)) tick(time);"
        "  return gnomon.state().position; });"
        " if (gnomon.state().playing) document.querySelector('#play').click();"
        " window.requestAnimationFrame = ask; performance.now = now; return found; }",
        [act, times],
    )


@pytest.mark.slow
def test_speed_loop_steps_and_trails(open_page, path, frames, blobs):
    opened = open_page(path)
    page = opened.page
    page.click(".step >> nth=1")
    arrive(opened, MAIN + 1)
    page.focus(".step >> nth=0")
    for goal in (MAIN, MAIN - 1):
        page.keyboard.press("Enter")
        arrive(opened, goal)
    times = np.arange(0, 2700, 150)
    page.select_option("#speed", "2")
    run = np.minimum(3.0, 2 * times / 1300)
    t = run - np.floor(run)
    expected = np.floor(run) + t * t * (3 - 2 * t)
    np.testing.assert_allclose(drive(opened, "#play", times.tolist()), expected, atol=1e-6)
    page.focus("#slider")
    page.keyboard.press("Home")
    arrive(opened, 0)
    page.click("#loop")
    assert page.get_attribute("#loop", "aria-pressed") == "true"
    times = np.arange(0, 4000, 130)
    run = (2 * times / 1300) % 4  # the last one stands as long as a step takes
    u = np.minimum(3.0, run)
    t = u - np.floor(u)
    found = drive(opened, "#play", times.tolist())
    np.testing.assert_allclose(found, np.floor(u) + t * t * (3 - 2 * t), atol=1e-5)
    assert opened.state["playing"] is False  # (the clock's last act was to pause)
    page.focus("#slider")
    page.keyboard.press("Home")
    arrive(opened, 0)
    page.click("#trails")
    assert opened.state["trails"] == [k * blobs.n // 120 for k in range(120)]
    page.click("#legend li:nth-child(1) .class")
    chosen = opened.state["selection"]
    assert set(opened.state["trails"]) < set(chosen)
    colored = opened.state["colorBy"]
    page.keyboard.press("ArrowRight")
    arrive(opened, 1)
    assert (opened.state["selection"], opened.state["colorBy"]) == (chosen, colored)
    assert opened.problems == []


def test_three_dimensions_move_and_turn(open_page, tmp_path):
    rng = np.random.default_rng(5)
    frames = [rng.normal(size=(90, 3)).astype(np.float32) for _ in range(2)]
    frames[1][4] = np.nan
    write_html(tmp_path / "map.html", PageContent(embedding=frames[0]), sequence=Sequence("epoch", [1, 2], frames))
    opened = open_page(tmp_path / "map.html", reduced_motion="reduce")
    opened.page.keyboard.press("ArrowRight")
    arrive(opened, 1)
    assert opened.state["lost"] == [4]
    kept = np.delete(np.arange(90), 4)
    low, high = frames[0].min(axis=0), frames[0].max(axis=0)
    plane = (frames[1][kept] - (low + high) / 2) / (np.ptp(frames[0], axis=0).max() / 2)
    goal = plane[:, :2] * 5 / (5 - plane[:, 2:])  # the eye is 5 half widths away
    goal -= goal.mean(axis=0)
    flat = (opened.places(kept) - opened.places(kept).mean(axis=0)) * [1, -1]
    np.testing.assert_allclose(flat, goal * (flat * goal).sum() / (goal**2).sum(), atol=0.1)
    opened.page.mouse.move(200, 600)
    opened.page.mouse.down()
    opened.page.mouse.move(320, 540, steps=3)
    opened.page.mouse.up()
    before = opened.place(11)
    opened.page.keyboard.press("ArrowLeft")
    arrive(opened, 0)
    opened.page.keyboard.press("ArrowRight")
    arrive(opened, 1)
    np.testing.assert_allclose(opened.place(11), before, atol=0.1)  # the turn is kept
    assert opened.problems == []


def test_many_labels_thin_out(open_page, tmp_path):
    rng = np.random.default_rng(6)
    frames = rng.normal(size=(60, 40, 2))
    labels = [f"epoch {k}" for k in range(60)]
    write_html(
        tmp_path / "map.html", PageContent(embedding=frames[0]), sequence=Sequence("training", labels, list(frames))
    )
    opened = open_page(tmp_path / "map.html")
    boxes = opened.page.evaluate(
        "() => [...document.querySelectorAll('.tick:not(.bare) bdi')].map((b) => b.getBoundingClientRect())"
        ".map(({ left, right }) => [left, right])"
    )
    assert 5 < len(boxes) < 20
    assert all(a[1] < b[0] for a, b in pairwise(boxes))


def test_without_a_sequence_there_is_no_slider(open_page, blobs_page):
    opened = open_page(blobs_page)
    assert opened.page.is_hidden("#player")
    before = np.array(opened.place(100))
    opened.page.mouse.click(*opened.spot(20, -20))
    opened.page.keyboard.press("ArrowLeft")
    np.testing.assert_allclose(opened.place(100) - before, [40, 0], atol=1e-6)
