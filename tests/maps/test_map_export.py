"""A map written for other programs holds what the map says of each point."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from gnomon.maps import Map


@pytest.fixture(scope="module")
def made():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return Map(
        X,
        X[:, :2],
        labels=["a", "b", None] * 20,
        label_name="kind",
        metadata={"x": np.arange(60), "text": np.array(["with\ttab\nand line"] * 60)},
        point_names=np.array([f"p{i}" for i in range(60)]),
        method="tsne",
        n_jobs=1,
    )


HEAD = ["point", "x", "y", "kind", "x (2)", "text", "trustworthiness", "continuity", "triplet_accuracy"]


def _floats(values):
    return np.array([float(value) if value else np.nan for value in values])


def test_a_table_has_a_row_for_each_point(made, tmp_path):
    assert made.export(tmp_path / "m.csv") == [str(tmp_path / "m.csv")]
    with open(tmp_path / "m.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(HEAD) | set(made.point_scores()) == set(rows[0])
    assert {"neighborhood_preservation", "false_neighbors", "stretch", "r2"} <= set(rows[0])
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert columns["point"] == made.point_names.tolist()
    np.testing.assert_array_equal(_floats(columns["x"]).astype(np.float32), made.embedding[:, 0])
    np.testing.assert_array_equal(_floats(columns["y"]).astype(np.float32), made.embedding[:, 1])
    assert columns["kind"] == ["a", "b", ""] * 20
    assert columns["x (2)"] == [str(i) for i in range(60)]
    for name, values in made.evaluate().per_point.items():
        np.testing.assert_array_equal(_floats(columns[name]), values)
    np.testing.assert_array_equal(_floats(columns["r2"]).astype(np.float32), made.explain().r2.astype(np.float32))


def test_parquet_holds_the_same_table(made, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    made.export(tmp_path / "m.parquet")
    read = parquet.read_table(tmp_path / "m.parquet").to_pydict()
    assert read["kind"] == ["a", "b", None] * 20
    np.testing.assert_array_equal(np.array(read["x"], np.float32), made.embedding[:, 0])
    assert read["text"][0] == "with\ttab\nand line"


def test_an_h5ad_file_holds_data_positions_and_columns(made, tmp_path):
    anndata = pytest.importorskip("anndata")
    made.export(tmp_path / "m.h5ad")
    read = anndata.read_h5ad(tmp_path / "m.h5ad")
    np.testing.assert_array_equal(read.X, made.X)
    np.testing.assert_array_equal(read.obsm["X_tsne"], made.embedding)
    assert (read.obs_names.tolist(), read.var_names.tolist()) == (made.point_names.tolist(), made.feature_names)
    np.testing.assert_array_equal(read.obs["continuity"], made.evaluate().per_point["continuity"])
    assert read.obs["kind"].tolist()[:2] == ["a", "b"]
    assert "y" not in read.obs


def test_a_folder_is_for_the_projector(made, tmp_path):
    files = made.export(f"{tmp_path}/out/")
    assert [file.rsplit("/", 1)[1] for file in files] == ["tensors.tsv", "metadata.tsv", "projector_config.pbtxt"]
    tensors = np.loadtxt(files[0], delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(tensors, made.embedding)
    with open(files[1], encoding="utf-8") as file:
        head, *rows = [line.rstrip("\n").split("\t") for line in file]
    assert (len(rows), {len(row) for row in rows}) == (60, {len(head)})
    assert rows[2][head.index("text")] == "with tab and line"
    assert rows[2][head.index("kind")] == ""


@pytest.mark.parametrize("name", ["m.xlsx", "m"])
def test_other_files_are_refused(made, tmp_path, name):
    with pytest.raises(ValueError, match=r"Map.export: path .* must be a file that ends in .csv, .parquet, .h5ad"):
        made.export(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
