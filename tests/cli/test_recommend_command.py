"""`gnomon recommend`: the answer as text, as JSON and as a picture, and errors in one line."""

from __future__ import annotations

import json

import click.testing
import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.cli.names import joined_names, split_names
from gnomon.exceptions import DataWarning


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kinds = np.repeat(["a", "b"], 30)
    rows = [",".join(map(str, row)) for row in rng.normal(size=(60, 4)).round(4)]
    lines = ["w,x,y,z,kind", *(f"{row},{kind}" for row, kind in zip(rows, kinds, strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    return lambda *arguments: click.testing.CliRunner().invoke(main, ["recommend", *arguments])


def test_the_answer_ends_with_the_command_that_makes_the_map(run, tmp_path):
    result = run("table.csv", "--labels", "kind", "--method", "pca", "--png", "curves.png")
    assert result.exit_code == 0, result.output
    assert "Use pca." in result.output
    assert "gnomon map table.csv -o map.html --method pca --n-components 2 --labels kind\n" in result.output
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "curves.png.run.json").read_text())["command"] == "recommend"


def test_json_has_the_choice_and_its_reasons(run):
    result = run("table.csv", "--labels", "kind", "--method", "random_projection", "--method", "pca", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["recommendation"]
    assert found["method"] in ("random_projection", "pca")
    assert found["reasons"]
    assert len(found["comparison"]["maps"]) == 2


def test_remedies_are_options_of_the_command_and_columns_stay_in_their_units(run, tmp_path):
    table = np.random.default_rng(0).normal(size=(60, 3)) * [1000.0, 1.0, 1.0]
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", header="w,x,y", comments="")
    told = run("t.csv", "--method", "pca")
    assert "Pass --scale none to map them in their own units." in told.stderr
    assert "Pass --scale none" not in told.stdout  # it has been said
    assert " --method pca --n-components 2\n" in told.stdout
    own = run("t.csv", "--method", "pca", "--scale", "none")
    assert "Pass --scale standard to standardise all columns." in own.stderr
    assert " --method pca --n-components 2 --scale none\n" in own.stdout


def test_an_unknown_method_is_told_in_one_line(run):
    result = run("table.csv", "--labels", "kind", "--method", "umpa")
    assert result.exit_code == 2
    assert "methods='umpa' must be one of" in result.output


def test_columns_are_those_of_the_map_with_its_scale_and_its_notes(run, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.normal() * 1000:.3f},{'xyz'[i % 3]},2022-03-{1 + i % 28:02},{i * i % 11 if i else ''}" for i in range(60)
    ]
    (tmp_path / "mixed.csv").write_text("\n".join(["size,kind,when,count", *lines]) + "\n")
    result = run("mixed.csv", "--method", "pca", "--json")
    assert result.exit_code == 0, result.output
    assert "1 of 240 values are missing" in result.stderr
    found = json.loads(result.stdout)
    with pytest.warns(DataWarning, match="missing"):
        made = gnomon.map(gnomon.read_table(tmp_path / "mixed.csv", missing="keep"), "pca")
    assert (found["data"]["n_features"], made.scale.name) == (6, "standard")
    assert [note.replace("gnomon recommend", "map") for note in found["data"]["notes"]] == made.notes
    assert run("mixed.csv", "--missing", "error").exit_code == 2


def test_categories_alone_are_judged_too(run, tmp_path):
    (tmp_path / "words.csv").write_text("c,d\n" + "".join(f"{'xy'[i % 2]},{'uvwz'[i % 4]}\n" for i in range(80)))
    result = run("words.csv", "--method", "pca", "--method", "random_projection")
    assert result.exit_code == 0, result.output
    assert "columns turned into numbers: 'c' (2 categories), 'd' (4 categories)" in result.output
    assert "coordinates; no map of fewer" not in result.output  # four distinct rows do not tell


def test_columns_that_are_chosen_stand_in_the_command_too(run):
    result = run("table.csv", "--labels", "kind", "--method", "pca", "--features", "w,y", "--json")
    assert json.loads(result.stdout)["data"]["n_features"] == 2
    told = run("table.csv", "--labels", "kind", "--method", "pca", "--drop", "w,y")
    assert " --labels kind --drop w,y\n" in told.stdout


def test_names_are_written_as_they_are_read():
    names = ["a", "b, c", 'the "d"']
    assert split_names(None, None, joined_names(names)) == names
