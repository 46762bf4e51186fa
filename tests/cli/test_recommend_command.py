"""`gnomon recommend`: the answer as text, as JSON and as a picture, and errors in one line."""

from __future__ import annotations

import json

import click.testing
import numpy as np
import pytest

from gnomon.cli import main


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
    assert "gnomon map table.csv -o map.html --method pca --n-components 2" in result.output
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "curves.png.run.json").read_text())["command"] == "recommend"


def test_json_has_the_choice_and_its_reasons(run):
    result = run("table.csv", "--labels", "kind", "--method", "random_projection", "--method", "pca", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["recommendation"]
    assert found["method"] in ("random_projection", "pca")
    assert found["reasons"]
    assert len(found["comparison"]["maps"]) == 2


def test_an_unknown_method_is_told_in_one_line(run):
    result = run("table.csv", "--labels", "kind", "--method", "umpa")
    assert result.exit_code == 2
    assert "methods='umpa' must be one of" in result.output
