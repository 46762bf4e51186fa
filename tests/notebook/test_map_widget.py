"""The widget of a map as Python sees it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gnomon.exceptions import MissingDependencyError
from gnomon.maps import Map


def made():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    return Map(X, X[:, :2].copy(), labels=np.repeat(["a", "b"], 20), label_name="kind", feature_names=["p", "q", "r"])


@pytest.fixture(scope="module")
def widget():
    pytest.importorskip("anywidget")
    return made().widget(height=500)


def test_without_anywidget_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingDependencyError, match=r"^Map\.widget: .*anywidget.*pip install \"gnomon\[widget\]\""):
        made().widget()


def test_the_page_may_talk_to_the_notebook_and_to_nobody_else(widget):
    assert widget._height == 500
    assert widget._page.startswith("<!DOCTYPE html>")
    assert "connect-src" not in widget._page.split("<style>")[0]
    assert {"selection", "hovered", "pinned", "color_by", "_page", "_columns", "_esm"} <= set(widget.keys)


def test_rows_are_taken_as_numbers_arrays_and_masks_and_observed(widget):
    seen = []
    widget.observe(lambda change: seen.append(change.new), "selection")
    widget.selection = np.array([7, 3, 3])
    widget.selection = np.arange(40) == 5
    widget.selection = np.zeros(40, dtype=bool)
    assert seen == [[3, 7], [5], []]
    widget.pinned = np.int64(4)
    assert widget.get_state("pinned") == {"pinned": 4}
    widget.set_state({"selection": [1, 2], "hovered": 9, "pinned": None})  # as the page does
    assert (widget.selection, widget.hovered, widget.pinned) == ([1, 2], 9, None)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("selection", [40], "selection with row 40"),
        ("selection", [True, False], "a mask of 40 rows"),
        ("selection", ["a"], "a mask or row numbers"),
        ("pinned", 40, r"pinned=40 must be in \[0, 40\)"),
        ("hovered", -1, r"hovered=-1 must be in \[0, 40\)"),
        ("pinned", "3", "pinned='3' must be a row number or None"),
        ("hovered", True, "hovered=True must be a row number or None"),
        ("color_by", "knid", "Did you mean 'kind'?"),
    ],
)
def test_what_is_no_row_and_no_column_is_refused(widget, name, value, told):
    before = getattr(widget, name)
    with pytest.raises((TypeError, ValueError), match=f"^MapWidget: .*{told}"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_a_column_of_ones_own_joins_the_colours(widget):
    numbers = np.linspace(0, 1, 40)
    numbers[3] = np.nan
    widget.color(numbers, "dose")
    assert widget.color_by == "dose"
    assert widget._columns[0]["values"] == [None if i == 3 else numbers[i] for i in range(40)]
    widget.color([None, *["x", "y", "z"] * 13], "site")
    site = widget._columns[1]
    assert site["categories"] == ["x", "y", "z", "(missing)"]
    assert site["values"][:4] == [3, 0, 1, 2]
    assert site["missing"] == 3
    assert len(set(site["colors"])) == 4
    widget.color(np.arange(40), "dose")
    assert [one["name"] for one in widget._columns] == ["site", "dose"]
    widget.color_by = "q"
    with pytest.raises(ValueError, match=r"MapWidget\.color: .*shape \(3,\).*\(40,\)"):
        widget.color([1, 2, 3], "short")
    with pytest.raises(ValueError, match="name='q' must be new"):
        widget.color(np.arange(40), "q")
    with pytest.raises(TypeError, match="name=3 must be a text"):
        widget.color(np.arange(40), 3)
    assert widget.color_by == "q"
