"""How many features, classes and rows the reports of a map list, and how they say what is left out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gnomon.maps import Map, printed, report

N_CLASSES, N_FEATURES = 21, 14


@pytest.fixture(scope="module")
def made():
    draw = np.random.default_rng(0)
    kind = np.arange(252) % N_CLASSES
    X = draw.normal(size=(252, N_FEATURES)) + 4.0 * draw.normal(size=(N_CLASSES, N_FEATURES))[kind]
    positions = X @ draw.normal(size=(N_FEATURES, 2))
    labels = np.array([f"kind {k:02d}" for k in range(N_CLASSES)])[kind]
    labels[:14] = labels[7:21]
    return Map(X, positions, labels=labels, feature_names=[f"x{j}" for j in range(N_FEATURES)], n_jobs=1)


def test_the_report_lists_eight_features_three_of_a_class_twenty_classes_and_five_doubtful_rows(made):
    facts, text = made.to_dict(), made.report(verdicts=False)
    lines = text.splitlines()
    assert len(facts["top_features"]) == 8
    assert lines[lines.index("What moves points most, within neighbourhoods") + 1].count(",") == 7
    importances = [one["importance"] for one in facts["top_features"]]
    assert importances == sorted(importances, reverse=True)
    assert importances[0] == made.explain().global_importance.max()
    assert {len(rows) for rows in facts["profiles"].values()} == {3}
    assert len(facts["profiles"]) == N_CLASSES
    assert sum(line.startswith("  kind ") for line in lines) == 20
    assert "  and 1 more" in lines
    assert len(facts["suspects"]["rows"]) == 5
    assert f" and {facts['suspects']['n_suspects'] - 5} more" in text


def test_the_printed_report_lists_twelve_features_six_of_an_axis_and_ten_doubtful_rows(made):
    X = np.random.default_rng(0).normal(size=(58, N_FEATURES))
    few = Map(X, X[:, :2], n_jobs=1)  # of so few rows gaps are not judged
    sections = {make.__name__: make for make in printed.SECTIONS}

    def rows(name, of):
        body = sections[name](printed.Subject(of, of.scorecard("shepard"))).body
        return [part.count("<tr") - 1 for part in body.split("<table")[1:]]

    assert rows("features", few) == [12]
    along = Map(X + 2.0 * X[:, :1], X[:, :2], n_jobs=1)
    assert rows("axes", along)[0] == 6
    assert rows("doubts", made)[0] == 10
    data = sections["data"](printed.Subject(made)).body
    assert "x11 and 2 more" in data
    assert re.search(r"kind 11 \(\d+\) and 9 more", data)


def test_features_that_go_together_are_named_beside_the_table():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(58, 4))
    X = np.c_[X, X[:, 0] + 0.01 * draw.normal(size=58)]
    made = Map(X, X[:, :2], feature_names=[*"abcde"], n_jobs=1)
    body = printed.sections.meaning.features(printed.Subject(made, made.scorecard("shepard"))).body
    (name,) = made.feature_groups().groups
    assert f"Features that go together along the map: {name}: a, e." in body
    alone = Map(X[:, :4], X[:, :2], n_jobs=1)
    body = printed.sections.meaning.features(printed.Subject(alone, alone.scorecard("shepard"))).body
    assert "Features that go together" not in body


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ("a", "a"),
        ("ba", "a, b"),
        ("cba", "a to c (3)"),
        ("abce", "a to c (3), e"),
        ("acegikmo", "a, c, e, g, i, k, m, o"),
        ("acegikmoq", "a, c, e, g, i, k, m, o and 1 more"),
        ("acegikmopqr", "a, c, e, g, i, k, m, o to r (4)"),
        ("acegikmoqst", "a, c, e, g, i, k, m, o and 3 more"),
    ],
)
def test_members_of_a_group_are_told_in_the_order_of_the_columns(members, told):
    assert report._stretches(members, [*"abcdefghijklmnopqrstuvwxyz"]) == told


def test_doubtful_labels_are_counted_in_words():
    rows = [{"row": 3, "label": "a", "vote": "b"}, {"row": 7, "name": "seven", "label": "b", "vote": "a"}]
    facts = {"rows": rows, "n_suspects": 1200, "n_labelled": 4000, "weakness": "", "n_alone": 0}
    facts |= {"n_by_chance": None, "n_wrong_at_most": None}
    named = "row 3 (a, neighbours say b), seven (b, neighbours say a)"
    assert report._suspect_line(facts) == f"1,200 of 4,000: {named} and 1,198 more"
    assert report._suspect_line(facts | {"n_suspects": 2}) == f"2 of 4,000: {named}"
    assert report._suspect_line(facts | {"rows": [], "n_suspects": 0}) == "0 of 4,000"
    told = report._suspect_line(facts | {"n_by_chance": 2000, "n_alone": 1, "n_wrong_at_most": 1199})
    assert told.startswith(
        "1,200 of 4,000 (of labels given at random about 2,000 would; if wrong labels come at random, at most about "
        "1,199 are wrong; 1 alone with its label, not judged): row 3"
    )
    assert "at most" not in report._suspect_line(facts | {"n_wrong_at_most": 1200})
    told = report._suspect_line(facts | {"n_alone": 3, "weakness": "Labels are weak."})
    assert told.startswith("1,200 of 4,000 (3 alone with their label, not judged). Labels are weak. They are: row 3")


def test_seconds_are_told_by_stage():
    assert report._seconds({}) == ""
    assert report._seconds({"neighbors": 0.26, "layout": 1.5}) == " in 1.8 s (neighbors 0.3, layout 1.5)"
