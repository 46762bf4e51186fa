"""What a person sees and does on the page agrees with NumPy; mouse and keyboard events are real."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.path import Path as Polygon
from scipy.stats import rankdata

from gnomon.explanations import explain, group_features
from gnomon.explanations.axis import axis
from gnomon.explanations.axis.points_near import find_points_near
from gnomon.explanations.contrast import contrast
from gnomon.maps import Map
from gnomon.viewer import PageContent, write_html

pytestmark = pytest.mark.browser


def effect_and_auc(values, inside):
    a, b = values[inside], values[~inside]
    pooled = ((len(a) - 1) * a.var(axis=0, ddof=1) + (len(b) - 1) * b.var(axis=0, ddof=1)) / (len(values) - 2)
    auc = (rankdata(values, axis=0)[inside].sum(axis=0) - len(a) * (len(a) + 1) / 2) / (len(a) * len(b))
    return (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(pooled), auc


def ring(opened, points, reach=40.0):
    """A polygon of pixels around some points."""
    pixels = opened.places(points)
    center, radius = pixels.mean(axis=0), np.linalg.norm(pixels - pixels.mean(axis=0), axis=1).max() + reach
    turns = np.linspace(0, 2 * np.pi, 13)
    return np.stack([center[0] + radius * np.cos(turns), center[1] + radius * np.sin(turns)], axis=1)


def test_f108_f109_page_is_silent_and_offline_and_hostile_text_is_inert(open_page, blobs_page):
    """F108, F109: no request, no console error, markup in any text stays text."""
    opened = open_page(blobs_page)
    opened.hover(123)
    assert "שלום 🙂" in opened.page.inner_text("#card")
    opened.page.click("#about summary")
    assert "<script>" in opened.page.inner_text("#side")
    assert "<script>" in opened.page.inner_text("h1")
    assert opened.page.evaluate("window.broken") is None
    assert opened.problems == []
    assert opened.requests == []


@pytest.mark.parametrize("webgl", [True, False])
def test_hover_reports_the_point_and_its_explanation(open_again, blobs_page, blobs, webgl):
    opened = open_again(blobs_page, webgl=webgl)
    assert opened.state["renderer"] == ("webgl" if webgl else "raster")
    for i in (3, 250, 431):
        opened.hover(i)
        state = opened.state
        pixels = np.array(opened.place(i))
        nearest = min(range(blobs.n), key=lambda k: np.linalg.norm(blobs.Y[k] - blobs.Y[i]))
        assert state["hovered"] == nearest == i, pixels
        top = state["explanation"]["top"]
        np.testing.assert_array_equal([row["feature"] for row in top], blobs.top.indices[i])
        np.testing.assert_allclose([row["arrow"] for row in top], blobs.top.arrows[i], atol=2e-4)
        np.testing.assert_allclose([row["share"] for row in top], blobs.top.importance[i], atol=2e-4)
        np.testing.assert_allclose(state["explanation"]["r2"], blobs.explanation.r2[i], rtol=1e-6)
        ellipse = blobs.explanation.ellipses[i]
        np.testing.assert_allclose(state["explanation"]["ellipse"], ellipse[np.triu_indices(2)], rtol=1e-6)
    assert f"{100 * blobs.explanation.r2[431]:.0f} % of where its neighbours lie" in opened.page.inner_text("#card")
    # arrows and bars are told, too
    x, y = blobs.top.arrows[431, 0]
    row = opened.page.locator("#card .axes tr").first.inner_text()
    assert ("up" in row) == (y > abs(np.tan(np.pi / 8) * x))
    assert ("left" in row) == (-x > abs(np.tan(np.pi / 8) * y))
    assert f"{blobs.top.importance[431, 0]:.3f}"[:4] in row
    assert opened.page.locator("#importance td.bar").all_inner_texts()[0].startswith("2")
    between = opened.page.get_by_text("Between groups: the 3 labels are told apart by")
    assert between.text_content().endswith("> 93%.")  # with the whole of a name that is no mark-up


def test_low_fidelity_is_said(open_again, blobs_page):
    opened = open_again(blobs_page)
    opened.hover(5)
    assert "not meaningful here" in opened.page.inner_text("#card")


def test_lasso_selects_and_contrasts_as_numpy_does(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    pixels = opened.places(range(blobs.n))
    corners = ring(opened, np.flatnonzero(blobs.group == 1)[:60], reach=5)
    opened.lasso(corners)
    state = opened.state
    inside = Polygon(corners[:-1]).contains_points(pixels)
    np.testing.assert_array_equal(state["selection"], np.flatnonzero(inside))
    assert 60 <= inside.sum() <= 200
    rows = {row["feature"]: row for row in state["contrast"]}
    effect, auc = effect_and_auc(blobs.X, inside)
    np.testing.assert_allclose([rows[j]["effect"] for j in range(10)], effect, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose([rows[j]["auc"] for j in range(10)], auc, rtol=1e-6)
    assert state["contrast"][0]["feature"] == 1
    assert "What sets it apart" in opened.page.locator("#selection h3").all_inner_texts()
    assert f"{inside.sum()} of 600 points" in opened.page.inner_text("#selection")
    assert state["shown"] == inside.sum()  # the rest is dimmed, not removed:
    opened.hover(np.flatnonzero(~inside)[0])
    assert opened.state["hovered"] == np.flatnonzero(~inside)[0]


@pytest.mark.slow
def test_a_few_points_are_compared_without_statistics(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    far = np.argmax(np.linalg.norm(blobs.Y - np.median(blobs.Y, axis=0), axis=1))
    opened.lasso(ring(opened, [far], reach=4))
    assert 1 <= len(opened.state["selection"]) < 5
    text = opened.page.inner_text("#selection")
    assert "too few for statistics" in text
    assert "AUC" not in text


@pytest.mark.slow
def test_f110_empty_lasso_clears_with_a_message_and_escape_clears(open_again, blobs_page, blobs):
    """F110."""
    opened = open_again(blobs_page)
    corners = ring(opened, np.flatnonzero(blobs.group == 1))
    opened.lasso(corners)
    assert len(opened.state["selection"]) >= 200
    opened.lasso([[300, 700], [340, 700], [340, 740], [300, 740]])
    assert opened.state["selection"] == []
    assert "No points inside" in opened.page.inner_text("#message")
    opened.lasso(corners)
    assert opened.state["selection"]
    opened.page.keyboard.press("Escape")
    assert opened.state["selection"] == []
    assert opened.state["shown"] == blobs.n


def test_f103_hidden_class_is_never_hovered_and_ids_stay(open_again, blobs_page, blobs):
    """F103: after filtering, the point under the mouse is still reported by its own number."""
    opened = open_again(blobs_page)
    order = ["<script", "alpha", "gamma"]
    hidden, kept = np.flatnonzero(blobs.group == 0)[7], np.flatnonzero(blobs.group == 2)[9]
    row = opened.page.locator(f'#legend [data-class="{order.index("alpha")}"]')
    row.hover()
    row.locator(".eye").click()
    opened.hover(hidden)
    assert opened.state["hovered"] is None
    opened.hover(kept)
    state = opened.state
    assert state["hovered"] == kept
    assert state["shown"] == 400
    assert "gamma" in opened.page.inner_text("#card")
    row.locator(".eye").click()
    opened.hover(hidden)
    assert opened.state["hovered"] == hidden


def test_a_selection_of_noise_is_said_to_be_set_apart_by_no_feature(open_page, tmp_path):
    rng = np.random.default_rng(0)
    X, Y, kind = rng.normal(size=(80, 30)), rng.normal(size=(80, 2)), np.repeat(["a", "b"], 40)
    for shift, words in ((0.0, "No feature sets it apart"), (3.0, "What sets it apart")):
        X[:40, 3] += shift
        write_html(tmp_path / "m.html", PageContent(Y, X=X, labels=kind, label_name="kind"))
        opened = open_page(tmp_path / "m.html")
        opened.page.click('#legend [data-class="0"] .class')
        assert opened.state["selection"] == list(range(40))
        assert words in opened.page.locator("#selection h3").all_inner_texts()
        assert contrast(X, np.arange(40)).sets_apart.any() == (shift > 0)
        assert ("As much arises by chance" in opened.page.inner_text("#selection")) == (shift == 0)


def test_a_selection_that_varies_more_than_the_rest_is_not_set_apart_by_chance(open_page, tmp_path):
    rng = np.random.default_rng(0)
    X, Y, kind = rng.normal(size=(100, 30)), rng.normal(size=(100, 2)), np.repeat(["a", "b"], [20, 80])
    X[:20] *= 6.0
    away = np.abs(contrast(X, np.arange(20)).auc - 0.5).max()
    assert away / np.sqrt(101 / (12 * 20 * 80)) > 3.5  # which chance gives one in two thousand, of alike sides
    write_html(tmp_path / "m.html", PageContent(Y, X=X, labels=kind, label_name="kind"))
    opened = open_page(tmp_path / "m.html")
    opened.page.click('#legend [data-class="0"] .class')
    assert "No feature sets it apart" in opened.page.locator("#selection h3").all_inner_texts()
    assert not contrast(X, np.arange(20)).sets_apart.any()


def test_a_selection_of_weak_differences_is_said_to_be_set_apart_by_none_strongly(open_page, tmp_path):
    rng = np.random.default_rng(0)
    X, Y, kind = rng.normal(size=(3000, 4)), rng.normal(size=(3000, 2)), np.repeat(["a", "b"], 1500)
    X[:1500, 3] += 0.25
    found = contrast(X, np.arange(1500))
    assert (found.n_beyond_chance, found.sets_apart.any()) == (1, False)
    profile = {"a": [("x", 0.25, 0.57, False, True), ("y", 0.0, 0.5, False, False)]}
    for content in (
        PageContent(Y, X=X, labels=kind, label_name="kind"),
        PageContent(Y, labels=kind, label_name="kind", profiles=profile),
    ):
        write_html(tmp_path / "m.html", content)
        opened = open_page(tmp_path / "m.html")
        opened.page.click('#legend [data-class="0"] .class')
        assert "No feature sets it strongly apart" in opened.page.locator("#selection h3").all_inner_texts()
        told = opened.page.inner_text("#selection")
        assert ("1 differs beyond chance: more feature 3; chance is judged as of" in told) == (content.X is not None)
        assert "As much arises by chance" not in told


@pytest.mark.parametrize(("size", "shift"), [(30, 1.2), (30, 0.0), (5, 3.0), (3, 9.0), (2, 9.0), (1, 9.0)])
def test_the_page_names_those_features_that_differ_beyond_chance_as_python_does(open_page, tmp_path, size, shift):
    rng = np.random.default_rng(size)
    X, inside = rng.normal(size=(300, 12)), np.arange(300) < size
    X[:size] *= np.where(np.arange(12) % 2, 1.0, 3.0)  # which vary more, and so differ by chance
    X[:size, [1, 3, 5, 7]] += shift * np.array([1, -1, 1, -1])
    write_html(tmp_path / "m.html", PageContent(rng.normal(size=(300, 2)), X=X, labels=~inside))
    opened = open_page(tmp_path / "m.html")
    opened.page.click('#legend [data-class="0"] .class')
    found = contrast(X, inside)
    told = opened.page.inner_text("#selection")
    names = dict(zip(found.features, found.beyond_chance.tolist(), strict=True))
    if found.n_beyond_chance:
        assert f"{found.caption()}; chance is judged as of independent rows" in told
        lines = opened.page.locator("#selection tr.picks")
        dim = {one.locator("td").first.inner_text(): "chance" in one.get_attribute("class") for one in lines.all()}
        assert dim == {name: not beyond for name, beyond in names.items()}
    else:
        assert "chance is judged" not in told
        assert opened.page.locator("#selection tr.chance").count() == 0
    assert (found.n_beyond_chance > 0) == (shift > 0 and size > 1)
    assert ("too few for" in told) == (size < 5)


def test_metadata_that_go_with_a_class_are_told_where_it_is_compared(open_page, tmp_path):
    rng = np.random.default_rng(5)
    kind = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(size=(120, 5))
    X[:, 0] += 9.0 * np.repeat([0, 1, 2], 40)
    made = Map(X, X[:, :2], labels=kind, metadata={"plate": np.where(kind == "a", "P1", "P2")})
    write_html(tmp_path / "m.html", made)
    opened = open_page(tmp_path / "m.html")
    words = "'plate' and the two sides cannot be told apart: each difference may be that of 'plate'."
    assert words in made.contrast(kind == "a").caution
    assert "'plate' and 'label' cannot be told apart" in opened.page.inner_text("#legend")
    for k, name in enumerate("abc"):
        opened.page.click(f'#legend [data-class="{k}"] .class')
        told = made.contrast(kind == name).caution
        assert opened.page.locator("#selection .warn").all_inner_texts() == ([told] if told else [])
    pixels = opened.places(range(120))
    left, top = pixels.min(axis=0) - 9
    right, bottom = pixels.max(axis=0) + 9
    first, rest = pixels[:40, 0].max() + 3, pixels[40:, 0].min() - 3
    assert first < rest
    for start, end, all_of_it in ((rest, right, True), (left, first, True), (left, np.median(pixels[:40, 0]), False)):
        corners = np.array([[start, top], [end, top], [end, bottom], [start, bottom], [start, top]])
        opened.lasso(corners)
        inside = Polygon(corners[:-1]).contains_points(pixels)
        assert (words in made.contrast(inside).caution) == all_of_it
        assert (words in opened.page.inner_text("#selection")) == all_of_it


def test_isolating_a_class_contrasts_it(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    opened.page.click('#legend [data-class="2"] .class')
    state = opened.state
    np.testing.assert_array_equal(state["selection"], np.flatnonzero(blobs.group == 2))
    assert state["contrast"][0]["feature"] == 2
    opened.page.click('#legend [data-class="2"] .class')
    assert opened.state["selection"] == []


def test_colour_by_feature_found_by_typing(open_page, blobs_page):
    opened = open_page(blobs_page)
    box = opened.page.get_by_role("combobox", name="Colour by")
    box.click()
    box.fill("gene 9")
    opened.page.keyboard.press("Enter")
    assert opened.state["colorBy"] == "gene 9"
    assert opened.page.inner_text("#legend .ends").split() == ["0", "99.5", "199"]
    box.click()
    box.fill("trustw")
    opened.page.keyboard.press("Enter")
    assert opened.state["colorBy"] == "Trustworthiness"


def test_numbers_that_start_again_have_colours_that_meet(open_page, tmp_path):
    turns = np.linspace(0.0, 1.0, 240, endpoint=False)
    Y = np.stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=1)
    columns = {"direction": 360.0 * turns, "hour": 24.0 * turns, "speed": 100.0 * turns}
    write_html(tmp_path / "turns.html", PageContent(Y, X=Y, metadata=columns))
    opened = open_page(tmp_path / "turns.html")
    box = opened.page.get_by_role("combobox", name="Colour by")
    told = {}
    for name in columns:
        box.click()
        box.fill(name)
        opened.page.keyboard.press("Enter")
        ends = opened.page.inner_text("#legend .ends").split()
        bar = opened.page.evaluate("document.querySelector('#legend .ramp i').style.background").split("rgb(")[1:]
        first, last = (one.split(")")[0] for one in (bar[0], bar[-1]))
        told[name] = ends, first == last, "Both ends are one" in opened.page.inner_text("#legend")
    assert told["direction"] == (["0", "180", "360"], True, True)
    assert told["hour"] == (["0", "12", "24"], True, True)
    assert told["speed"][1:] == (False, False)


def test_search_finds_names_labels_categories_and_rows(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    for query, expected in [
        ("gamma", np.flatnonzero(blobs.group == 2)),
        ("cell-42", [42, *range(420, 430)]),
        ("west", np.arange(1, 600, 2)),
        ("#17", [17]),
        ("row 17", [17]),
        ("nowhere", []),
    ]:
        opened.page.fill("#search", query)
        np.testing.assert_array_equal(opened.state["matches"], expected)
    opened.page.fill("#search", "cell-599")
    opened.page.keyboard.press("Enter")
    assert opened.state["pinned"] == 599
    x, y = opened.place(599)
    assert 0 < x < 828
    assert 0 < y < 800


def test_wheel_zooms_towards_the_pointer_drag_pans_double_click_resets(open_again, blobs_page):
    opened = open_again(blobs_page)
    x, y = opened.place(50)
    opened.page.mouse.move(x, y)
    opened.page.mouse.wheel(0, -400)
    opened.settle()
    assert opened.state["view"]["zoom"] > 1.3
    zoomed = opened.place(50)
    np.testing.assert_allclose(zoomed, [x, y], atol=1.0)  # wheel events come at whole pixels
    opened.page.mouse.move(400, 600)
    opened.page.mouse.down()
    opened.page.mouse.move(450, 570, steps=4)
    opened.page.mouse.up()
    np.testing.assert_allclose(opened.place(50), [zoomed[0] + 50, zoomed[1] - 30], atol=1e-6)
    opened.page.mouse.dblclick(*opened.spot(20, -20))
    np.testing.assert_allclose(opened.state["view"]["zoom"], 1.0)
    np.testing.assert_allclose(opened.place(50), [x, y], atol=1e-6)


def test_click_pins_and_escape_releases(open_again, blobs_page):
    opened = open_again(blobs_page)
    opened.page.mouse.click(*opened.place(77))
    assert opened.state["pinned"] == 77
    opened.hover(500)
    assert opened.state["hovered"] == 500
    assert "row 77" in opened.page.inner_text("#card")
    opened.page.keyboard.press("Escape")
    assert opened.state["pinned"] is None


@pytest.mark.slow
def test_export_is_a_picture_of_the_view(open_page, blobs_page, tmp_path):
    from PIL import Image

    opened = open_page(blobs_page)
    opened.save("PNG 2", tmp_path / "view.png")
    with Image.open(tmp_path / "view.png") as image:
        picture = np.asarray(image.convert("RGB"))
    assert picture.shape[0] > 2 * opened.page.locator("#stage").bounding_box()["height"]
    assert len(np.unique(picture[200:, :1600].reshape(-1, 3), axis=0)) > 50


def test_f104_points_without_position_lie_in_the_tray(open_page, tmp_path):
    """F104."""
    Y = np.random.default_rng(0).normal(size=(50, 2))
    Y[[3, 40], 1] = np.nan
    Y[7, 0] = np.inf
    write_html(tmp_path / "map.html", PageContent(embedding=Y, labels=np.arange(50) % 2))
    opened = open_page(tmp_path / "map.html")
    assert "3 points have no position" in opened.page.inner_text("#tray")
    opened.page.hover("#tray .dot >> nth=1")
    assert opened.state["hovered"] == 7
    assert opened.state["lost"] == [3, 7, 40]
    assert "what moves it" not in opened.page.inner_text("#help")  # which this page does not know
    assert "sets them apart" not in opened.page.inner_text("#help")
    assert opened.problems == []


def test_the_name_of_a_single_point_stands_beside_it(open_page, tmp_path):
    write_html(tmp_path / "map.html", PageContent(embedding=[[0, 0], [1, 0], [0, 1.5]], labels=["one", "two", "three"]))
    opened = open_page(tmp_path / "map.html")
    assert len(opened.state["names"]) == 3
    stage = np.array(opened.box("#stage")[:2])
    for name in opened.state["names"]:
        (x, y), box = np.array(opened.place(name["place"])) - stage, name["box"]
        assert not (box[0] < x < box[2] and box[1] < y < box[3])


def test_three_dimensions_turn_and_pick(open_page, tmp_path):
    Y = np.random.default_rng(1).normal(size=(80, 3))
    write_html(tmp_path / "map.html", PageContent(embedding=Y, labels=np.arange(80) % 4))
    opened = open_page(tmp_path / "map.html")
    before = opened.place(11)
    opened.page.mouse.move(200, 700)
    opened.page.mouse.down()
    opened.page.mouse.move(320, 640, steps=5)
    opened.page.mouse.up()
    assert np.linalg.norm(np.subtract(before, opened.place(11))) > 5
    pixels = opened.places(range(80))
    far = pixels[:, 0].argmax()
    opened.hover(far)
    assert opened.state["hovered"] == far
    corners = np.array([[150, 150], [600, 150], [600, 500], [150, 500]])
    opened.lasso(corners)
    np.testing.assert_array_equal(opened.state["selection"], np.flatnonzero(Polygon(corners).contains_points(pixels)))


def test_f107_many_classes_and_pictures(open_page, tmp_path):
    """F107: 300 classes; thumbnails come from the pixels."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 17, size=(900, 64)).astype(float)
    write_html(
        tmp_path / "map.html",
        PageContent(embedding=rng.normal(size=(900, 2)), labels=np.arange(900) % 300, X=X, image_shape=(8, 8)),
    )
    opened = open_page(tmp_path / "map.html")
    assert "300 classes" in opened.page.inner_text("#legend")
    assert "60 largest have colours of their own" in opened.page.inner_text("#legend")
    opened.hover(10)
    i = opened.state["hovered"]
    shades = opened.page.evaluate(
        "() => [...document.querySelector('#card canvas').getContext('2d').getImageData(0, 0, 8, 8).data]"
    )
    np.testing.assert_allclose(np.reshape(shades, (64, 4))[:, 0], X[i] * 255 / 16, atol=1)
    assert opened.problems == []


