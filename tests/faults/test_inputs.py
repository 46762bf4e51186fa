"""The catalogue of faults in the input: each case is named after its number there."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import gnomon
import gnomon.neighbors
from gnomon._run import running
from gnomon.data import check_feature_count, check_labels, check_same_length, check_table

X = np.arange(12, dtype=np.float64).reshape(4, 3)


def with_value(value, dtype=np.float64):
    bad = X.astype(dtype)
    bad[1, 2] = value
    return bad


def with_minus_infinity():
    bad = sp.csr_array(X + 1)
    bad.data[9] = -np.inf  # the first stored value of row 3
    return bad


def named(value):
    return pd.DataFrame(with_value(value), columns=["a", "b", "age"])


def mixed():
    return pd.DataFrame({"a": [1.0, 2.0], "kind": pd.Categorical(["x", "y"]), "name": ["p", "q"]})


def tensor_on_device():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

    return Tensor()


REFUSED = {
    "f01-array": (with_value(np.nan), ValueError, r"X must be finite \(it contains NaN \(1\): at row 1, column 2\)"),
    "f01-frame": (named(np.nan), ValueError, r"NaN \(1\): at row 1, column 'age'\). Impute"),
    "f01-metric": (named(np.nan), ValueError, "a metric that accepts missing values"),
    "f01-list": ([[1.0, None], [2.0, 3.0]], ValueError, r"NaN \(1\): at row 0, column 1"),
    "f01-masked": (np.ma.masked_equal([[1, 2], [3, 4]], 3), ValueError, r"NaN \(1\): at row 1, column 0"),
    "f01-sparse": (sp.csc_array(with_value(np.nan)), ValueError, r"NaN \(1\): at row 1, column 2"),
    "f01-sparse-first-of-row": (with_minus_infinity(), ValueError, r"-infinity \(1\): at row 3, column 0"),
    "f02-signs": (
        np.array([[np.inf, -np.inf, -np.inf], [1, 2, 3]]),
        ValueError,
        r"\+infinity \(1\), -infinity \(2\): at row 0, column 0; row 0, column 1; row 0, column 2.*logarithm of zero",
    ),
    "f02-float32": (with_value(np.inf, np.float32), ValueError, r"\+infinity \(1\)"),
    "f24-no-rows": (X[:0], ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
    "f24-no-columns": (
        X[:, :0],
        ValueError,
        r"0 feature\(s\) \(shape=\(\d*, 0\)\) while a minimum of \d* is required.",
    ),
    "f29-one-dimension": (X[0], ValueError, r"Expected 2D array, got 1D array instead.*Reshape your data"),
    "f29-series": (pd.Series([1.0, 2.0]), ValueError, "Expected 2D array, got 1D array instead"),
    "f29-scalar": (3.0, ValueError, "Expected 2D array, got scalar array instead"),
    "f29-pictures": (np.zeros((2, 3, 3)), ValueError, r"dim 3, shape=\(2, 3, 3\).*X.reshape\(len\(X\), -1\)"),
    "f41-complex": (X + 1j, ValueError, "Complex data not supported"),
    "f41-complex-frame": (pd.DataFrame(X + 1j), ValueError, "Complex data not supported"),
    "f41-complex-sparse": (sp.csr_array(X + 1j), ValueError, "Complex data not supported"),
    "f41-complex-objects": (np.array([[1j, 2]], dtype=object), ValueError, "Complex data not supported"),
    "f42-dict": (np.array([[{"foo": "bar"}, 1.0]], dtype=object), TypeError, "argument must be .* string.* number"),
    "f42-strings": (np.array([["1.5", "2"]]), TypeError, "found text, dtype"),
    "f42-string-objects": (
        np.array([["1.5", 2]], dtype=object),
        TypeError,
        r"found '1.5' at row 0, column 0, of type str",
    ),
    "f42-dates": (np.array([["2020-01-01"]], dtype="M8[D]"), TypeError, "found dates"),
    "f42-dict-input": ({"a": [1, 2]}, TypeError, "found dict"),
    "f42-none": (None, TypeError, "found NoneType"),
    "f43-pandas": (mixed(), TypeError, "2 of 3 columns hold something else: 'kind': Categorical, 'name': String"),
    "f43-polars": (pl.from_pandas(mixed()), TypeError, "'kind': .*, 'name': String"),
    "f43-arrow": (pa.Table.from_pandas(mixed()), TypeError, "'kind': .*, 'name': String"),
    "f44-nullable": (
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        ValueError,
        "NaN .1.: at row 1, column 'a'",
    ),
    "f44-nullable-bool": (pd.DataFrame({"a": pd.array([True, None])}), ValueError, "NaN .1.: at row 1, column 'a'"),
    "f44-polars-null": (pl.DataFrame({"a": [1, None]}), ValueError, "NaN .1.: at row 1, column 'a'"),
    "f44-arrow-null": (pa.table({"a": [1, None]}), ValueError, "NaN .1.: at row 1, column 'a'"),
    "f44-lazy": (pl.DataFrame({"a": [1]}).lazy(), TypeError, r"Pass X.collect\(\)"),
    "f48-matrix": (np.asarray(X).view(np.matrix), TypeError, r"np.matrix is not supported.*np.asarray"),
    "f49-dense-only": (sp.csr_array(X), TypeError, r"[Ss]parse.*csr format.*X.toarray\(\)"),
    "f54-device": (tensor_on_device(), TypeError, r"Tensor: can't convert cuda:0.*X.detach\(\).cpu\(\).numpy\(\)"),
    "f29-ragged": ([[1, 2], [3]], ValueError, "a list of rows of equal length"),
}


@pytest.mark.parametrize(("value", "error", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_a_text_that_helps(value, error, text):
    accept_sparse = "csr format" not in text
    with running(name="PCA"), pytest.raises(error, match=re.compile(text, re.DOTALL)) as caught:
        check_table(value, accept_sparse=accept_sparse)
    assert str(caught.value).startswith("PCA: ")


@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_f43_a_map_takes_categories_beside_numbers(metric):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "kind": pd.Categorical(["x", "y"] * 20), "town": ["p", "q"] * 20})
    made = gnomon.map(frame, metric=metric, max_iter=5)
    assert [rule.kind for rule in made.columns] == ["number", "category", "category"]
    placed = made.place(frame[:3])
    assert placed.shape == (3, 2)
    assert np.isfinite(placed).all()


def test_f01_names_five_places_and_counts_all():
    bad = np.full((100, 50), np.nan, np.float32)
    with pytest.raises(ValueError, match=r"NaN \(5,000\): the first at row 0, column 0; .*row 0, column 4\)"):
        check_table(bad)


def test_f01_places_are_right_beyond_the_first_block(monkeypatch):
    monkeypatch.setattr("gnomon.data.arrays._CHUNK", 6)
    bad = np.zeros((9, 3))
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="at row 7, column 1"):
        check_table(bad)


def test_f04_huge_finite_values_are_no_infinity():
    huge = np.full((1000, 10), 3e38, np.float32)  # their sum overflows
    np.testing.assert_array_equal(check_table(huge).values, huge)


def test_f04_what_float32_cannot_hold_is_said():
    with pytest.raises(ValueError, match=r"within the range of float32.*largest magnitude 1e\+300\). Rescale"):
        check_table(with_value(1e300), dtype=np.float32)


def test_f06_time_stamps_keep_their_differences():
    stamps = np.array([[1_700_000_000, 1], [1_700_000_001, 2]])
    values = check_table(stamps).values
    assert values[1, 0] - values[0, 0] == 1


def test_f30_both_lengths_are_named():
    with pytest.raises(ValueError, match=r"labels must be one for each row \(3 labels, 4 rows\)"):
        check_labels(["a", "b", "c"], 4)
    with pytest.raises(ValueError, match="X has 4 rows, Y has 5"):
        check_same_length(X=sp.csr_array(X), names=None, Y=np.zeros((5, 2)))


def test_f31_wrong_number_of_features():
    table = check_table(X)
    check_feature_count(table, 3, None)
    expected = "X has 3 features, but PCA is expecting 4 features as input"
    with running(name="PCA"), pytest.raises(ValueError, match=expected):
        check_feature_count(table, 4, None)


_BY_NAME = "Pass X[names] of a data frame, X[:, names] of an AnnData object, where names are feature_names_in_."
_ADD = "Add them to the new rows, or fit again with the columns that all rows have."


def test_f33_no_rows_where_they_are_allowed():
    assert check_table(X[:0], min_samples=0).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("names", "text", "remedy"),
    [
        (["c", "b", "a"], "Feature names must be in the same order as they were in fit.\n", _BY_NAME),
        (
            ["a", "b", "d"],
            "Feature names unseen at fit time:\n- d\nFeature names seen at fit time, yet now missing:\n- c\n",
            _ADD,
        ),
        (["a", "b"], "Feature names seen at fit time, yet now missing:\n- c\n", _ADD),
        (["a", "b", "c", "d"], "Feature names unseen at fit time:\n- d\n", _BY_NAME),
    ],
    ids=["f34-reordered", "f34-renamed", "f34-missing", "f34-more"],
)
def test_f34_column_names_must_match(names, text, remedy):
    table = check_table(pd.DataFrame(np.zeros((3, len(names))), columns=names))
    expected = f"The feature names should match those that were passed during fit.\n{text}{remedy}"
    with pytest.raises(ValueError, match=re.escape(expected)):
        check_feature_count(table, 3, np.array(["a", "b", "c"], dtype=object))


def test_f34_names_are_not_asked_of_an_array():
    check_feature_count(check_table(X), 3, ["a", "b", "c"])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.float16], ids="f37-f39-{}".format)
def test_narrow_types_are_read_as_float32(dtype):
    table = check_table(X.astype(dtype))
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.values, X.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float64, np.longdouble])
def test_f40_wide_types_are_read_as_float64(dtype):
    assert check_table(X.astype(dtype)).values.dtype == np.float64


def test_f38_duplicates_of_small_integers_do_not_wrap():
    coo = sp.coo_array((np.array([200, 200], np.uint8), ([0, 0], [1, 1])), shape=(2, 2))
    assert check_table(coo, accept_sparse=True).values[0, 1] == 400


def test_f37_sparse_truth_values():
    coo = sp.coo_array((np.array([True, True]), ([0, 0], [1, 1])), shape=(2, 2))
    values = check_table(coo, accept_sparse=True).values
    assert values.dtype == np.float32
    assert values[0, 1] == 1


def test_f45_input_is_shared_but_cannot_be_written():
    table = check_table(X)
    assert np.shares_memory(table.values, X)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1
    assert X.flags.writeable


def test_f50_truth_values_in_csr_format_are_copied_too():
    given = sp.csr_array((np.array([True, True]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert check_table(given, accept_sparse=True).values.toarray().tolist() == [[0, 1]]
    assert given.nnz == 2


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_f49_every_sparse_format(kind, container):
    given = getattr(sp, f"{kind}_{container}")(X)
    values = check_table(given, accept_sparse=True).values
    assert isinstance(values, sp.csr_array)
    assert values.has_canonical_format
    np.testing.assert_array_equal(values.toarray(), X)


def test_f50_unsorted_and_double_entries_become_canonical_and_the_input_stays():
    data, indices, indptr = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3, 3])
    given = sp.csr_array((data.copy(), indices.copy(), indptr.copy()), shape=(2, 3))
    given.has_sorted_indices = True  # a lie that must not be believed
    values = check_table(given, accept_sparse=True).values
    np.testing.assert_array_equal(values.toarray(), [[2, 0, 4], [0, 0, 0]])
    assert values.indices.tolist() == [0, 2]
    for mine, theirs in ((given.data, data), (given.indices, indices), (given.indptr, indptr)):
        np.testing.assert_array_equal(mine, theirs)
    assert not np.shares_memory(values.data, given.data)


def test_f51_stored_zeros_are_zeros_of_features_and_distances_of_zero():
    given = sp.csr_array((np.array([0.0, 1.0]), ([0, 0], [1, 2])), shape=(2, 3))
    assert check_table(given, accept_sparse=True).values.nnz == 1
    assert check_table(given, accept_sparse=True, keep_zeros=True).values.nnz == 2


def test_f52_wide_indices_become_narrow_where_they_fit():
    given = sp.csr_array(X)
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    values = check_table(given, accept_sparse=True).values
    assert values.indices.dtype == values.indptr.dtype == np.int32
    wide = sp.csr_array((np.ones(1), ([0], [2**40])), shape=(1, 2**41))
    assert check_table(wide, accept_sparse=True).values.indices.tolist() == [2**40]


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_f50_broken_structure_is_refused(kind):
    given = getattr(sp, f"{kind}_array")(X)
    given.indices[0] = 99
    with pytest.raises(ValueError, match="a valid sparse matrix"):
        check_table(given, accept_sparse=True)


def test_f55_names_are_kept_and_told_apart():
    frame = pd.DataFrame(np.ones((2, 6)), columns=["größe", "a", "a", "", 7, "a (2)"])
    names = check_table(frame).feature_names
    assert names == ["größe", "a", "a (3)", "column 3", "7", "a (2)"]
    assert check_table(pd.DataFrame(X)).feature_names is None  # running numbers are no names
    duplicate = pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    assert check_table(duplicate).feature_names == ["a", "a (2)"]


def test_f56_rows_are_matched_by_position_and_the_index_is_kept():
    frame = pd.DataFrame(X, index=pd.Index([3, 1, 2, 0], name="cell"))
    table = check_table(frame)
    np.testing.assert_array_equal(table.values, X)
    assert table.index.tolist() == [3, 1, 2, 0]
    labels = pd.Series(["a", "b", "c", "d"], index=[3, 2, 1, 0])
    assert check_labels(labels, 4).tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(np.asfortranarray(X), id="f46-fortran"),
        pytest.param(np.repeat(X, 2, axis=0)[::2], id="f46-strided"),
        pytest.param(X[::-1, ::-1][::-1, ::-1], id="f46-negative-strides"),
        pytest.param(X.astype(">f8"), id="f47-big-endian"),
        pytest.param(X.astype(">f4"), id="f47-big-endian-single"),
        pytest.param(X.astype(">i2"), id="f47-big-endian-integers"),
    ],
)
def test_any_layout_in_memory_is_read_as_the_same_numbers(given):
    before = given.copy()
    values = check_table(given).values
    np.testing.assert_array_equal(values, X)
    assert values.dtype.isnative
    np.testing.assert_array_equal(given, before)


def test_f45_a_table_on_disk_is_read_and_not_written(tmp_path):
    np.save(tmp_path / "table.npy", np.tile(X, (30, 1)))
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    before = (tmp_path / "table.npy").read_bytes()
    Y = gnomon.PCA(2, random_state=0).fit_transform(mapped)
    np.testing.assert_array_equal(Y, gnomon.PCA(2, random_state=0).fit_transform(np.array(mapped)))
    assert (tmp_path / "table.npy").read_bytes() == before


def test_f54_a_tensor_that_gives_an_array_is_read():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return X if dtype is None else X.astype(dtype)

    np.testing.assert_array_equal(check_table(Tensor()).values, X)


def test_f51_a_stored_zero_is_a_feature_of_zero_and_a_distance_of_zero():
    rows = sp.csr_array((np.array([0.0, 1.0, 2.0]), ([0, 1, 2], [0, 1, 1])), shape=(3, 2))
    np.testing.assert_array_equal(
        gnomon.PCA(1, random_state=0).fit_transform(rows),
        gnomon.PCA(1, random_state=0).fit_transform(sp.csr_array(rows.toarray())),
    )
    pairs = np.array([[0, 0.0, 3.0], [0.0, 0, 4.0], [3.0, 4.0, 0]])
    stored = sp.csr_array((pairs[~np.eye(3, dtype=bool)], np.nonzero(~np.eye(3, dtype=bool))), shape=(3, 3))
    graph = gnomon.neighbors.compute_neighbors(stored, 1, metric="precomputed")
    assert graph.distances.ravel().tolist() == [0.0, 0.0, 3.0]
