"""Tables that are read in blocks have the features that they would have in memory."""

import re

import numpy as np
import pytest

import gnomon
from gnomon.data.stored import ArrayTable, narrow, with_features
from gnomon.exceptions import DataWarning
from gnomon.maps.landmarks import columns as of_blocks
from gnomon.maps.landmarks.columns import features_in_blocks
from gnomon.maps.landmarks.count import Needs, Shape
from gnomon.maps.prepare import Reading
from gnomon.methods import PCA, UMAP

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 400


def _columns(seed, n=N):
    """Return columns of which some name or count the rows, and some only seem to."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    return {
        "a": rng.normal(size=n),
        "b": rng.normal(size=n),
        "order": np.arange(n) * 7 + 3,
        "t": np.tile(np.arange(n // 2) * 0.5, 2),
        "shuffled": rng.permutation(n) + 10**6,
        "ranks": order,
        "with_ranks": order + rng.normal(size=n),
        "zip_code": rng.integers(10_000, 99_999, n),
        "items": rng.integers(0, 9, n),
        "rises_at_first": np.concatenate([np.arange(n // 2), np.zeros(n - n // 2)]),
    }


def _write(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)
    return path


def _told(call):
    with pytest.warns(DataWarning) as caught:
        found = call()
    return found, [str(one.message) for one in caught]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("first", [32_768, 150])
def test_identifiers_are_left_out_in_blocks_as_in_memory(tmp_path, monkeypatch, seed, first):
    monkeypatch.setattr(of_blocks, "_FIRST", first)  # of 150 rows all columns that count are judged by all of theirs
    path = _write(tmp_path / "X.parquet", _columns(seed), row_group_size=100)
    whole, _ = _told(lambda: gnomon.map(gnomon.read_table(path), method="pca"))
    (table, reading, told), warned = _told(lambda: features_in_blocks(gnomon.open_table(path), Reading()))
    assert table.feature_names == whole.feature_names == ["a", "b", "ranks", "with_ranks", "items", "rises_at_first"]
    assert reading.drop == ["order", "t", "shuffled", "zip_code"]
    assert warned == [f"gnomon: {text}" for text in told]
    assert "'order' (it counts the rows), 't' (it counts the rows of each of 2 equal stretches)" in told[0]


def test_numbers_that_go_with_a_column_after_the_first_rows_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(of_blocks, "_FIRST", 150)
    rng = np.random.default_rng(0)
    ranks = 3 * rng.permutation(N)
    late = np.where(np.arange(N) < 150, rng.uniform(0, 3 * N, N), ranks + rng.normal(size=N))
    path = _write(
        tmp_path / "X.parquet", {"a": rng.normal(size=N), "order": ranks, "late": late, "b": rng.normal(size=N)}
    )
    assert [rule.features for rule in of_blocks._rules({"order": ranks[:150], "late": late[:150]})] == [(), ("late",)]
    table, _, told = features_in_blocks(gnomon.open_table(path), Reading())
    assert table.feature_names == ["a", "order", "late", "b"]
    assert not told


def test_a_map_in_blocks_names_the_identifiers_that_it_lacks(tmp_path):
    path = _write(tmp_path / "X.parquet", {name: _columns(0)[name] for name in ("order", "a", "b")})
    for n_fitted in (None, 100):
        made, told = _told(lambda n=n_fitted: gnomon.map(gnomon.open_table(path), n_fitted=n, method="pca"))
        assert any("'order' (it counts the rows) left out" in text for text in told)
        assert any("'order' (it counts the rows) left out" in note for note in made.notes)
        assert not any("not mapped" in note for note in made.notes)
        assert getattr(made, "landmark_map", made).feature_names == ["a", "b"]


def test_columns_are_chosen_and_labels_taken_out_of_the_features(tmp_path):
    columns = _columns(0) | {"kind": np.arange(N) % 3}
    path = _write(tmp_path / "X.parquet", columns)
    table = gnomon.open_table(path)
    asked = gnomon.map(
        table, n_fitted=100, method="pca", features=["kind", "b", "order"], labels="kind", scale="standard"
    )
    assert asked.landmark_map.feature_names == ["b", "order"]
    assert np.array_equal(asked.labels, columns["kind"])
    assert asked.label_name == "kind"
    left = [name for name in columns if name not in ("a", "b")]
    dropped = gnomon.map(table, n_fitted=100, method="pca", drop=left, labels="kind")
    numbers = np.column_stack([columns["a"], columns["b"]])
    alone = gnomon.map(ArrayTable(numbers), n_fitted=100, method="pca", labels=columns["kind"])
    assert dropped.embedding.tobytes() == alone.embedding.tobytes()
    assert dropped.transform(table).tobytes() == dropped.transform(numbers).tobytes()
    dropped.save(tmp_path / "m.gnomon")
    assert gnomon.load(tmp_path / "m.gnomon").attach(gnomon.open_table(path)).table.feature_names == ["a", "b"]


def test_what_cannot_be_chosen_in_blocks_is_told(tmp_path):
    path = _write(tmp_path / "X.parquet", {"a": np.arange(60.0) % 7, "word": ["x", "y", "z"] * 20})
    table = gnomon.open_table(path)
    with pytest.raises(ValueError, match=r"features must be columns of numbers .*'word' holds none.*read_table"):
        gnomon.map(table, n_fitted=40, features=["a", "word"])
    with pytest.raises(ValueError, match=r"drop must be such that a feature is left"):
        gnomon.map(table, n_fitted=40, drop=["a"])
    counts = gnomon.open_table(_write(tmp_path / "n.parquet", {"n": np.arange(60) + 5}))
    with pytest.raises(ValueError, match=r"a column that can become a feature \('n' \(.*features=\[...\]"):
        gnomon.map(counts, n_fitted=40)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_narrowed_table_reads_some_columns_and_keeps_the_others_beside(sparse):
    import scipy.sparse as sp

    from gnomon.data import check_table
    from gnomon.maps.landmarks.source import MemoryTable

    values = np.arange(12.0).reshape(4, 3)
    given = sp.csr_array(values) if sparse else values
    table = MemoryTable(check_table(given, accept_sparse=True, feature_names=["a", "b", "c"]))
    some = narrow(table, ["c", "a"])
    read, taken = some.read(1, 3), some.take([3, 0])
    assert np.array_equal(read.toarray() if sparse else read, values[1:3, [2, 0]])
    assert np.array_equal(taken.toarray() if sparse else taken, values[[3, 0]][:, [2, 0]])
    assert some.feature_names == ["c", "a"]
    assert some.columns == ["b"]
    assert np.array_equal(some.column("b"), values[:, 1])
    assert some.fingerprint != table.fingerprint
    assert narrow(table, ["a", "b", "c"]) is table
    assert with_features(table, ["c", "a"]).feature_names == ["c", "a"]
    assert with_features(table, ["c", "no"]) is table


def test_vectors_of_a_parquet_file_stay_together(tmp_path):
    vectors = pa.array(np.arange(40.0).reshape(20, 2).tolist())
    table = gnomon.open_table(_write(tmp_path / "v.parquet", {"v": vectors, "a": np.arange(20.0) % 3}))
    assert table.feature_columns == {"v": ["v[0]", "v[1]"], "a": ["a"]}
    assert narrow(table, ["v"]).feature_names == ["v[0]", "v[1]"]
    assert with_features(table, ["a", "v[0]", "v[1]"]).read(0, 2).tolist() == [[0.0, 0.0, 1.0], [1.0, 2.0, 3.0]]
    assert with_features(table, ["v[1]", "a"]) is table


def test_a_refusal_names_the_memory_in_which_all_rows_are_fitted_together():
    table = ArrayTable(np.random.default_rng(0).normal(size=(3000, 400)))
    with pytest.raises(
        MemoryError, match=r"all rows fitted together take .* block of rows .* Allow [\d.]+ MB"
    ) as caught:
        gnomon.map(table, method="pca", memory_budget="30M")
    allowed = re.search(r"Allow ([\d.]+) MB", str(caught.value))[1]
    assert float(allowed) < 60.0
    made = gnomon.map(table, method="pca", memory_budget=f"{allowed}M")
    assert made.n_samples == 3000
    with pytest.raises(MemoryError, match=r"Use fewer landmarks"):
        gnomon.map(table, method="pca", memory_budget="5M", n_fitted=100)


def test_placing_by_a_formula_takes_no_search_and_no_field():
    by_formula, by_search = Needs(Shape(3000, 40), PCA(), 2), Needs(Shape(3000, 40), UMAP(), 2)
    assert by_search.placing - by_formula.placing == pytest.approx(2e8)


def test_files_of_a_folder_follow_the_numbers_in_their_names(tmp_path):
    for k in range(12):
        folder = tmp_path / "all" / f"day={k // 6 * 9 + 1}"
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / f"part.{k}.parquet", {"a": np.full(10, k + 0.5), "b": np.arange(10.0)})
    given = gnomon.open_table(tmp_path / "all")
    assert given.read(0, 120)[::10, 0].tolist() == [k + 0.5 for k in range(12)]
    by_text = sorted((tmp_path / "all").rglob("*.parquet"), key=str)
    assert gnomon.open_table(by_text).fingerprint != given.fingerprint
