"""The commands that say what a saved map holds and write it in other forms."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.evaluation import compare_embeddings
from gnomon.maps import Map, printed
from gnomon.viewer import write_side_by_side


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (60, 4))
    return Map(
        X,
        X[:, :2] + 5,
        labels=np.repeat(["a", "b"], 30),
        label_name="kind",
        feature_names=["p", "q", "r", "s"],
        metadata={"site": np.repeat(["n", "s", "w"], 20)},
        point_names=np.array([f"row{i}" for i in range(60)]),
        notes=["one note"],
        name="sixty",
    )


@pytest.fixture
def saved(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made.save("m.gnomon")
    return "m.gnomon"


def run(*arguments, **options):
    return click.testing.CliRunner().invoke(main, list(arguments), **options)


def test_a_saved_map_is_shown_as_a_page_equal_to_the_one_written_at_once(made, saved):
    result = run("show", saved, "-o", "page.html", "--title", "T", "--threads", "1")
    assert result.exit_code == 0, result.output
    made.n_jobs = 1
    made.to_html("direct.html", title="T")
    assert Path("page.html").read_bytes() == Path("direct.html").read_bytes()
    assert result.stdout.startswith("Wrote page.html (")


def test_notes_of_new_rows_call_no_feature_of_the_map_metadata(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = ["u,v", "v,u", "w,u"]
    rows = [f"{k % 7},{(k * k) % 11},{kinds[k % 3]},t{k}" for k in range(40)]
    Path("a.csv").write_text("\n".join(["p,q,kind,other,note", *rows]))
    assert run("map", "a.csv", "--features", "p,q,kind", "--method", "pca", "--save", "m.gnomon").exit_code == 0
    notes = json.loads(run("extend", "m.gnomon", "a.csv", "--json").stdout)["data"]["notes"]
    assert notes == ["columns without numbers are kept as metadata: 'other', 'note'"]
    assert run("map", "a.csv", "--drop", "note", "--method", "pca", "--save", "m.gnomon").exit_code == 0
    notes = json.loads(run("extend", "m.gnomon", "a.csv", "--json").stdout)["data"]["notes"]
    assert notes == ["columns without numbers are kept as metadata: 'note'"]


def test_a_page_can_go_to_standard_output(saved):
    result = run("show", saved, "-o", "-")
    assert result.stdout_bytes.lstrip().lower().startswith(b"<!doctype html>")
    assert result.stderr == ""


def test_show_without_an_output_is_refused(saved):
    result = run("show", saved)
    assert (result.exit_code, "give -o FILE" in result.stderr) == (2, True)


def test_info_tells_what_a_map_holds(saved):
    document = json.loads(run("info", saved, "--json").stdout)
    assert document["bytes"] == Path(saved).stat().st_size
    expected = {
        "name": "sixty",
        "method": "given",
        "n_samples": 60,
        "n_features": 4,
        "n_components": 2,
        "features": ["p", "q", "r", "s"],
        "labels": "kind",
        "classes": ["a", "b"],
        "metadata": ["site"],
        "point_names": True,
        "notes": ["one note"],
    }
    assert {key: document[key] for key in expected} == expected
    lines = run("info", saved).stdout.splitlines()
    assert [line.split(maxsplit=1) for line in lines if line.startswith("features")] == [["features", "p, q, r, s"]]


def test_info_of_another_file_is_refused(saved):
    Path("t.gnomon").write_text("a,b\n1,2\n")
    result = run("info", "t.gnomon")
    assert result.exit_code == 2
    assert "t.gnomon" in result.stderr
    assert "Traceback" not in result.output


def read(text):
    head, *rows = [line.split(",") for line in text.splitlines()]
    return head, rows


def test_new_rows_are_placed_as_the_map_does(made, saved):
    rows = made.X[[3, 40]] + 0.01
    lines = [",".join([f"n{i}", *(repr(float(v)) for v in row[[2, 0, 1, 3]])]) for i, row in enumerate(rows)]
    Path("new.csv").write_text("\n".join(["id,r,p,q,s,more", *(f"{line},7" for line in lines)]))
    result = run("transform", saved, "new.csv", "-o", "out.csv", "--threads", "1")
    assert result.exit_code == 0, result.output
    head, table = read(Path("out.csv").read_text())
    assert head == ["point", "x", "y"]
    expected = Map.load(saved).transform(rows)
    np.testing.assert_array_equal(np.array([row[1:] for row in table], float), expected)
    assert run("transform", saved, "new.csv").stdout == Path("out.csv").read_text()
    assert run("transform", saved, "new.csv", "-o", "out.npy").exit_code == 0
    np.testing.assert_array_equal(np.load("out.npy"), expected)
    document = json.loads(run("transform", saved, "new.csv", "--json").stdout)
    np.testing.assert_array_equal(document["coordinates"], expected)


def test_new_rows_that_lack_values_are_filled_in_where_that_is_asked_for(made, saved):
    rows = made.X[[3, 40]].astype(float)
    rows[0, 2] = np.nan
    lines = [",".join("" if np.isnan(value) else repr(float(value)) for value in row) for row in rows]
    Path("new.csv").write_text("\n".join(["p,q,r,s", *lines]))
    refused = run("transform", saved, "new.csv")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "m = m.filling() (--missing distance of commands)" in " ".join(refused.stderr.split())
    found = run("transform", saved, "new.csv", "--missing", "distance", "--json")
    assert found.exit_code == 0, found.output
    np.testing.assert_array_equal(json.loads(found.stdout)["coordinates"], Map.load(saved).filling().transform(rows))
    assert run("extend", saved, "new.csv", "--missing", "median", "--save", "larger.gnomon").exit_code == 0
    assert Map.load("larger.gnomon").X[-2, 2] == pytest.approx(np.median(made.X[:, 2]))


def test_new_rows_need_the_columns_of_the_map(saved):
    Path("new.csv").write_text("p,q,r,t\n0,1,2,3\n1,2,3,4\n")
    result = run("transform", saved, "new.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "now missing: - s" in result.stderr


def test_columns_of_words_are_encoded_as_in_the_map(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lines = [f"{a:.3f},{b:.3f},{c}" for a, b, c in zip(*rng.normal(size=(2, 40)), ["red", "blue"] * 20, strict=True)]
    Path("t.csv").write_text("\n".join(["a,b,colour", *lines]))
    arguments = ["--method", "pca", "--save", "m.gnomon", "--coordinates", "xy.csv", "--quiet", "--threads", "1"]
    made = run("map", "t.csv", *arguments)
    assert made.exit_code == 0, made.output
    head, rows = read(Path("xy.csv").read_text())
    assert (head, rows[7][0]) == (["point", "x", "y"], "7")
    placed = run("transform", "m.gnomon", "t.csv")
    assert placed.exit_code == 0, placed.output
    np.testing.assert_allclose(np.array(read(placed.stdout)[1], float), np.array(rows, float), atol=1e-5)


def test_points_are_exported_as_a_table_or_a_folder(saved):
    result = run("export", saved, "-o", "m.csv", "--threads", "1")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Wrote m.csv (")
    head, rows = read(Path("m.csv").read_text())
    assert head[:5] == ["point", "x", "y", "kind", "site"]
    assert (len(rows), rows[59][:1], rows[59][3:5]) == (60, ["row59"], ["b", "w"])
    assert run("export", saved, "-o", "-", "--threads", "1").stdout == Path("m.csv").read_text()
    assert run("export", saved, "-o", "out/", "--threads", "1").exit_code == 0
    assert sorted(file.name for file in Path("out").iterdir()) == [
        "metadata.tsv",
        "projector_config.pbtxt",
        "run.json",
        "tensors.tsv",
    ]


def test_an_export_of_unknown_kind_is_refused(saved):
    result = run("export", saved, "-o", "m.xlsx")
    assert result.exit_code == 2
    assert "output file 'm.xlsx' must be one that ends in .csv, .parquet or .h5ad (it ends in '.xlsx')" in result.stderr


def test_a_record_names_the_map_that_an_output_was_made_from(saved):
    run("export", saved, "-o", "out/", "--threads", "1")
    record = json.loads(Path("out/run.json").read_text())
    assert (record["command"], record["map"]["file"], record["map"]["n_samples"]) == ("export", "m.gnomon", 60)


def test_two_maps_are_compared_as_the_library_does(made, saved):
    other = made.embedding + np.random.default_rng(1).normal(size=made.embedding.shape).astype(np.float32)
    np.save("other.npy", other)
    result = run("compare", saved, "other.npy", "--n-neighbors", "7", "--threads", "1", "--json")
    assert result.exit_code == 0, result.output
    expected = compare_embeddings(made.embedding, other, n_neighbors=7, n_jobs=1)
    assert json.loads(result.stdout) == expected.to_dict()
    assert run("compare", saved, "other.npy", "--n-neighbors", "7", "--threads", "1").stdout == f"{expected}\n"


def test_compare_writes_the_page_that_the_library_writes(made, saved):
    other = made.embedding[:, ::-1].copy()
    other[7] += 2
    np.save("other.npy", other)
    arguments = ("compare", saved, "other.npy", "--n-neighbors", "7", "--threads", "1", "--title", "Two")
    result = run(*arguments, "-o", "both.html")
    assert result.exit_code == 0, result.output
    write_side_by_side("direct.html", {"m": made, "other": other}, n_neighbors=7, title="Two")
    assert Path("both.html").read_bytes() == Path("direct.html").read_bytes()
    assert "Wrote both.html (" in result.stdout
    assert json.loads(run(*arguments, "-o", "both.html", "--json").stdout)["files"] == {"html": "both.html"}
    assert run(*arguments, "-o", "-").stdout_bytes.lstrip().lower().startswith(b"<!doctype html>")
    Path("again").mkdir()
    Path("again/m.gnomon").write_bytes(Path("m.gnomon").read_bytes())
    assert run("compare", saved, "again/m.gnomon", "-o", "both.html").exit_code == 0
    assert run("compare", saved, saved, "-o", "both.html").exit_code == 0
    assert run("compare", saved, "other.npy", "-o", "both.png").exit_code == 2


def test_maps_of_other_rows_are_not_compared(made, saved):
    np.save("other.npy", made.embedding[:50])
    result = run("compare", saved, "other.npy")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "A with 60 rows and B with 50 must be of the same length" in result.stderr


def test_report_writes_one_page_that_names_its_files(saved, monkeypatch):
    monkeypatch.setattr("gnomon.maps.printed.write.SECTIONS", printed.SECTIONS[1:3])
    Path("data.bin").write_bytes(b"abc")
    assert run("report", saved, "-o", "r.html", "--data", "data.bin", "--title", "Mine").exit_code == 0
    text = Path("r.html").read_text()
    assert "<h1>Mine</h1>" in text
    assert "SHA-256 of m.gnomon" in text
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in text
    assert json.loads(Path("r.html.run.json").read_text())["command"] == "report"
    assert run("report", saved, "-o", "r.txt").exit_code == 2


def test_a_map_grows_and_says_how_new_rows_differ(made, saved):
    new = np.random.default_rng(1).uniform(0, 1, (12, 4))
    lines = [",".join([*map(str, row), "b"]) for row in new.tolist()]
    Path("new.csv").write_text("\n".join(["p,q,r,s,kind", *lines]) + "\n")
    found = run("extend", saved, "new.csv", "--labels", "kind", "--save", "larger.gnomon", "-o", "larger.html")
    assert found.exit_code == 0, found.output
    grown, drift = Map.load(saved).extend(new, labels=["b"] * 12)
    assert found.stdout.startswith(drift.summary())
    larger = Map.load("larger.gnomon")
    np.testing.assert_array_equal(larger.embedding, grown.embedding)
    assert larger.labels.tolist() == [*made.labels.tolist(), *["b"] * 12]
    assert Path("larger.html").stat().st_size > 100_000
    told = json.loads(run("extend", saved, "new.csv", "--json").stdout)["drift"]
    assert (told["n_new"], told["refit"], told["text"]) == (12, drift.refit, drift.summary())
    refused = run("extend", saved, "other.csv")
    assert (refused.exit_code, "other.csv" in refused.stderr) == (2, True)


def test_rows_are_placed_as_a_map_of_landmarks_placed_its_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(160, 4))
    np.save("X.npy", X)
    made = gnomon.map(X, n_fitted=60, random_state=0, n_jobs=1)
    made.save("m.gnomon")
    placed = np.setdiff1d(np.arange(160), made.landmarks)
    run = click.testing.CliRunner().invoke
    smooth = run(main, ["transform", "m.gnomon", "X.npy", "-o", "smooth.npy"])
    same = run(main, ["transform", "m.gnomon", "X.npy", "-o", "same.npy", "--place"])
    assert smooth.exit_code == same.exit_code == 0, smooth.output + same.output
    assert np.allclose(np.load("same.npy")[placed], made.embedding[placed], atol=1e-5)
    assert not np.allclose(np.load("smooth.npy")[placed], made.embedding[placed], atol=1e-2)
    assert "--place gives the latter" in smooth.output
    assert "--place" not in same.output


def test_places_of_new_rows_have_the_identifiers_that_the_map_keeps(tmp_path):
    table = tmp_path / "people.csv"
    rows = [f"{1000 + 7 * j},{j % 5 + j / 9:.3f},{j % 7 - j / 8:.3f}" for j in range(30)]
    table.write_text("\n".join(["customer_id,a,b", *rows]) + "\n")
    saved, places = str(tmp_path / "m.gnomon"), tmp_path / "places.csv"
    main(["map", str(table), "--method", "pca", "--save", saved], standalone_mode=False)
    main(["transform", saved, str(table), "-o", str(places)], standalone_mode=False)
    lines = [line.split(",") for line in places.read_text().splitlines()]
    assert lines[0] == ["point", "x", "y", "customer_id"]
    assert [line[-1] for line in lines[1:]] == [str(1000 + 7 * j) for j in range(30)]
