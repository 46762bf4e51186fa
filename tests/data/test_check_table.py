"""The one input check: every container of the same numbers gives the same table."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import gnomon
from gnomon._run import running
from gnomon.data import check_feature_count, check_one_row, check_same_length, check_table, given_rows, plain_row
from gnomon.data.arrays import check_finite
from gnomon.data.table import Table
from gnomon.exceptions import DataWarning

TABLES = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: hnp.arrays(
        dtype,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7),
        elements=st.floats(-1e300, 1e300) if dtype == np.float64 else {"allow_nan": False, "allow_infinity": False},
    )
)


def memmap(X):
    with tempfile.TemporaryDirectory() as folder:
        mapped = np.memmap(Path(folder) / "X", X.dtype, "w+", shape=X.shape)
        mapped[:] = X
        mapped.flush()
        yield mapped


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    wide[::-2, ::3] = X
    return wide[::-2, ::3]


class Holder:
    """An object that NumPy can read, as arrays of other libraries are."""

    def __init__(self, X):
        self.X = X

    def __array__(self, dtype=None, copy=None):
        return np.array(self.X, dtype=dtype)


class Callable(Holder):
    """One that can be called besides, which no function that was passed by mistake can be read as."""

    def __call__(self):
        raise AssertionError


def names(X):
    return [f"c{j}" for j in range(X.shape[1])]


CONTAINERS = {
    "f-order": np.asfortranarray,
    "strided": strided,
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "read-only": lambda X: np.require(X.copy(), requirements="C").view(),
    "__array__": Holder,
    "__array__ and __call__": Callable,
    "pandas": pd.DataFrame,
    "pandas-nullable": lambda X: pd.DataFrame(X, columns=names(X)).astype(X.dtype.name.capitalize()),
    "polars": lambda X: pl.DataFrame(X, schema=names(X)),
    "pyarrow": lambda X: pa.table(list(X.T.copy()), names=names(X)),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
}


@given(X=TABLES)
@settings(deadline=None, max_examples=20)
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_table(container, X):
    before = X.copy()
    values = check_table(CONTAINERS[container](X)).values
    assert values.flags.c_contiguous
    assert values.dtype.isnative
    assert values.dtype == (np.float64 if container in ("objects", "lists") else X.dtype)
    np.testing.assert_array_equal(values, X)
    np.testing.assert_array_equal(X, before)


@given(X=TABLES)
@settings(deadline=None, max_examples=20)
def test_a_memory_map_gives_the_same_table(X):
    for mapped in memmap(X):
        values = check_table(mapped).values
        np.testing.assert_array_equal(values, X)
        assert type(values) is np.ndarray
        del values


@given(X=TABLES, kind=st.sampled_from(["csr", "csc", "coo", "lil"]))
@settings(deadline=None, max_examples=20)
def test_sparse_gives_the_same_table(X, kind):
    values = check_table(sp.csr_array(X).asformat(kind), accept_sparse=True).values
    assert values.dtype == X.dtype
    np.testing.assert_array_equal(values.toarray(), X)


@given(values=st.lists(st.integers(0, 255), min_size=4, max_size=4))
@settings(deadline=None)
def test_integers_are_converted_before_arithmetic(values):
    X = np.array(values, np.uint8).reshape(2, 2)
    table = check_table(X).values
    np.testing.assert_array_equal(table[0] - table[1], X[0].astype(int) - X[1].astype(int))


def test_dtype_decides_the_working_precision():
    X = np.array([[0.1, 0.2]])
    assert check_table(X, dtype=np.float32).values.dtype == np.float32
    assert check_table(X.astype(np.float32), dtype=np.float64).values.dtype == np.float64
    assert check_table(sp.csr_array(X), dtype=np.float32, accept_sparse=True).values.dtype == np.float32


def test_a_frame_takes_the_widest_type_it_needs():
    narrow = pd.DataFrame({"a": np.float32([1]), "b": np.int8([2]), "c": [True]})
    assert check_table(narrow).values.dtype == np.float32
    assert check_table(narrow.assign(d=[3])).values.dtype == np.float64


def test_given_names_replace_those_of_the_frame_and_must_fit():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    assert check_table(frame, feature_names=["x", "y"]).feature_names == ["x", "y"]
    with pytest.raises(ValueError, match=r"feature_names must be one for each column of X \(1 names, 2 columns\)"):
        check_table(frame, feature_names=["x"])
    with pytest.raises(TypeError, match="a sequence of names"):
        check_table(frame, feature_names="xy")


def test_least_sizes():
    with pytest.raises(ValueError, match=r"at least 3 rows .*1 sample\(s\) \(shape=\(1, 2\)\) while a minimum of 3"):
        check_table([[1.0, 2.0]], min_samples=3)
    with pytest.raises(ValueError, match=r"at least 3 columns .*2 feature\(s\)"):
        check_table([[1.0, 2.0]], min_features=3)


@pytest.mark.parametrize("row", [np.float32([1, 2]), [1.0, 2.0], np.ones(3), np.ones((1, 2)), np.array([1, np.nan])])
def test_only_a_finite_row_of_float64_and_of_the_right_length_is_taken_without_a_check(row):
    assert plain_row(row, 2) is None


def test_a_plain_row_is_taken_as_it_is():
    row = np.arange(6.0)[::2]
    found = plain_row(row, 3)
    np.testing.assert_array_equal(found, row)
    assert found.flags.c_contiguous


def test_table_describes_itself():
    table = check_table(sp.csr_array(np.eye(3)), accept_sparse=True)
    assert (table.n_samples, table.n_features, table.is_sparse) == (3, 3, True)
    assert not check_table(np.eye(3)).is_sparse


def test_a_table_that_was_checked_is_taken_with_as_many_other_names_as_it_has_columns():
    checked = check_table(np.arange(6.0).reshape(2, 3))
    assert check_table(checked, feature_names=list("abc")).feature_names == list("abc")
    for table in (checked, np.arange(6.0).reshape(2, 3)):
        for names in (list("ab"), list("abcd")):
            with pytest.raises(ValueError, match=rf"one for each column of X \({len(names)} names, 3 columns\)"):
                check_table(table, feature_names=names)


def test_missing_numbers_are_refused_unless_they_are_allowed():
    values = np.array([[1.0, np.nan], [np.inf, 2.0]])
    with pytest.raises(ValueError, match=r"NaN \(1\)"):
        check_finite(values[:1])
    check_finite(values[:1], allow_missing=True)
    with pytest.raises(ValueError, match="infinity"):
        check_finite(values, allow_missing=True)


def test_a_checked_table_is_converted_to_the_type_that_is_asked_for():
    known = check_table(np.arange(6.0).reshape(3, 2))
    assert check_table(known).values is known.values
    assert check_table(known, dtype=np.float32).values.dtype == np.float32
    read = check_table(np.array([[np.nan, 1.0], [2.0, 3.0]]), allow_missing=True)
    with pytest.raises(ValueError, match="missing values"):
        check_table(read)


def test_a_table_on_disk_is_read_whole_with_its_names(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}).to_parquet(tmp_path / "t.parquet")
    stored = gnomon.open_table(tmp_path / "t.parquet")
    table = check_table(stored)
    assert (table.values.tolist(), table.feature_names) == ([[1.0, 3.0], [2.0, 4.0]], ["a", "b"])
    assert check_table(stored, feature_names=["p", "q"]).feature_names == ["p", "q"]


def test_a_checked_table_keeps_names_and_index_and_is_checked_anew_where_more_is_asked():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=["x", "y"])
    known = check_table(frame)
    assert known.plain
    for again in (check_table(known), check_table(known, dtype=np.float32)):
        assert (again.feature_names, again.index.tolist(), again.plain) == (["a", "b"], ["x", "y"], True)
    assert check_table(known, dtype=np.float64).values is known.values
    for options in ({"min_samples": 3}, {"min_features": 3}):
        for dtype in (None, np.float32):
            with pytest.raises(ValueError, match="while a minimum of 3 is required"):
                check_table(known, dtype=dtype, **options)
    sparse = check_table(sp.csr_array(np.eye(3)), accept_sparse=True)
    assert check_table(sparse, accept_sparse=True).values is sparse.values
    with pytest.raises(TypeError, match=r"X must be a dense array \(sparse data in csr format\)"):
        check_table(sparse)


@pytest.mark.parametrize("options", [{"allow_missing": True}, {"keep_zeros": True}])
def test_a_table_that_was_checked_with_exceptions_is_not_plain(options):
    given = sp.csr_array((np.array([0.0, 1.0]), ([0, 1], [0, 1])), shape=(2, 2))
    assert not check_table(given, accept_sparse=True, **options).plain
    lenient = check_table(given, accept_sparse=True, **options)
    assert check_table(lenient, accept_sparse=True).values.nnz == 1
    assert check_table(given, accept_sparse=True).plain


def test_errors_call_columns_without_names_as_in_fit_if_there_are_as_many():
    X = np.array([[1.0, np.nan]])
    for known_as, place in ((["a", "b"], "'b'"), (["a"], "1"), (None, "1")):
        with pytest.raises(ValueError, match=rf"at row 0, column {place}\)"):
            check_table(X, known_as=known_as)
    with pytest.raises(ValueError, match=r"column 'q'\)"):
        check_table(X, known_as=["a", "b"], feature_names=["p", "q"])
    with pytest.raises(TypeError, match=r"2 columns hold something else: 'q': String"):
        check_table(pd.DataFrame({"a": [1.0], "b": ["x"]}), feature_names=["p", "q"])
    with pytest.raises(TypeError, match=r"of 2 columns hold something else: 'b': String|column"):
        check_table(pd.DataFrame({"a": [1.0], "b": ["x"]}), feature_names=["p"])


def test_a_table_that_was_not_checked_is():
    with pytest.raises(ValueError, match="X must be finite"):
        check_table(Table(np.array([[np.nan]])))


def test_one_row_is_a_table_of_one_row():
    assert check_one_row([1.0, 2.0]).tolist() == [[1.0, 2.0]]
    for other in (3.0, [[1.0, 2.0]]):
        with pytest.raises(ValueError, match=r"^gnomon: x of shape .* must be one row of shape \(n_features,\)"):
            check_one_row(other)


def test_rows_are_checked_where_a_user_gives_them_and_taken_where_a_part_does():
    bad = np.array([[np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"^gnomon: A must be finite \(it contains NaN"):
        given_rows(bad, name="A")
    assert given_rows(bad, distances=True) is bad
    matrix = sp.csr_array(bad)
    assert given_rows(matrix, distances=True) is matrix
    with running(within=True):
        assert given_rows(bad) is bad
        assert given_rows(matrix) is matrix
        assert given_rows([[1, 2]]).tolist() == [[1.0, 2.0]]
    assert given_rows([[1, 2]], distances=True).dtype == np.float64
    assert given_rows(np.zeros((0, 3))).shape == (0, 3)
    assert sp.issparse(given_rows(sp.coo_array(np.eye(3))))


@pytest.mark.parametrize(("n", "shown"), [(5, 5), (6, 5)])
def test_five_names_of_columns_are_listed(n, shown):
    table = check_table(np.zeros((1, n + 1)), feature_names=["a", *(f"new {j}" for j in range(n))])
    lines = [f"- new {j}" for j in range(shown)] + ["- ..."] * (n > shown)
    expected = "gnomon: The feature names should match those that were passed during fit.\n"
    expected += "\n".join(["Feature names unseen at fit time:", *lines, "Pass X[names] of a data frame"])
    with pytest.raises(ValueError, match="feature names should match") as caught:
        check_feature_count(table, 1, ["a"])
    assert str(caught.value).startswith(expected)


def test_columns_are_counted_where_names_cannot_be_compared():
    named = check_table(np.zeros((1, 2)), feature_names=["a", "b"])
    plain = check_table(np.zeros((1, 2)))
    for table, names in ((plain, ["a", "b"]), (plain, None), (named, ["a", "b"])):
        check_feature_count(table, 2, names)
    with pytest.warns(DataWarning, match="^X has feature names, but gnomon was fitted without feature names"):
        check_feature_count(named, 2, None)
    for table, names in ((named, None), (plain, ["a", "b", "c"])):
        with pytest.raises(ValueError, match=r"^X has 2 features, but gnomon is expecting 3 features as input"):
            check_feature_count(table, 3, names)


def test_lengths_are_compared_with_the_first():
    check_same_length()
    check_same_length(X=np.zeros((3, 2)), y=[1, 2, 3], w=None)
    with pytest.raises(ValueError, match=r"^gnomon: w must be as long as X \(X has 3 rows, w has 2\)\. Pass one entry"):
        check_same_length(X=np.zeros((3, 2)), y=[1, 2, 3], w=[1, 2])
