"""A page with the values of a sample: it decodes what was rounded, says what is not there and opens the file beside."""

from __future__ import annotations

import numpy as np
import pytest
from test_payload import read_page

import gnomon
from gnomon.viewer import PageContent, write_html

N = 1500
SHADE = """(places) => {
  const canvas = document.getElementById("density"), g = canvas.getContext("2d");
  return places.map(([x, y]) => g.getImageData(Math.round(x), Math.round(y), 1, 1).data[3]); }"""


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """A page of 1,500 points and 500 columns in 1.2 MB, with its file beside; and what it was made from."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 500)).astype(np.float32)
    group = np.arange(N) % 3
    X[np.arange(N), group] += 6.0
    Y = (X[:, :2] + rng.normal(size=(N, 2)) * 0.1).astype(np.float32)
    path = tmp_path_factory.mktemp("large") / "map.html"
    explained = gnomon.explain(X, Y, n_neighbors=5, fit="forward", n_jobs=1)
    labels, names = np.array(list("abc"))[group], [f"feature {j}" for j in range(500)]
    content = PageContent(
        embedding=Y, X=X, labels=labels, explanation=explained, image_shape=(20, 25), feature_names=names
    )
    write_html(path, content, byte_budget=1_200_000, side_file=True)
    return path, X, Y, explained


def test_a_sampled_page_says_what_is_absent_and_opens_the_file_beside(sampled, open_page, tmp_path):
    path, X, Y, explained = sampled
    _, columns = read_page(path)
    chosen = columns["valued"]
    absent = int(np.setdiff1d(np.arange(N), chosen)[0])
    opened = open_page(path)
    page = opened.page

    # positions and scores are decoded
    places = opened.places([0, 1, 2, 3])
    moved, exact = places[1:] - places[0], (Y[1:4] - Y[0]) * [1, -1]
    np.testing.assert_allclose(moved / np.abs(moved).max(), exact / np.abs(exact).max(), atol=1e-3)
    (r2,) = (c["values"] for c in page.evaluate("window.gnomon.channels()") if c["name"] == "R2")
    np.testing.assert_allclose(np.array(r2, float), explained.r2, atol=1 / 100)

    # what is not there is said where it is looked for
    words = f"The values of {len(chosen):,} of 1,500 points are in this page."
    assert words in page.locator("#absent").text_content()
    page.evaluate("() => document.getElementById('about').open = true")
    x, y = opened.place(absent)
    page.mouse.click(x, y)
    pinned = opened.state["pinned"]
    top = opened.state["explanation"]["top"]  # as the lengths of arrows, which alone are in the page
    assert "importance" not in columns
    np.testing.assert_allclose([row["share"] for row in top], np.linalg.norm([row["arrow"] for row in top], axis=1))
    exact = explained.top_features(len(top)).importance[pinned]
    np.testing.assert_allclose([row["share"] for row in top], exact, atol=0.03 * exact.max())
    known = pinned in chosen.tolist()
    assert ("The values of this point are not in this page." in page.locator("#card").text_content()) is not known
    assert page.locator("#card canvas.thumb").count() == known  # its picture is made of them
    page.keyboard.press("Escape")
    opened.lasso(np.array([[100, 100], [900, 100], [900, 700], [500, 700], [100, 400]]))
    selected = np.array(opened.state["selection"])
    rows = {row["feature"]: row for row in opened.state["contrast"]}
    inside = np.intersect1d(selected, chosen)
    np.testing.assert_allclose(rows[0]["inside"], X[inside, 0].mean(), atol=0.02)  # of the sample alone
    assert words in page.locator("#selection").text_content()

    # a file of another map, a file of no map, then the right one
    bad = tmp_path / "map.data"
    bad.write_bytes(b"something else")
    page.set_input_files("#beside", bad)
    page.wait_for_selector("#message:has-text('This is not map.data')")
    other = tmp_path / "other.html"
    write_html(other, PageContent(embedding=Y[::-1], X=X), byte_budget=1_200_000, side_file=True)
    page.set_input_files("#beside", other.with_suffix(".data"))
    page.wait_for_selector("#message:has-text('belongs to another map')")
    whole = path.with_suffix(".data").read_bytes()
    (tmp_path / "cut.data").write_bytes(whole[:-1000])
    page.set_input_files("#beside", tmp_path / "cut.data")
    page.wait_for_selector("#message:has-text('is not complete')")
    page.set_input_files("#beside", path.with_suffix(".data"))
    page.wait_for_selector("#message:has-text('map.data is open')")
    rows = {row["feature"]: row for row in opened.state["contrast"]}
    np.testing.assert_allclose(rows[0]["inside"], X[selected, 0].mean(), atol=0.02)
    arrows = np.array(page.evaluate("(i) => window.gnomon.arrows(i)", absent)).reshape(-1, 2)
    near, wide = explained.jacobians.indices, X.astype(float)
    spread = [np.sqrt(np.square(wide[near[j]] - wide[j]).mean(axis=0)) for j in (absent, *near[absent])]
    axes = explained.jacobians.axes(explained._fitted, absent)
    expected = (axes * np.mean(spread, axis=0)).T
    np.testing.assert_allclose(arrows, expected, atol=0.05 * np.abs(expected).max())  # values have 256 levels
    assert words not in page.locator("#absent").text_content()
    assert not opened.problems
    assert not opened.requests


def test_colouring_by_a_feature_dims_points_without_values(sampled, open_page):
    path, *_ = sampled
    _, columns = read_page(path)
    opened = open_page(path)
    page = opened.page
    box = page.get_by_role("combobox", name="Colour by")
    box.fill("feature 499")
    box.press("Enter")
    state = opened.state
    assert state["colorBy"] == "feature 499"
    assert state["shown"] == len(columns["valued"])
    assert "missing" not in page.locator("#legend").text_content()  # they are absent, not missing
    assert not opened.problems


def test_counts_of_all_points_lie_behind_a_sample(monkeypatch, open_page, tmp_path):
    from gnomon.viewer import document

    monkeypatch.setattr(document, "MAX_POINTS", 300)
    rng = np.random.default_rng(0)
    Y = np.concatenate([rng.normal(size=(5000, 2)), [[12.0, 0.0], [0.0, 9.0]]])
    write_html(tmp_path / "a.html", PageContent(embedding=Y))
    opened = open_page(tmp_path / "a.html")
    assert opened.state["shown"] == 300
    places = opened.places(range(50)) - opened.spot(0, 0)
    shade = np.array(opened.page.evaluate(SHADE, [*places.tolist(), [3, 3]]))
    assert (shade[:-1] > 0).all()  # where a point is drawn, points were counted
    assert shade[-1] == 0
    assert not opened.problems
