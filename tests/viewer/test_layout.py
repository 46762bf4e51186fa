"""Nothing covers the map, the pinned point is always in view, and the page is light or dark as asked."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.viewer import PageContent, write_html

browser_test = pytest.mark.browser
LONG = "A title that nobody reads to its end, because it goes on and on: " * 5 + "and ends"


@pytest.fixture(scope="module")
def strip():
    """A long strip with long and right-to-left names; neighbours lead from one end to the other."""
    rng = np.random.default_rng(5)
    along = np.sort(rng.uniform(-3, 3, 150))
    Y = np.column_stack([along, rng.uniform(-0.3, 0.3, 150)]).astype(np.float32)
    X = np.clip(np.round(np.column_stack([Y @ rng.normal(size=(2, 5)) * 20 + 128])), 0, 255).astype(np.uint8)
    labels = np.where(along < -1, "ראשון " * 12, np.where(along > 1, "last " * 30, "middle"))
    return PageContent(
        embedding=Y, X=X, labels=labels, title=LONG, explanation=gnomon.explain(X, Y, n_neighbors=5, n_jobs=1)
    )


@pytest.fixture(scope="module")
def strip_page(strip, tmp_path_factory):
    path = tmp_path_factory.mktemp("layout") / "strip.html"
    write_html(path, strip)
    return path


@pytest.fixture(scope="module")
def desk(tabs, strip_page):
    """The strip on a wide screen, opened once."""
    with tabs.lend() as take:
        opened = take()
        opened.show(strip_page)
        yield opened


def apart(a, b):
    """Whether two boxes [left, top, right, bottom] share no pixel."""
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def within(inner, outer):
    return (
        inner[0] >= outer[0] - 0.5
        and inner[1] >= outer[1] - 0.5
        and inner[2] <= outer[2] + 0.5
        and inner[3] <= outer[3] + 0.5
    )


def resize(opened, width, height):
    opened.page.set_viewport_size({"width": width, "height": height})
    opened.settle()


def on_top(opened, box):
    """The elements that a finger would hit at places all over a box."""
    return opened.page.evaluate(
        "([l, t, r, b]) => { const found = new Set(); for (let i = 0.5; i < 20; i++) for (let j = 0.5; j < 20; j++)"
        " found.add(document.elementFromPoint(l + (i * (r - l)) / 20, t + (j * (b - t)) / 20).id);"
        " return [...found]; }",
        box,
    )


@browser_test
def test_the_card_lies_beside_the_map_and_hovering_moves_nothing(desk):
    opened = desk
    for width, height in [(1400, 850), (1024, 768), (830, 600)]:
        resize(opened, width, height)
        opened.page.mouse.move(*opened.spot(3, 3))
        before = opened.state
        stage = before["card"]["stage"]
        assert on_top(opened, stage) == ["overlay"]
        for i in (0, 149):
            opened.hover(i)
            state = opened.state
            assert state["hovered"] == i
            assert apart(state["card"]["card"], stage)
            assert state["card"]["stage"] == stage
            assert state["view"] == before["view"]
        assert on_top(opened, stage) == ["overlay"]
        for part in ("#bar", "#foot", "#dock", "#side", "h1", "#toolbar", "#looks"):
            box = opened.box(part)
            assert apart(box, stage), part
            assert within(box, [0, 0, width, height]), part
    assert opened.problems == []


@browser_test
def test_messages_and_points_without_a_position_lie_off_the_map(open_page, strip, tmp_path):
    Y = strip.embedding.copy()
    Y[::2] = np.nan
    write_html(tmp_path / "lost.html", PageContent(embedding=Y, title="מפה", labels=strip.labels))
    opened = open_page(tmp_path / "lost.html")
    opened.lasso([opened.spot(x, y) for x, y in [(4, 4), (20, 4), (20, 20), (4, 20)]])
    message, tray = opened.box("#message"), opened.box("#tray")
    stage = opened.state["card"]["stage"]
    assert apart(message, stage)
    assert apart(tray, stage)
    dots = opened.page.locator("#tray .dot")
    assert within(opened.box("#tray .dot"), opened.box("#tray"))
    assert min(dots.first.bounding_box()[side] for side in ("width", "height")) >= 24
    assert opened.page.evaluate("getComputedStyle(document.querySelector('h1')).direction") == "rtl"


@browser_test
def test_long_titles_are_shortened_and_told_in_full(desk):
    opened = desk
    for width, height in [(1200, 800), (390, 844)]:
        resize(opened, width, height)
        bar, title = opened.box("#bar"), opened.box("h1")
        assert title[3] - title[1] <= 44
        assert within(title, bar)
        assert bar[3] <= 130
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.page.get_attribute("h1", "title") == LONG


@browser_test
def test_the_room_of_the_card_is_given_back_by_the_reader_only(desk):
    opened = desk
    resize(opened, 1400, 850)
    before = opened.state["card"]["stage"]
    opened.page.mouse.click(*opened.place(75))
    opened.page.keyboard.press("Escape")
    opened.page.mouse.move(*opened.spot(3, 3))
    opened.page.wait_for_selector("#card", state="hidden")
    assert "Shift and drag" in opened.page.inner_text("#dock")  # what one can do stands where the card was
    assert opened.state["card"]["stage"] == before
    opened.page.click("#dockbutton")
    wide = opened.state["card"]["stage"]
    assert wide[2] - wide[0] > before[2] - before[0] + 300
    opened.hover(75)
    assert opened.state["explanation"] is not None
    opened.page.click("#helpbutton")  # help needs the room
    assert opened.state["card"]["stage"] == before
    assert "Keyboard" in opened.page.inner_text("#help")


@browser_test
def test_on_a_phone_the_pinned_point_lies_above_the_sheet(open_page, strip_page):
    opened = open_page(strip_page, has_touch=True, is_mobile=True, reduced_motion="reduce")
    resize(opened, 320, 256)  # as much as is left of a screen enlarged four times
    assert opened.box("#sheet")[1] > 200
    resize(opened, 390, 844)
    assert opened.state["card"]["sheet"] == "peek"
    assert apart(opened.box("#sheet"), opened.state["card"]["stage"])
    middle = opened.state["view"]
    for i in (3, 75, 146):
        opened.page.keyboard.press("Escape")
        opened.page.touchscreen.tap(*opened.place(i))
        state = opened.state
        told = state["card"]
        assert state["pinned"] == i
        assert told["sheet"] == "half"
        assert told["seen"][3] == opened.box("#sheet")[1]
        x, y = opened.place(i)
        assert within([x, y, x, y], told["seen"])
        for box in [told["ellipse"], *told["arrows"], *told["names"]]:
            assert within(box, told["seen"])
        assert len(told["names"]) >= 1
    assert state["view"] != middle
    handle = opened.box("#handle")
    x, y = (handle[0] + handle[2]) / 2, (handle[1] + handle[3]) / 2
    for goal, place in [(120, "full"), (410, "half"), (830, "peek")]:
        opened.page.mouse.move(x, y)
        opened.page.mouse.down()
        opened.page.mouse.move(x, goal, steps=4)
        opened.page.mouse.up()
        assert opened.state["card"]["sheet"] == place
        y = np.mean([opened.box("#handle")[k] for k in (1, 3)])
    opened.page.touchscreen.tap(x, y)
    assert opened.state["card"]["sheet"] == "half"
    opened.page.click("#raise")
    assert opened.state["card"]["sheet"] == "full"
    assert apart(opened.box("#sheet"), opened.box("#bar"))
    opened.page.click("#lower")
    opened.page.focus("#handle")
    opened.page.keyboard.press("ArrowDown")
    assert opened.state["card"]["sheet"] == "peek"
    opened.page.click("#search")
    assert opened.state["card"]["sheet"] == "half"  # what is asked for is shown
    assert opened.problems == []


WATCH = (
    "() => { window.seen = []; const look = () => { seen.push(gnomon.state().view); requestAnimationFrame(look); };"
    " look(); }"
)


@browser_test
@pytest.mark.parametrize("still", [False, True])
def test_the_camera_brings_the_path_of_the_pinned_point_into_view(open_page, strip_page, still):
    opened = open_page(strip_page, reduced_motion="reduce" if still else "no-preference")
    x, y = opened.place(2)
    opened.page.mouse.move(x, y)
    opened.page.mouse.wheel(0, -900)
    opened.settle()
    near = opened.state["view"]
    opened.page.mouse.click(*opened.place(2))
    assert opened.state["view"]["zoom"] == near["zoom"]  # what fits is not made smaller
    stage = opened.state["card"]["stage"]
    assert within(opened.state["card"]["ellipse"], stage)
    opened.page.evaluate(WATCH)
    opened.page.select_option("#goal", index=1)
    goal = opened.state["journey"]["path"]
    assert len(goal) > 3
    opened.settle()
    pixels = opened.places(goal)
    assert all(within([px, py, px, py], stage) for px, py in pixels)
    assert within(opened.state["card"]["ellipse"], stage)
    steps = {tuple(view.values()) for view in opened.page.evaluate("window.seen")}
    assert len(steps) == 2 if still else len(steps) > 2
    zoom = opened.state["view"]["zoom"]
    opened.page.mouse.move(*opened.spot(400, 300))
    opened.page.mouse.down()
    opened.page.mouse.move(*opened.spot(700, 300), steps=3)
    opened.page.mouse.up()
    opened.settle()
    assert opened.state["view"]["zoom"] == zoom  # a hand on the map has the last word
    assert not all(within([px, py, px, py], stage) for px, py in opened.places(goal))


def channel(color):
    return [int(part) for part in re.findall(r"\d+", color)[:3]]


@browser_test
def test_dark_follows_the_system_until_the_reader_chooses(open_page, strip_page, tmp_path):
    from PIL import Image

    opened = open_page(strip_page, color_scheme="dark")
    page = opened.page
    background = "getComputedStyle(document.getElementById('stage')).backgroundColor"
    assert opened.state["theme"] == "dark"
    assert max(channel(page.evaluate(background))) < 50
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.click("#export")
    with page.expect_download() as download:
        page.click("#save-menu button >> nth=0")
    download.value.save_as(tmp_path / "dark.png")
    with Image.open(tmp_path / "dark.png") as image:
        assert list(image.convert("RGB").getpixel((2, 2))) == channel(page.evaluate(background))
    page.emulate_media(color_scheme="light")
    assert opened.state["theme"] == "light"
    page.emulate_media(color_scheme="dark")
    page.click("#theme")
    assert opened.state["theme"] == "light"
    assert min(channel(page.evaluate(background))) > 240
    page.wait_for_url(re.compile("&theme=light$"))
    page.evaluate("location.hash = '#theme=dark'")
    page.wait_for_selector("#theme[aria-pressed=true]")
    page.click("#theme")
    page.wait_for_url(re.compile("&theme=light$"))
    assert opened.problems == []


@browser_test
def test_a_chosen_theme_needs_no_storage(open_tab, strip_page):
    opened = open_tab()
    page = opened.page
    page.goto(strip_page.resolve().as_uri() + "?without-storage#theme=dark")
    page.wait_for_selector("#theme[aria-pressed=true]")
    page.click("#theme")
    page.wait_for_url(re.compile("&theme=light$"))
    page.reload()
    page.wait_for_selector("#theme[aria-pressed=false]")
    assert (
        page.evaluate("() => { try { return localStorage; } catch (error) { return error.name; } }") == "SecurityError"
    )
    assert opened.problems == []


@pytest.mark.slow
@browser_test
@pytest.mark.parametrize("webgl", [True, False])
def test_dimmed_points_recede_in_either_theme(open_page, strip_page, tmp_path, webgl):
    """Points outside of a selection are drawn nearer to the background than the selected ones."""
    from PIL import Image

    opened = open_page(strip_page, webgl=webgl)
    for theme in ("light", "dark"):
        opened.page.click('#legend [data-class="1"] .class')
        opened.page.mouse.move(*opened.spot(3, 3))
        opened.settle()
        opened.page.screenshot(path=tmp_path / "shot.png")
        with Image.open(tmp_path / "shot.png") as image:
            picture = np.asarray(image.convert("RGB")).astype(float)
        x0, y0 = opened.spot(3, 3)
        paper = picture[int(y0), int(x0)]
        chosen = set(opened.state["selection"])
        strength = {True: [], False: []}
        for i, (x, y) in enumerate(opened.places(range(150))):
            strength[i in chosen].append(np.abs(picture[int(y), int(x)] - paper).max())
        assert opened.state["theme"] == theme
        assert np.median(strength[True]) > 2 * np.median(strength[False]) > 10
        opened.page.keyboard.press("Escape")
        opened.page.click("#theme")


@browser_test
def test_what_is_said_of_classes_stands_in_their_column(open_page, tmp_path):
    Y = np.random.default_rng(0).normal(size=(140, 2)).astype(np.float32)
    write_html(tmp_path / "many.html", PageContent(embedding=Y, X=Y, labels=np.arange(140) % 70))
    page = open_page(tmp_path / "many.html").page
    lefts = page.evaluate(
        "['.swatch', '.quiet:not(:empty)', '.many > summary', '.narrow'].map((where) => {"
        "  const one = document.querySelector('#legend ' + where);"
        "  return one.getBoundingClientRect().left + parseFloat(getComputedStyle(one).paddingLeft); })"
    )
    assert max(lefts) - min(lefts) < 1.0


def test_every_colour_of_the_style_sheets_is_there_in_light_and_dark():
    static = Path(__file__).resolve().parents[2] / "src/gnomon/viewer/static"
    base = (static / "style" / "base.css").read_text()
    light, dark = (re.search(rf"{start} \{{(.*?)\n\}}", base, re.S)[1] for start in (":root", r'\[data-theme="dark"\]'))
    names = [set(re.findall(r"--([a-z-]+):", part)) for part in (light, dark)]
    assert names[0] == names[1]
    used = set()
    for sheet in (static / "style").iterdir():
        used |= set(re.findall(r"var\(--([a-z-]+)", sheet.read_text()))
    tints = re.search(r"@typedef \{(.*?)\} Tint", (static / "drawing" / "theme.js").read_text(), re.S)[1]
    used |= set(re.findall(r'"([a-z-]+)"', tints))
    assert used - {"sheet", "columns", "peek", "bars", "thumb"} <= names[0]
