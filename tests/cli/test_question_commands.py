"""The commands that ask a saved map: what they print, what they write, how they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.cli import main
from gnomon.maps import Map


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (240, 9))
    X[120:, 1] += 3
    path = tmp_path_factory.mktemp("maps") / "m.gnomon"
    Map(
        X,
        X[:, :2] - 1,
        labels=np.repeat([0, 1], 120),
        image_shape=(3, 3),
        feature_names=[f"f{j}" for j in range(9)],
    ).save(path)
    return str(path)


def ask(*arguments):
    return click.testing.CliRunner().invoke(main, list(arguments))


QUESTIONS = {
    "counterfactual": ["MAP", "3", "--target", "label=1"],
    "why": ["MAP", "3"],
    "axis": ["MAP", "-0.5,-0.9", "-0.5,2.9", "--width", "0.4"],
    "contrast": ["MAP", "--select", "label=1"],
    "profile": ["MAP"],
    "importance": ["MAP"],
    "saliency": ["MAP", "3"],
}


def arguments_of(question, saved):
    return [question, *(saved if part == "MAP" else part for part in QUESTIONS[question]), "--threads", "1"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_for_people_and_for_programs(question, saved):
    result = ask(*arguments_of(question, saved))
    assert result.exit_code == 0, result.output
    assert "f1" in result.stdout or question == "saliency"
    document = json.loads(ask(*arguments_of(question, saved), "--json", "-n", "2").stdout)
    answer = document["1"] if question == "profile" else document
    assert answer["question"] == ("contrast" if question == "profile" else question)
    assert len(answer["features"]) == 2


def test_the_answer_is_that_of_the_library(saved):
    document = json.loads(ask("axis", saved, "-0.5,-0.9", "-0.5,2.9", "--width", "0.4", "--json").stdout)
    found = Map.load(saved).axis([(-0.5, -0.9), (-0.5, 2.9)], width=0.4)
    assert document["features"][0]["feature"] == found.features[0] == "f1"
    assert document["features"][0]["effect"] == found.effect[0]


def test_captions_and_labels_alone(saved):
    lines = ask("profile", saved, "--captions").stdout.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [["label", "caption"], ["0", "dark top"], ["1", "bright top"]]
    by_label = ask("importance", saved, "--by-label", "--json", "-n", "1").stdout
    assert set(json.loads(by_label)) == {"0", "1"}
    part = json.loads(ask("importance", saved, "--select", "label=1", "--json").stdout)
    grouped = json.loads(ask("importance", saved, "--groups", "--json").stdout)
    assert isinstance(grouped["groups"], dict)
    for command in (("why", saved, "0"), ("contrast", saved, "--select", "rows=0:20"), ("profile", saved)):
        assert ask(*command, "--groups").stdout == ask(*command).stdout  # nothing goes together here
    assert part["n_points"] == 120


def test_a_contrast_lists_differences_and_writes_its_whole_table(saved, tmp_path):
    target = tmp_path / "one.csv"
    asked = ("contrast", saved, "--select", "label=1", "-n", "1")
    result = ask(*asked, "--differences", "-o", str(target))
    assert result.exit_code == 0, result.output
    assert "difference (95 %)" in result.stdout
    assert "Wrote" in result.stdout
    assert "log2 fold (95 %)" in ask(*asked, "--log2").stdout
    found = Map.load(saved).contrast("label=1")
    table = pd.read_csv(target)
    assert table["feature"].tolist() == found.features
    np.testing.assert_allclose(table["difference_low"], found.difference_low)
    assert ask(*asked, "-o", "-").stdout == target.read_text()
    document = json.loads(ask(*asked, "--json").stdout)
    assert document["features"][0]["difference_high"] == found.difference_high[0]
    assert "one that ends in .csv or .parquet" in ask(*asked, "-o", "one.txt").output


def test_saliency_writes_a_figure(saved, tmp_path):
    target = tmp_path / "s.png"
    result = ask("saliency", saved, "--select", "label=0", "--toward", "label=1", "-o", str(target))
    assert result.exit_code == 0, result.output
    assert "Wrote" in result.stdout
    assert Path(target).stat().st_size > 1000


def test_what_is_wrong_is_said_in_one_line(saved):
    for arguments, text in (
        (["why", saved, "nobody"], "point 'nobody' must be a row number"),
        (["why", saved, "999"], "point 999 must be below n_samples=240"),
        (["why", "nothing.gnomon", "1"], "nothing.gnomon"),
        (["axis", saved, "1,2"], "of at least two"),
        (["axis", saved, "1,x", "2,3"], "must be numbers with commas"),
        (["axis", saved, "1,2", "3,4,5"], "the same number of coordinates"),
        (["contrast", saved, "--select", "kind=1"], "column='kind' must be one of those in the data"),
        (["saliency", saved], "give POINT or --select"),
        (["counterfactual", saved, "3"], "give --target or --position"),
        (["importance", saved, "--by-label", "--select", "label=1"], "cannot be used together"),
    ):
        result = ask(*arguments)
        assert result.exit_code == 2, arguments
        assert text in result.stderr


@pytest.mark.parametrize("question", QUESTIONS)
def test_help_says_what_a_map_is(question):
    assert "gnomon map --save" in " ".join(ask(question, "--help").stdout.split())


def test_rows_are_ranked_for_people_and_for_programs(saved, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    X[30:] += 20
    labels = np.repeat([0, 1], 30)
    labels[4] = 1
    path = str(tmp_path / "wrong.gnomon")
    Map(X, X[:, :2], labels=labels).save(path)
    table = ask("suspects", path).stdout.splitlines()
    assert table[0].startswith("1 of 60 labelled rows")
    assert table[2].split()[:3] == ["4", "1", "0"]
    rows = ask("points", path).stdout.splitlines()
    assert rows[1].split()[0] == "Trustworthiness"
    document = json.loads(ask("points", path, "--json").stdout)
    assert document["columns"]["false_neighbors"]["n"] == 60
    document = json.loads(ask("neighbors", path, "4", "--json").stdout)
    assert [row["row"] for row in document["false"]["rows"]] == Map.load(path).false_neighbors(4).rows.tolist()
    assert [row["row"] for row in document["missing"]["rows"]] == Map.load(path).missing_neighbors(4).rows.tolist()
    document = json.loads(ask("outliers", path, "--json", "-n", "2").stdout)
    assert [row["row"] for row in document["rows"]] == Map.load(path).outliers(2).rows.tolist()
    assert "gnomon map --save" in " ".join(ask("suspects", "--help").stdout.split())


def test_verdicts_are_given_for_people_and_for_programs(saved):
    table = ask("verdict", saved, "apart", "0", "1").stdout
    assert table.startswith("Are 0 and 1 apart? Yes")
    document = json.loads(ask("verdict", saved, "denser", "label=0", "label=1", "--json").stdout)
    assert document["answer"] in ("yes", "no", "cannot be told")
    few = ask("verdict", saved, "apart", "0", "1", "--max-rows", "200").stdout
    assert "rests on 200 of " in few
    refused = ask("verdict", saved, "nearer", "0", "1")
    assert refused.exit_code == 2
    assert "nearer asks about 3 groups, not 2" in refused.stderr
    assert ask("verdict", saved, "gaps").stdout.startswith("Gaps in the map, judged in the data\nAre ")
    drawn = json.loads(ask("verdict", saved, "illusions", "--json").stdout)
    assert drawn["verdicts"][0]["question"].endswith("as wide as it looks?")
    assert "gaps asks about 0 groups, not 1" in ask("verdict", saved, "gaps", "0").stderr


def test_a_profile_of_a_map_without_classes_is_refused(tmp_path):
    path, X = str(tmp_path / "m.gnomon"), np.random.default_rng(0).normal(size=(60, 3))
    Map(X, X[:, :2]).save(path)
    for asked in (["profile", path], ["profile", path, "--captions"]):
        refused = ask(*asked)
        assert (refused.exit_code, "a map must be one with labels" in refused.output) == (2, True)


def test_features_are_judged_between_units(tmp_path):
    draw = np.random.default_rng(0)
    donor, treated = np.repeat(np.arange(8), 10), np.repeat([True, False], 40)
    X = draw.normal(size=(80, 3)) + draw.normal(size=(8, 3))[donor]
    path = str(tmp_path / "m.gnomon")
    Map(X, X[:, :2], metadata={"donor": donor, "treated": treated}).save(path)
    found = ask("contrast", path, "--select", "treated=True", "--units", "donor")
    expected = gnomon.load(path).contrast(treated, units="donor")
    assert expected.n_units == (4, 4)
    assert found.stdout == f"{expected}\n"
    refused = ask("contrast", path, "--select", "treated=True", "--units", "patient")
    assert (refused.exit_code, "units='patient' must be one of" in refused.output) == (2, True)


def test_labels_are_judged_between_units(tmp_path):
    draw = np.random.default_rng(0)
    donor = np.repeat(np.arange(10), 10)
    label = np.repeat(["a", "b", "c"], [40, 40, 20])
    X = draw.normal(size=(100, 3)) + draw.normal(size=(10, 3))[donor] + [[8.0, 0.0, 0.0]] * (label == "a")[:, None]
    path = str(tmp_path / "m.gnomon")
    Map(X, X[:, :2], labels=label, metadata={"donor": donor}, feature_names=["x", "y", "z"]).save(path)
    made = gnomon.load(path)
    found = json.loads(ask("profile", path, "--units", "donor", "--json").stdout)
    assert [one["n_units"] for one in found.values()] == [[4, 6], [4, 6], [2, 8]]
    assert found["b"]["caption"] == made.profiles(units="donor")["b"].caption()
    lines = ask("profile", path, "--captions", "--units", "donor").stdout.splitlines()
    assert lines[1].split("  ")[0::3][:2] == ["a", "high x"]
    assert lines[1].endswith("c (too few units)")
    assert lines[-1] == made.captions(units="donor").caution
    document = json.loads(ask("profile", path, "--captions", "--units", "donor", "--json").stdout)
    assert (document["a"]["untold"], document["a"]["n_units"]) == (["c"], 4)
    for asked in ((), ("--captions",)):
        refused = ask("profile", path, *asked, "--units", "patient")
        assert (refused.exit_code, "units='patient' must be one of" in refused.output) == (2, True)


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("dept='A & B'", [0, 1]),
        ('dept="A & B" & site=x', [0]),
        ("site=x & dept='A & B'", [0]),
        ("site=it's & dept='C'", [2]),
        ("dept=C & site=it's", [2]),
    ],
)
def test_a_value_that_joins_words_is_selected_in_quotes(condition, rows):
    about = {"dept": np.array(["A & B", "A & B", "C"]), "site": np.array(["x", "y", "it's"])}
    made = Map(np.eye(3), np.eye(3)[:, :2], metadata=about)
    np.testing.assert_array_equal(np.flatnonzero(made.select(condition)), rows)
