"""Every source of rows beyond memory gives the same rows, here and elsewhere, and reads no more than it must."""

import os
import pickle
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.data import check_table
from gnomon.data.stored import ArrayTable, StoredTable, as_stored, open_table

N, D = 3000, 6
SIX = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
X = np.where(SIX > 1, SIX, 0).astype(np.float32)  # also as a sparse matrix
KIND = np.array(["a", "b", "c"])[np.arange(N) % 3]
GROUPS = 700  # rows of a chunk or row group: no divisor of a block


def npy(folder):
    np.save(folder / "x.npy", X)
    return open_table(folder / "x.npy")


def npy_by_columns(folder):
    np.save(folder / "f.npy", np.asfortranarray(X.astype(">f4")))
    return as_stored(folder / "f.npy")


def memmap(folder):
    np.save(folder / "m.npy", np.vstack([X[::-1], X]))
    return as_stored(np.load(folder / "m.npy", mmap_mode="r")[N - 1 :: -1])


def dask_array(folder):
    import dask.array as da

    return as_stored(da.from_array(X, chunks=(GROUPS, 4)) * 2 / 2)


def dask_sparse(folder):
    import dask.array as da

    empty = sp.csr_array((0, 0), dtype=np.float32)
    return as_stored(da.from_array(X, chunks=(GROUPS, D)).map_blocks(sp.csr_array, dtype=np.float32, meta=empty))


def dask_frame(folder):
    dd = pytest.importorskip("dask.dataframe")
    return as_stored(dd.from_pandas(pd.DataFrame(X, columns=list("uvwxyz")).astype({"u": "Float32"}), npartitions=4))


def zarr_array(folder, version=3, **options):
    import zarr

    group = zarr.open_group(folder / f"x{version}.zarr", mode="w", zarr_format=version)
    group.create_array("X", data=X, chunks=(GROUPS, 4), **options)
    group.create_array("kind", data=np.arange(N) % 3)
    return group["X"]


def zarr_2(folder):
    return as_stored(zarr_array(folder, 2))


def zarr_3(folder):
    zarr_array(folder)
    return open_table(folder / "x3.zarr")


def zarr_memory(folder):
    import zarr

    array = zarr.create_array(zarr.storage.MemoryStore(), shape=X.shape, chunks=(100, D), shards=(1000, D), dtype="f4")
    array[:] = X
    return as_stored(array)


def hdf5(folder):
    import h5py

    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("part/X", data=X, chunks=(GROUPS, 4), compression="gzip")
        file["part/kind"] = KIND.astype("S")
    return open_table(folder / "x.h5", key="part/X")


def hdf5_dataset(folder):
    import h5py

    with h5py.File(folder / "d.h5", "w") as file:
        file["X"] = X
    return as_stored(h5py.File(folder / "d.h5")["X"])


def arrow_table():
    vectors = pa.FixedSizeListArray.from_arrays(X[:, 3:5].ravel(), 2)
    columns = {f"c{j}": X[:, j] for j in range(3)} | {"v": vectors, "w": X[:, 5:].tolist(), "kind": KIND}
    return pa.table(columns, schema=None).cast(
        pa.schema(
            [(f"c{j}", pa.float32()) for j in range(3)]
            + [("v", pa.list_(pa.float32(), 2)), ("w", pa.list_(pa.float32())), ("kind", pa.string())]
        )
    )


def parquet(folder):
    pq.write_table(arrow_table(), folder / "x.parquet", row_group_size=GROUPS)
    return open_table(folder / "x.parquet")


def parquet_folder(folder):
    (folder / "parts").mkdir()
    for part, start in enumerate(range(0, N, 1200)):
        where = folder / "parts" / f"part={part}"
        where.mkdir()
        pq.write_table(arrow_table()[start : start + 1200], where / "x.parquet", row_group_size=GROUPS)
    return open_table(folder / "parts")


def parquet_dataset(folder):
    pq.write_table(arrow_table().drop(["kind"]), folder / "y.parquet", row_group_size=GROUPS)
    return as_stored(pds.dataset(folder / "y.parquet"))


def cells(folder, matrix):
    import anndata

    obs = pd.DataFrame({"kind": pd.Categorical(KIND)}, index=[f"cell {i}" for i in range(N)])
    var = pd.DataFrame(index=[f"gene {j}" for j in range(D)])
    made = anndata.AnnData(matrix, obs=obs, var=var, layers={"l": sp.csr_matrix(X)}, obsm={"X_pca": X[:, :D]})
    made.write_h5ad(folder / "x.h5ad")
    return folder / "x.h5ad"


