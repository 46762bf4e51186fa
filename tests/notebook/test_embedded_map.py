"""What a notebook displays of a map: small, in a closed frame, and never more computed than was asked for."""

from __future__ import annotations

import html
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import gnomon
from gnomon._printed import preformatted
from gnomon.comparison import compare
from gnomon.maps import Map
from gnomon.notebook import embed, map_html
from gnomon.notebook import embedded as module
from gnomon.notebook.embedded import comparison_html

HOSTILE = "\"><script>window.broken = 1</script><img src=x onerror='window.broken=2'>&quot;</iframe>"


def made(n=80, d=5, **options):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    return Map(X, X[:, :2].copy(), labels=np.repeat(["a", "b"], n // 2), **options)


@pytest.fixture(scope="module")
def shown():
    hostile = made(name=HOSTILE, label_name=HOSTILE, feature_names=[HOSTILE, "b", "c", "d", "e"])
    return hostile, hostile._repr_html_()


def page_of(text):
    """The page in the frame as a browser reads it from the attribute."""
    return html.unescape(re.search(r'srcdoc="([^"]*)"', text)[1])


def test_a_small_map_is_explained_in_a_frame_without_the_notebooks_origin(shown):
    result, text = shown
    assert result._explanation is not None
    assert result._evaluation is not None
    assert re.findall(r'sandbox="([^"]*)"', text) == ["allow-scripts allow-downloads"]
    page = page_of(text)
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page
    assert "connect-src" not in page.split("<style>")[0]


def test_hostile_names_stay_text(shown):
    _, text = shown
    outside = re.sub(r'srcdoc="[^"]*"', "", text)
    assert "<script" not in outside
    assert re.findall(r"<(/?[a-z]+)", outside).count("img") == 1
    assert text.count("<iframe") == text.count("</iframe>") == 1
    assert html.escape(HOSTILE) in outside


def test_behind_the_frame_stand_a_picture_and_the_scores(shown):
    result, text = shown
    behind = re.sub(r"(?s)<iframe.*</iframe>", "", text)
    assert 'src="data:image/png;base64,' in behind
    for value in result.evaluate().scores().values():
        assert f"{value:.3f}" in behind
    assert "trust the notebook" in behind


def test_a_displayed_map_stays_within_the_bytes(shown, monkeypatch):
    result, text = shown
    whole = len(text.encode())
    assert whole <= module.BYTE_BUDGET
    lighter = map_html(result, byte_budget=whole - 1)
    assert "<iframe" in lighter
    assert len(lighter.encode()) < whole
    for budget in (whole - 1, 150_000, 60_000):
        text = map_html(result, byte_budget=budget)
        assert len(text.encode()) <= budget, budget
    assert "<iframe" not in text
    assert "to_html writes it, widget shows it" in text


def test_a_map_of_many_rows_shows_what_was_asked_and_computes_nothing(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS", 79)
    result = made()
    text = map_html(result)
    assert result._explanation is None
    assert result._evaluation is None
    assert result.graph is None
    result.explain()
    longer = map_html(result)
    assert len(longer) > len(text)
    assert result._evaluation is None
    assert "Labels" not in re.sub(r'srcdoc="[^"]*"', "", longer)
    result.evaluate()
    assert f"{result.evaluate().trustworthiness:.3f}" in re.sub(r'srcdoc="[^"]*"', "", map_html(result))


def test_a_picture_alone_has_no_frame():
    text = embed(None, title=HOSTILE, picture=b"png", facts={HOSTILE: HOSTILE}, hint=HOSTILE)
    assert "<iframe" not in text
    assert "<script" not in text
    assert text.count(html.escape(HOSTILE)) >= 4


def test_a_million_rows_are_not_even_encoded(monkeypatch):
    """Positions alone would be more than the bytes allow."""
    monkeypatch.setattr(module, "compose", lambda *args, **kwargs: pytest.fail("composed"))
    text = map_html(made(40_000, 2), byte_budget=400_000)
    assert "<iframe" not in text
    assert "40,000" in text


def test_maps_side_by_side_are_displayed_with_their_scores_within_the_bytes(monkeypatch):
    rng = np.random.default_rng(0)
    maps = compare(rng.normal(size=(60, 4)), ["pca", "classical_mds"], labels=[HOSTILE, "b"] * 30, n_seeds=1)
    text = maps._repr_html_()
    assert re.findall(r'sandbox="([^"]*)"', text) == ["allow-scripts allow-downloads"]
    assert html.escape(str(maps)) in text
    assert "<script" not in re.sub(r'srcdoc="[^"]*"', "", text)
    alone = comparison_html(maps, byte_budget=len(text.encode()) - 1)
    assert alone == preformatted(str(maps))


def test_tables_are_displayed_as_they_print():
    result = made(feature_names=["<b>first", "b", "c", "d", "e"])
    why, scores = result.why(3), result.evaluate()
    for shown in (why, scores, result.scorecard(["trustworthiness"])):
        assert shown._repr_html_() == preformatted(str(shown))
    assert "<b>" not in why._repr_html_()
    assert html.escape(result.explain().summary()) in result.explain()._repr_html_()


@pytest.mark.parametrize("n_components", [1, 5])
def test_maps_that_no_page_shows_are_displayed_as_text(n_components):
    rng = np.random.default_rng(0)
    result = Map(rng.normal(size=(40, 6)), rng.normal(size=(40, n_components)))
    assert f"This one has {n_components}." in map_html(result)
    assert map_html(result).startswith("<pre")


def test_every_answer_that_prints_as_text_is_displayed_as_that():
    parts = {"Block", "Representation", "Markup"}  # of tables and reports
    for found in pkgutil.walk_packages(gnomon.__path__, "gnomon."):
        if "_core" in found.name or "widget" in found.name:
            continue
        for name, one in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            own = one.__module__ == found.name and not name.startswith("_") and name not in parts
            if own and not issubclass(one, BaseException) and one.__str__ is not object.__str__:
                assert hasattr(one, "_repr_html_"), name
