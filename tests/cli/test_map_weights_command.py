"""`gnomon map` with weights of features and of rows."""

import json

import click.testing
import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f},{b:.3f},{c:.3f},{d}"
        for a, b, c, d in zip(*rng.normal(size=(3, 50)), [1, 0, 2, 3, 1] * 10, strict=True)
    ]
    (tmp_path / "t.csv").write_text("age,height,dose,n\n" + "\n".join(rows) + "\n")
    return "t.csv"


def run(*arguments):
    return click.testing.CliRunner().invoke(main, ["map", *arguments])


def test_weights_are_those_of_the_library(table):
    common = [table, "--method", "pca", "--scale", "none", "--json", "--save", "m.gnomon"]
    found = run(*common, "--feature-weight", "age=2.5", "--feature-weight", "dose=0", "--sample-weight", "n")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["map"]["feature_weight"] == {"age": 2.5, "dose": 0.0}
    made = gn.load("m.gnomon")
    assert made.feature_names == ["age", "height", "dose"]
    data = gn.read_table(table)
    same = gn.map(data, method="pca", scale=None, feature_weight=[2.5, 1, 0], sample_weight="n")
    np.testing.assert_array_equal(made.embedding, same.embedding)


@pytest.mark.parametrize("text", ["age", "age=much", "=2"])
def test_a_weight_without_name_or_number_is_refused(table, text):
    found = run(table, "--feature-weight", text)
    assert found.exit_code != 0
    assert "must be FEATURE=WEIGHT, such as age=2" in found.output


def test_a_column_of_weights_that_is_not_there_is_named(table):
    found = run(table, "--sample-weight", "m")
    assert found.exit_code != 0
    assert "sample_weight='m' must be the name of a column (there are 'age', 'height', 'dose', 'n')" in found.output
