"""Parquet, Feather, h5ad, folders of pictures, and what `read_table` says of anything else."""

import os
import re
import sys
import zlib

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gnomon.data import draw_rows, isolated, open_dataset, read_table
from gnomon.exceptions import DataWarning, DependencyWarning, MissingDependencyError

pa = pytest.importorskip("pyarrow")
FRAME = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "ok": [True, False], "kind": pd.Categorical(["x", "y"])})


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_columnar_files(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"t.{suffix}"
    getattr(FRAME, f"to_{suffix}")(path)
    data = read_table(path, labels="kind")
    assert data.feature_names == ["a", "b", "ok"]
    np.testing.assert_array_equal(data.X, [[1, 0.5, 1], [2, 1.5, 0]])
    assert data.labels.tolist() == ["x", "y"]
    monkeypatch.setattr(isolated, "_interpreter", lambda: None)  # again, in this process
    assert read_table(path).metadata["kind"].tolist() == ["x", "y"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 3), pa.large_list(pa.float64())])
def test_vector_columns_are_expanded(tmp_path, kind):
    from pyarrow import parquet

    vectors = pa.array([[1, 2, 3], [4, 5, 6]], type=kind)
    table = pa.table({"text": ["p", "q"], "emb": vectors})
    parquet.write_table(table, tmp_path / "v.parquet")
    data = read_table(tmp_path / "v.parquet")
    assert data.feature_names == ["emb[0]", "emb[1]", "emb[2]"]
    np.testing.assert_array_equal(data.X, [[1, 2, 3], [4, 5, 6]])


@pytest.mark.usefixtures("here")
def test_index_of_pandas_names_the_points(tmp_path):
    FRAME.set_axis(["p", "q"]).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").point_names.tolist() == ["p", "q"]


