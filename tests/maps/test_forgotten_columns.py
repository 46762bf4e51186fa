"""What a map is to know nothing of, and what is not to be written, is in no byte of any page or file."""

import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import gnomon as gn
from gnomon.cli import main
from gnomon.exceptions import DataWarning

N = 80
COLUMNS = ["patient_name", "ssn", "email"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    frame["patient_name"] = [f"Erika Mustermann{i}" for i in range(N)]
    frame["ssn"] = 618033988 + rng.permutation(N) * 37
    frame["email"] = [f"p{i}@example.org" for i in range(N)]
    frame["ward"] = np.array(["WestWard", "EastWard"])[np.arange(N) % 2]
    return frame


@pytest.fixture(scope="module")
def kept(table):
    with pytest.warns(DataWarning, match=r"tell who people are .* 'patient_name', 'ssn', 'email'\. Pass forget=\["):
        return gn.map(table, "pca", drop=[*COLUMNS, "ward"], point_names=[f"ROW{i}" for i in range(N)])


def held(path, read_page):
    """All that a file holds, unpacked, with text of four bytes a sign as text."""
    raw = path.read_bytes()
    if path.suffix == ".html" and b'data-group="header"' in raw:
        header, columns = read_page(path)
        raw += json.dumps(header).encode() + b"".join(np.ascontiguousarray(one).tobytes() for one in columns.values())
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            raw = b"".join(archive.read(name) for name in archive.namelist())
    return raw + raw.replace(b"\0", b"")


def found(raw):
    """Which of the private columns are there, by their values."""
    numbers = [618033988]
    forms = [str(value).encode() for value in numbers] + [
        kind(value).tobytes() for value in numbers for kind in (np.int64, np.float64)
    ]
    texts = {"patient_name": [b"Mustermann"], "ssn": forms, "email": [b"@example"]}
    return [name for name, signs in texts.items() if any(sign in raw for sign in signs)]


@pytest.fixture(scope="module")
def write(tmp_path_factory, page_reader):
    def written(made, **options):
        folder = tmp_path_factory.mktemp("written")
        made.to_html(folder / "m.html", **options)
        made.write_report(folder / "r.html", **options)
        made.save(folder / "m.gnomon", **options)
        made.export(folder / "m.csv", **options)
        (folder / "m.json").write_text(json.dumps(made.to_dict()))
        return {path.name: held(path, page_reader) for path in folder.iterdir()}

    return written


@pytest.fixture(scope="module")
def page_reader():
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location(
        "payload_tests", Path(__file__).parents[1] / "viewer" / "test_payload.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.read_page


def test_dropped_columns_are_in_pages_and_files(kept, write):
    there = write(kept)
    assert found(there["m.html"]) == found(there["m.gnomon"]) == found(there["m.csv"]) == COLUMNS
    assert b"ROW7" in there["m.gnomon"]


def test_forgotten_columns_are_in_none(table, write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = gn.map(table, "pca", forget=COLUMNS, features=["a", "b", "c", "d"])
    assert list(made.metadata) == ["ward"]
    assert made.notes == ["columns left out and kept as metadata: 'ward' (not asked for)"]
    assert made.embedding.tobytes() == gn.map(table[list("abcd")], "pca").embedding.tobytes()
    for name, raw in write(made).items():
        assert not found(raw), name
        assert b"patient_name" not in raw, name


@pytest.mark.parametrize("kept_columns", [False, ["ward"], ["email"]])
def test_what_is_written_holds_the_metadata_that_were_asked_for_alone(kept, write, kept_columns):
    there = write(kept, metadata=kept_columns)
    expected = [name for name in COLUMNS if kept_columns and name in kept_columns]
    for name in ("m.html", "m.gnomon", "m.csv"):
        assert found(there[name]) == expected
        assert (b"WestWard" in there[name]) == (kept_columns == ["ward"])
        assert b"ROW7" not in there[name]
    assert not found(there["r.html"])
    assert list(kept.metadata) == [*COLUMNS, "ward"]
    assert kept.point_names is not None


def test_a_map_without_some_metadata_is_the_same_map(kept):
    kept.evaluate()
    less = kept.without_metadata(["ssn", "email"])
    assert list(less.metadata) == ["patient_name", "ward"]
    assert less.point_names is not None
    assert less.notes == ["2 columns of metadata that the map was made with are not in this copy of the map"]
    assert less.embedding is kept.embedding
    assert less.place(kept.X[:2]).tobytes() == kept.place(kept.X[:2]).tobytes()
    assert less.evaluate() is kept.evaluate()  # which speaks of no metadata
    none = kept.without_metadata()
    assert none.metadata == {}
    assert none.point_names is None


@pytest.mark.parametrize("labels", ["ward", None])
def test_answers_that_speak_of_no_metadata_are_found_once_for_all_that_is_written(table, tmp_path, labels):
    """A map that was asked writes without metadata, byte for byte, what one that was not asked writes, and knows it."""

    def make():
        rows = pd.concat([table[list("abcd")] + 8.0 * side for side in (0, 1)])
        beside = {"site": np.repeat(["s1", "s2"], N)}  # which clusters tell, and goes with the labels
        known = None if labels is None else np.repeat(["w1", "w2"], N)
        return gn.map(rows, "pca", metadata=beside, labels=known, point_names=[f"ROW{i}" for i in range(2 * N)])

    asked, fresh = make(), make()
    asked.to_html(tmp_path / "all.html")
    asked.verdicts(), asked.profiles()
    assert "site" in asked.profiles().caution + str(asked.clusters())
    fresh.to_html(tmp_path / "fresh.html", metadata=False)
    asked._gaps = None  # which were not asked of the other
    asked.to_html(tmp_path / "asked.html", metadata=False)
    assert (tmp_path / "asked.html").read_bytes() == (tmp_path / "fresh.html").read_bytes()
    for told in (asked.without_metadata(), fresh.without_metadata()):
        assert "site" not in told.profiles().caution + str(told.clusters())
    none = fresh.without_metadata()
    assert fresh._evaluation is fresh.evaluate() is none.evaluate()
    assert fresh._dimension is none._dimension is not None
    assert (labels is None) == (fresh._bare_clusters is not None)
    assert fresh._clusters is None
    assert "site" in fresh.profiles().caution + str(fresh.clusters())


def test_columns_of_any_kind_of_table_are_forgotten(table):
    for given in (table, {name: table[name].to_numpy() for name in table}, gn.data.Dataset(table)):
        assert list(gn.map(given, "pca", forget=[*COLUMNS, "d"]).metadata) == ["ward"]
        assert "d" not in gn.map(given, "pca", forget=[*COLUMNS, "d"]).feature_names
    numbers = gn.map(table[list("abcd")].to_numpy(), "pca", forget=[1, "feature 3"])
    assert numbers.feature_names == ["feature 0", "feature 2"]
    assert numbers.metadata == {}


def test_annotations_of_cells_are_forgotten(table):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(table[list("abcd")].to_numpy(), obs=table[["patient_name", "ward"]].set_index(table.email))
    of_names = pytest.warns(DataWarning, match="the names of the rows seem to tell who people are")
    with of_names, pytest.warns(DataWarning, match="tell who people are .*'patient_name'"):
        assert "patient_name" in gn.map(cells, "pca").metadata
    with pytest.warns(DataWarning, match="the names of the rows seem to tell who people are"):
        assert list(gn.map(cells, "pca", forget=["patient_name"]).metadata) == ["ward"]


def test_what_is_needed_cannot_be_forgotten(table):
    for argument, said in (("ordered", ["a", "b"]), ("lists", ";")):
        text = rf"column 'email' must be left out of forget where it is in {argument}\. Leave"
        with pytest.raises(ValueError, match=text) as caught:
            gn.map(table, "pca", forget=["email"], **{argument: {"email": said}})
        assert "@" not in str(caught.value)
    for argument in ("labels", "target"):
        with pytest.raises(ValueError, match=rf"column 'ward' must be left out of forget where it is {argument}"):
            gn.map(table, "umap", forget=["ward"], **{argument: "ward"})
    with pytest.raises(ValueError, match=r"forget='sn' must be one of those in the data.*Did you mean 'ssn'"):
        gn.map(table, "pca", forget=["sn"])
    with pytest.raises(TypeError, match="forget='ssn' must be a sequence of names"):
        gn.map(table, "pca", forget="ssn")


def test_metadata_to_write_must_be_there(kept, tmp_path):
    with pytest.raises(ValueError, match=r"metadata='wart' must be one of those in the metadata of the map.*'ward'"):
        kept.save(tmp_path / "m.gnomon", metadata=["wart"])
    with pytest.raises(TypeError, match=r"metadata='ward' must be True, False or a sequence.*metadata=\['ward'\]"):
        kept.save(tmp_path / "m.gnomon", metadata="ward")
    with pytest.raises(ValueError, match="columns='wart' must be one of"):
        kept.without_metadata(["wart"])
    with pytest.raises(ValueError, match=r"columns='a' must be the name of metadata \(it is a feature.*forget=\['a'\]"):
        kept.without_metadata(["a"])


def test_metadata_that_somebody_states_are_not_warned_of(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gn.map(table[list("abcd")], "pca", metadata={"email": table.email})


def test_tables_read_in_blocks_keep_nothing_of_a_forgotten_column(table, tmp_path):
    values = np.ascontiguousarray(table[["a", "b", "c", "ssn"]].to_numpy())
    made = gn.map(values, "pca", forget=[3], n_fitted=40)
    assert made.landmark_map.n_features == 3


def test_maps_with_landmarks_write_the_metadata_that_are_asked_for_alone(table, tmp_path, page_reader):
    with pytest.warns(DataWarning, match="tell who people are"):
        made = gn.map(table, "pca", drop=COLUMNS, n_fitted=40)
    path = tmp_path / "m.gnomon"
    for metadata, columns in ((True, ["ward", *COLUMNS]), (["email"], ["email"]), (False, [])):
        made.save(path, metadata=metadata)
        assert found(held(path, page_reader)) == [name for name in columns if name != "ward"]
        assert list(gn.load(path).landmark_map.metadata) == columns
    assert list(made.without_metadata(["ssn", "ward"]).landmark_map.metadata) == ["patient_name", "email"]
    assert list(made.landmark_map.metadata) == ["ward", *COLUMNS]
    assert not any("email" in note for note in made.without_metadata().notes)
    made.write_html(tmp_path / "m.html", metadata=False)
    assert not found(held(tmp_path / "m.html", page_reader))
    with pytest.raises(ValueError, match=r"metadata=True must be False \(a map with landmarks .* landmark_map.to_html"):
        made.write_html(tmp_path / "m.html", metadata=True)
    with pytest.raises(ValueError, match=r"metadata=\['email'\] must be False .*landmark_map.export"):
        made.write(tmp_path / "m.npy", metadata=["email"])
    with pytest.raises(ValueError, match="metadata='wart' must be one of"):
        made.save(path, metadata=["wart"])


def test_the_command_line_forgets(table, tmp_path, page_reader):
    table.to_csv(tmp_path / "t.csv", index=False)
    run = CliRunner().invoke
    paths = {name: str(tmp_path / name) for name in ("t.csv", "m.gnomon", "m.html", "all.gnomon", "p.html", "e.csv")}
    asked = ["map", paths["t.csv"], "--method", "pca", "--quiet"]
    done = run(main, [*asked, "--forget", ",".join(COLUMNS), "--save", paths["m.gnomon"], "-o", paths["m.html"]])
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "m.gnomon.run.json").read_text())
    assert record["options"]["forget"] == COLUMNS
    assert not any("patient" in note for note in record["data"]["notes"])
    assert list(gn.load(paths["m.gnomon"]).metadata) == ["ward"]
    told = run(main, [*asked, "--save", paths["all.gnomon"]])
    assert "--forget" in told.output
    assert "tell who people are" in told.output
    run(main, ["show", paths["all.gnomon"], "--no-metadata", "-o", paths["p.html"]])
    run(main, ["export", paths["all.gnomon"], "--forget", ",".join(COLUMNS), "-o", paths["e.csv"]])
    written = [path for path in tmp_path.iterdir() if path.name not in ("t.csv", "all.gnomon")]
    assert len(written) >= 8
    for path in written:
        assert not found(held(path, page_reader)), path
    assert "--no-metadata leaves all metadata out" in told.output
    done = run(main, ["show", paths["all.gnomon"], "--forget", "wart", "-o", paths["p.html"]])
    assert "--forget 'wart' must be one of those in the metadata of the map" in done.output
    done = run(main, [*asked, "--no-metadata", "--save", paths["m.gnomon"]])
    assert "who people are" not in done.output
    assert gn.load(paths["m.gnomon"]).metadata == {}
    done = run(main, [*asked, "--no-metadata", "--n-fitted", "40", "--save", paths["m.gnomon"]])
    assert "who people are" not in done.output
    assert gn.load(paths["m.gnomon"]).landmark_map.metadata == {}


def test_a_report_without_metadata_names_no_row_whatever_was_asked_before(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"secret_{i:03d}" for i in range(120)]
    X = pd.DataFrame(rng.normal(size=(120, 3)), index=names)
    made = gn.map(X.set_axis(["x", "y", "z"], axis=1), "pca", labels=rng.integers(0, 2, 120).astype(str))
    assert "secret_" in made.report()
    for asked in (False, []):
        made.write_report(tmp_path / "r.html", metadata=asked)
        assert "secret_" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    made.write_report(tmp_path / "all.html")
    assert "secret_" in (tmp_path / "all.html").read_text(encoding="utf-8")
