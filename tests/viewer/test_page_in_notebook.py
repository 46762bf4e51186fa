"""The page in the frame of a widget: what people mark the model has, what the model is given the page shows."""

from __future__ import annotations

import base64
import json
from importlib.resources import files

import numpy as np
import pytest

from conftest import until
from gnomon.maps import Map
from gnomon.viewer import PageContent
from gnomon.viewer.write import compose

pytestmark = pytest.mark.browser

_HOST = """<!DOCTYPE html><body style="margin:20px"><div id="cell"></div><script type="module">
class Model {
  constructor(state) { this.state = state; this.listeners = {}; this.saves = 0; this.changes = []; }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (JSON.stringify(this.state[name]) === JSON.stringify(value)) return;
    this.state[name] = value;
    this.changes.push(name);
    for (const listener of this.listeners[`change:${name}`] ?? []) listener();
  }
  save_changes() { this.saves++; }
  on(name, listener) { (this.listeners[name] ??= new Set()).add(listener); }
  off(name, listener) { this.listeners[name]?.delete(listener); }
}
const decode = (text) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
window.model = new Model(decode("STATE"));
const widget = (await import("data:text/javascript;base64,MODULE")).default;
window.close = widget.render({ model: window.model, el: document.getElementById("cell") });
</script></body>"""


def in_base64(text):
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def content(blobs):
    return PageContent(
        embedding=blobs.Y,
        labels=np.array(["alpha", "beta", "gamma"])[blobs.group],
        label_name="kind",
        X=blobs.X,
        feature_names=[f"gene {j}" for j in range(10)],
        metadata={"depth": np.arange(blobs.n) / 7},
    )


class Cell:
    """A notebook's cell with the widget, and the page in its frame."""

    def __init__(self, opened, folder, page, **state):
        self.page, self.problems = opened.page, opened.problems
        shared = {"selection": [], "hovered": None, "pinned": None, "color_by": ""}
        given = {"_page": page, "_title": "blobs", "_height": 640, "_columns": [], **shared, **state}
        module = (files("gnomon.notebook") / "widget.js").read_text()
        text = _HOST.replace("STATE", in_base64(json.dumps(given))).replace("MODULE", in_base64(module))
        (folder / "host.html").write_text(text)
        self.page.goto((folder / "host.html").as_uri())
        self.page.wait_for_selector("iframe")
        self.frame = self.page.query_selector("iframe").content_frame()
        self.until("window.gnomon?.ready", self.frame)

    def until(self, condition, where=None):
        """Wait for what messages bring about."""
        until(condition, where or self.page)

    def become(self, name, value):
        """Wait until the model has a value."""
        self.until(f"JSON.stringify(window.model.get({json.dumps(name)})) === {json.dumps(json.dumps(value))}")

    def set(self, name, value):
        self.page.evaluate("([name, value]) => window.model.set(name, value)", [name, value])

    @property
    def state(self):
        return self.frame.evaluate("window.gnomon.state()")

    def place(self, i):
        box = self.page.query_selector("iframe").bounding_box()
        x, y = self.frame.evaluate("(i) => window.gnomon.screenPos(i)", int(i))
        return box["x"] + x, box["y"] + y


@pytest.fixture(scope="module")
def hosted(content):
    return "".join(compose(content, header={"host": True}))


@pytest.fixture
def cell(open_tab, hosted, tmp_path):
    opened = []

    def open_cell(**state):
        opened.append(Cell(open_tab(viewport={"width": 1200, "height": 720}), tmp_path, hosted, **state))
        return opened[-1]

    yield open_cell
    for one in opened:
        assert one.problems == []


