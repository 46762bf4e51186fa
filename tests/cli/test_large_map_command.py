"""`gnomon map` of a table that is read in blocks, against a stand-in for the map of landmarks."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest
from click.testing import CliRunner

import gnomon as gn
from gnomon.cli import main
from gnomon.cli.inputs import read_positions
from gnomon.data import stored
from gnomon.data.stored import ArrayTable

map_room = importlib.import_module("gnomon.maps")


class FakeLandmarkMap:
    method, n_samples, landmarks, landmark_map = "umap", 40, np.arange(10), None
    notes, timings = ["uniform"], {"fit": 1.5}
    embedding = np.zeros((40, 2), dtype=np.float32)

    def write_html(self, path, title):
        with open(path, "w") as file:
            file.write(title)

    def write(self, path):
        with open(path, "w") as file:
            file.write("positions")

    def save(self, path):
        with open(path, "w") as file:
            file.write("map")

    def summary(self, *, notes):
        assert not notes
        return "10 of 40 rows are landmarks."


@pytest.fixture
def calls(monkeypatch):
    calls = []

    def fake_map(X, **options):
        calls.append((X, options))
        return FakeLandmarkMap()

    monkeypatch.setattr(map_room, "map", fake_map)
    monkeypatch.setattr(
        stored, "open_stored", lambda path, key: ArrayTable(np.load(path, mmap_mode="r")), raising=False
    )
    return calls


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.zeros((40, 3), dtype=np.float32))
    np.save("y.npy", np.arange(40) % 2)
    return lambda *arguments: CliRunner().invoke(main, ["map", *map(str, arguments)])


def test_landmarks_cluster_and_folder_reach_the_map(run, calls):
    found = run("X.npy", "--n-fitted", 10, "--cluster", "tcp://127.0.0.1:1", "--folder", "kept", "--memory", "1G")
    assert found.exit_code == 0, found.output
    (table, options), *_ = calls
    assert isinstance(table, ArrayTable)
    wanted = {"n_fitted": 10, "executor": "tcp://127.0.0.1:1", "folder": "kept", "memory_budget": "1G"}
    assert wanted.items() <= options.items()
    assert found.stdout == "10 of 40 rows are landmarks.\n\nNotes\n  uniform\n"


def test_everything_is_written(run, calls, tmp_path):
    files = ("-o", "map.html", "--embedding", "map.parquet", "--save", "map.gnomon", "--title", "large")
    assert run("X.npy", "--n-fitted", 10, *files).exit_code == 0
    assert (tmp_path / "map.html").read_text() == "large"
    assert (tmp_path / "map.parquet").read_text() == "positions"
    assert (tmp_path / "map.gnomon").read_text() == "map"
    options = json.loads((tmp_path / "map.html.run.json").read_text())["options"]
    assert options["n-fitted"] == 10


def test_labels_are_read_from_a_file(run, calls):
    assert run("X.npy", "--n-fitted", 10, "--labels", "y.npy").exit_code == 0
    assert np.array_equal(calls[0][1]["labels"], np.arange(40) % 2)
    np.save("short.npy", np.zeros(7))
    found = run("X.npy", "--n-fitted", 10, "--labels", "short.npy")
    assert found.exit_code == 2
    assert "must be of 40 values, one for each row (it has 7)" in found.output


def test_columns_of_labels_and_features_reach_the_map_by_name(run, calls):
    assert run("X.npy", "--n-fitted", 10, "--labels", "kind", "--drop", "a,b", "--features", "c").exit_code == 0
    assert {"labels": "kind", "drop": ["a", "b"], "features": ["c"]}.items() <= calls[0][1].items()


def test_the_record_for_programs_has_times(run, calls):
    told = json.loads(run("X.npy", "--n-fitted", 10, "--json").stdout)
    assert told["map"] == {"method": "umap", "n_samples": 40, "n_landmarks": 10, "notes": ["uniform"]}
    assert told["timings"] == {"fit": 1.5}
    assert told["seconds"] > 0


def test_a_file_is_read_in_blocks_if_it_would_take_a_quarter_of_the_memory(run, calls):
    assert run("X.npy", "--memory", "1500").exit_code == 0
    assert isinstance(calls[0][0], ArrayTable)
    run("X.npy", "--memory", "1G")
    assert not isinstance(calls[1][0], ArrayTable)


@pytest.mark.parametrize("option", [("--png", "a.png"), ("--target", "y"), ("--metadata", "a"), ("--missing", "drop")])
def test_what_blocks_have_no_use_for_is_refused_before_the_work(run, calls, option):
    found = run("X.npy", "--n-fitted", 10, *option)
    assert found.exit_code == 2
    assert f"{option[0]} must be left out for a table that is read in blocks" in " ".join(found.output.split())
    assert not calls


@pytest.mark.parametrize("command", ["map", "forecast"])
def test_a_broken_file_is_told_before_options_that_it_could_not_have(tmp_path, command):
    pytest.importorskip("h5py")
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    option = ["--no-verdicts"] if command == "map" else ["--images", "2x2"]
    told = CliRunner().invoke(main, [command, str(tmp_path / "x.h5"), *option]).output
    assert "must be a complete HDF5 file" in told
    assert "left out" not in told


def test_other_data_have_landmarks_too(run, calls):
    assert run("iris", "--n-fitted", 50).exit_code == 0
    assert calls[0][1]["n_fitted"] == 50
    assert calls[0][0].n_samples == 150


def test_rows_are_placed_in_a_saved_map_with_landmarks_and_other_commands_say_what_to_do(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    new, saved, method = tmp_path / "new.npy", tmp_path / "map.gnomon", tmp_path / "pca.gnomon"
    np.save(new, X[:5])
    made = gn.map(X, n_fitted=40, random_state=0)
    made.save(saved)
    gn.PCA().fit(X).save(method)
    runner = CliRunner()
    placed = runner.invoke(main, ["transform", str(saved), str(new)])
    assert placed.exit_code == 0
    rows = np.loadtxt(placed.stdout.splitlines()[1:], delimiter=",")[:, -2:]
    np.testing.assert_allclose(rows, made.transform(X[:5]), rtol=1e-5)
    asked = runner.invoke(main, ["why", str(saved), "1"])
    assert asked.exit_code == 2
    assert "it was made by --n-fitted" in asked.stderr
    assert "--table FILE" in asked.stderr
    assert "it holds a fitted PCA" in runner.invoke(main, ["info", str(method)]).stderr
    with pytest.raises(ValueError, match=r"it holds 'gnomon-landmark-map'\)\. Read it with gnomon\.load\."):
        gn.Map.load(saved)


@pytest.mark.parametrize("kind", ["npy", "csv"])
def test_a_map_of_landmarks_is_asked_with_its_table(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, words = rng.normal(size=(90, 3)).astype(np.float32), np.array(["ab", "cd", "ef"])[np.arange(90) % 3]
    if kind == "npy":
        np.save("t.npy", X)
    else:
        lines = [",".join([*map(str, row), word]) for row, word in zip(X.tolist(), words, strict=True)]
        (tmp_path / "t.csv").write_text("\n".join(["x,y,z,kind", *lines]) + "\n")
    np.save("other.npy", X + 1)
    runner = CliRunner()
    assert runner.invoke(main, ["map", f"t.{kind}", "--n-fitted", "50", "--save", "m.gnomon", "--quiet"]).exit_code == 0
    found = runner.invoke(main, ["why", "m.gnomon", "7", "--table", f"t.{kind}", "--json"])
    assert found.exit_code == 0, found.output
    loaded = gn.load("m.gnomon")
    known = np.load("t.npy", mmap_mode="r") if kind == "npy" else gn.map(gn.read_table("t.csv"), "pca").X
    expected = loaded.attach(known).as_map().why(7, 5)
    assert [one["feature"] for one in json.loads(found.stdout)["features"]] == expected.features
    exported = runner.invoke(main, ["export", "m.gnomon", "--table", f"t.{kind}", "-o", "points.csv"])
    assert exported.exit_code == 0, exported.output
    assert len((tmp_path / "points.csv").read_text().splitlines()) == 91
    refused = runner.invoke(main, ["why", "m.gnomon", "7", "--table", "other.npy"])
    assert refused.exit_code == 2
    assert kind == "csv" or "X must be the table that was mapped" in refused.output
    gn.map(X, "pca").save("whole.gnomon")
    refused = runner.invoke(main, ["why", "whole.gnomon", "7", "--table", "t.npy"])
    assert "--table is for a map made by --n-fitted" in refused.output


def test_positions_that_were_written_by_blocks_are_read_again(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(90, 3)).astype(np.float32)
    np.save("t.npy", X)
    np.save("y.npy", np.arange(90) % 2)
    made = CliRunner().invoke(
        main, ["map", "t.npy", "--n-fitted", "50", "--labels", "y.npy", "--embedding", "p.parquet"]
    )
    assert made.exit_code == 0, made.output
    found = CliRunner().invoke(main, ["evaluate", "t.npy", "p.parquet", "--json"])
    assert found.exit_code == 0, found.output
    np.testing.assert_array_equal(read_positions("p.parquet"), gn.map(X, n_fitted=50, random_state=0).embedding)


def test_the_folder_that_is_one_table_is_said_to_be_one(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    for name in "ab":
        pq.write_table(pa.table({"x": [1.0, 2.0]}), f"{name}.parquet")
    found = CliRunner().invoke(main, ["map", ".", "--no-verdicts"])
    told = " ".join(found.output.split())
    assert found.exit_code == 2
    assert "the 2 .parquet files of the folder '.' are one table; one of them by itself is './a.parquet'" in told
    found = CliRunner().invoke(main, ["map", "a.parquet", "--n-fitted", "10", "--no-verdicts"])
    assert "read in blocks (--n-fitted, --cluster and --folder ask for it)" in " ".join(found.output.split())
