"""`gnomon spectrum` against a stand-in for the spectrum, and once with the real one."""

import importlib
import json
import math
from pathlib import Path

import click.testing
import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.data import Dataset, Representation
from gnomon.exceptions import DataWarning

room = importlib.import_module("gnomon.spectrum")


class FakeSpectrum:
    def __init__(self):
        self.shown = {}

    def to_html(self, path, **shown):
        self.shown = shown
        Path(path).write_text("page")

    def to_png(self, path, labels):
        Path(path).write_bytes(b"png")

    def report(self):
        return "From 30 to 1."

    def to_dict(self):
        return {"critical": math.inf, "losses": [1.0, 0.5]}


@pytest.fixture
def calls(monkeypatch):
    calls = []

    def fake(X, values=None, **options):
        options.pop("callback")
        calls.append((X, values, options, FakeSpectrum()))
        return calls[-1][-1]

    monkeypatch.setattr(room, "attraction_repulsion_spectrum", fake)
    return calls


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: click.testing.CliRunner().invoke(main, ["spectrum", *arguments])


def test_a_table_with_coordinates_is_laid_out_in_these_and_shown_in_its_features(run, calls, monkeypatch):
    X = np.arange(20.0).reshape(5, 4)
    dataset = Dataset(X, representation=Representation("X_pca", X[:, :2]), source="cells.h5ad")
    monkeypatch.setattr("gnomon.data.open_dataset", lambda *arguments, **options: dataset)
    assert run("cells.h5ad", "-o", "s.html").exit_code == 0
    np.testing.assert_array_equal(calls[0][0], X[:, :2])
    np.testing.assert_array_equal(calls[0][3].shown["X"], X)


def test_columns_are_those_of_the_map_in_its_scale(run, calls):
    lines = [f"{1000 * (i % 7)},{i % 5},{'xyz'[i % 3]},{i * i % 11 if i else ''}" for i in range(40)]
    Path("mixed.csv").write_text("\n".join(["size,level,kind,count", *lines]) + "\n")
    result = run("mixed.csv", "-o", "s.html", "--missing", "median")
    assert result.exit_code == 0, result.output
    with pytest.warns(DataWarning, match="median"):
        made = gnomon.map(gnomon.read_table("mixed.csv", missing="keep"), "pca", missing="median")
    np.testing.assert_array_equal(calls[0][0], made.scale.apply(made.X))
    assert calls[0][3].shown["feature_names"] == made.feature_names
    np.testing.assert_array_equal(calls[0][3].shown["X"], made.X)
    assert "columns turned into numbers: 'kind' (3 categories)" in result.stdout
    run("mixed.csv", "-o", "s.html", "--features", "level,size")
    assert calls[1][3].shown["feature_names"] == ["level", "size"]
    run("mixed.csv", "--metric", "cosine")
    np.testing.assert_array_equal(calls[2][0].mean(axis=0)[0], made.X.mean(axis=0)[0])  # which divides by lengths


def test_page_and_picture_are_written_and_told(run, calls):
    result = run("iris", "-o", "s.html", "--png", "s.png")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == ["From 30 to 1.", "Wrote s.html (1 kB)", "Wrote s.png (1 kB)"]
    shown = calls[0][3].shown
    assert shown["X"].shape == (150, 4)
    assert shown["label_name"] == "species"
    assert len(shown["labels"]) == 150
    assert shown["title"] == "iris: attraction and repulsion"


def test_defaults_are_left_to_the_function(run, calls):
    run("iris")
    X, values, options, _ = calls[0]
    assert X.shape == (150, 4)
    assert values is None
    assert options == {"locate": False, "random_state": 0, "n_jobs": None}


def test_options_reach_the_function(run, calls):
    arguments = "--values 30,4.5,1 --locate --n-neighbors 9 --metric cosine --max-iter 20 --seed 7 --threads 2"
    run("iris", *arguments.split())
    _, values, options, _ = calls[0]
    assert values == [30.0, 4.5, 1.0]
    assert options == {
        "locate": True,
        "n_neighbors": 9,
        "metric": "cosine",
        "max_iter": 20,
        "random_state": 7,
        "n_jobs": 2,
    }


def test_json_is_for_programs(run, calls):
    document = json.loads(run("iris", "--json").stdout)
    assert document["spectrum"] == {"critical": None, "losses": [1.0, 0.5]}
    assert document["data"]["n_samples"] == 150


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["iris", "--values", "30,many"], "'30,many' must be numbers with commas between them"),
        (["iris", "-o", "missing/s.html"], "in an existing folder"),
        (["iris", "--n-components", "4"], "2<=x<=3"),
        (["iris", "--metric", "precomputed", "--drop", "a"], "of --metric precomputed these are distances"),
    ],
)
def test_wrong_arguments(run, calls, arguments, text):
    result = run(*arguments)
    assert result.exit_code == 2
    assert text in result.stderr
    assert calls == []


def test_the_real_spectrum_of_a_small_table(run):
    result = run("iris", "--values", "5,1", "--max-iter", "20", "-o", "s.html", "--png", "s.png")
    assert result.exit_code == 0, result.stderr
    assert "149 distinct rows" in result.stderr
    assert "exaggeration" in result.stdout
    assert Path("s.html").stat().st_size > 10_000
    wrong = run("iris", "--values", "5,-1")
    assert wrong.exit_code == 2
    assert "attraction_repulsion_spectrum: exaggerations must be finite numbers > 0 (one is -1)" in wrong.stderr
