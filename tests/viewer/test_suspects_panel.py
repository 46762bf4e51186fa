"""Doubtful labels are listed, coloured and told in page and report; a steered map says so above its scores."""

import numpy as np
import pytest
from test_payload import read_page

import gnomon as gn
from gnomon.viewer import document

WRONG = [3, 47, 90]


@pytest.fixture(scope="module")
def doubtful():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.array(["a", "b"]), 60)
    X = rng.normal(size=(120, 5)) + 8.0 * (kind == "a")[:, None]
    kind[WRONG] = np.where(kind[WRONG] == "a", "b", "a")
    return gn.map(X, "pca", labels=kind, label_name="kind", n_jobs=1)


def test_the_page_lists_the_doubtful_rows_and_pins_and_colours_them(open_page, doubtful, tmp_path):
    doubtful.to_html(tmp_path / "m.html")
    opened = open_page(tmp_path / "m.html")
    lines = opened.page.locator(".suspects li").all_inner_texts()
    assert lines[0] == "row 3 b, neighbours say a (100 %)"
    assert len(lines) == 3
    assert (
        opened.page.locator(".suspects p")
        .inner_text()
        .startswith(
            "3 of 120 points have another label than their 15 neighbours in the data vote for; "
            "of labels given at random about 60 would."
        )
    )
    opened.page.locator(".suspects li button").nth(1).click()
    assert opened.state["pinned"] == 47
    opened.page.locator(".suspects p button").click()
    assert opened.page.get_by_role("combobox", name="Colour by").input_value() == "Label doubt"
    assert opened.problems == []


def test_the_page_holds_the_score_of_every_row(doubtful, tmp_path):
    doubtful.to_html(tmp_path / "m.html")
    header, columns = read_page(tmp_path / "m.html")
    np.testing.assert_array_equal(columns["doubt"], doubtful.suspects().scores.astype(np.float32))
    assert [row[0] for row in header["suspects"]["rows"]] == WRONG


def test_a_sample_of_the_points_lists_those_that_are_shown(doubtful, tmp_path, monkeypatch):
    monkeypatch.setattr(document, "MAX_POINTS", 60)
    doubtful.to_html(tmp_path / "m.html")
    header, columns = read_page(tmp_path / "m.html")
    shown = [int(columns["rows"][row[0]]) for row in header["suspects"]["rows"]]
    assert shown == [row for row in WRONG if row in columns["rows"]]
    assert header["suspects"]["n"] == 3


def test_the_report_names_the_doubtful_rows(doubtful):
    text = doubtful.report()
    assert (
        "Rows whose neighbours in the data disagree with their kind\n"
        "  3 of 120 (of labels given at random about 60 would): row 3 (b, neighbours say a), " in text
    )
    assert doubtful.to_dict()["suspects"]["n_suspects"] == 3
    named = gn.Map(doubtful.X, doubtful.embedding, labels=doubtful.labels, point_names=[f"p{i}" for i in range(120)])
    assert "would): p3 (b, neighbours say a), p47 (" in named.report()


def test_page_and_report_say_how_many_rows_alone_have_their_label(open_page, doubtful, tmp_path):
    labels = doubtful.labels.copy()
    labels[[5, 91]] = "c", "d"
    few = gn.Map(doubtful.X, doubtful.embedding, labels=labels)
    few.to_html(tmp_path / "m.html")
    assert read_page(tmp_path / "m.html")[0]["suspects"]["alone"] == 2
    opened = open_page(tmp_path / "m.html")
    assert "would. 2 alone with their label, not judged." in opened.page.locator(".suspects p").inner_text()
    assert "would; 2 alone with their label, not judged): row 3 (" in few.report()


@pytest.mark.parametrize("labels", [None, np.zeros(120), np.random.default_rng(0).random(120)])
def test_without_classes_nothing_is_said_of_doubtful_rows(doubtful, labels, tmp_path):
    plain = gn.Map(doubtful.X, doubtful.embedding, labels=labels)
    assert "disagree" not in plain.report()
    plain.to_html(tmp_path / "m.html")
    header, columns = read_page(tmp_path / "m.html")
    assert "suspects" not in header
    assert "doubt" not in columns


def test_a_steered_map_says_so_above_its_scores_and_grades_no_labels(open_page, tmp_path):
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b"], 40)
    X = rng.normal(size=(80, 5)) + (kind == "a")[:, None]
    gn.map(X, labels=kind, target=kind, n_jobs=1, max_iter=50).to_html(tmp_path / "m.html")
    opened = open_page(tmp_path / "m.html")
    assert "steered by the target 'target'" in opened.page.locator("#trust .warn").inner_text()
    assert "steered" in opened.page.locator("#trust .grade").all_inner_texts()
    assert opened.problems == []
