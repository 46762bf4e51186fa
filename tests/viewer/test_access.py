"""The page is for everyone: audited by axe-core, used by keys alone, told in words, by fingers, and without motion."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gnomon.viewer import PageContent, Sequence, write_html, write_side_by_side

pytestmark = pytest.mark.browser

_THEMES = ("light", "dark")
# The states that hold what the others do; colours of text are judged in every state by _READ.
_AUDITED = {
    "light": ("a card pinned, its fit weak", "all panels open, a tool taken", "the list of colours open"),
    "dark": ("the list of colours open",),
}

# What a person reads: every text that is shown, its colour over the papers behind it, and the contrast of both.
_READ = """() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((v, c) => a * v + (1 - a) * below[c]);
  const light = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || one.closest("script, style, noscript, .unseen")) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    if (!range.getClientRects().length || getComputedStyle(one).visibility === "hidden") continue;
    const above = [];
    for (let at = one; at; at = at.parentElement) above.unshift(getComputedStyle(at));
    let paper = [255, 255, 255], seen = 1;
    for (const style of above) {
      paper = over(parse(style.backgroundColor), paper);
      seen *= Number(style.opacity);
    }
    const style = getComputedStyle(one);
    const color = parse(one.closest("svg") ? style.fill : style.color);
    const ink = over([color[0], color[1], color[2], color[3] * seen], paper);
    const [a, b] = [luminance(ink), luminance(paper)].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 ||
      (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    found.push([walker.currentNode.data.trim().slice(0, 40), (a + 0.05) / (b + 0.05), large ? 3 : 4.5]);
  }
  return found;
}"""
# Buttons and fields whose spoken name lacks the words that are seen on them; signs such as × are no words.
_MISNAMED = """() => [...document.querySelectorAll("button, summary, [role=button], input")].flatMap((one) => {
  if (!one.checkVisibility()) return [];
  const seen = (one.innerText ?? "").replace(/[^\\p{L}\\p{N}]+/gu, " ").trim().toLowerCase();
  const named = (one.getAttribute("aria-label") ?? one.innerText ?? "")
    .replace(/[^\\p{L}\\p{N}]+/gu, " ").trim().toLowerCase();
  const labelled = one.getAttribute("aria-label") || one.labels?.length;
  return one.tagName === "INPUT" ? (labelled ? [] : [one.id]) : named && named.includes(seen) ? [] : [seen];
})"""
# Contrast of the borders of fields with what they lie on.
_BORDERS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  return [...document.querySelectorAll("input:not([type=range]), select")].filter((e) => e.offsetParent).map((e) => {
    const style = getComputedStyle(e);
    const both = [luminance(parse(style.borderColor)), luminance(parse(style.backgroundColor))].sort((a, b) => b - a);
    return (both[0] + 0.05) / (both[1] + 0.05);
  });
}"""
# How much colour the picture of the points has.
_SHADES = """() => {
  const source = document.querySelector("#points"), copy = document.createElement("canvas");
  [copy.width, copy.height] = [source.width, source.height];
  const g = copy.getContext("2d");
  g.drawImage(source, 0, 0);
  const { data } = g.getImageData(0, 0, copy.width, copy.height);
  let sum = 0;
  for (let k = 0; k < data.length; k += 16)
    if (data[k + 3]) sum += data[k + 3] * (Math.max(...data.slice(k, k + 3)) - Math.min(...data.slice(k, k + 3)));
  return sum;
}"""


def dress(page, theme):
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)


def unreadable(page):
    return [(text, round(ratio, 2)) for text, ratio, least in page.evaluate(_READ) if ratio < least]


def focused(opened):
    """Identifier or text of what has the focus."""
    return opened.page.evaluate(
        "() => { const e = document.activeElement; return e.id || e.getAttribute('aria-label') || e.innerText; }"
    )


def told(opened):
    """What the live region says when it has had time to."""
    opened.page.wait_for_timeout(420)
    return opened.state["told"]


def move(opened, key, times=1):
    for _ in range(times):
        opened.page.keyboard.press(key)