def test_points_without_a_label_are_grey_and_listed_last(open_page, blobs, tmp_path):
    labels = [None if i < 90 else f"kind {g}" for i, g in enumerate(blobs.group)]
    write_html(tmp_path / "map.html", PageContent(embedding=blobs.Y, labels=labels, X=blobs.X))
    opened = open_page(tmp_path / "map.html")
    rows = opened.page.locator("#legend li")
    assert rows.all_inner_texts()[-1].split("\n")[:2] == ["(missing)", "90"]
    grey = opened.page.evaluate("() => document.querySelector('#legend li:last-child .swatch').style.background")
    assert grey == "rgb(135, 144, 154)"
    assert "grey" not in opened.page.inner_text("#legend")
    assert [name["name"] for name in opened.state["names"]] == ["kind 1", "kind 2", "kind 0"]
    assert opened.problems == []


def test_dates_are_a_scale_of_dates(open_page, blobs, tmp_path):
    days = np.datetime64("2024-01-01") + np.arange(600).astype("m8[D]")
    days[7] = np.datetime64("NaT", "D")
    write_html(tmp_path / "map.html", PageContent(embedding=blobs.Y, labels=days, metadata={"seen": days}, X=blobs.X))
    opened = open_page(tmp_path / "map.html")
    assert opened.page.inner_text("#legend .ends").split()[::2] == ["2024-01-01", "2025-08-22"]
    assert "1 missing" in opened.page.inner_text("#legend")
    opened.hover(0)
    card = opened.page.inner_text("#card")
    assert str(days[opened.state["hovered"]]) in card
    assert opened.problems == []