@pytest.mark.usefixtures("here")
def test_missing_value_in_a_parquet_file(tmp_path):
    pd.DataFrame({"a": [1.0, None]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'a' has 1 missing, the first in row 1"):
        read_table(tmp_path / "t.parquet")
    kept = read_table(tmp_path / "t.parquet", missing="keep")
    np.testing.assert_array_equal(kept.X, [[1.0], [np.nan]])


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_broken_columnar_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"PAR1 not really")
    with pytest.raises(ValueError, match=r"must be a complete (Parquet|Feather) file"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("sparse", [True, False])
def test_single_cell_file(tmp_path, sparse, monkeypatch):
    anndata = pytest.importorskip("anndata")
    X = np.array([[0.0, 1], [2, 0], [0, 3]], np.float32)
    cells = anndata.AnnData(
        sp.csr_matrix(X) if sparse else X,
        obs=pd.DataFrame({"type": pd.Categorical(["T", "B", "T"]), "depth": [1, 2, 3]}, index=["c1", "c2", "c3"]),
        var=pd.DataFrame(index=["g1", "g2"]),
        layers={"double": 2 * X},
    )
    cells.write_h5ad(tmp_path / "c.h5ad")
    if not sparse:
        monkeypatch.setattr(isolated, "_interpreter", lambda: None)  # in this process
    data = read_table(tmp_path / "c.h5ad", labels="type")
    np.testing.assert_array_equal(data.X.toarray() if sparse else data.X, X)
    assert data.feature_names == ["g1", "g2"]
    assert data.labels.tolist() == ["T", "B", "T"]
    assert data.point_names.tolist() == ["c1", "c2", "c3"]
    assert data.metadata["depth"].tolist() == [1, 2, 3]
    if sparse:  # what a file lacks is told alike of any table
        return
    np.testing.assert_array_equal(read_table(tmp_path / "c.h5ad", layer="double").X, 2 * X)
    with pytest.raises(ValueError, match=r"labels='typ' .*Did you mean 'type'"):
        read_table(tmp_path / "c.h5ad", labels="typ")
    with pytest.raises(ValueError, match=r"layer='none' .*available: 'double'"):
        read_table(tmp_path / "c.h5ad", layer="none")


@pytest.mark.usefixtures("here")
def test_broken_single_cell_file(tmp_path):
    pytest.importorskip("anndata")
    (tmp_path / "c.h5ad").write_bytes(b"no HDF5")
    with pytest.raises(ValueError, match="must be a complete h5ad file"):
        read_table(tmp_path / "c.h5ad")


@pytest.fixture
def pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")

    def make(sizes, mode="L"):
        for i, size in enumerate(sizes):
            folder = tmp_path / "pictures" / ("cat" if i % 2 else "dog")
            folder.mkdir(parents=True, exist_ok=True)
            image.new(mode, size, 10 * i if mode == "L" else (10 * i, 0, 255)).save(folder / f"{i}.png")
        return tmp_path / "pictures"

    return make


def test_folder_of_grey_pictures(pictures):
    data = read_table(pictures([(6, 4)] * 3))
    assert data.image_shape == (4, 6)
    assert data.X.shape == (3, 24)
    assert data.X.dtype == np.uint8
    assert data.labels.tolist() == ["cat", "dog", "dog"]
    assert data.point_names.tolist() == ["cat/1.png", "dog/0.png", "dog/2.png"]
    assert data.X[:, 0].tolist() == [10, 0, 20]


def test_folder_of_coloured_pictures_of_many_sizes(pictures):
    folder = pictures([(6, 4), (200, 100)], "RGB")
    data = read_table(folder)
    assert data.image_shape == (64, 64, 3)
    assert data.X.shape == (2, 64 * 64 * 3)
    assert data.images[0, 0, 0].tolist() == [10, 0, 255]
    assert "2 sizes" in data.notes[0]
    assert read_table(folder, images=(8, 16)).image_shape == (8, 16, 3)


def test_a_picture_of_another_size_than_nearly_all_is_brought_to_theirs_and_named(pictures):
    folder = pictures([(6, 4)] * 20 + [(9, 9)])
    with pytest.warns(
        DataWarning, match=r"1 of 21 pictures are resized to the 6 x 4 pixels of the others: '.*20\.png'\. Leave"
    ):
        data = read_table(folder)
    assert data.image_shape == (4, 6)
    assert "20.png" in data.notes[0]
    (folder / "cat" / "1.png").unlink()
    for name in range(2, 14):  # less than nine tenths are alike
        next(folder.rglob(f"{name}.png")).unlink()
    assert read_table(folder).image_shape == (64, 64)


def test_broken_picture_is_named(pictures):
    folder = pictures([(4, 4)])
    (folder / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"bad\.png' must be a complete picture"):
        read_table(folder)


def test_f99_a_picture_of_a_billion_pixels_is_not_decoded(pictures, monkeypatch):
    folder = pictures([(4, 4)])
    content = bytearray((folder / "dog" / "0.png").read_bytes())
    content[16:24] = (32_768).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    (folder / "huge.png").write_bytes(content)
    with pytest.raises(ValueError, match=r"huge\.png' must be .*(32,768 x 32,768 pixels|bomb)"):
        read_table(folder)
    monkeypatch.setattr("gnomon.data.pictures._MOST_PIXELS", 15)
    with pytest.raises(ValueError, match=r"0\.png' must be of at most 15 pixels \(4 x 4 pixels\)"):
        read_table(folder)


def test_f99_a_program_called_picture_is_not_run(tmp_path):
    pytest.importorskip("PIL")
    text = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    (tmp_path / "a.png").write_text(text)
    with pytest.raises(ValueError, match=r"a\.png' must be a complete picture \(cannot identify image file"):
        read_table(tmp_path)


def test_folder_without_pictures(tmp_path):
    with pytest.raises(ValueError, match="one with pictures"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("name", "module", "package", "extra"),
    [
        ("t.parquet", "pyarrow", "pyarrow", "io"),
        ("t.feather", "pyarrow", "pyarrow", "io"),
        ("t.h5ad", "anndata", "anndata", "anndata"),
        ("folder", "PIL.Image", "pillow", "images"),
    ],
    ids="f92-{}".format,
)
def test_f92_missing_package_is_named_with_its_install_line(tmp_path, monkeypatch, name, module, package, extra):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        path = path / "a.png"
    path.touch()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=rf'{package}.*pip install "gnomon\[{extra}\]"') as caught:
        read_table(tmp_path / name)
    assert isinstance(caught.value.__cause__, ImportError)


@pytest.fixture
def versions(monkeypatch):
    """Return a function that sets the version of pyarrow that is installed; gnomon asks for 16 or later."""
    from gnomon import _optional

    needed = ["numpy>=1.26", "pyarrow>=16; extra == 'io'", "dask[array]>=2026.8; extra == 'scale'"]
    monkeypatch.setattr(_optional.metadata, "requires", lambda _: needed)
    _optional._age.cache_clear()
    yield lambda version: monkeypatch.setattr(_optional.metadata, "version", lambda _: version)
    _optional._age.cache_clear()


@pytest.mark.parametrize(("package", "version"), [("pyarrow", "15.0.2"), ("pyarrow", "9.1rc1"), ("dask", "2026.7.1")])
def test_f92_an_old_package_is_named_with_both_versions(versions, monkeypatch, package, version):
    from gnomon._optional import import_optional

    versions(version)
    needed = {"pyarrow": "16", "dask": "2026.8"}[package]
    told = rf"{package} {re.escape(version)} is older than {needed}, the oldest that gnomon is tested with"
    with pytest.warns(DependencyWarning, match=rf'{told}; .*pip install "gnomon\[io\]"'):
        import_optional("json", package=package, extra="io")
    with pytest.raises(MissingDependencyError, match=rf"{package} must be installed \({told}\)"):
        import_optional("no_such_module", package=package, extra="io")


@pytest.mark.parametrize("version", ["16", "16.0.1", "16.dev1", "17.0.0+cu12", "100"])
def test_f92_packages_that_are_new_enough_are_not_spoken_of(versions, version):
    from gnomon._optional import import_optional

    versions(version)
    assert import_optional("json", package="pyarrow", extra="io").dumps(1) == "1"


def test_missing_file_proposes_a_near_name(tmp_path):
    (tmp_path / "measurements.csv").touch()
    with pytest.raises(FileNotFoundError, match=r"Did you mean '.*measurements\.csv'"):
        read_table(tmp_path / "measurement.csv")
    with pytest.raises(FileNotFoundError, match="no folder"):
        read_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(FileNotFoundError, match="A data set 'digits' is built in"):
        open_dataset("digit")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.timeout(20)
def test_f99_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(OSError, match="must be a file or a folder"):
        read_table(tmp_path / "t.csv")


def test_f99_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("1,2\n")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(PermissionError, match=r"must be readable \(Permission denied\)"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["t.xlsx", "t"])
def test_unknown_ending_lists_the_known_ones(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=r"\.csv.*\.h5ad or a folder of pictures \((it ends in|its name has no)"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.xlsx", "t.XLS", "t.ods"])
def test_spreadsheets_are_refused_with_what_to_do(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=r"Save the sheet as CSV in UTF-8, or pass what pandas\.read_excel"):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("t.dta", r"pandas\.read_stata reads of it to gnomon\.map"),
        ("t.SAV", r"pandas\.read_spss, which needs pyreadstat"),
        ("t.sas7bdat", r"pandas\.read_sas"),
        ("t.mat", r"Read it by scipy\.io\.loadmat, from version 7\.3 on by h5py"),
        ("t.nwb", "Read it by pynwb"),
        ("t.jsonl", r"pandas\.read_json\(path, lines=True\)"),
        ("t.mtx", r"scanpy\.read_10x_mtx"),
        ("t.FCS", "transform its channels"),
        ("t.rds", r"In R write its table by arrow::write_parquet\(table, 'FILE\.parquet'\) or write\.csv"),
    ],
)
def test_files_of_other_programs_are_refused_with_what_to_do(tmp_path, name, remedy):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=remedy):
        read_table(tmp_path / name)


def test_options_without_meaning_are_refused(tmp_path):
    (tmp_path / "t.npy").touch()
    with pytest.raises(ValueError, match="delimiter=';' must be left out"):
        read_table(tmp_path / "t.npy", delimiter=";")
    with pytest.raises(ValueError, match="labels='y' must be left out"):
        read_table(tmp_path, labels="y")


def test_pictures_from_rows():
    bytes_ = np.arange(8, dtype=np.uint8).reshape(2, 4)
    assert np.shares_memory(draw_rows(bytes_, (2, 2)), bytes_)
    assert draw_rows(np.array([[-1.0, 0, 1, 1]]), (2, 2, 1)).tolist() == [[[0, 128], [255, 255]]]
    assert draw_rows(sp.csr_array(np.eye(4)), (2, 2))[0].tolist() == [[255, 0], [0, 0]]
    assert draw_rows(np.ones((1, 4)), (2, 2)).tolist() == [[[0, 0], [0, 0]]]
