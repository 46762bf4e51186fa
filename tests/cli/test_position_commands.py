"""`gnomon explain` and `gnomon evaluate`: positions of other programs, columns beside the data, standard input."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.cli.console import json_text
from gnomon.cli.inputs import read_positions
from gnomon.evaluation import scorecard
from gnomon.maps import Map


def run(*arguments, **options):
    return click.testing.CliRunner().invoke(main, [*arguments, "--threads", "1"], **options)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(80, 4))
    X[40:, 0] += 6
    np.save("X.npy", X)
    np.save("Y.npy", X[:, :2])
    Path("about.csv").write_text(
        "kind,site,age\n" + "".join(f"{'ab'[i // 40]},s{i % 3},{i if i else ''}\n" for i in range(80))
    )
    return X


def test_evaluate_is_the_evaluation_of_the_library(files):
    result = run("evaluate", "X.npy", "Y.npy", "--metadata", "about.csv", "--labels", "kind", "--json")
    assert result.exit_code == 0, result.output
    labels = np.repeat(["a", "b"], 40)
    expected = gnomon.evaluate(files, files[:, :2], labels=labels, n_jobs=1).to_dict()
    found = json.loads(result.stdout)
    assert found["evaluation"] == expected
    assert (found["data"]["label_name"], found["data"]["n_labels"]) == ("kind", 2)
    assert "trustworthiness" in run("evaluate", "X.npy", "Y.npy").stdout


def test_distances_that_are_said_to_be_distances_are_not_warned_of(files):
    np.save("D.npy", np.linalg.norm(files[:, None] - files, axis=-1))
    assert "If they are distances, fit a method on them in Python" in run("evaluate", "D.npy", "Y.npy").stderr
    result = run("evaluate", "D.npy", "Y.npy", "--metric", "precomputed", "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    expected = gnomon.evaluate(files, files[:, :2], n_jobs=1).trustworthiness
    assert json.loads(result.stdout)["evaluation"]["trustworthiness"] == pytest.approx(expected, abs=1e-4)
    refused = run("map", "D.npy", "--metric", "precomputed")
    assert refused.exit_code == 2
    assert "Warning" not in refused.stderr
    assert "or, of files, by gnomon evaluate D.npy Y.npy --metric precomputed" in refused.stderr


def test_evaluate_all_is_the_scorecard_of_the_library_and_draws_it(files):
    pytest.importorskip("matplotlib")
    about = ["--metadata", "about.csv", "--labels", "kind"]
    result = run("evaluate", "X.npy", "Y.npy", *about, "--all", "--json")
    assert result.exit_code == 0, result.output
    labels = np.repeat(["a", "b"], 40)
    expected = scorecard(files, files[:, :2].astype(np.float32), labels, n_jobs=1).to_dict()
    assert json.loads(result.stdout)["evaluation"] == json.loads(json_text(expected))
    result = run("evaluate", "X.npy", "Y.npy", *about, "--png", "card.png")
    assert result.exit_code == 0, result.output
    assert "keeps neighbourhoods" in result.stdout
    assert Path("card.png").read_bytes().startswith(b"\x89PNG")
    refused = run("evaluate", "X.npy", "Y.npy", "--png", "card.txt")
    assert refused.exit_code == 2
    assert "must be one that ends in" in refused.stderr


def test_explain_writes_and_reports_the_map_of_given_positions(files):
    arguments = ["--metadata", "about.csv", "--labels", "kind", "-o", "page.html", "--save", "m.gnomon"]
    result = run("explain", "X.npy", "Y.npy", *arguments)
    assert result.exit_code == 0, result.output
    assert "How far to trust it" in result.stdout
    made = Map.load("m.gnomon")
    assert (made.method, made.name, made.label_name) == ("given", "X.npy", "kind")
    np.testing.assert_array_equal(made.embedding, files[:, :2].astype(np.float32))
    assert made.labels.tolist() == ["a"] * 40 + ["b"] * 40
    assert made.metadata["site"].tolist() == [f"s{i % 3}" for i in range(80)]
    np.testing.assert_array_equal(made.metadata["age"], [np.nan, *range(1, 80)])
    assert Path("page.html").stat().st_size > 10_000


def test_missing_values_are_what_they_are_for_a_map(files):
    lines = [",".join(map(repr, row)) for row in files.tolist()]
    lines[7] = "," + lines[7].partition(",")[2]
    Path("gaps.csv").write_text("\n".join(["a,b,c,d", *lines]))
    result = run("explain", "gaps.csv", "Y.npy", "--save", "filled.gnomon")
    assert result.exit_code == 0, result.output
    assert "1 of 320 values are missing" in result.stderr
    assert "1 of 320 values are missing" not in result.stdout  # it has been said
    assert Map.load("filled.gnomon").completion.missing.sum() == 1
    assert run("explain", "gaps.csv", "Y.npy", "--missing", "drop", "--save", "fewer.gnomon").exit_code == 0
    fewer = Map.load("fewer.gnomon")
    np.testing.assert_array_equal(fewer.embedding, np.delete(files[:, :2], 7, axis=0).astype(np.float32))
    assert json.loads(run("evaluate", "gaps.csv", "Y.npy", "--missing", "median", "--json").stdout)["warnings"]
    refused = run("evaluate", "gaps.csv", "Y.npy", "--missing", "error")
    assert (refused.exit_code, "1 missing value, at line 9, column 'a'" in refused.stderr) == (2, True)
    placed = run("transform", "filled.gnomon", "gaps.csv", "-o", "places.npy")
    assert placed.exit_code == 0, placed.output
    np.testing.assert_allclose(np.load("places.npy"), files[:, :2], atol=3)
    Path("one.csv").write_text("a,b,c,d\n0.5,,0.5,0.5\n")
    placed = run("transform", "filled.gnomon", "one.csv", "-o", "places.npy")
    assert (placed.exit_code, np.load("places.npy").shape) == (0, (1, 2)), placed.output
    run("explain", "X.npy", "Y.npy", "--save", "whole.gnomon")
    refused = run("transform", "whole.gnomon", "gaps.csv")
    assert (refused.exit_code, "NaN" in refused.stderr) == (2, True)


def test_positions_are_the_columns_x_and_y_where_there_are_such(files):
    lines = [f"p{i},{i % 7},{y!r},{x!r}" for i, (x, y) in enumerate(files[:, :2].tolist())]
    Path("Y.csv").write_text("\n".join(["point,other,y,x", *lines]))
    np.testing.assert_array_equal(read_positions("Y.csv"), files[:, :2])
    np.save("wide.npy", files)
    named, plain = (json.loads(run("evaluate", "X.npy", name, "--json").stdout) for name in ("Y.csv", "Y.npy"))
    assert named["evaluation"] == plain["evaluation"]
    refused = run("evaluate", "X.npy", "wide.npy")
    assert refused.exit_code == 2
    assert "file 'wide.npy' must be positions in 2 or 3 columns (it has 4)" in refused.stderr


def test_positions_of_other_rows_are_refused(files):
    np.save("Y.npy", files[:70, :2])
    result = run("evaluate", "X.npy", "Y.npy")
    assert result.exit_code == 2
    assert "embedding of shape (70, 2) must be of 80 rows" in result.stderr


def test_data_can_come_from_standard_input(files):
    text = "a,b,c,d\n" + "\n".join(",".join(map(repr, row)) for row in files.tolist())
    result = run("evaluate", "-", "Y.npy", "--json", input=text)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["data"]["source"] == "stdin"
    assert found["evaluation"] == json.loads(run("evaluate", "X.npy", "Y.npy", "--json").stdout)["evaluation"]
    refused = run("evaluate", "-", "Y.npy", input="a,b\n1,2\n1\n")
    assert refused.exit_code == 2
    assert "file on standard input must be a table of rows of equal length" in refused.stderr


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("kind\na\nb\n", "--metadata='t.csv' must be a table of 80 rows, one for each of the data (it has 2 rows)"),
        ("1,2\n3,4\n", "must be a table with names of columns"),
        ("kind\n", "(it has 0 rows)"),
    ],
)
def test_columns_that_do_not_fit_the_data_are_refused(files, content, text):
    Path("t.csv").write_text(content)
    result = run("evaluate", "X.npy", "Y.npy", "--metadata", "t.csv")
    assert (result.exit_code, text in result.stderr) == (2, True), result.stderr


def test_labels_are_looked_for_beside_the_data_first(files):
    Path("about.csv").write_text("group\n" + "3\n4\n" * 40)
    result = run("explain", "X.npy", "Y.npy", "--metadata", "about.csv", "--labels", "group", "--save", "m.gnomon")
    assert result.exit_code == 0, result.output
    assert Map.load("m.gnomon").labels.tolist() == [3, 4] * 40
    refused = run("evaluate", "X.npy", "Y.npy", "--metadata", "about.csv", "--labels", "grup")
    assert refused.exit_code == 2
    assert "labels='grup'" in refused.stderr


def test_a_column_of_its_own_is_called_as_its_file(files):
    kind = np.repeat(["one", "two"], 40)
    np.save("kind.npy", kind)
    result = run("explain", "X.npy", "Y.npy", "--metadata", "kind.npy", "--labels", "kind", "--save", "m.gnomon")
    assert result.exit_code == 0, result.output
    made = Map.load("m.gnomon")
    assert (made.label_name, made.labels.tolist()) == ("kind", kind.tolist())
    refused = run("evaluate", "X.npy", "Y.npy", "--metadata", "Y.npy")
    assert refused.exit_code == 2
    assert "file 'Y.npy' must be an array of numbers, texts or dates, one for each row (shape (80, 2)" in refused.stderr


def test_labels_may_be_a_file_of_one_column(files):
    kind = np.repeat(["one", "two"], 40)
    np.save("kind.npy", kind)
    Path("kinds.csv").write_text("\n".join(["kind", *kind.tolist()]))
    for file in ("kind.npy", "kinds.csv"):
        result = run("explain", "X.npy", "Y.npy", "--labels", file, "--save", "m.gnomon")
        assert result.exit_code == 0, result.output
        made = Map.load("m.gnomon")
        assert (made.label_name, made.labels.tolist()) == ("kind", kind.tolist())
        assert file in [one["file"] for one in json.loads(Path("m.gnomon.run.json").read_text())["inputs"]]


def test_a_file_of_labels_is_refused_where_it_is_none_of_these_rows(files):
    np.save("few.npy", np.arange(3))
    refused = run("evaluate", "X.npy", "Y.npy", "--labels", "few.npy")
    assert refused.exit_code == 2
    assert "--labels='few.npy' must be a table of 80 rows, one for each of the data (it has 3 rows)" in refused.stderr
    Path("about.csv").write_text("group,site\n" + "3,a\n4,b\n" * 40)
    refused = run("evaluate", "X.npy", "Y.npy", "--labels", "about.csv")
    assert refused.exit_code == 2
    assert "--labels='about.csv' must be a column, or a file of one (it has 2). Pass --metadata" in refused.stderr
    assert "where COL is one of its columns: group, site." in refused.stderr


def test_columns_are_chosen_as_the_warning_says(files):
    X = files
    rows = "".join(f"{i},{a:.4f},{b:.4f}\n" for i, (a, b) in enumerate(X[:, :2]))
    Path("X.csv").write_text(f"id,a,b\n{rows}")
    assert (
        "Pass --features ... with these names, beside the others, to use them."
        in run("evaluate", "X.csv", "Y.npy").stderr
    )
    asked = run("evaluate", "X.csv", "Y.npy", "--features", "a", "--json")
    assert (asked.exit_code, asked.stderr) == (0, "")
    assert json.loads(asked.stdout)["data"]["n_features"] == 1
    left = run("explain", "X.csv", "Y.npy", "--drop", "b,id", "--json")
    assert json.loads(left.stdout)["data"]["n_features"] == 1
