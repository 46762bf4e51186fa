"""Charts beside the map count and filter as NumPy does; mouse, touch and keyboard events are real."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import until
from gnomon.viewer import PageContent, write_html

pytestmark = pytest.mark.browser

N = 600


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(11)
    dose = rng.normal(size=N)
    dose[::20] = np.nan
    return {
        "dose": dose,
        "count": rng.integers(0, 21, N),
        "site": rng.choice(["north", "south", "east"], N, p=[0.6, 0.3, 0.1]),
        "seen": np.datetime64("2024-01-01") + rng.integers(0, 400, N).astype("m8[D]"),
        "wild": np.array([np.nan, np.inf, -np.inf, 1e30, *rng.normal(size=N - 4)]),
    }


@pytest.fixture(scope="module")
def page(columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("charts") / "page.html"
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    write_html(
        path,
        PageContent(
            embedding=X[:, :2], labels=np.arange(N) % 3, metadata=columns, X=X, feature_names=["a", "b", "cc", "d"]
        ),
    )
    return path


def shares(region):
    """Where bars begin and end on the screen: the histogram and its box."""
    plot = region.locator("svg")
    plot.scroll_into_view_if_needed()
    return plot, plot.bounding_box()


def brush(opened, region, start, end):
    _, box = shares(region)
    y = box["y"] + box["height"] / 2
    opened.page.mouse.move(box["x"] + start * box["width"], y)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + end * box["width"], y, steps=5)
    opened.page.mouse.up()


def rule(state, name):
    return next(chart["rule"] for chart in state["charts"] if chart["name"] == name)


def kept(values, held):
    return ((values >= held["low"]) & (values <= held["high"])) | (np.isnan(values) & held["missing"])


def test_a_brush_filters_the_map_and_every_chart_counts_what_is_left(open_page, page, columns):
    opened = open_page(page)
    opened.add_chart("count")
    dose = opened.add_chart("dose")
    chart = next(one for one in opened.state["charts"] if one["name"] == "dose")
    assert chart["all"][-1] == np.isnan(columns["dose"]).sum()  # the missing ones have a bar of their own
    assert sum(chart["all"]) == N
    count = next(one for one in opened.state["charts"] if one["name"] == "count")
    assert count["all"][:-1] == np.bincount(columns["count"], minlength=21).tolist()
    brush(opened, dose, 0.4, 0.7)
    state = opened.state
    held = rule(state, "dose")
    inside = kept(columns["dose"], held)
    assert 60 < inside.sum() < 500
    assert state["shown"] == inside.sum()
    count = next(one for one in state["charts"] if one["name"] == "count")
    assert count["shown"][:-1] == np.bincount(columns["count"][inside], minlength=21).tolist()
    assert opened.page.inner_text("#chips").startswith(f"dose in {held['low']:g}..{held['high']:g}".replace("-", "−"))
    assert f"{inside.sum()} of 600 points" in opened.page.inner_text("#chips")
    # a second chart: both must hold
    brush(opened, opened.page.get_by_role("region", name="count", exact=True), 0.02, 0.4)
    state = opened.state
    both = inside & kept(columns["count"], rule(state, "count"))
    assert 0 < both.sum() < inside.sum()
    assert state["shown"] == both.sum()
    # the points that are left become a selection, and leave the filters as they are
    opened.page.get_by_role("button", name="compare with the rest").click()
    np.testing.assert_array_equal(opened.state["selection"], np.flatnonzero(both))
    # a chip takes its rule away
    opened.page.keyboard.press("Escape")
    opened.page.locator("#chips .chip").first.click()
    assert opened.state["shown"] == kept(columns["count"], rule(state, "count")).sum()
    opened.page.keyboard.press("Escape")
    assert opened.state["rules"] == []
    assert opened.state["shown"] == N
    assert opened.problems == []


def test_handles_by_keyboard_missing_values_classes_and_dates(open_page, page, columns):
    opened = open_page(page)
    keyboard = opened.page.keyboard
    dose = opened.add_chart("dose")
    dose.get_by_label("From, dose").focus()
    for key in ["PageUp"] * 4 + ["ArrowRight"] * 10:
        keyboard.press(key)
    held = rule(opened.state, "dose")
    assert held["high"] == np.inf  # open above
    assert opened.state["shown"] == kept(columns["dose"], held).sum()
    assert 0 < opened.state["shown"] < N
    dose.get_by_role("button", name="30 missing").click()
    held = rule(opened.state, "dose")
    assert held["missing"]
    assert opened.state["shown"] == kept(columns["dose"], held).sum()
    assert "or missing" in opened.page.inner_text("#chips")
    opened.page.get_by_role("button", name="clear filters").click()
    dose.get_by_role("button", name="30 missing").click()
    assert opened.state["shown"] == 30
    opened.page.get_by_role("button", name="clear filters").click()
    # classes
    site = opened.add_chart("site")
    site.locator(".bar-row", has_text="south").click()
    assert opened.state["shown"] == (columns["site"] == "south").sum()
    site.locator(".bar-row", has_text="east").focus()
    keyboard.press("Enter")
    assert opened.state["shown"] == (columns["site"] != "north").sum()
    assert opened.page.locator("#chips .chip").inner_text().startswith("site: east, south")
    opened.page.get_by_role("button", name="clear filters").click()
    # dates
    seen = opened.add_chart("seen")
    brush(opened, seen, 0.5, 1.0)
    days = columns["seen"].astype("M8[s]").astype(float)
    assert opened.state["shown"] == kept(days, rule(opened.state, "seen")).sum()
    assert "2024-" in opened.page.inner_text("#chips")
    # infinite values lie at the ends, and only NaN is missing: in the chart as in the legend
    opened.page.get_by_role("combobox", name="Colour by").fill("wild")
    keyboard.press("Enter")
    legend = opened.page.inner_text("#legend .ramp").split("\n")
    assert legend[-1] == "1 missing"
    chart = opened.page.get_by_role("region", name="wild", exact=True)
    assert chart.locator(".ends").inner_text().split("\n") == [legend[0], "1 missing", legend[2]]
    assert (legend[0][:2], legend[2][:2]) == ("≤ ", "≥ ")
    # the handles stand below the bars of values, not below that of the missing ones
    _, box = shares(chart)
    rail = chart.get_by_label("To, wild").bounding_box()
    bars = (box["width"] * 40) / 43
    assert abs(rail["x"] + rail["width"] - 7 - box["x"] - bars) < 1
    assert abs(rail["x"] + 7 - box["x"]) < 1
    assert opened.problems == []


def test_a_finger_brushes(open_page, page, columns):
    opened = open_page(page, has_touch=True, is_mobile=True)
    dose = opened.add_chart("dose")
    _, box = shares(dose)
    session = opened.page.context.new_cdp_session(opened.page)

    def touch(kind, share):
        x, y = box["x"] + share * box["width"], box["y"] + box["height"] / 2
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0.3)
    for share in (0.35, 0.45, 0.5, 0.6):
        touch("touchMove", share)
    touch("touchEnd", 0.6)
    state = opened.state
    assert state["shown"] == kept(columns["dose"], rule(state, "dose")).sum()
    assert 0 < state["shown"] < N


def test_a_lasso_and_a_class_take_only_what_the_charts_leave(open_page, page, columns):
    opened = open_page(page)
    brush(opened, opened.add_chart("dose"), 0.3, 0.6)
    inside = kept(columns["dose"], rule(opened.state, "dose"))
    opened.lasso([opened.spot(*corner) for corner in ((3, 3), (-3, 3), (-3, -3), (3, -3))])
    np.testing.assert_array_equal(opened.state["selection"], np.flatnonzero(inside))
    opened.page.click('#legend [data-class="1"] .class')
    np.testing.assert_array_equal(opened.state["selection"], np.flatnonzero(inside & (np.arange(N) % 3 == 1)))


def test_the_colouring_column_has_a_chart_and_a_feature_may_have_one(open_page, page):
    opened = open_page(page)
    opened.page.click("#charts summary")
    until("gnomon.state().charts.length > 0", opened.page)
    assert [chart["name"] for chart in opened.state["charts"]] == ["label"]
    assert opened.state["charts"][0]["all"] == [200, 200, 200]
    feature = opened.add_chart("cc")
    feature.get_by_role("button", name="log").click()
    counts = np.array(opened.state["charts"][1]["all"][:-1])
    bars = feature.locator("svg .all").evaluate_all("(bars) => bars.map((bar) => Number(bar.getAttribute('height')))")
    assert bars.pop() == 0  # none is missing
    np.testing.assert_allclose(bars, 100 * np.log1p(counts) / np.log1p(counts.max()))
    assert [chart["id"] for chart in opened.state["charts"]] == ["column0", "feature2"]
    opened.page.get_by_role("button", name="Remove the chart of cc").click()
    assert len(opened.state["charts"]) == 1