def cells_dense(folder):
    return open_table(cells(folder, X))


def cells_layer(folder):
    return open_table(cells(folder, X), key="layers/l")


def cells_backed(folder):
    import anndata

    return as_stored(anndata.read_h5ad(cells(folder, sp.csr_matrix(X)), backed="r"))


def cells_coordinates(folder):
    import anndata

    return as_stored(anndata.read_h5ad(cells(folder, X), backed="r"), use_rep="X_pca")


def iterator(folder):
    return as_stored((X[i : i + 500] for i in range(0, N, 500)), folder=folder)


SOURCES = [npy, npy_by_columns, memmap, dask_array, dask_sparse, dask_frame, zarr_2, zarr_3, zarr_memory, hdf5]
SOURCES += [hdf5_dataset, parquet, parquet_folder, parquet_dataset, cells_dense, cells_layer, cells_backed]
SOURCES += [cells_coordinates, iterator]
OF_FILES = ["npy", "npy_by_columns", "memmap", "zarr_2", "zarr_3", "hdf5", "hdf5_dataset", "parquet", "parquet_folder"]
OF_FILES += ["parquet_dataset", "cells_dense", "cells_layer", "cells_backed"]
NAMED = {"parquet": ["c0", "c1", "c2", "v[0]", "v[1]", "w[0]"], "cells_backed": [f"gene {j}" for j in range(D)]}
NAMED |= {"dask_frame": list("uvwxyz"), "parquet_folder": NAMED["parquet"], "cells_dense": NAMED["cells_backed"]}


def run(program, *arguments, cwd=None):
    """Return what a new interpreter prints."""
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    made = {}
    for source in SOURCES:
        folder = tmp_path_factory.mktemp(source.__name__)
        made[source.__name__] = source(folder), folder
    return made


@pytest.fixture(scope="module")
def elsewhere(tables, tmp_path_factory):
    """Checksums of all rows as another process reads them."""
    folder = tmp_path_factory.mktemp("sent")
    for name, (table, _) in tables.items():
        (folder / name).write_bytes(pickle.dumps(table))
    program = (
        "import pathlib, pickle, sys, zlib\n"
        "for file in pathlib.Path(sys.argv[1]).iterdir():\n"
        "    table = pickle.loads(file.read_bytes())\n"
        "    rows = [table.read(at, min(at + 450, 3000)) for at in range(0, 3000, 450)]\n"
        "    rows = [part.toarray() if table.is_sparse else part for part in rows]\n"
        "    print(file.name, zlib.crc32(b''.join(part.tobytes() for part in rows)), table.fingerprint, sep='|')\n"
    )
    return {line.split("|")[0]: line.split("|")[1:] for line in run(program, folder, cwd=folder).splitlines()}


def dense(rows):
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


@pytest.mark.parametrize("source", [source.__name__ for source in SOURCES])
def test_a_source_gives_the_rows_of_the_array(source, tables, elsewhere):
    table, _ = tables[source]
    assert isinstance(table, StoredTable)
    assert (table.shape, table.dtype, table.n_bytes) == ((N, D), np.float32, 4.0 * N * D)
    assert table.block_bytes < table.reading_bytes <= 16 * table.block_bytes
    assert table.feature_names == NAMED.get(source, table.feature_names)
    assert np.array_equal(dense(table.read(0, N)), X)
    for start, stop in [(0, 1), (10, 699), (699, 701), (701, 2800), (650, 660), (0, 0), (9, 3), (2900, 9999)]:
        rows = table.read(start, stop)
        assert rows.dtype == np.float32
        assert np.array_equal(dense(rows), X[start:stop])
    wanted = [2999, 7, 7, 1500, 0]
    assert np.array_equal(dense(table.take(wanted)), X[wanted])
    assert table.take([]).shape == (0, D)
    assert elsewhere[source] == [str(zlib.crc32(X.tobytes())), table.fingerprint]
    assert np.array_equal(dense(check_table(table, accept_sparse=True).values), X)


@pytest.mark.parametrize("source", OF_FILES)
def test_what_is_sent_is_small_and_the_fingerprint_is_of_the_file(source, tables, tmp_path):
    table, folder = tables[source]
    assert len(pickle.dumps(table)) < 4000
    before = table.fingerprint
    assert table.fingerprint == before
    for file in folder.rglob("*"):
        if file.is_file():
            status = file.stat()
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))
    assert table.fingerprint != before