def test_what_people_mark_the_model_has(cell):
    one = cell()
    one.become("color_by", "kind")
    one.page.mouse.move(*one.place(7))
    one.become("hovered", 7)
    one.page.mouse.click(*one.place(7))
    one.become("pinned", 7)
    one.page.keyboard.press("Escape")
    one.become("pinned", None)
    mouse, keyboard = one.page.mouse, one.page.keyboard
    x, y = one.place(300)
    keyboard.down("Shift")
    mouse.move(x - 30, y - 30)
    mouse.down()
    for dx, dy in ((30, -30), (30, 30), (-30, 30), (-30, -30)):
        mouse.move(x + dx, y + dy)
    mouse.up()
    keyboard.up("Shift")
    one.until("window.model.get('selection').length > 0")
    chosen = one.page.evaluate("window.model.get('selection')")
    assert chosen == one.state["selection"]
    assert 300 in chosen
    assert len(chosen) < 600
    assert one.page.evaluate("window.model.saves") > 0
    box = one.frame.locator("input[role=combobox]").first
    box.click()
    box.fill("depth")
    keyboard.press("Enter")
    one.become("color_by", "depth")


def test_what_the_model_is_given_the_page_shows(cell):
    one = cell(selection=[5, 6, 400], pinned=400, color_by="gene 3")
    one.until("window.gnomon.state().pinned === 400", one.frame)
    state = one.state
    assert (state["selection"], state["colorBy"], state["shown"]) == ([5, 6, 400], "gene 3", 3)
    assert one.frame.locator("#card").inner_text()
    one.set("selection", [1, 2, 3])
    one.set("hovered", 9)
    one.until("window.gnomon.state().hovered === 9", one.frame)
    assert one.state["selection"] == [1, 2, 3]
    one.set("selection", [])
    one.set("pinned", None)
    one.set("color_by", "kind")
    one.until("window.gnomon.state().colorBy === 'kind'", one.frame)
    state = one.state
    assert (state["selection"], state["pinned"], state["shown"]) == ([], None, 600)
    before = one.page.evaluate("window.model.changes.length")
    for k in range(8):
        one.set("selection", [k])  # answers overtake questions here: an echo would never end
    one.until("window.gnomon.state().selection[0] === 7", one.frame)
    one.page.wait_for_timeout(120)
    assert one.page.evaluate("window.model.changes.length") == before + 8
    assert one.page.evaluate("window.model.get('selection')") == one.state["selection"] == [7]


def test_columns_of_the_notebook_colour_the_points(cell, blobs):
    ramp = {"name": "mine", "values": [None if i == 3 else i / 2 for i in range(600)]}
    groups = {"name": "sides", "values": [i % 2 for i in range(600)], "categories": ["left", "<b>right"]}
    groups |= {"colors": ["#ff0000", "#0000ff"], "missing": -1}
    one = cell(_columns=[ramp], color_by="mine")
    one.until("window.gnomon.state().colorBy === 'mine'", one.frame)
    one.set("_columns", [ramp, groups])
    one.set("color_by", "sides")
    one.until("window.gnomon.state().colorBy === 'sides'", one.frame)
    assert "<b>right" in one.frame.locator("#legend").inner_text()
    one.set("_columns", [{**groups, "values": [1] * 600}])
    one.until("document.getElementById('legend').innerText.includes('600')", one.frame)
    bad = [{"name": "short", "values": [1, 2]}, {**groups, "name": "codes", "values": [7] * 600}, None, {"name": 3}]
    one.set("_columns", bad)
    one.set("color_by", "kind")
    one.until("window.gnomon.state().colorBy === 'kind'", one.frame)
    names = [channel["name"] for channel in one.frame.evaluate("window.gnomon.channels()")]
    assert "short" not in names
    assert "codes" not in names


