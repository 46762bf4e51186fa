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

from gnomon.data import check_table, plain_row
from gnomon.data.arrays import check_finite

TABLES = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: hnp.arrays(
        dtype,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7),
        elements={"allow_nan": False, "allow_infinity": False},
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
