"""The page colours by every diagnostic of a point, and lists and marks its false and missing neighbours."""

import re

import numpy as np
import pytest
from test_payload import read_page

import gnomon as gn


@pytest.fixture(scope="module")
def swapped():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 1.0, 0.05]
    X[0, :2], X[1, :2] = [-2.0, 0.0], [2.0, 0.0]
    Y = X[:, :2].copy()
    Y[[0, 1]] = Y[[1, 0]]
    return gn.Map(X, Y, labels=["a", "b"] * 100, label_name="kind", n_jobs=1)


@pytest.fixture(scope="module")
def page(swapped, tmp_path_factory):
    path = tmp_path_factory.mktemp("swapped") / "m.html"
    swapped.to_html(path)
    return path


def test_the_page_holds_every_diagnostic_of_every_row_once(swapped, page):
    header, columns = read_page(page)
    scores = swapped.point_scores()
    held = {entry["name"]: columns[entry["key"]] for entry in header["diagnostics"]}
    assert set(scores) - set(held) == {"stretch", "anisotropy", "torn", "r2", "label_doubt"}
    assert {"log_area", "anisotropy", "torn", "r2", "doubt"} <= set(columns)  # these are there by other names
    for name, values in held.items():
        np.testing.assert_array_equal(values, scores[name].astype(np.float32))
    assert header["comparesNeighbors"]


def test_the_card_counts_and_names_the_same_neighbors_as_python(open_again, swapped, page):
    opened = open_again(page)
    for i in (0, 37):
        opened.page.keyboard.press("Escape")  # releases the one before, whose card may lie above
        opened.page.mouse.click(*opened.place(i))
        assert opened.state["pinned"] == i
        for kind, found in (("missing", swapped.missing_neighbors(i)), ("false", swapped.false_neighbors(i))):
            line = opened.page.locator(f'#card .neighborhood p[data-kind="{kind}"]')
            assert line.inner_text().startswith(f"{len(found)} {kind} ")
            assert [int(row) for row in re.findall(r"row (\d+)", line.inner_text())] == found.rows[:6].tolist()
            if len(found) > 6:
                line.locator("button.more").click()
                assert [int(row) for row in re.findall(r"row (\d+)", line.inner_text())] == found.rows.tolist()
    assert opened.problems == []


def test_kept_missing_and_false_neighbors_of_any_number_are_those_of_sorted_distances(open_again, swapped, page):
    """Kept and missing ones are the nearest in the data, kept and false ones the nearest on the map."""
    opened = open_again(page)
    i = 37
    opened.page.mouse.click(*opened.place(i))
    near = [np.argsort(np.linalg.norm(Z - Z[i], axis=1), kind="stable")[1:] for Z in (swapped.X, swapped.embedding)]
    for k in (15, 5):
        opened.page.locator("#card .neighborhood select").select_option(str(k))
        found = opened.state["neighbors"]
        in_data, in_map = (one[:k].tolist() for one in near)
        assert found["wanted"] == k
        assert found["kept"] == [j for j in in_map if j in in_data]
        assert found["missing"] == [j for j in in_data if j not in in_map]
        assert found["wrong"] == [j for j in in_map if j not in in_data]
    assert opened.page.locator("#card .spoke").count() == 3


def test_without_neighbors_in_the_data_those_on_the_map_are_listed_and_it_is_said(open_again, blobs_page, blobs):
    opened = open_again(blobs_page)
    opened.page.mouse.click(*opened.place(40))
    nearest = np.argsort(np.linalg.norm(blobs.Y - blobs.Y[40], axis=1), kind="stable")[1:16]
    assert opened.state["neighbors"]["kept"] == nearest.tolist()
    assert "is not known here" in opened.page.inner_text("#card .neighborhood")
    opened.page.locator("#card .neighborhood button").first.click()
    assert opened.state["pinned"] == nearest[0]


def test_a_click_on_a_neighbor_pins_it(open_again, swapped, page):
    opened = open_again(page)
    opened.page.mouse.click(*opened.place(0))
    opened.page.locator("#card .neighborhood button").first.click()
    assert opened.state["pinned"] == swapped.missing_neighbors(0).rows[0]


def test_the_page_is_coloured_by_false_neighbors(open_again, swapped, page):
    opened = open_again(page)
    channels = {one["name"]: one["values"] for one in opened.page.evaluate("gnomon.channels()")}
    scores = swapped.point_scores()
    np.testing.assert_array_equal(channels["False neighbours"], scores["false_neighbors"])
    np.testing.assert_array_equal(channels["Missing neighbours"], scores["missing_neighbors"])


def test_on_a_hyperboloid_the_page_compares_no_neighbors(tmp_path):
    X = np.random.default_rng(1).normal(size=(120, 4))
    made = gn.map(X, method="umap", output_metric="hyperboloid", random_state=0, n_jobs=1)
    made.to_html(tmp_path / "m.html")
    assert not read_page(tmp_path / "m.html")[0]["comparesNeighbors"]
