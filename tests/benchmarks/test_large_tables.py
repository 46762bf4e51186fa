"""The benchmark of large tables: what it makes is the same in any blocks, and what it measures adds up."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.large import run as large_run
from benchmarks.large.curve import main as curve
from benchmarks.large.data import Recipe, write_table
from benchmarks.large.landmarks import place_all
from benchmarks.large.measure import Stages
from benchmarks.large.run import Record, bars
from benchmarks.large.run import main as run
from benchmarks.large.slopes import as_table, expected_of, exponents

import gnomon

_OF_MAP = ["landmarks", "scaling", "fit", "positions"]
_AFTER = ["explanation", "evaluation", "loss", "page", "file"]


@pytest.fixture(scope="module")
def recipe():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)).astype(np.float32)
    return Recipe(X, rng.integers(0, 3, 200), seed=3)


def test_rows_depend_neither_on_blocks_nor_on_what_follows(recipe, tmp_path):
    long, short = (tmp_path / name for name in ("long", "short"))
    paths = [write_table(recipe, 20_000, long, cells=1), write_table(recipe, 9_000, short, cells=16)]
    X, first = (np.load(path) for path in paths)
    assert X.shape == (20_000, 6)
    assert X[:9_000].tobytes() == first.tobytes()
    assert np.array_equal(np.load(long / "y.npy")[:9_000], np.load(short / "y.npy"))
    assert sorted(path.name for path in long.iterdir()) == ["X.npy", "y.npy"]


def test_rows_lie_near_the_rows_whose_labels_they_have(recipe):
    rows, labels = next(recipe.blocks(5_000))
    own = labels[:, None] == recipe.labels
    distances = np.linalg.norm(rows[:, None] - recipe.X, axis=2)
    nearest = np.where(own, distances, np.inf).min(axis=1)
    assert (nearest <= distances.min(axis=1) + 1e-6).mean() > 0.9
    assert nearest.min() > 0


@pytest.mark.parametrize("kind", ["zarr", "parquet"])
def test_other_forms_hold_the_same_rows(recipe, tmp_path, kind):
    pytest.importorskip("zarr" if kind == "zarr" else "pyarrow")
    X = np.load(write_table(recipe, 3_000, tmp_path, also=kind))
    if kind == "zarr":
        import zarr

        found = zarr.open_group(tmp_path / "table.zarr", mode="r")["X"][:]
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(tmp_path / "parquet")
        found = np.stack([table[f"x{j}"].to_numpy() for j in range(6)], axis=1)
    assert np.array_equal(found, X)


def test_with_all_rows_as_landmarks_the_map_is_that_of_a_fit(recipe):
    X = next(recipe.blocks(300))[0]
    placed = place_all(X, 300)
    assert placed.embedding.tobytes() == gnomon.UMAP(random_state=0).fit_transform(X).tobytes()


def test_landmarks_stay_and_others_are_placed(recipe):
    X = next(recipe.blocks(300))[0]
    placed = place_all(X, 200)
    fitted = gnomon.UMAP(random_state=0).fit(X[placed.landmarks])
    others = np.setdiff1d(np.arange(300), placed.landmarks)
    assert len(others) == 100
    assert np.array_equal(placed.embedding[placed.landmarks], fitted.embedding_)
    assert np.array_equal(placed.embedding[others], fitted.place(X[others]))


def test_a_curve_is_written_with_its_figure(recipe, tmp_path, capsys):
    path = write_table(recipe, 400, tmp_path)
    written = [tmp_path / name for name in ("curve.json", "curve.png")]
    assert (
        curve(["--table", str(path), "--landmarks", "100", "--json", str(written[0]), "--figure", str(written[1])]) == 0
    )
    found = json.loads(written[0].read_text())["curve"]
    assert [one["landmarks"] for one in found] == [100, 400]
    assert all(0 < one["trustworthiness"] <= 1 and one["cpu_seconds"] > 0 for one in found)
    assert written[1].stat().st_size > 1000
    assert "| 400 |" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_is_compared_with_the_fit_of_a_sample(recipe, tmp_path, monkeypatch, capsys):
    """The map is a stand-in; the sample of all rows is fitted with the same seed, so the two are equal."""

    def fake_map(X, *, n_fitted, labels, random_state, callback, **options):
        for stage in ("landmarks", "scaling", "neighbors", "layout", "positions"):
            callback(gnomon.Progress(stage, 0, 1, 0.0))
        placed = place_all(X, len(X), seed=random_state)
        scores = gnomon.evaluate(np.asarray(X), placed.embedding, labels=labels)
        return SimpleNamespace(
            embedding=placed.embedding,
            landmarks=placed.landmarks[:n_fitted],
            explain=lambda executor: SimpleNamespace(r2=np.ones(len(X))),
            evaluate=lambda executor: scores,
            landmark_loss=lambda: SimpleNamespace(value=0.01, standard_error=0.002),
            write_html=lambda path: path.write_text("page"),
            write=lambda path: path.write_text("positions"),
            summary=lambda loss: "map",
        )

    monkeypatch.setattr(gnomon, "map", fake_map)
    path = write_table(recipe, 400, tmp_path)
    arguments = ["--table", str(path), "--landmarks", "100", "--sample", "400", "--out", str(tmp_path / "out")]
    assert run([*arguments, "--within", "0.001"]) == 0
    found = json.loads((tmp_path / "out" / "record.json").read_text())
    assert list(found["stages"]) == ["preparation", *_OF_MAP, *_AFTER]
    assert found["complete"]
    assert found["landmarks"] == 100
    assert found["landmark_loss"] == {"value": 0.01, "standard_error": 0.002}
    assert found["cpu_seconds"] == pytest.approx(sum(one["cpu_seconds"] for one in found["stages"].values()))
    assert all(value == pytest.approx(0.0, abs=1e-6) for value in found["more"].values())
    assert [one["met"] for one in found["bars"]] == [True, True, True]
    printed = capsys.readouterr().out
    assert all(f"| {name} |" in printed for name in found["stages"])
    assert "| knn_accuracy below the sample |" in printed


@pytest.mark.parametrize(("gigabytes", "status", "said"), [(1.9, 0, "met"), (2.1, 1, "MISSED")])
def test_a_missed_bar_is_the_exit_status(tmp_path, monkeypatch, capsys, gigabytes, status, said):
    monkeypatch.setattr(large_run, "measure", lambda given, record: record.add(peak_bytes=1e9 * gigabytes))
    assert run(["--table", "X.npy", "--sample", "0", "--memory", "2G", "--out", str(tmp_path)]) == status
    assert f"| memory, GB | {gigabytes} | 2 | {said} |" in capsys.readouterr().out
    assert json.loads((tmp_path / "record.json").read_text())["complete"]


def test_memory_of_a_stage_is_seen():
    stages = Stages()
    with stages.stage("little"):
        pass
    with stages.stage("much"):
        held = np.ones(30_000_000)
    assert stages.taken["much"]["peak_bytes"] - stages.taken["little"]["peak_bytes"] > 0.9 * held.nbytes
    assert stages.peak_bytes == stages.taken["much"]["peak_bytes"]


def test_a_stage_that_is_entered_again_is_added_to():
    told = []
    stages = Stages(lambda name, taken: told.append((name, taken["seconds"])))
    callback = stages.follow({"positions": "place"}, "fit")
    for stage in ("neighbors", "layout", "positions", "positions", "affinities"):
        callback(gnomon.Progress(stage, 0, 1, 0.0))
        time.sleep(0.02)
    stages.end()
    stages.end()
    assert [name for name, _ in told] == ["fit", "place", "fit"]
    assert set(stages.taken) == {"fit", "place"}
    assert 0.01 < told[0][1] < told[2][1] == stages.taken["fit"]["seconds"]
    assert stages.taken["fit"]["seconds"] > told[0][1] + 0.01


def test_a_cut_run_still_tells_what_ended(tmp_path, capsys):
    record = Record(tmp_path / "record.json")
    record.add(shape=[10, 2])
    record.stage("fit", {"seconds": 1.5, "cpu_seconds": 2.5, "peak_bytes": 3e6})
    found = json.loads((tmp_path / "record.json").read_text())
    assert found == {
        "complete": False,
        "shape": [10, 2],
        "stages": {"fit": {"seconds": 1.5, "cpu_seconds": 2.5, "peak_bytes": 3e6}},
    }
    assert capsys.readouterr().out.splitlines()[-1] == "| fit | 1.5 | 2.5 | 3 |"


def test_a_bar_is_met_up_to_what_is_allowed():
    found = {"peak_bytes": 2e9, "answered": 60.0, "more": {"trustworthiness": -0.02, "knn_accuracy": 0.5}}
    asked = SimpleNamespace(memory="2G", minutes=0.9, within=0.01)
    assert [one["met"] for one in bars(found, asked)] == [True, False, False, True]
    assert len(bars({"peak_bytes": 1.0}, SimpleNamespace(memory="2G", minutes=None, within=0.01))) == 1


def test_slopes_are_told_beside_what_was_forecast():
    def record(n):
        stages = {"fit": 2.0, "positions": n / 1000, "loss": 1.0}
        told = {"layout": 1.0, "neighbors": 2.0, "positions": n / 4000, "page": 1.0}
        return {
            "base_bytes": 1e6,
            "stages": {name: {"cpu_seconds": value, "peak_bytes": 5e6} for name, value in stages.items()},
            "forecast": {"durations": told, "stages": dict.fromkeys(told, 2e6)},
        }

    found = {1000: record(1000), 4000: record(4000)}
    assert expected_of(found[1000], "fit") == (3.0, 2e6)
    lines = as_table(found).splitlines()
    assert lines[0] == "| CPU seconds (forecast / measured) | 1,000 | 4,000 | exponent |"
    assert "| fit | 2.00 (1.50) | 2.00 (1.50) | 0.00 |" in lines
    assert "| positions | 1.00 (0.25) | 4.00 (0.25) | 1.00 |" in lines
    assert "| positions | 4 (0.50) | 4 (0.50) |" in lines


def test_exponents_are_slopes_of_logarithms():
    found = {
        n: {"stages": {"one": {"cpu_seconds": n / 100}, "two": {"cpu_seconds": n**2 / 100}}} for n in (10, 100, 1000)
    }
    assert exponents(found) == pytest.approx({"one": 1.0, "two": 2.0})