def test_a_small_table_is_contrasted_to_the_digits_of_python(open_page, tmp_path):
    """Few rows that lie far out, a large offset and missing values: neither 256 levels nor single precision do."""
    rng = np.random.default_rng(3)
    X = np.vstack([3 * rng.normal(size=(5, 4)), rng.normal(size=(300, 4))])
    X[:, 1] += 1.7e9
    X[0, 2], X[9:40, 3] = 1000.0, np.nan
    inside = np.arange(305) < 5
    content = PageContent(embedding=rng.normal(size=(305, 2)), labels=~inside, X=X)
    write_html(tmp_path / "map.html", content)
    opened = open_page(tmp_path / "map.html")
    opened.page.click('#legend [data-class="0"] .class')
    rows = {row["feature"]: row for row in opened.state["contrast"]}
    for j in range(4):
        known = np.isfinite(X[:, j])
        effect, auc = effect_and_auc(X[known, j : j + 1], inside[known])
        np.testing.assert_allclose(rows[j]["effect"], effect[0], rtol=1e-5)
        np.testing.assert_allclose(rows[j]["auc"], auc[0], rtol=1e-12)
    assert opened.problems == []


def test_sparse_values_contrast_like_dense_ones(open_page, tmp_path):
    from scipy import sparse

    rng = np.random.default_rng(3)
    X = sparse.random(300, 40, density=0.1, random_state=3, format="csr", data_rvs=lambda k: rng.normal(size=k))
    write_html(tmp_path / "map.html", PageContent(embedding=rng.normal(size=(300, 2)), labels=np.arange(300) % 3, X=X))
    opened = open_page(tmp_path / "map.html")
    opened.page.click('#legend [data-class="1"] .class')
    rows = {row["feature"]: row for row in opened.state["contrast"]}
    effect, auc = effect_and_auc(X.toarray().astype(np.float32).astype(float), np.arange(300) % 3 == 1)
    np.testing.assert_allclose([rows[j]["effect"] for j in range(40)], effect, rtol=1e-5)
    np.testing.assert_allclose([rows[j]["auc"] for j in range(40)], auc, rtol=1e-6)


