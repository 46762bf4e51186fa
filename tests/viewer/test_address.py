"""The address of a page holds its state: what is opened from it is what was left, and garbage harms nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gnomon.viewer import PageContent, Sequence, write_html

pytestmark = pytest.mark.browser

SAME = ("selection", "shown", "colorBy", "rules", "pinned", "matches", "position", "neighbors")


def wait_for_address(opened, before="", holding="#"):
    """The address is written when the page has been at rest for a while."""
    opened.page.wait_for_timeout(350)
    for _ in range(40):
        if opened.page.url != before and holding in opened.page.url:
            return opened.page.url
        opened.page.wait_for_timeout(50)
    raise AssertionError(opened.page.url)


def reopened(opened, url):
    """Open an address anew in the same tab."""
    opened.page.goto("about:blank")
    opened.page.goto(url)
    opened.page.evaluate(
        "() => new Promise((done) => {"
        "  const look = () => (window.gnomon?.ready ? done() : setTimeout(look, 10)); look(); })"
    )
    opened.settle()
    return opened.state


def assert_same(now, before):
    for name in SAME:
        assert now[name] == before[name], name
    for axis, value in before["view"].items():
        assert now["view"][axis] == pytest.approx(value, abs=1e-4), axis


def circle(opened, center, radius):
    turns = np.linspace(0, 2 * np.pi, 60)
    x, y = center
    opened.lasso(np.stack([x + radius * np.cos(turns), y + radius * np.sin(turns)], axis=1))


def test_an_untouched_page_has_a_plain_address_and_a_used_one_comes_back(open_page, blobs_page):
    opened = open_page(blobs_page)
    page = opened.page
    page.wait_for_timeout(500)
    assert "#" not in page.url
    opened.add_chart("depth")
    page.get_by_label("To, depth").focus()
    for key in ["PageDown"] * 3 + ["ArrowLeft"]:
        page.keyboard.press(key)
    circle(opened, (400, 420), 260)
    page.mouse.move(400, 420)
    page.mouse.wheel(0, -200)
    page.mouse.click(*opened.place(opened.state["selection"][3]))
    before = opened.state
    assert before["pinned"] is not None
    assert 0 < before["shown"] < 420
    url = wait_for_address(opened)
    assert "lasso=" in url
    assert len(url.split("#")[1]) < 1500
    assert_same(reopened(opened, url), before)
    assert opened.problems == []


def test_colour_hidden_and_isolated_classes_search_and_theme_come_back(open_page, blobs_page):
    opened = open_page(blobs_page)
    page = opened.page
    row = page.locator('#legend [data-class="1"]')
    row.hover()
    row.locator(".eye").click()
    page.click('#legend [data-class="2"] .class')
    url = wait_for_address(opened, holding="only=2")
    assert "off=1" in url
    before = opened.state
    assert_same(reopened(opened, url), before)
    assert page.locator("#legend li.isolated").count() == 1
    now = reopened(
        opened, f"{url.split('#')[0]}#gnomon=1&id={before['address']['id']}&color=feature9&find=%2317&theme=dark"
    )
    assert now["colorBy"] == "gene 9"
    assert now["matches"] == [17]
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert opened.problems == []


@pytest.mark.slow
def test_selections_of_other_kinds_are_kept_as_lines_or_as_rows(open_page, blobs_page, blobs):
    opened = open_page(blobs_page)
    page = opened.page
    page.click("#line")
    start, end = opened.place(0), opened.place(blobs.n - 1)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=6)
    page.mouse.up()
    before = opened.state
    url = wait_for_address(opened)
    assert "line=" in url
    now = reopened(opened, url)
    assert_same(now, before)
    np.testing.assert_allclose(now["line"]["t"], before["line"]["t"], atol=1e-3)
    page.keyboard.press("Escape")
    chart = opened.add_chart("batch")
    chart.locator(".bar-row", has_text="west").click()
    page.get_by_role("button", name="compare with the rest").click()
    before = opened.state
    assert before["selection"] == list(range(1, 600, 2))
    url = wait_for_address(opened, url, holding="rows=")
    assert_same(reopened(opened, url), before)
    # back in the tab's own address bar
    page.evaluate("() => { location.hash = '#gnomon=1&pin=5'; }")
    page.wait_for_timeout(200)
    assert "another map" in page.inner_text("#message")  # no word of which map it is
    assert opened.problems == []


@pytest.mark.slow
def test_a_rotation_and_a_place_in_a_sequence_come_back(open_page, tmp_path):
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(80, 3))
    frames = (Y, Y + rng.normal(size=Y.shape), Y * 2)
    write_html(
        tmp_path / "map.html",
        PageContent(embedding=Y, labels=np.arange(80) % 4),
        sequence=Sequence("step", ("1", "2", "3"), frames),
    )
    opened = open_page(tmp_path / "map.html")
    url = opened.page.url + f"#gnomon=1&id={opened.state['address']['id']}&at=2&turn=0,1,0,-1,0,0"
    now = reopened(opened, url)
    assert now["position"] == 2
    np.testing.assert_allclose(now["rotation"], [0, 1, 0, -1, 0, 0, 0, 0, 1], atol=1e-6)
    x, y = np.array(opened.places(range(80))).T
    circle(opened, np.median([x, y], axis=1), 200)
    before = opened.state
    assert len(before["selection"]) > 3
    url = wait_for_address(opened, url)
    assert "rows=" in url  # a lasso is one view's in 3-D
    assert_same(reopened(opened, url), before)


GARBAGE = [
    "nothing-of-ours",
    "gnomon=99&view=1,2,3",
    "gnomon=1&id=ID&view=a,b,c&turn=1&at=99&color=zzz&off=1.x&charts=zzz&where=column0~in~999&only=-4",
    "gnomon=1&id=ID&lasso=1,2,3&line=;&rows=!!!&find=%00&k=3.5&pin=1e9&where=~~~~&where=column2~9~1",
    "gnomon=1&id=ID&rows=____________________",
    "%",
    "&&&===",
]


def test_garbage_is_left_out_with_a_message(open_page, blobs_page):
    opened = open_page(blobs_page)
    plain, own = opened.page.url, opened.state["address"]["id"]
    fresh = opened.state
    for text in GARBAGE:
        opened.page.evaluate(
            "(text) => { document.querySelector('#message').hidden = true;"
            " history.replaceState(null, '', `#${text}`);"  # told at once, before the page writes its address again
            " dispatchEvent(new HashChangeEvent('hashchange')); }",
            text.replace("ID", own),
        )
        opened.settle()
        opened.page.locator("#message", has_text="left out").wait_for(state="visible")
        now = opened.state
        assert now["selection"] == []
        assert now["shown"] == fresh["shown"]
        assert now["colorBy"] == fresh["colorBy"]
    # of another map only what does not speak of points
    now = reopened(opened, f"{plain}#gnomon=1&id=00000000&pin=3&color=column1")
    assert "another map" in opened.page.inner_text("#message")
    assert now["pinned"] is None
    assert now["colorBy"] == "batch"
    assert opened.problems == []


@pytest.mark.slow
def test_the_link_is_copied_and_a_frame_without_an_address_works(open_page, blobs_page, tmp_path):
    opened = open_page(blobs_page)
    page = opened.page
    page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    page.mouse.click(*opened.place(7))
    page.click("#export")
    page.locator("#save-menu button", has_text="Copy link").click()
    assert page.evaluate("window.copied").endswith("pin=7")
    assert "Link copied" in page.inner_text("#message")
    framed = tmp_path / "framed.html"
    text = Path(blobs_page).read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
    framed.write_text(f'<iframe sandbox="allow-scripts" style="width:900px;height:700px" srcdoc="{text}"></iframe>')
    page.goto(framed.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("#legend .class")
    frame.click('#legend [data-class="1"] .class')
    page.wait_for_timeout(600)
    assert frame.evaluate("gnomon.state().selection.length") == 200
    assert [one for one in opened.problems if "sandbox" not in one] == []
