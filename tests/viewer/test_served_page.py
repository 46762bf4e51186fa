"""The page that `gnomon serve` sends asks what a file cannot know, and says what went wrong."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.path import Path as Polygon

from conftest import until
from gnomon.explanations.contrast import contrast
from gnomon.maps import Map
from gnomon.server import MapServer
from gnomon.surfaces import Sphere
from gnomon.viewer import document

pytestmark = pytest.mark.browser
_FEATURES = ["weight", "height", "<b>age", "count"]


def made(n=80, embedding=None, **options):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 4))
    X[:, 3] = np.round(4 * X[:, 3])
    places = X[:, :2] @ [[2.0, 0.1], [0.3, 1.0]] if embedding is None else embedding
    return Map(X, places, labels=np.repeat(["a", "b"], n // 2), feature_names=_FEATURES, **options)


class Served:
    def __init__(self, opened, server):
        self.page, self.problems = opened.page, opened.problems
        self.page.goto(server.url)
        self.until("window.gnomon?.ready")

    def until(self, condition):
        until(condition, self.page)

    def told(self, text):
        self.until(f"document.body.innerText.includes({text!r})")

    @property
    def state(self):
        return self.page.evaluate("window.gnomon.state()")

    def places(self, n):
        return np.array(self.page.evaluate("(n) => Array.from({ length: n }, (_, i) => window.gnomon.screenPos(i))", n))

    def pin(self, i):
        self.page.mouse.click(*self.page.evaluate("(i) => window.gnomon.screenPos(i)", i))
        self.until(f"window.gnomon.state().pinned === {i}")

    def change(self, name):
        self.page.get_by_role("combobox", name="Feature to change").click()
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        self.page.get_by_role("spinbutton", name=name).wait_for()

    def lasso(self, corners):
        self.page.keyboard.down("Shift")
        self.page.mouse.move(*corners[0])
        self.page.mouse.down()
        for corner in corners[1:]:
            self.page.mouse.move(*corner)
        self.page.mouse.up()
        self.page.keyboard.up("Shift")


@pytest.fixture
def served(open_tab):
    opened = []

    def serve(result):
        server = MapServer(result)
        server.start()
        opened.append((server, Served(open_tab(), server)))
        return opened[-1]

    yield serve
    for server, one in opened:
        assert [said for said in one.problems if "Failed to load resource" not in said] == []
        one.page.goto("about:blank")
        server.stop()


def test_a_changed_row_goes_where_the_map_places_it(served):
    result = made()
    server, one = served(result)
    one.pin(7)
    one.change("<b>age")
    one.change("height")
    assert "<b>age" in one.page.locator(".what-if").inner_text()  # names are text
    one.page.get_by_role("spinbutton", name="height").fill("1.25")
    one.until("window.gnomon.state().moved")
    changed = result.X[7].copy()
    changed[1] = 1.25
    one.told("of the width of the map")
    np.testing.assert_allclose(one.state["moved"], result.transform(changed[None])[0], atol=1e-5)
    slider = one.page.get_by_role("slider", name="height, from")
    assert float(slider.input_value()) == pytest.approx(1.25, abs=0.05)
    before = one.state["moved"]
    slider.press("ArrowRight")
    one.until(f"Math.abs(window.gnomon.state().moved[0] - {before[0]}) > 1e-9")
    changed[1] = float(slider.input_value())
    assert one.page.get_by_role("spinbutton", name="height").input_value() == slider.input_value()
    np.testing.assert_allclose(one.state["moved"], result.transform(changed[None])[0], atol=1e-5)
    one.page.get_by_label("Leave height as it is").click()
    one.page.get_by_label("Leave <b>age as it is").click()
    one.until("window.gnomon.state().moved === null")
    # exact values, and neighbours that can be gone to
    one.page.get_by_role("button", name="exact values and neighbours").click()
    one.told("Nearest in the data")
    assert str(result.X[7, 0]) in one.page.locator(".exactly").first.inner_text()
    distances = np.linalg.norm(result.X - result.X[7], axis=1)
    nearest = int(np.argsort(distances)[1])
    one.page.locator(".exactly button", has_text=f"(row {nearest})").first.click()
    one.until(f"window.gnomon.state().pinned === {nearest}")
    assert one.state["moved"] is None
    # a server that has gone is told in words
    server.stop()
    one.page.get_by_role("button", name="exact values and neighbours").click()
    one.told("gnomon serve may have been stopped")


def test_a_selection_is_compared_over_all_rows_though_a_sample_is_shown(served, monkeypatch):
    monkeypatch.setattr(document, "MAX_POINTS", 40)
    result = made()
    _, one = served(result)
    places = one.places(40)
    (left, top), bottom, x = places.min(axis=0), places[:, 1].max(), np.median(places[:, 0])
    one.lasso([(left - 5, top - 5), (x, top - 5), (x, bottom + 5), (left - 5, bottom + 5), (left - 5, top - 5)])
    one.page.get_by_role("button", name="compare exactly, over all 80 rows").click()
    one.until("window.gnomon.state().exact")
    state = one.state
    # the lasso in units of the map, from two points that are shown
    rows = state["selection"]
    assert 0 < len(rows) < 40
    shown = document.stratified_rows(np.repeat([0, 1], 40), 80, 40)
    a, b = int(np.argmin(places[:, 0])), int(np.argmax(places[:, 0]))
    scale = (result.embedding[shown[b], 0] - result.embedding[shown[a], 0]) / (places[b, 0] - places[a, 0])
    edge = result.embedding[shown[a], 0] + (x - places[a, 0]) * scale
    far = 1e3
    half = Polygon([(-far, -far), (edge, -far), (edge, far), (-far, far)])
    y_scale = -scale
    y0 = result.embedding[shown[a], 1] - places[a, 1] * y_scale
    high, low = y0 + (top - 5) * y_scale, y0 + (bottom + 5) * y_scale
    inside = half.contains_points(result.embedding)
    inside &= (result.embedding[:, 1] < high) & (result.embedding[:, 1] > low)
    inside &= result.embedding[:, 0] > result.embedding[shown[a], 0] - 5 * scale
    assert state["exact"]["selected"] == inside.sum() > len(rows)
    expected = contrast(result.X, inside, feature_names=_FEATURES)
    told = {row["name"]: (row["effect"], row["auc"]) for row in state["exact"]["features"]}
    assert told == {
        name: (effect, auc) for name, effect, auc in zip(expected.features, expected.effect, expected.auc, strict=True)
    }
    assert f"{inside.sum()} rows against {(~inside).sum()}" in one.page.inner_text("#selection")


def test_a_map_that_cannot_place_rows_says_why_and_offers_no_change(served):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    result = made(embedding=X / np.linalg.norm(X, axis=1, keepdims=True), surface=Sphere(1.0))
    _, one = served(result)
    one.pin(int(one.places(80)[:, 0].argmax()))
    assert "This map cannot place changed rows" in one.page.inner_text("#card")
    assert one.page.get_by_role("combobox", name="Feature to change").count() == 0
    one.page.get_by_role("button", name="exact values and neighbours").click()
    one.told("Nearest in the data")
