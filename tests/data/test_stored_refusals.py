"""What cannot be read as a stored table is refused in the form of gnomon's errors, with its place and a remedy."""

import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest

import gnomon
from gnomon.data.stored import ArrayTable, as_stored, open_table

X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)


def save(folder, name, rows=X):
    np.save(folder / name, rows)
    return folder / name


def hdf5(folder, **arrays):
    import h5py

    path = folder / "x.h5"
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return path


def csr(folder, *, layout="csr_matrix", shape=(3, 4), data=(1.0, 2.0), indices=(0, 1), indptr=(0, 1, 2, 2)):
    import h5py

    with h5py.File(folder / "x.h5", "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": layout, "shape": shape})
        for name, values in (("data", data), ("indices", indices), ("indptr", indptr)):
            group[name] = values
    return folder / "x.h5"


def parquet(folder, columns, **options):
    pq.write_table(pa.table(columns), folder / "x.parquet", **options)
    return folder / "x.parquet"


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])
    return path


def wrong(path, begin=1000, size=4000):
    content = bytearray(path.read_bytes())
    content[begin : begin + size] = np.random.default_rng(1).bytes(size)
    path.write_bytes(bytes(content))
    return path


def junk(folder, name):
    (folder / name).write_bytes(b"no such file " * 20)
    return folder / name


def two_files(folder, second):
    pq.write_table(pa.table({"a": [1.0]}), folder / "a.parquet")
    pq.write_table(pa.table(second), folder / "b.parquet")
    return folder


def broken_chunk(folder):
    import zarr

    zarr.open_group(folder / "x.zarr", mode="w").create_array("X", data=X, chunks=(100, 3))
    (folder / "x.zarr" / "X" / "c" / "2" / "0").write_bytes(b"junk")
    return folder / "x.zarr"


def compressed(folder):
    import h5py

    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(100, 3), compression="gzip")
    return folder / "x.h5"


FILES = {
    "none": (lambda d: d / "x.npy", FileNotFoundError, "must be there"),
    "npz": (lambda d: np.savez(d / "x.npz", X) or d / "x.npz", ValueError, "numpy.save"),
    "other": (lambda d: junk(d, "x.xls"), ValueError, r"one of \.npy, \.zarr.*ends in '.xls'"),
    "npy junk": (lambda d: junk(d, "x.npy"), ValueError, "whole NPY file"),
    "npy cut": (lambda d: cut(save(d, "x.npy"), 2000), ValueError, "takes 4,800 bytes and 1,872 are stored"),
    "npy objects": (lambda d: save(d, "x.npy", np.array([[{}]])), ValueError, "Python objects"),
    "npy 3d": (lambda d: save(d, "x.npy", X.reshape(400, 3, 1)), ValueError, r"two-dimensional .*\(400, 3, 1\)"),
    "npy text": (lambda d: save(d, "x.npy", np.array([["a"]])), TypeError, "found text"),
    "npy complex": (lambda d: save(d, "x.npy", X + 1j), ValueError, "Complex data not supported"),
    "h5 junk": (lambda d: junk(d, "x.h5"), ValueError, "complete HDF5 file"),
    "h5 two": (lambda d: hdf5(d, A=X, B=X), ValueError, "tables of numbers: 'A', 'B'"),
    "h5 none": (lambda d: hdf5(d, t=X[:, 0]), ValueError, "tables of numbers: none"),
    "h5 damaged": (lambda d: wrong(compressed(d), 4000), ValueError, "readable in rows|complete"),
    "csc": (lambda d: csr(d, layout="csc_matrix"), ValueError, "stored by rows"),
    "csr column": (lambda d: csr(d, indices=(0, 9)), ValueError, r"a column number of X is outside of \[0, 4\)"),
    "csr offsets": (lambda d: csr(d, indptr=(0, 100, 1, 2)), ValueError, "row offsets do not ascend"),
    "csr beyond": (lambda d: csr(d, indptr=(0, 1, 2, 2**60)), ValueError, "row offsets do not ascend"),
    "csr length": (lambda d: csr(d, indptr=(0, 2)), ValueError, "a valid sparse matrix"),
    "csr shape": (lambda d: csr(d, shape="ab"), ValueError, "a valid sparse matrix"),
    "zarr none": (lambda d: (d / "x.zarr").mkdir() or d / "x.zarr", ValueError, "complete Zarr store"),
    "zarr chunk": (broken_chunk, ValueError, "readable in rows 0 to 400"),
    "parquet junk": (lambda d: junk(d, "x.parquet"), ValueError, "complete Parquet file"),
    "parquet cut": (lambda d: cut(parquet(d, {"a": X[:, 0]}), 900), ValueError, "complete Parquet file"),
    "parquet sums": (
        lambda d: wrong(parquet(d, {"a": X[:, 0]}, write_page_checksum=True), 100, 900),
        ValueError,
        "complete Parquet file in row group 0",
    ),
    "parquet text": (lambda d: parquet(d, {"t": ["a"]}), ValueError, "with columns of numbers"),
    "parquet empty": (lambda d: d, ValueError, "one Parquet file or more"),
    "parquet names": (lambda d: two_files(d, {"b": [1.0]}), ValueError, "column 'a' is not in each of"),
    "parquet kinds": (lambda d: two_files(d, {"a": ["x"]}), ValueError, "column 'a' of .* holds string"),
    "parquet ragged": (lambda d: parquet(d, {"v": [[1.0, 2.0], [1.0]]}), ValueError, "vectors of 2 numbers"),
}


