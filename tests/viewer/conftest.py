"""A headless Chromium and a small map whose every number is known."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gnomon.viewer import PageContent, write_html

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",  # WebGL in software, but not the rest of the page, which would take three times the time
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
HOSTILE = "<script>window.broken = 1</script><img src=x onerror='window.broken=2'>"


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    # (the shell is the same engine without a browser's windows, which takes a sixth less time)
    names = "chromium-headless-shell", "chromium", "chromium-browser"
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None and "CI" not in os.environ:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as driver:
        instance = driver.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
        yield instance
        instance.close()


@pytest.fixture(scope="session")
def audit():
    """What axe-core finds on a page and calls serious or critical."""
    package = pytest.importorskip("axe_playwright_python")
    source = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

    def findings(page):
        if not page.evaluate("typeof window.axe === 'object'"):
            page.evaluate(f"() => {{ {source} }}")
        found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
        severe = [one for one in found if one["impact"] in ("serious", "critical")]
        return [(one["id"], node["target"], node["failureSummary"]) for one in severe for node in one["nodes"]]

    return findings


def until(condition, where):
    """Wait until a page or a frame says so."""
    # (wait_for_function would evaluate text, which the page's security policy forbids)
    where.evaluate(
        "(text) => new Promise((done, fail) => { const start = Date.now(); const look = () => {"
        f"  if ({condition}) done(); else if (Date.now() - start > 15000) fail(new Error(text));"
        "  else setTimeout(look, 10); }; look(); })",
        condition,
    )


_REST = """const look = () => requestAnimationFrame(window.gnomon.moving?.() ? look : done);
requestAnimationFrame(look);"""

# A browser that lacks something, where the address of the page says so.
_WITHOUT = """(() => {
  const get = HTMLCanvasElement.prototype.getContext, { search } = location;
  if (search === "?without-webgl")
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      return kind.startsWith("webgl") ? null : get.call(this, kind, options);
    };
  if (search === "?without-storage")
    Object.defineProperty(window, "localStorage", { get() { throw new DOMException("none", "SecurityError"); } });
})();"""
# What a page says of itself, what is seen of it, and what it and the tests before have put down.
_LOOKS = f"""() => new Promise((done) => {{ {_REST} }}).then(() => {{
  const {{ told, ...state }} = gnomon.state();
  document.querySelector("#live")?.replaceChildren();
  const fields = [...document.querySelectorAll("input, select")].filter((one) => one.checkVisibility());
  const parts = [...document.querySelectorAll("details, [aria-pressed], [aria-expanded]")];
  const kept = [window, navigator.clipboard ?? {{}}, localStorage].map(Object.keys);
  return JSON.stringify([
    state, document.documentElement.dataset.theme, document.activeElement.id, document.body.innerText,
    fields.map((one) => [one.value, one.checked]),
    parts.map((one) => [one.open, one.ariaPressed, one.ariaExpanded]),
    kept,
  ]);
}})"""
# By its own buttons and keys. Help comes and goes since a card stays for a while after the mouse has left its point.
_UNDO = """(at) => {
  document.activeElement.blur();
  for (let k = 0; k < 3; k++) document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  for (const tool of document.querySelectorAll("#lasso, #line, #contours"))
    if (tool.ariaPressed === "true") tool.click();
  for (const home of document.querySelectorAll("#reset, .front, #helpbutton")) home.click();
  document.querySelector("#helpbutton")?.click();
  for (const one of document.querySelectorAll("body *")) if (one.scrollTop) one.scrollTop = 0;
  const { address, position } = gnomon.state();
  if (position !== (at ?? undefined)) location.hash = `#gnomon=1&id=${address.id}&at=${at}`;
}"""


class Opened:
    """A tab: the page that it shows, and what that page said and asked for."""

    def __init__(self, browser, *, java_script_enabled=True, **options):
        self.scripted, self.kept = java_script_enabled, None
        self.page = browser.new_page(java_script_enabled=java_script_enabled, **options)
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.problems.append(str(e)))
        self.page.on(
            "request",
            lambda r: self.requests.append(r.url) if not r.url.startswith(("file:", "data:", "blob:")) else None,
        )
        self.page.add_init_script(_WITHOUT)

    def prepare(self, *, viewport=None, color_scheme="light", reduced_motion="no-preference"):
        """What the page will find that is opened next."""
        self.problems, self.requests = [], []
        self.page.set_viewport_size(viewport or {"width": 1200, "height": 800})
        self.page.emulate_media(media="null", color_scheme=color_scheme, reduced_motion=reduced_motion)

    def show(self, path, *, webgl=True):
        """Open a file and wait until all of it is there."""
        self.page.goto(Path(path).resolve().as_uri() + ("" if webgl else "?without-webgl"))
        if self.scripted:
            until("window.gnomon?.ready", self.page)
            self.settle()

    def show_again(self, path, *, webgl=True):
        """The page of a file as it is first seen: the one that is open if that is how it looks, else opened anew."""
        if self.kept != (path, webgl) or self.page.evaluate(_LOOKS) != self.first:
            self.leave()
            self.show(path, webgl=webgl)
            self.kept, self.first = (path, webgl), self.page.evaluate(_LOOKS)

    def rest(self):
        """Undo what a reader can undo, so that the next test may find the page as it is first seen."""
        left, top, *_ = self.box("#overlay, .overlay")
        self.page.mouse.click(left + 1, top + 1)  # the next click on a point is the first one there
        self.page.mouse.move(0, 0)
        self.page.evaluate(_UNDO, json.loads(self.first)[0].get("position"))

    def leave(self):
        """Let the page go with what it keeps in the browser, and the mouse to where nothing is."""
        if self.scripted and self.page.url.startswith(("file:", "http:")) and "without-storage" not in self.page.url:
            self.page.evaluate("localStorage.clear()")
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)

    def settle(self):
        """Wait until what happened is drawn, and the camera is at rest."""
        self.page.evaluate(f"() => new Promise((done) => {{ {_REST} }})")

    @property
    def state(self):
        """What the page says of itself, once settled."""
        return self.page.evaluate(f"() => new Promise((done) => {{ {_REST} }}).then(() => gnomon.state())")

    def place(self, i):
        """Pixels of a point, by its position in the file."""
        return self.page.evaluate("(i) => window.gnomon.screenPos(i)", int(i))

    def places(self, points):
        """Pixels of many points at once."""
        points = [int(i) for i in points]
        return np.array(self.page.evaluate("(points) => points.map((i) => window.gnomon.screenPos(i))", points))

    def box(self, selector):
        """Left, top, right and lower edge of an element that is seen, in pixels of the page."""
        left, top, right, bottom = self.page.evaluate(
            "(selector) => { const { left, top, right, bottom } ="
            " document.querySelector(selector).getBoundingClientRect(); return [left, top, right, bottom]; }",
            selector,
        )
        assert right > left, selector
        assert bottom > top, selector
        return left, top, right, bottom

    def spot(self, x, y):
        """Pixels of the page, from those of the map: from its right and lower edge where they are negative."""
        left, top, right, bottom = self.box("#stage")
        return (right if x < 0 else left) + x, (bottom if y < 0 else top) + y

    def hover(self, i):
        x, y = self.place(i)
        self.page.mouse.move(x - 2, y - 2)
        self.page.mouse.move(x, y)

    def save(self, kind, path):
        """Take an entry of the Save menu; returns the name that the file was given."""
        self.page.click("#export")
        with self.page.expect_download() as download:
            self.page.locator("#save-menu button", has_text=kind).click()
        download.value.save_as(path)
        self.page.evaluate("document.activeElement.blur()")  # keys are the map's again
        return download.value.suggested_filename

    def add_chart(self, name):
        """Open the chart of a column."""
        self.page.evaluate("() => { document.querySelector('#charts').open = true; }")
        box = self.page.get_by_role("combobox", name="Add a chart")
        box.click()
        box.fill(name)
        self.page.keyboard.press("Enter")
        return self.page.get_by_role("region", name=name, exact=True)

    def lasso(self, corners):
        mouse, keyboard = self.page.mouse, self.page.keyboard
        keyboard.down("Shift")
        corners = np.asarray(corners, dtype=float).tolist()
        mouse.move(*corners[0])
        mouse.down()
        for x, y in corners[1:]:
            mouse.move(x, y)
        mouse.up()
        keyboard.up("Shift")


class Tabs:
    """Tabs that are used again: a new one costs twice as much as the page in it."""

    def __init__(self, browser, session):
        self._browser, self._session, self._free = browser, session, {}

    @contextmanager
    def lend(self, keep=False):
        """A function that gives tabs; they are taken back, at rest or empty, unless a test has failed meanwhile."""
        lent, failed = [], self._session.testsfailed

        def take(*, viewport=None, color_scheme="light", reduced_motion="no-preference", **kind):
            free = self._free.setdefault((keep, *sorted(kind.items())), [])
            one = free.pop() if free else Opened(self._browser, **kind)
            lent.append((one, free))
            one.prepare(viewport=viewport, color_scheme=color_scheme, reduced_motion=reduced_motion)
            return one

        yield take
        for one, free in lent:
            if self._session.testsfailed > failed:
                one.page.close()
            else:
                one.rest() if keep else one.leave()
                free.append(one)


@pytest.fixture(scope="session")
def tabs(browser, request):
    return Tabs(browser, request.session)


@pytest.fixture
def open_tab(tabs):
    with tabs.lend() as take:
        yield take


@pytest.fixture
def open_page(open_tab):
    def open_file(path, *, webgl=True, **options):
        opened = open_tab(**options)
        opened.show(path, webgl=webgl)
        return opened

    return open_file


@pytest.fixture
def open_again(tabs):
    """For pages of many tests: opened anew only where the test before has left traces."""
    with tabs.lend(keep=True) as take:

        def open_file(path, *, webgl=True, **options):
            opened = take(**options)
            opened.show_again(path, webgl=webgl)
            return opened

        yield open_file


@pytest.fixture(scope="session")
def blobs():
    """Three groups of 200 points in 10 features; feature 0 to 2 tell the groups apart."""
    rng = np.random.default_rng(7)
    n, n_features = 600, 10
    group = np.repeat([0, 1, 2], n // 3)
    X = rng.normal(size=(n, n_features))
    X[np.arange(n), group] += 4.0
    X[:, 9] = rng.integers(0, 200, n)
    Y = (rng.normal(scale=0.8, size=(n, 2)) + np.array([[0, 0], [9, 1], [3, 8]])[group]).astype(np.float32)
    top = SimpleNamespace(
        indices=np.argsort(rng.random((n, n_features)), axis=1)[:, :8],
        arrows=rng.normal(size=(n, 8, 2)),
        importance=-np.sort(-rng.random((n, 8)), axis=1),
    )
    factors = rng.normal(size=(n, 2, 2))
    explanation = SimpleNamespace(
        r2=np.where(np.arange(n) == 5, 0.1, rng.uniform(0.5, 1.0, n)),
        ellipses=factors @ factors.transpose(0, 2, 1),
        global_importance=np.linspace(2.0, 1.0, n_features),
        top_features=lambda n_top: top,
    )
    evaluation = SimpleNamespace(
        trustworthiness=0.97,
        continuity=0.95,
        neighborhood_preservation=0.41,
        knn_accuracy=None,
        shepard=0.6,
        triplet_accuracy=0.7,
        per_point={"trustworthiness": rng.uniform(0.8, 1.0, n)},
    )
    names = [f"gene {j}" for j in range(n_features)]
    names[4] = HOSTILE
    return SimpleNamespace(
        n=n, X=X, Y=Y, group=group, top=top, explanation=explanation, evaluation=evaluation, feature_names=names
    )


@pytest.fixture(scope="session")
def blobs_page(blobs, tmp_path_factory):
    path = tmp_path_factory.mktemp("viewer") / "blobs.html"
    labels = np.array(["alpha", HOSTILE, "gamma"])[blobs.group]
    write_html(
        path,
        PageContent(
            embedding=blobs.Y,
            title=f"Blobs {HOSTILE}",
            method=HOSTILE,
            labels=labels,
            label_name=HOSTILE,
            X=blobs.X,
            feature_names=blobs.feature_names,
            explanation=blobs.explanation,
            evaluation=blobs.evaluation,
            apart=f"the 3 labels are told apart by {HOSTILE} 93%",
            point_names=[f"cell-{i}" if i != 123 else HOSTILE + " שלום 🙂" for i in range(blobs.n)],
            metadata={
                "batch": np.array(["east", "west"])[np.arange(blobs.n) % 2],
                "depth": np.arange(blobs.n) / 7,
                HOSTILE: [HOSTILE] * blobs.n,
            },
            info={"seed": 0, HOSTILE: HOSTILE},
        ),
    )
    return path
