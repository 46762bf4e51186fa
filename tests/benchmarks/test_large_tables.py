"""The benchmark of large tables: what it makes is the same in any blocks, and what it measures adds up."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.large.curve import main as curve
from benchmarks.large.data import Recipe, write_table
from benchmarks.large.landmarks import place_all
from benchmarks.large.measure import Stages
from benchmarks.large.run import main as run
from benchmarks.large.slopes import exponents

import gnomon


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


def test_a_run_is_compared_with_the_fit_of_a_sample(recipe, tmp_path, monkeypatch):
    """The map is a stand-in; the sample of all rows is fitted with the same seed, so the two are equal."""

    def fake_map(X, *, n_landmarks, labels, random_state, **options):
        placed = place_all(X, len(X), seed=random_state)
        scores = gnomon.evaluate(np.asarray(X), placed.embedding, labels=labels)
        return SimpleNamespace(
            embedding=placed.embedding,
            landmarks=placed.landmarks[:n_landmarks],
            explain=lambda: SimpleNamespace(r2=np.ones(len(X))),
            evaluate=lambda: scores,
            write_html=lambda path: path.write_text("page"),
            write=lambda path: path.write_text("positions"),
            summary=lambda: "map",
        )

    monkeypatch.setattr(gnomon, "map", fake_map)
    path = write_table(recipe, 400, tmp_path)
    arguments = ["--table", str(path), "--landmarks", "100", "--sample", "400", "--out", str(tmp_path / "out")]
    assert run([*arguments, "--within", "0.001"]) == 0
    found = json.loads((tmp_path / "out" / "record.json").read_text())
    assert set(found["stages"]) == {"map", "explain", "evaluate", "page", "write"}
    assert found["landmarks"] == 100
    assert all(value == pytest.approx(0.0, abs=1e-6) for value in found["more"].values())


def test_memory_of_a_stage_is_seen():
    stages = Stages()
    with stages.stage("little"):
        pass
    with stages.stage("much"):
        held = np.ones(30_000_000)
    assert stages.taken["much"]["peak_bytes"] - stages.taken["little"]["peak_bytes"] > 0.9 * held.nbytes
    assert stages.peak_bytes == stages.taken["much"]["peak_bytes"]


def test_exponents_are_slopes_of_logarithms():
    found = {
        n: {"stages": {"one": {"cpu_seconds": n / 100}, "two": {"cpu_seconds": n**2 / 100}}} for n in (10, 100, 1000)
    }
    assert exponents(found) == pytest.approx({"one": 1.0, "two": 2.0})