def test_messages_of_others_and_malformed_ones_change_nothing(cell):
    one = cell()
    one.become("color_by", "kind")
    hostile = [
        {"gnomon": 1, "kind": "state", "selection": [1]},
        {"gnomon": 1, "selection": "all", "pinned": "1", "hovered": 1.5, "color_by": 7, "columns": 3},
        {"gnomon": 2, "selection": [1]},
        "text",
        None,
    ]
    own = (
        "(all) => all.forEach((one) => window.postMessage(one, '*'))"  # from the notebook to itself, not from the page
    )
    one.page.evaluate(own, hostile)
    one.frame.evaluate(own, hostile)  # from the page to itself, not from the notebook
    one.page.wait_for_timeout(100)
    assert one.page.evaluate("window.model.changes") == ["color_by"]
    assert one.state["selection"] == []
    down = "(all) => all.forEach((one) => document.querySelector('iframe').contentWindow.postMessage(one, '*'))"
    one.page.evaluate(down, hostile[1:])
    up = "(all) => all.forEach((one) => window.parent.postMessage(one, '*'))"
    one.frame.evaluate(up, hostile[1:])
    one.page.wait_for_timeout(150)
    assert one.page.evaluate("[window.model.get('selection'), window.model.get('pinned')]") == [[], None]
    assert one.page.evaluate("window.model.get('color_by')") == "kind"
    state = one.state
    assert (state["selection"], state["pinned"], state["hovered"]) == ([], None, None)
    one.set("selection", [3, 10_000, -1, "x", None])  # a wish that cannot be met comes back as what is shown
    one.become("selection", [3])
    one.set("pinned", 99_999)
    one.become("pinned", None)
    one.set("color_by", "nobody knows this")
    one.become("color_by", "kind")
    one.page.evaluate("window.close()")  # the cell goes: its listeners go with it
    assert one.page.evaluate("Object.values(window.model.listeners).every((all) => all.size === 0)")


def test_a_page_that_is_a_file_listens_to_nobody(open_tab, content, tmp_path):
    """Neither does a page in a frame that was not made for a widget."""
    (tmp_path / "plain.html").write_text("".join(compose(content)))
    (tmp_path / "frame.html").write_text('<iframe src="plain.html" width="1000" height="600"></iframe>')
    page = open_tab().page
    page.goto((tmp_path / "frame.html").as_uri())
    frame = page.query_selector("iframe").content_frame()
    frame.wait_for_load_state()
    until("window.gnomon?.ready", frame)
    page.evaluate("window.heard = 0; window.addEventListener('message', () => window.heard++)")
    page.evaluate("document.querySelector('iframe').contentWindow.postMessage({ gnomon: 1, selection: [1, 2] }, '*')")
    page.wait_for_timeout(100)
    assert frame.evaluate("window.gnomon.state().selection") == []
    assert page.evaluate("window.heard") == 0


def test_a_displayed_map_runs_in_its_closed_frame(open_tab, tmp_path):
    """The frame has no access to the page around it, hostile names stay text, and nothing is asked of any network."""
    hostile = "\"><script>top.broken = 1</script><img src=x onerror='top.broken=2'></iframe>"
    X = np.random.default_rng(0).normal(size=(60, 3))
    shown = Map(X, X[:, :2].copy(), name=hostile, feature_names=[hostile, "b", "c"], labels=[hostile, "x"] * 30)
    (tmp_path / "output.html").write_text(f"<!DOCTYPE html><body>{shown._repr_html_()}<p id=after>after</p></body>")
    opened = open_tab(viewport={"width": 1100, "height": 760})
    page = opened.page
    page.goto((tmp_path / "output.html").as_uri())
    frame = page.query_selector("iframe").content_frame()
    until("window.gnomon?.ready", frame)
    box = page.query_selector("iframe").bounding_box()
    x, y = frame.evaluate("window.gnomon.screenPos(11)")
    page.mouse.click(box["x"] + x, box["y"] + y)
    assert frame.evaluate("window.gnomon.state().pinned") == 11
    assert page.evaluate("window.broken") is None
    assert page.query_selector("#after").bounding_box()["y"] >= box["y"] + box["height"] - 1
    reached = frame.evaluate(
        "() => { try { return String(window.parent.document) } catch (error) { return error.name } }"
    )
    assert reached == "SecurityError"
    assert (opened.problems, opened.requests) == ([], [])