LISTS = {
    "one npy": (
        lambda d: [save(d, "x.npy")],
        ValueError,
        r"x\.npy' must be a Parquet file in a list .*Pass .*x\.npy' itself",
    ),
    "two npy": (
        lambda d: [save(d, "x.npy"), save(d, "y.npy")],
        ValueError,
        "in a list .*ends in '.npy'.*Pass one path",
    ),
    "csv": (lambda d: [junk(d, "x.csv")], ValueError, "in a list of paths .*ends in '.csv'"),
    "none there": (
        lambda d: [d / "no.npy", d / "other.npy"],
        FileNotFoundError,
        r"no\.npy' must be there .no such file",
    ),
    "one not there": (
        lambda d: [parquet(d, {"a": X[:, 0]}), d / "y.parquet"],
        FileNotFoundError,
        "y.parquet' must be there",
    ),
}


@pytest.mark.parametrize("case", LISTS)
def test_lists_of_paths_name_the_file_that_is_not_there_or_no_parquet(case, tmp_path):
    make, kind, text = LISTS[case]
    paths = make(tmp_path)
    with pytest.raises(kind, match=text):
        open_table(paths)
    with pytest.raises(kind, match=text):
        as_stored(paths)


@pytest.mark.parametrize("case", FILES)
def test_damaged_and_other_files_end_in_one_clear_error(case, tmp_path):
    make, kind, text = FILES[case]
    path = make(tmp_path)
    with pytest.raises(kind, match=text) as caught:
        open_table(path).read(0, 400)
    assert re.match(r"(open_table|gnomon): .+ must be .+", str(caught.value))


def test_a_file_that_shrinks_later_is_an_error_and_no_crash(tmp_path):
    path = save(tmp_path, "x.npy")
    table = open_table(path)
    cut(path, 2000)
    for read in (lambda: table.read(0, 400), lambda: table.take([0, 399])):
        with pytest.raises(ValueError, match=r"numbers of a table of shape \(400, 3\)"):
            read()


@pytest.mark.parametrize(
    ("columns", "kind", "text"),
    [
        ("a", TypeError, r"Pass \['a'\]"),
        (["b"], ValueError, "columns='b'"),
        (["t"], TypeError, "1 of 1 columns hold something else: 't': string"),
    ],
)
def test_columns_are_names_of_columns_of_numbers(columns, kind, text, tmp_path):
    path = parquet(tmp_path, {"a": [1.0], "t": ["x"]})
    with pytest.raises(kind, match=text):
        open_table(path, columns=columns)


def test_options_of_other_kinds_of_files_and_unknown_keys_are_refused(tmp_path):
    with pytest.raises(ValueError, match="key='X' must be left out"):
        open_table(save(tmp_path, "x.npy"), key="X")
    with pytest.raises(ValueError, match=r"columns=\['a'\] must be left out"):
        open_table(save(tmp_path, "x.npy"), columns=["a"])
    with pytest.raises(ValueError, match=r"key='part/y'.*Did you mean 'part/X'"):
        open_table(hdf5(tmp_path, **{"part/X": X}), key="part/y")


@pytest.mark.parametrize("path", [5, None, [5], ["x.parquet", None]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(TypeError, match=r"open_table: path=.* must be a path or a sequence of paths \(found \w+\)"):
        open_table(path)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "missing"), (np.inf, "infinite"), (-1e160, r"-1e\+160")])
def test_missing_infinite_and_huge_values_are_named_by_row_and_column(value, word, tmp_path):
    bad = X.astype(np.float64)
    bad[321, 2] = value
    pq.write_table(pa.table({name: bad[:, j] for j, name in enumerate("abc")}), tmp_path / "x.parquet")
    for table, column in ((ArrayTable(bad), "column 2"), (open_table(tmp_path / "x.parquet"), "column 'c'")):
        table.read(0, 321)
        for read in (lambda table=table: table.read(300, 400), lambda table=table: table.take([5, 321])):
            with pytest.raises(ValueError, match=rf"row 321 of .*{column} is {word}"):
                read()
    with pytest.raises(ValueError, match=r"row 1 of .*column 'a' is missing"):
        open_table(parquet(tmp_path, {"a": pa.array([1, None])})).read(0, 2)
    with pytest.raises(ValueError, match=rf"row 1 of .*column 1 is {word}"):
        open_table(csr(tmp_path, data=(1.0, value))).read(0, 3)


