"""`run.json` says what was read, what was in force and which map came of it; equal runs are equal but for times."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import gnomon as gn
from gnomon.cli import main
from gnomon.storage import checksum

N = 90


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    table["kind"] = np.array(["x", "y", "z"])[rng.integers(0, 3, N)]
    table["code"] = [f"row {i}" for i in range(N)]
    table.loc[:6, "b"] = np.nan
    table.to_csv("t.csv", index=False)
    pd.DataFrame({"day": rng.integers(0, 4, N)}).to_csv("beside.csv", index=False)
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(main, [*arguments])
    assert done.exit_code == 0, done.output
    return done.output


def sha(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def mapped(name, *more):
    run("map", "t.csv", "--metadata", "beside.csv", "--save", f"{name}.gnomon", "-o", f"{name}.html", "--quiet", *more)
    return json.loads(Path(f"{name}.gnomon.run.json").read_text())


def test_a_record_holds_inputs_parameters_columns_and_gaps(folder):
    record = mapped("m", "--n-neighbors", "10")
    assert record["inputs"] == [
        {"file": name, "bytes": Path(name).stat().st_size, "sha256": sha(name)} for name in ("t.csv", "beside.csv")
    ]
    made, about = gn.load("m.gnomon"), record["map"]
    assert about["parameters"] == {"n_neighbors": 10, "random_state": 0}
    in_force = about["parameters_in_force"]
    assert {name: in_force[name] for name in ("n_neighbors", "min_dist", "metric")} == {
        "n_neighbors": 10,
        "min_dist": 0.1,
        "metric": "euclidean",
    }
    assert in_force["learning_rate"] == made._estimator.learning_rate_  # "auto", decided
    assert in_force.keys() == made._estimator.get_params().keys() - {"callback", "n_jobs", "verbose"}
    assert (about["scale"], about["metric"], about["made_in"]) == ("standard", "euclidean", None)
    became = {column["name"]: column["became"] for column in about["columns"]}
    assert became == {"a": "number", "b": "number", "c": "number", "kind": "category", "code": "left out"}
    assert [column["because"] for column in about["columns"] if column["name"] == "code"] == ["an identifier"]
    assert about["metadata"] == list(made.metadata)
    assert about["missing"] == {"filled_in_by": "distance", "values": {"b": 7}}
    assert any("7 of" in note for note in about["notes"])
    assert about["notes"] == made.notes


def test_equal_runs_are_equal_but_for_the_times_of_the_map(folder):
    first, second = mapped("m"), mapped("n", "--threads", "1")
    assert first == second
    assert sha("m.html") == sha("n.html")
    one, two = gn.load("m.gnomon"), gn.load("n.gnomon")
    assert one.timings != two.timings
    assert one.fingerprint() == two.fingerprint() == first["map"]["fingerprint"]
    for made in (one, two):
        made.timings.clear()
    one.save("a.gnomon")
    two.save("b.gnomon")
    assert sha("a.gnomon") == sha("b.gnomon")
    assert first["map"]["fingerprint"] in run("info", "m.gnomon")


def test_a_record_of_a_saved_map_names_its_file(folder):
    mapped("m")
    run("show", "m.gnomon", "-o", "p.html")
    record = json.loads(Path("p.html.run.json").read_text())
    assert record["inputs"] == [
        {"file": "m.gnomon", "bytes": Path("m.gnomon").stat().st_size, "sha256": sha("m.gnomon")}
    ]
    assert sha("p.html") == sha("m.html")
    run("report", "m.gnomon", "--data", "t.csv", "-o", "r.html")
    inputs = json.loads(Path("r.html.run.json").read_text())["inputs"]
    assert [one["file"] for one in inputs] == ["m.gnomon", "t.csv"]


@pytest.mark.parametrize("method", ["umap", "pca", "isomap"])
def test_a_fingerprint_stays_with_questions_and_files_and_changes_with_the_map(tmp_path, method):
    X = np.random.default_rng(0).normal(size=(70, 4))
    days = np.datetime64("2024-01-01") + np.arange(70)
    given = {"metadata": {"day": days, "text": [f"t{i}" for i in range(70)]}}
    if method != "pca":
        given["n_neighbors"] = 8  # too few to be shared with questions
    made = gn.map(X, method, **given)
    first = made.fingerprint()
    assert first == gn.map(X, method, **given).fingerprint()
    made.neighbors()
    made.explain()
    made.timings["more"] = 1.0
    assert made.fingerprint() == first
    made.save(tmp_path / "m.gnomon")
    assert gn.load(tmp_path / "m.gnomon").fingerprint() == first
    others = [
        gn.map(X + np.eye(70, 4), method, **given),
        gn.map(X, method, **given, labels=np.arange(70) % 2),
        gn.map(X, method, **{**given, "metadata": {"day": days + 1, "text": given["metadata"]["text"]}}),
        made.without_metadata(["text"]),
    ]
    assert len({first, *(other.fingerprint() for other in others)}) == 5


def test_a_checksum_reads_dates_and_texts():
    dates, texts = np.array(["2024-01-01", "2024-01-02"], "M8[D]"), np.array(["a", "b"])
    assert len({checksum({"a": one}, {}) for one in (dates, dates[::-1], texts, texts[::-1], dates[:0])}) == 5
