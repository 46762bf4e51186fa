"""The printed report in a browser: silent, offline, within the width of A4 paper, and readable by its contrasts."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.maps import Map

pytestmark = pytest.mark.browser

_WIDTH = 673  # pixels between the margins of A4
_CONTRASTS = """() => {
  const light = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const poor = [];
  for (const one of document.querySelectorAll("body *")) {
    const text = [...one.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
    if (!text) continue;
    const style = getComputedStyle(one), color = one.closest("svg") ? style.fill : style.color;
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number);
    const ratio = 1.05 / (0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b) + 0.05);
    if (ratio < 4.5) poor.push([text, color]);
  }
  return poor;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    draw = np.random.default_rng(0)
    kind = np.repeat(["first of three", "second" + 50 * "letter", "a class with a name that is rather long"], 40)
    X = draw.normal(size=(120, 6)) + 5.0 * np.eye(6)[np.repeat([0, 1, 2], 40)]
    path = tmp_path_factory.mktemp("report") / "r.html"
    names = [f"feature_with_a_long_name_without_spaces_{j}" for j in range(6)]
    Map(X, X[:, :2], labels=kind, feature_names=names, n_jobs=1).write_report(path)
    return path


@pytest.mark.slow
def test_it_prints_within_the_page_and_is_readable(browser, report, audit):
    page = browser.new_page(viewport={"width": _WIDTH, "height": 971})
    problems, requests = [], []
    page.on("console", lambda one: problems.append(one.text))
    page.on("request", lambda one: requests.append(one.url))
    page.emulate_media(media="print")
    page.goto(report.resolve().as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= _WIDTH
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('table, svg, dl, pre')].map(e => e.scrollWidth))")
    assert widest <= _WIDTH
    assert page.evaluate("document.querySelectorAll('svg[role=img][aria-label]').length") >= 5
    assert page.evaluate(_CONTRASTS) == []
    assert audit(page) == []
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") > 5
    page.close()
    assert problems == []
    assert all(url.startswith(("file:", "data:")) for url in requests)