def test_rows_in_memory_have_a_fingerprint_of_their_numbers():
    import dask.array as da

    other = X.copy()
    other[5, 5] += 1
    for make in (ArrayTable, da.from_array, lambda rows: iter([rows[:10], rows[10:]])):
        first, again, second = (as_stored(make(rows)).fingerprint for rows in (X, X.copy(), other))
        assert first == again != second


@pytest.mark.parametrize(
    ("source", "columns"),
    [
        ("parquet", {"kind": KIND}),
        ("parquet_folder", {"kind": KIND, "part": (np.arange(N) // 1200).astype(str)}),
        ("zarr_3", {"kind": np.arange(N) % 3}),
        ("hdf5", {"kind": KIND}),
        ("cells_dense", {"kind": KIND}),
        ("cells_backed", {"kind": KIND}),
        ("cells_coordinates", {"kind": KIND}),
        ("npy", {}),
    ],
)
def test_what_lies_beside_the_features_is_read_by_name(source, columns, tables):
    table, _ = tables[source]
    assert table.columns == list(columns)
    for name, values in columns.items():
        assert np.array_equal(table.column(name), values)
    with pytest.raises(ValueError, match="column='kinds'"):
        table.column("kinds")


def test_the_raw_genes_of_cells_have_names_of_their_own(tmp_path):
    import anndata

    made = anndata.AnnData(X, var=pd.DataFrame(index=[f"gene {j}" for j in range(D)]))
    raw = made.copy()
    raw.var_names = [f"raw {j}" for j in range(D)]
    made.raw = raw
    made.write_h5ad(tmp_path / "x.h5ad")
    table = open_table(tmp_path / "x.h5ad", key="raw/X")
    assert table.feature_names == [f"raw {j}" for j in range(D)]
    assert repr(table).endswith("x.h5ad:raw/X': 3,000 rows and 6 columns, float32)")


def test_parquet_columns_are_chosen_and_ordered(tables):
    _, folder = tables["parquet"]
    table = open_table(folder / "x.parquet", columns=["c2", "c0"])
    assert np.array_equal(table.read(0, N), X[:, [2, 0]])
    assert table.columns == ["c1", "v", "w", "kind"]


def test_the_precision_is_that_of_the_widest_column(tmp_path):
    pq.write_table(pa.table({"a": np.arange(3, dtype=np.int16), "b": [True, False, True]}), tmp_path / "narrow.parquet")
    pq.write_table(pa.table({"a": np.arange(3, dtype=np.int16), "b": [2**40, 1, 2]}), tmp_path / "wide.parquet")
    assert open_table(tmp_path / "narrow.parquet").dtype == np.float32
    assert open_table(tmp_path / "wide.parquet").read(0, 1).tolist() == [[0.0, 2.0**40]]


@pytest.mark.parametrize("source", ["zarr_3", "hdf5", "parquet", "dask_array", "cells_backed"])
def test_blocks_in_order_read_each_group_once_and_rows_only_their_own(source, tables):
    table = pickle.loads(pickle.dumps(tables[source][0]))
    read, whole = [], table._groups
    table._groups = lambda first, last: read.extend(range(first, last)) or whole(first, last)
    for start in range(0, N, 250):
        table.read(start, start + 250)
    assert read == list(range(len(table._bounds) - 1))
    read.clear()
    again = pickle.loads(pickle.dumps(tables[source][0]))
    whole, again._groups = again._groups, lambda first, last: read.extend(range(first, last)) or whole(first, last)
    again.take([5, 2, N - 1])
    assert read == [0, len(table._bounds) - 2]


def test_threads_read_the_same(tables):
    for source in ("parquet", "hdf5", "zarr_3", "dask_array"):
        table, wrong = tables[source][0], []

        def work(seed, table=table, wrong=wrong):
            for start in np.random.default_rng(seed).integers(0, N - 300, 10):
                if not np.array_equal(table.read(start, start + 300), X[start : start + 300]):
                    wrong.append(start)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_one_thread_at_a_time_reads(tables, monkeypatch):
    table, active, most = pickle.loads(pickle.dumps(tables["parquet"][0])), [], []
    whole = table._groups

    def slow(first, last):
        active.append(first)
        most.append(len(active))
        time.sleep(0.01)
        active.pop()
        return whole(first, last)

    monkeypatch.setattr(table, "_groups", slow)
    threads = [threading.Thread(target=table.read, args=(at, at + 9)) for at in (0, GROUPS, 2 * GROUPS, 3 * GROUPS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_tables_in_memory_are_not_stored_and_nothing_is_imported_to_ask():
    program = (
        "import sys, numpy as np, scipy.sparse as sp\n"
        "import gnomon\n"
        "from gnomon.data import check_table\n"
        "from gnomon.data.stored import as_stored\n"
        "X = np.ones((9, 3)); class_of = type('T', (), {'__array__': lambda self, dtype=None, copy=None: X})\n"
        "for one in (X, X.tolist(), sp.csr_array(X), class_of(), None, 3):\n"
        "    assert as_stored(one) is None, one\n"
        "for one in (X, X.tolist(), class_of()):\n"
        "    check_table(one)\n"
        "print([name for name in ('dask', 'zarr', 'h5py', 'pyarrow', 'torch', 'anndata') if name in sys.modules])\n"
    )
    assert run(program) == "[]\n"
    assert as_stored(pd.DataFrame(X)) is None
    assert as_stored(pa.table({"a": [1.0]})) is None
    changed = ArrayTable(X)
    assert as_stored(changed) is changed


def test_every_estimator_takes_small_stored_tables_and_names_the_way_for_large_ones(tables):
    from_array = gnomon.PCA().fit_transform(X)
    for source in ("zarr_3", "parquet", "hdf5", "dask_array"):
        assert np.array_equal(gnomon.KernelPCA(kernel="linear").fit(tables[source][0]).n_features_in_, D)
    import dask.array as da

    assert np.array_equal(gnomon.PCA().fit_transform(da.from_array(X)), from_array)
    assert check_table(tables["parquet"][0]).feature_names == NAMED["parquet"]
    with gnomon.running(memory=3.9 * 4 * N * D), pytest.raises(MemoryError, match=r"a quarter .* n_fitted"):
        check_table(tables["hdf5"][0])
    with gnomon.running(memory=4.1 * 4 * N * D):
        check_table(tables["hdf5"][0])


def test_a_spooled_table_is_removed_with_it_and_stays_where_a_folder_is_named(tables):
    table = as_stored(iter([X]))
    path = Path(table._values.path)
    assert path.exists()
    sent = pickle.loads(pickle.dumps(table))
    assert np.array_equal(sent.read(0, 9), X[:9])
    del sent
    assert path.exists()
    del table
    assert not path.parent.exists()
    assert np.array_equal(np.load(tables["iterator"][1] / "X.npy"), X)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize(
    "source", ["memmap", *(pytest.param(one, marks=pytest.mark.slow) for one in ("npy", "hdf5", "zarr", "parquet"))]
)
def test_memory_stays_low_while_a_file_is_read(source, tmp_path):
    """64 MB of numbers are read with less than 40 MB more than the libraries themselves take."""
    rng = np.random.default_rng(0)
    big = rng.integers(0, 9, (320_000, 50)).astype(np.float32)
    path, opening = tmp_path / f"x.{source}", "gnomon.open_table(path)"
    if source in ("npy", "memmap"):
        path = tmp_path / "x.npy"
        np.save(path, big)
        opening = "as_stored(np.load(path, mmap_mode='r'))" if source == "memmap" else opening
    elif source == "hdf5":
        import h5py

        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=big, chunks=(10_000, 50))
    elif source == "zarr":
        import zarr

        zarr.create_array(path, data=big, chunks=(10_000, 50), compressors=None)
    else:
        pq.write_table(pa.table(list(big.T), names=[f"c{j}" for j in range(50)]), path, row_group_size=20_000)
    program = (
        "import pathlib, sys, numpy as np, gnomon\n"
        "from gnomon.data.stored import as_stored\n"
        "path = sys.argv[1]\n"
        f"table = {opening}\n"
        "text = pathlib.Path('/proc/self/status').read_text  # of this process alone, unlike what getrusage says\n"
        "peak = lambda: 1024 * int(text().split('VmHWM:')[1].split()[0])\n"
        "table.read(0, 1000)\n"
        "before, total = peak(), 0.0\n"
        "for at in range(0, len(table.blocks()) and table.n_samples, 16_384):\n"
        "    total += float(table.read(at, min(at + 16_384, table.n_samples)).sum(dtype=np.float64))\n"
        "table.take(np.arange(0, table.n_samples, 4000))\n"
        "print(total, peak() - before)\n"
    )
    total, grown = map(float, run(program, path).split())
    assert total == big.sum(dtype=np.float64)
    assert grown < 40e6, grown


def test_a_feature_asked_for_as_a_column_is_told_what_to_pass():
    table = ArrayTable(np.ones((4, 2), np.float32), feature_names=["a", "kind"])
    with pytest.raises(ValueError, match=r"column='kind' must be stored beside the features .* labels=X\['kind'\]"):
        table.column("kind")