def test_without_javascript_a_picture_stays(open_page, blobs_page):
    opened = open_page(blobs_page, java_script_enabled=False)
    assert opened.page.locator("#fallback img").bounding_box()["width"] > 300
    assert "static picture" in opened.page.inner_text("#fallback")


def test_quick_clicks_on_two_points_pin_the_second(open_again, blobs_page):
    opened = open_again(blobs_page)
    opened.page.mouse.click(*opened.place(77))
    opened.settle()  # the camera has brought the first point into view
    opened.page.mouse.click(*opened.place(450))
    assert opened.state["pinned"] == 450


def test_a_line_says_what_changes_along_it(open_again, blobs_page, blobs):
    """Drawn by hand through two clusters; trends, errors and ranks are those of least squares in NumPy."""
    opened = open_again(blobs_page)
    opened.page.click("#line")
    start, end = np.array(opened.place(0)), np.array(opened.place(blobs.n - 1))
    direction = (end - start) / np.linalg.norm(end - start)
    opened.page.mouse.move(*(start - 30 * direction))
    opened.page.mouse.down()
    opened.page.mouse.move(*(start + 0.5 * (end - start)), steps=4)
    opened.page.mouse.move(*(end + 30 * direction), steps=4)
    opened.page.mouse.up()
    state = opened.state
    line, chosen = state["line"], np.array(state["selection"])
    assert len(line["path"]) == 2
    assert len(chosen) >= 10
    values, t = blobs.X, np.array(line["t"])
    s = t - t.mean()
    for row in line["rows"]:
        y = values[chosen, row["feature"]]
        slope = s @ y / (s @ s)
        deviation = values[:, row["feature"]].std()
        misses = (y - y.mean() - slope * s) / (1 - 1 / len(s) - s**2 / (s @ s))
        error = np.sqrt(np.sum((s * misses) ** 2)) / (s @ s)
        covered = np.diff(line["covered"])[0]
        largest = np.ptp(y)
        np.testing.assert_allclose(row["effect"], np.clip(slope * covered, -largest, largest) / deviation, atol=1e-6)
        np.testing.assert_allclose(row["error"], error * covered / deviation, atol=1e-6)
        ranks = [rankdata(one) for one in (t, y)]
        np.testing.assert_allclose(row["rho"], np.corrcoef(ranks)[0, 1], atol=1e-6)
    near = find_points_near(np.column_stack([t, np.zeros(len(t))]), np.array([[0.0, 0], [line["length"], 0]]), 1.0)
    np.testing.assert_allclose(line["covered"], near.covered, atol=1e-9)
    told = axis(explain(values[chosen], np.column_stack([t, np.zeros(len(t))]), n_jobs=1), near.path, width=1.0)
    by_feature = {int(f): bool(beyond) for f, beyond in zip(told.indices, told.beyond_chance, strict=True)}
    assert {row["feature"]: row["beyondChance"] for row in line["rows"]} == by_feature
    least = [row["least"] for row in line["rows"]]
    assert least == sorted(least, reverse=True)
    assert all(row["least"] <= abs(row["effect"]) for row in line["rows"])
    for text, row in zip(opened.page.locator(".along td.num").all_inner_texts(), line["rows"], strict=False):
        effect, error = (float(part.replace("−", "-")) for part in text.split("±"))
        np.testing.assert_allclose([effect, error], [row["effect"], row["error"]], atol=0.051 * row["error"])
    assert "points near the line" in opened.page.inner_text("#selection")
    opened.page.keyboard.press("Escape")
    assert opened.state["line"] is None