def fingers(opened, *steps):
    """Touch: each step holds the places of the fingers, fewer than before where some are lifted; a number waits."""
    session = opened.page.context.new_cdp_session(opened.page)
    before = 0
    for step in steps:
        if isinstance(step, int):
            opened.page.wait_for_timeout(step)
            continue
        kind = "touchEnd" if len(step) < before else "touchStart" if len(step) > before else "touchMove"
        places = [{"x": float(x), "y": float(y), "id": k} for k, (x, y) in enumerate(step)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
        before = len(step)
    session.detach()


def _map_states(opened):
    """Bring a page into the states that a person meets; yields their names."""
    page = opened.page
    yield "as it opens"
    page.mouse.click(*opened.place(5))
    opened.settle()
    yield "a card pinned, its fit weak"
    page.click('#legend [data-class="1"] .class')
    page.hover('#legend [data-class="2"]')
    page.click('#legend [data-class="2"] .eye')
    yield "a class selected, another hidden"
    for panel in page.query_selector_all("details.panel:not([open]) > summary"):
        panel.click()
    page.click("#line")
    yield "all panels open, a tool taken"
    page.get_by_role("combobox", name="Colour by").click()
    yield "the list of colours open"


@pytest.mark.parametrize("theme", _THEMES)
def test_every_state_of_the_map_passes_the_audit_and_is_readable(open_page, blobs_page, audit, theme):
    opened = open_page(blobs_page)
    dress(opened.page, theme)
    for state in _map_states(opened):
        if state in _AUDITED[theme]:
            assert audit(opened.page) == [], state
        assert unreadable(opened.page) == [], state
        assert opened.page.evaluate(_MISNAMED) == [], state
    assert len(opened.page.evaluate(_READ)) > 100
    borders = opened.page.evaluate(_BORDERS)
    assert len(borders) >= 2
    assert min(borders) >= 3.0
    assert opened.problems == []


def test_maps_side_by_side_pass_the_audit_and_are_readable(open_page, blobs, audit, tmp_path):
    write_side_by_side(tmp_path / "maps.html", {"one": blobs.Y, "other": blobs.Y[:, ::-1]}, labels=blobs.group)
    opened = open_page(tmp_path / "maps.html")
    for theme in _THEMES:
        dress(opened.page, theme)
        assert unreadable(opened.page) == []
    assert audit(opened.page) == []
    assert opened.page.evaluate(_MISNAMED) == []


@pytest.mark.slow
def test_the_checks_find_faint_text_and_wrong_names(open_page, blobs_page, audit):
    opened = open_page(blobs_page)
    opened.page.evaluate(
        """() => {
          const side = document.querySelector("#side"), button = document.createElement("button");
          button.append("Go");
          button.setAttribute("aria-label", "Leave");
          button.style.color = "#999999";
          side.prepend(button, document.createElement("input"));
        }"""
    )
    assert unreadable(opened.page) == [("Go", pytest.approx(2.66, abs=0.1))]
    assert opened.page.evaluate(_MISNAMED) == ["go", ""]
    assert {one[0] for one in audit(opened.page)} >= {"label", "color-contrast"}


# ---- by keys alone ------------------------------------------------------------------------------------------------


def _next_point(places, i, key):
    """The nearest point in the quarter of the plane that the key points to."""
    away = (places - places[i]) * [1, -1]
    direction = {"ArrowRight": [1, 0], "ArrowLeft": [-1, 0], "ArrowUp": [0, 1], "ArrowDown": [0, -1]}[key]
    along, across = away @ direction, np.abs(away @ direction[::-1])
    inside = (along > 0) & (across <= along)
    return int(np.where(inside, np.hypot(*away.T), np.inf).argmin()) if inside.any() else i


def test_arrow_keys_walk_from_point_to_point(open_again, blobs_page, blobs):
    """Steps are the nearest points in their quarters, found by NumPy; what they are is said when they end."""
    opened = open_again(blobs_page)
    opened.page.focus("#overlay")
    before = np.array(opened.place(0))
    move(opened, "ArrowRight")  # no point is taken: the map moves
    np.testing.assert_allclose(opened.place(0), before - (40, 0), atol=1e-6)
    move(opened, "0")
    move(opened, "Enter")
    places = opened.places(range(blobs.n))
    box = opened.page.locator("#overlay").bounding_box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    at = opened.state["taken"]
    assert at == np.hypot(*(places - middle).T).argmin()
    for keys in (["ArrowRight"], ["ArrowUp"] * 3, ["ArrowLeft"] * 6, ["ArrowDown", "ArrowRight"]):
        for key in keys:
            at = _next_point(places, at, key)  # (the map may move under the walk, but not its shape)
            move(opened, key)
        assert opened.state["taken"] == opened.state["hovered"] == at
    assert f"cell-{at}. " in told(opened)
    assert "of where its neighbours lie. Trustworthiness" in opened.state["told"]
    move(opened, "Enter")
    assert opened.state["pinned"] == at
    assert focused(opened) == "overlay"
    move(opened, "Escape")
    assert opened.state["pinned"] is None
    assert opened.state["taken"] == at
    move(opened, "Escape")
    assert opened.state["hovered"] is None
    assert opened.problems == []


@pytest.mark.slow
def test_the_walk_stays_in_view_and_ends_at_the_edge_and_at_twins(open_page, tmp_path):
    """Eight points in a row, four of them in the place of the third; the view follows the walk."""
    Y = np.zeros((11, 2))
    Y[:8, 0] = np.arange(8)
    Y[8:] = Y[3]
    order = [0, 1, 2, 3, 8, 9, 10, 4, 5, 6, 7]
    write_html(tmp_path / "map.html", PageContent(embedding=Y, labels=np.arange(11) % 2))
    opened = open_page(tmp_path / "map.html")
    opened.page.focus("#overlay")
    move(opened, "+", 4)
    move(opened, " ")
    at = order.index(opened.state["taken"])
    while at:
        at -= 1
        move(opened, "ArrowLeft")
        assert opened.state["taken"] == order[at]
    assert 50 < opened.place(0)[0] < opened.page.locator("#overlay").bounding_box()["width"] - 50
    move(opened, "ArrowLeft")
    assert "No point lies further to the left" in told(opened)
    for row in order[1:]:
        move(opened, "ArrowRight")
        assert opened.state["taken"] == row


def test_keys_select_neighbourhoods_and_classes_and_the_walk_stays_in_them(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    opened.page.focus("#overlay")
    move(opened, "Enter")
    at = opened.state["taken"]
    order = np.argsort(np.hypot(*(blobs.Y - blobs.Y[at]).T), kind="stable")
    for count in (30, 60, 120):
        move(opened, "n")
        np.testing.assert_array_equal(opened.state["selection"], np.sort(order[: count + 1]))
    assert "120 nearest" in told(opened)
    inside = set(order[:121])
    for key in ("ArrowRight", "ArrowUp"):
        move(opened, key, 8)
        assert opened.state["taken"] in inside
    move(opened, "c")
    at = opened.state["taken"]
    np.testing.assert_array_equal(opened.state["selection"], np.flatnonzero(blobs.group == blobs.group[at]))
    assert "is selected" in told(opened)
    move(opened, "Shift+ArrowRight")
    assert opened.state["taken"] == at  # the map has moved, the point is kept
    move(opened, "Escape", 2)
    assert opened.state["selection"] == []


def test_one_tab_stop_each_for_the_tools_and_the_classes(open_page, blobs_page):
    """Arrow keys move in them, and a list that is drawn anew keeps the focus where it was."""
    opened = open_page(blobs_page)
    stops = []
    opened.page.evaluate("document.activeElement.blur()")
    for _ in range(40):
        move(opened, "Tab")
        outside, around = opened.page.evaluate(
            "() => [document.activeElement === document.body,"
            " ['#toolbar', '#overlay', '#legend', '#search'].find((s) => document.activeElement.closest(s))]"
        )
        stops.append(around)
        if outside:
            break
    for part in ("#toolbar", "#overlay", "#legend", "#search"):
        assert stops.count(part) == 1, part
    opened.page.focus("#lasso")
    move(opened, "ArrowRight")
    assert focused(opened) == "line"
    move(opened, "Enter")
    assert opened.page.get_attribute("#line", "aria-pressed") == "true"
    move(opened, "End")
    assert focused(opened) == opened.page.evaluate("[...document.querySelectorAll('#toolbar button')].at(-1).id")
    opened.page.focus('#legend [data-class="0"] .class')
    move(opened, "ArrowDown", 2)
    move(opened, "Enter")
    state = opened.state
    assert len(state["selection"]) == 200
    assert opened.page.evaluate("document.activeElement.closest('li').dataset.class") == "2"
    assert opened.page.get_attribute('#legend [data-class="2"] .class', "aria-pressed") == "true"
    move(opened, "ArrowRight")
    assert focused(opened) == "hide gamma"
    move(opened, "Enter")
    assert opened.state["shown"] == 400
    assert focused(opened) == "show gamma"
    move(opened, "ArrowLeft")
    move(opened, "ArrowUp")
    assert opened.page.evaluate("document.activeElement.closest('li').dataset.class") == "1"


def test_the_list_of_colours_is_a_combobox(open_page, blobs_page):
    opened = open_page(blobs_page)
    box = opened.page.get_by_role("combobox", name="Colour by")
    box.focus()
    assert box.get_attribute("aria-expanded") == "false"
    move(opened, "ArrowDown")
    assert box.get_attribute("aria-expanded") == "true"
    move(opened, "ArrowDown")
    listed = opened.page.locator(f"#{box.get_attribute('aria-controls')}")
    assert listed.get_attribute("role") == "listbox"
    active = opened.page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-selected") == "true"
    assert listed.get_by_role("group", name="Features").get_by_role("option").count() == 10
    move(opened, "Escape")
    assert box.get_attribute("aria-expanded") == "false"
    assert box.get_attribute("aria-activedescendant") is None
    box.press_sequentially("gene 9")
    move(opened, "Enter")
    assert opened.state["colorBy"] == "gene 9"
    assert opened.page.evaluate("document.activeElement.getAttribute('role')") == "combobox"


def test_a_card_that_is_drawn_anew_keeps_the_focus_and_gives_it_back(open_again, blobs_page):
    opened = open_again(blobs_page)
    opened.page.focus("#overlay")
    move(opened, "Enter", 2)
    opened.page.focus("#card .close")
    move(opened, "Enter")
    assert opened.state["pinned"] is None
    assert focused(opened) == "overlay"


# ---- in words -----------------------------------------------------------------------------------------------------


def test_the_map_is_told_in_words(open_page, blobs_page, blobs):
    opened = open_page(blobs_page)
    assert opened.page.get_attribute("#overlay", "role") == "application"
    use = opened.page.get_attribute("#overlay", "aria-describedby")
    assert "600 points" in opened.page.inner_text(f"#{use}")
    opened.page.click("#words > summary")
    opened.page.wait_for_selector("#words .told")
    words = opened.page.inner_text("#words")
    middles = {name: np.median(blobs.Y[blobs.group == k], axis=0) for k, name in enumerate(["alpha", "<scr", "gamma"])}
    gaps = {name: np.hypot(*(middles[name] - middles["alpha"])) for name in ("<scr", "gamma")}
    nearest = min(gaps, key=gaps.get)
    assert f"alpha: 200 points (33 %) at the lower left, nearest {nearest}" in words
    verdict = opened.page.locator("#trust .verdict li").all_inner_texts()
    assert len(verdict) > 1
    assert all(text in words for text in verdict)
    help = opened.page.inner_text("#help")
    assert "takes the point nearest the middle" in help
    assert [line for line in help.splitlines() if "↑" in line] == ["← → ↑ ↓", "Shift and ← → ↑ ↓"]  # each once
    assert opened.page.get_attribute("#live", "aria-live") == "polite"
    opened.page.click('#legend [data-class="2"] .class')
    assert told(opened) == "200 of 600 points are selected."
    opened.page.emulate_media(forced_colors="active")  # what is pressed is seen there, too
    paper = "(e) => getComputedStyle(e).backgroundColor"
    pressed, other = (opened.page.locator(f'#legend [data-class="{k}"] .class').evaluate(paper) for k in (2, 0))
    opened.page.emulate_media(forced_colors="none")
    assert pressed != other
    assert opened.problems == []


# ---- by fingers ---------------------------------------------------------------------------------------------------


def test_fingers_tap_pan_pinch_and_draw(open_page, blobs_page, blobs):
    opened = open_page(blobs_page, has_touch=True, is_mobile=True)
    page = opened.page
    x, y = opened.place(77)
    fingers(opened, [(x + 3, y + 2)], [])
    assert opened.state["pinned"] == 77
    page.keyboard.press("Escape")
    page.wait_for_timeout(350)
    corner = np.array([300.0, 560.0])
    before = opened.places([10, 400])
    fingers(opened, [corner], [corner + np.array([20, 10])], [corner + np.array([60, 30])], [])
    np.testing.assert_allclose(opened.places([10, 400]) - before, [[60, 30]] * 2, atol=1.0)
    assert opened.state["pinned"] is None
    before = opened.places([10, 400])
    zoom = opened.state["view"]["zoom"]
    a, b = np.array([250.0, 400.0]), np.array([450.0, 400.0])
    shift, spread = np.array([30.0, 20.0]), np.array([50.0, 0.0])
    fingers(
        opened, [a], [a, b], [a + shift / 2, b + shift / 2], [a + shift - spread, b + shift + spread], [a + shift], []
    )
    np.testing.assert_allclose(opened.state["view"]["zoom"], 1.5 * zoom, rtol=0.01)
    middle = (a + b) / 2
    np.testing.assert_allclose(opened.places([10, 400]), (before - middle) * 1.5 + middle + shift, atol=2.0)
    assert opened.state["pinned"] is None
    page.keyboard.press("Escape")
    opened.page.click("#reset")
    opened.settle()
    places = opened.places(range(blobs.n))
    center = np.median(places[blobs.group == 1], axis=0)
    ring = [center + 45 * np.array([np.cos(t), np.sin(t)]) for t in np.linspace(0, 2 * np.pi, 14)]
    fingers(opened, [ring[0]], 620, *[[corner] for corner in ring[1:]], [])
    chosen = opened.state["selection"]
    assert len(chosen) > 20
    assert np.hypot(*(places[chosen] - center).T).max() <= 46
    fingers(opened, [(20, 500)], 620, [])  # held and lifted: nothing was drawn, nothing changes
    assert opened.state["selection"] == chosen
    assert opened.problems == []


def test_targets_are_large_enough(open_page, blobs_page, blobs, tmp_path):
    sizes = """(wanted) => [...document.querySelectorAll(wanted)].map((e) => {
      const { width, height } = e.getBoundingClientRect();
      return Math.min(width, height);
    }).filter((size) => size > 0)"""
    Y = blobs.Y.copy()
    Y[:4] = np.nan
    write_html(tmp_path / "map.html", PageContent(embedding=Y, labels=blobs.group))
    opened = open_page(tmp_path / "map.html")
    opened.page.mouse.click(*opened.place(300))
    opened.page.hover('#legend [data-class="1"]')
    small = opened.page.evaluate(sizes, "button:not(.link), summary, input, select")
    assert len(small) > 10
    assert min(small) >= 24
    phone = open_page(tmp_path / "map.html", has_touch=True, is_mobile=True)
    phone.page.set_viewport_size({"width": 390, "height": 844})
    phone.settle()
    main = phone.page.evaluate(sizes, "#toolbar button, .legend button, .controls input, .panel > summary")
    assert len(main) > 12
    assert min(main) >= 44


# ---- without motion, and with 300 classes --------------------------------------------------------------------------


def test_nothing_moves_by_itself_where_the_reader_asks_for_stillness(open_page, blobs, tmp_path):
    frames = [blobs.Y, blobs.Y[:, ::-1].copy(), -blobs.Y]
    sequence = Sequence("step", [1, 2, 3], frames, main=0)
    write_html(tmp_path / "map.html", PageContent(embedding=blobs.Y, labels=blobs.group), sequence=sequence)
    opened = open_page(tmp_path / "map.html", reduced_motion="reduce")
    assert opened.state["playing"] is False
    opened.page.focus("#overlay")
    seen = []
    for key in ("Enter", "Enter", "Escape", "Escape", "ArrowRight", "ArrowRight"):
        move(opened, key)
        assert opened.page.evaluate("document.getAnimations().length") == 0
        seen.append(opened.state["position"])
    assert set(seen) <= {0, 1, 2}
    assert seen[-1] == 2


def test_the_legend_of_300_classes_is_searched_sorted_and_shows_what_the_pointer_rests_on(open_page, tmp_path):
    rng = np.random.default_rng(5)
    sizes = rng.permutation(np.arange(1, 301))
    codes = np.repeat(np.arange(300), sizes // 10 + 1)
    names = np.array([f"kind {k:03d}" for k in range(300)])
    counts = np.bincount(codes)
    write_html(tmp_path / "map.html", PageContent(embedding=rng.normal(size=(len(codes), 2)), labels=names[codes]))
    opened = open_page(tmp_path / "map.html", webgl=False)
    page = opened.page
    listed = [row.split("\n") for row in page.locator("#legend li").all_inner_texts()]
    assert len(listed) == 300
    assert [row[0] for row in listed] == list(names[np.argsort(-counts, kind="stable")])
    assert [int(row[1]) for row in listed] == sorted(counts, reverse=True)
    shades = page.evaluate("() => [...document.querySelectorAll('#legend .swatch')].map((e) => e.style.background)")
    assert len(set(shades[:60])) == 60
    assert max(shades.count(one) for one in set(shades)) == 5
    page.click("#legend .order")
    assert page.inner_text("#legend li >> nth=0").startswith("kind 000")
    page.fill("#legend input", "KIND 12")
    assert page.locator("#legend li").count() == 10
    assert "10 of 300 classes" in page.inner_text("#legend")
    before = page.evaluate(_SHADES)
    page.hover('#legend [data-class="123"]')
    page.wait_for_timeout(250)
    assert page.evaluate(_SHADES) < 0.5 * before  # the others are pale
    assert opened.state["selection"] == []
    page.mouse.move(300, 300)
    page.wait_for_timeout(250)
    np.testing.assert_allclose(page.evaluate(_SHADES), before, rtol=0.02)
    page.click('#legend [data-class="123"] .class')
    assert opened.state["selection"] == list(np.flatnonzero(codes == 123))
    assert page.locator("#legend li").count() == 10  # the search stays
    page.click("#legend .many > summary")
    page.keyboard.press("Escape")
    assert page.locator("#legend li >> nth=0").is_hidden()
    assert opened.problems == []


def test_dark_paper_turns_the_ramp_so_that_what_stands_out_is_bright(open_page, blobs_page):
    opened = open_page(blobs_page)
    box = opened.page.get_by_role("combobox", name="Colour by")
    ends = {}
    for theme in _THEMES:
        dress(opened.page, theme)
        for column in ("gene 9", "Trustworthiness"):
            box.fill(column)
            opened.page.keyboard.press("Enter")
            picture = opened.page.evaluate("() => document.querySelector('#legend .ramp i').style.background")
            colors = [tuple(map(int, c.split(","))) for c in re.findall(r"rgb\(([\d, ]+)\)", picture)]
            ends[theme, column] = [sum(colors[0]), sum(colors[-1])]
    assert ends["light", "gene 9"][0] > ends["light", "gene 9"][1]  # high is dark on white
    assert ends["dark", "gene 9"][0] < ends["dark", "gene 9"][1]  # and bright on black
    assert ends["light", "Trustworthiness"][0] < ends["light", "Trustworthiness"][1]
    assert ends["dark", "Trustworthiness"][0] > ends["dark", "Trustworthiness"][1]
