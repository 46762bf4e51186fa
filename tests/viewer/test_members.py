"""The table of points lists what is shown, sorts, goes to a point, and gives itself away as text and as CSV."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from conftest import until
from gnomon.viewer import PageContent, write_html

pytestmark = pytest.mark.browser

N = 3000
HOSTILE = ['=SUM(A1:A9)+cmd|"/c calc"!A0', "@import", "+1", "-2+3", 'a "quoted", name', "two\nlines", "שלום 🙂"]


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(5)
    names = [f"cell-{i}" for i in range(N)]
    names[: len(HOSTILE)] = HOSTILE
    weight = rng.normal(size=N)
    weight[9] = np.nan
    X = rng.integers(0, 100, (N, 3)).astype(float)
    return {"X": X, "Y": rng.normal(size=(N, 2)), "names": names, "weight": weight, "kind": rng.integers(0, 4, N)}


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("members") / "page.html"
    content = PageContent(
        embedding=made["Y"],
        title="A table",
        labels=made["kind"],
        label_name="kind",
        X=made["X"],
        feature_names=["a", "=b", "c"],
        point_names=made["names"],
        metadata={"weight": made["weight"], "site": [None if i % 5 else "here" for i in range(N)]},
    )
    write_html(path, content)
    return path


@pytest.fixture
def opened(open_page, page):
    one = open_page(page)
    one.page.click("#members summary")
    until("gnomon.state().members.count > 0", one.page)
    return one


def test_the_selection_is_listed_sorted_and_pinned_and_few_rows_are_drawn(opened, made):
    page = opened.page
    assert opened.state["members"]["count"] == N
    assert opened.state["members"]["drawn"] < 40  # of 3,000
    page.click('#legend [data-class="2"] .class')
    chosen = np.flatnonzero(made["kind"] == 2)
    members = opened.state["members"]
    assert members["count"] == len(chosen)
    assert members["first"] == chosen[:5].tolist()
    assert members["columns"] == ["row", "name", "kind"]
    box = page.get_by_role("combobox", name="Add a column")
    box.click()
    box.fill("weight")
    page.keyboard.press("Enter")
    head = page.locator('#members th[data-column="column1"] button').first
    head.click()
    ascending = chosen[np.argsort(made["weight"][chosen], kind="stable")]
    assert opened.state["members"]["first"] == ascending[:5].tolist()
    head.click()
    descending = chosen[np.argsort(-made["weight"][chosen], kind="stable")]
    assert opened.state["members"]["first"] == descending[:5].tolist()
    assert page.locator('#members th[aria-sort="descending"]').inner_text().startswith("weight")
    # a click goes to the point, the keys to the next row
    page.locator("#members tbody tr[data-at='1']").click()
    assert opened.state["pinned"] == descending[1]
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert opened.state["pinned"] == descending[31]
    # the last row can be reached by scrolling
    page.evaluate(
        "() => { const box = document.querySelector('#members .scroller'); box.scrollTop = box.scrollHeight; }"
    )
    opened.settle()
    assert page.locator("#members tbody tr[data-at]").last.get_attribute("data-at") == str(len(chosen) - 1)
    assert opened.problems == []


def test_names_sort_as_people_count(opened, made):
    opened.page.locator('#members th[data-column="name"] button').click()
    first = [made["names"][i] for i in opened.state["members"]["first"]]
    opened.page.fill("#search", "cell-11")
    listed = [made["names"][i] for i in opened.state["members"]["first"]]
    assert listed == ["cell-11", "cell-110", "cell-111", "cell-112", "cell-113"]
    assert first != sorted(first)


def test_rows_and_row_numbers_are_copied_also_where_the_newer_way_is_refused(opened, made):
    page = opened.page
    page.evaluate(
        """() => { // what is copied is kept here, since this page may not read the clipboard
          navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
          document.addEventListener('copy', () => { window.copied = document.activeElement.value; }); }"""
    )
    page.fill("#search", "#17")
    page.get_by_role("button", name="Copy row numbers").click()
    assert json.loads(page.evaluate("window.copied")) == [17]
    page.get_by_role("button", name="Copy rows").click()
    lines = page.evaluate("window.copied").split("\n")
    assert lines == ["row\tname\tkind", f"17\tcell-17\t{made['kind'][17]}"]
    assert "1 rows copied" in page.inner_text("#message")


def test_the_csv_has_all_columns_and_places_and_no_formula(opened, made, tmp_path):
    with opened.page.expect_download() as download:
        opened.page.get_by_role("button", name="Save CSV").click()
    assert download.value.suggested_filename == "a-table-points.csv"
    download.value.save_as(tmp_path / "points.csv")
    raw = (tmp_path / "points.csv").read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert raw.count(b"\r\n") == N + 1
    with open(tmp_path / "points.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["row", "name", "kind", "weight", "site", "x", "y", "a", "'=b", "c"]
    assert [int(row[0]) for row in rows] == list(range(N))
    for given, row in zip(made["names"], rows, strict=True):
        assert row[1] == ("'" + given if given[0] in "=+-@" else given)
    np.testing.assert_array_equal([int(row[2]) for row in rows], made["kind"])
    assert rows[9][3] == ""
    assert [row[4] for row in rows] == ["" if i % 5 else "here" for i in range(N)]
    np.testing.assert_array_equal([float(row[3] or "nan") for row in rows], made["weight"])
    np.testing.assert_allclose([[float(v) for v in row[5:7]] for row in rows], made["Y"], rtol=2e-6, atol=2e-6)
    np.testing.assert_array_equal([[float(v) for v in row[7:]] for row in rows], made["X"])
    assert opened.problems == []