def test_a_short_line_reaches_as_far_as_in_python(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    opened.page.click("#line")
    x, y = opened.place(0)
    opened.page.mouse.move(x - 30, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 30, y, steps=2)
    opened.page.mouse.up()
    line = opened.state["line"]
    assert line["width"] > 0.5 * line["length"]
    pixels = np.linalg.norm(np.subtract(opened.place(599), opened.place(0))) / np.linalg.norm(blobs.Y[599] - blobs.Y[0])
    path = blobs.Y[0] + np.array([[-30.0, 0.0], [30.0, 0.0]]) / pixels
    near = find_points_near(blobs.Y, path, None)
    np.testing.assert_allclose(line["width"] / line["length"], near.width / near.length, rtol=0.01)
    np.testing.assert_array_equal(opened.state["selection"], near.rows)


def test_a_line_through_nothing_clears_with_a_message(open_again, blobs_page):
    opened = open_again(blobs_page)
    opened.page.click("#line")
    x, y = opened.spot(5, 5)
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 4, y, steps=2)
    opened.page.mouse.up()
    assert opened.state["line"] is None
    assert "draw it through the points" in opened.page.inner_text("#message")


def test_a_group_of_collinear_features_is_one_entry(open_page, tmp_path):
    rng = np.random.default_rng(0)
    T = rng.integers(0, 200, (300, 2)).astype(float)
    X, inside = (
        np.column_stack([T[:, 0], 40.0 - 0.5 * T[:, 0], T[:, 1], T[:, 0] + rng.integers(0, 2, 300)]),
        T[:, 0] > 90,
    )
    explanation = explain(X, T, feature_names=["a", "b", "c", "d"], n_jobs=1)
    groups = group_features(explanation)
    write_html(
        tmp_path / "page.html",
        PageContent(
            embedding=T, X=X, labels=inside, feature_names=list("abcd"), explanation=explanation, groups=groups
        ),
    )
    opened = open_page(tmp_path / "page.html")
    opened.page.click('#legend [data-class="1"] .class')
    rows = opened.state["contrast"]
    expected = contrast(X, inside, groups=groups)
    assert [row["name"] for row in rows] == expected.features
    np.testing.assert_allclose([row["effect"] for row in rows], expected.effect, rtol=0.01, atol=1e-3)
    np.testing.assert_allclose([row["auc"] for row in rows], expected.auc, atol=2e-3)
    lead = expected.features[0][0]
    others = ", ".join(name for name in "abd" if name != lead)
    assert f"{lead} goes with {others}." in opened.page.inner_text("#selection")
    opened.hover(5)
    card = opened.page.inner_text("#card")
    assert f"{lead} goes with {others}." in card
    assert "+ 2" in card
    assert opened.problems == []