def test_text_files_are_refused_with_a_command_that_converts_them(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2.5\n")
    (tmp_path / "table.tsv").write_text("a\tb\n1\t2.5\n")
    with pytest.raises(ValueError, match=r"delimiter=','.*other\.parquet"):
        open_table(tmp_path / "other.csv")
    with pytest.raises(ValueError, match="Convert it: python ") as caught:
        open_table(tmp_path / "table.tsv")
    command = str(caught.value).partition("Convert it: python ")[2]
    subprocess.run(f"{sys.executable} {command}", shell=True, check=True, timeout=100)
    assert open_table(tmp_path / "table.parquet").read(0, 1).tolist() == [[1.0, 2.5]]


def test_addresses_are_passed_on_to_what_reads_them():
    import zarr

    zarr.open_group("memory://stored/x.zarr", mode="w").create_array("X", data=X)
    assert np.array_equal(open_table("memory://stored/x.zarr").read(0, 400), X)
    import fsspec

    with fsspec.filesystem("memory").open("/stored/x.parquet", "wb") as file:
        pq.write_table(pa.table({"a": X[:, 0]}), file)
    assert np.array_equal(open_table("memory://stored/x.parquet").read(0, 400), X[:, :1])
    for address, text in (("none://x.parquet", "pyarrow or fsspec"), ("https://example.org/x.npy", "Copy it")):
        with pytest.raises(ValueError, match=text):
            open_table(address)


def test_objects_that_are_no_table_are_refused():
    import dask.array as da
    import zarr

    cases = [
        (da.ones((9, 2), chunks=4)[da.arange(9, chunks=4) > 3], ValueError, "compute_chunk_sizes"),
        (da.ones(9), ValueError, r"two-dimensional \(found shape \(9,\)\)"),
        (zarr.create_group(zarr.storage.MemoryStore()), TypeError, "one of its arrays"),
        (pds.dataset(pa.table({"a": [1.0]})), TypeError, "write_dataset"),
    ]
    for X_, kind, text in cases:
        with pytest.raises(kind, match=text):
            as_stored(X_)


def test_filtered_datasets_and_columns_of_text_are_refused(tmp_path):
    files = pds.dataset(parquet(tmp_path, {"a": [1.0], "t": ["x"]}))
    with pytest.raises(ValueError, match="not filtered"):
        as_stored(files.filter(pds.field("a") > 0))
    with pytest.raises(TypeError, match="'t': string"):
        as_stored(files)
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "t": ["x", "y"]}), npartitions=1)
    with pytest.raises(TypeError, match=r"'t': .*X\[\[\.\.\.\]\]"):
        as_stored(frame)


def test_a_file_in_memory_cannot_be_sent():
    import pickle

    import h5py

    with h5py.File("nowhere.h5", "w", driver="core", backing_store=False) as file:
        file["X"] = X
        table = as_stored(file["X"])
        assert np.array_equal(table.read(0, 400), X)
        assert table.fingerprint == as_stored(file["X"]).fingerprint
        with pytest.raises(ValueError, match="Write it to a file first"):
            pickle.dumps(table)
        held = file["X"]
    with pytest.raises(ValueError, match="Open the file again"):
        as_stored(held)


def test_of_a_backed_table_of_cells_a_key_that_is_not_there_is_refused(tmp_path):
    import anndata

    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")
    cells = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    with pytest.raises(ValueError, match="use_rep='X_pca'"):
        as_stored(cells, use_rep="X_pca")


@pytest.mark.parametrize(
    ("blocks", "kind", "text"),
    [
        ([], ValueError, "it gave none"),
        ([X, X[:, :2]], ValueError, "block 1 of X must be like the first .2 columns"),
        ([X, X.astype(np.float64)], ValueError, "columns of float64; block 0 has 3 columns of float32"),
        ([X[0]], TypeError, "block 0 of X must be a dense table"),
        ([X, X * np.inf], ValueError, "block 1, which begins at row 400"),
    ],
)
def test_blocks_of_an_iterator_are_checked_as_they_come(blocks, kind, text, tmp_path):
    with pytest.raises(kind, match=text.replace(" .2", r" \(found 2")), np.errstate(all="ignore"):
        as_stored(iter(blocks), folder=tmp_path)
    assert os.listdir(tmp_path) == []


def test_estimators_that_need_all_rows_refuse_an_iterator():
    with pytest.raises(TypeError, match=r"TSNE: X must be a table in memory .*numpy\.concatenate"):
        gnomon.TSNE().fit(iter([X]))


def test_a_chunk_that_does_not_fit_is_refused_when_the_table_is_opened(tmp_path):
    path = parquet(tmp_path, {"a": X[:, 0], "b": X[:, 1]})
    with gnomon.running(memory=1000.0), pytest.raises(MemoryError, match="smaller chunks or row groups"):
        open_table(path)


def test_a_dask_array_on_a_cluster_is_refused():
    import dask.array as da
    from distributed import Client

    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
        array = da.from_array(X, chunks=(100, 3))
        with pytest.raises(ValueError, match="persisted on a cluster"):
            as_stored(array.persist())
        table = as_stored(array + 1)
        parts = client.gather(client.map(lambda start: table.read(start, start + 150), range(0, 400, 150)))
    assert np.array_equal(np.concatenate(parts), X + 1)
