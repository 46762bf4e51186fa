"""What NumPy can read is an array of floats; what it cannot is refused with where and why, to the letter."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.data import check_table
from gnomon.data.arrays import EXACT_UP_TO, all_finite, floats_from_objects, is_missing, unmasked, warn_of_rounding
from gnomon.data.arrow import read_arrow
from gnomon.data.labels import check_labels
from gnomon.exceptions import DataWarning

_IMPUTE = (
    "Impute the missing values, as gnomon.complete_missing does, or leave these rows or columns out, or pass "
    "distances from a metric that accepts missing values."
)
_CLIP = "Was a logarithm of zero or a division by zero taken? Clip or remove infinity."


def refused(value, error=ValueError, **options):
    """Return the text with which a table is refused."""
    with running(name="PCA"), pytest.raises(error) as caught:
        check_table(value, **options)
    return str(caught.value)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_any_place_of_a_missing_value_is_named(form, monkeypatch):
    monkeypatch.setattr("gnomon.data.arrays._CHUNK", 4)
    for place in range(15):
        X = np.ones((5, 3), dtype=np.float32)
        X.flat[place] = np.nan
        fact = f"it contains NaN (1): at row {place // 3}, column {place % 3}"
        assert refused(form(X), accept_sparse=True) == f"PCA: X must be finite ({fact}). {_IMPUTE}"
        X.flat[place] = 1.0
        X[2] = 3e38  # their sum is beyond a float
        check_table(form(X), accept_sparse=True)


@pytest.mark.parametrize(
    ("values", "fact", "remedy"),
    [
        ([np.inf], "+infinity (1): at", _CLIP),
        ([-np.inf], "-infinity (1): at", _CLIP),
        ([np.nan, -np.inf], "NaN (1), -infinity (1): at", f"{_IMPUTE} {_CLIP}"),
        ([np.nan] * 5, "NaN (5): at", _IMPUTE),
        ([np.nan] * 6, "NaN (6): the first at", _IMPUTE),
    ],
)
def test_kinds_of_values_that_are_not_finite_are_counted_and_have_their_remedies(values, fact, remedy):
    X = np.zeros((8, 1))
    X[1 : 1 + len(values), 0] = values
    where = "; ".join(f"row {1 + i}, column 0" for i in range(min(len(values), 5)))
    assert refused(X) == f"PCA: X must be finite (it contains {fact} {where}). {remedy}"


def test_values_whose_sum_is_beyond_a_float_are_finite():
    assert all_finite(np.full((3, 2), 1e308)) is True
    assert all_finite(np.zeros((0, 2))) is True
    assert all_finite(np.array([[1.0, -np.inf]])) is False


def test_where_missing_values_are_allowed_the_rule_says_so():
    X = np.array([[np.nan, 1.0], [np.inf, 2.0]])
    assert refused(X, allow_missing=True).startswith(
        "PCA: X must be finite or NaN (it contains +infinity (1): at row 1"
    )
    assert not check_table(X[:1], allow_missing=True).plain


def objects(*rows):
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            array[i, j] = value
    return array


@pytest.mark.parametrize(
    ("rows", "names", "fact"),
    [
        (([1, 2], [3, "x"]), None, "found 'x' at row 1, column 1, of type str"),
        (([1, 2], [3, "x"], [4, 5]), ["a", "b"], "found 'x' at row 1, column 'b', of type str"),
        (([1, 2], [3, "x"], [4, 5]), ["a", "b", "c"], "found 'x' at row 1, column 1, of type str"),
        (([1, 2], [3, "x"]), ["a"], "found 'x' at row 1, column 1, of type str"),
        (([1, b"x", 2], ["y", 3, b"z"]), None, "found b'x' at row 0, column 1, of type bytes"),
        (([1, np.zeros(2)],), None, "found array([0., 0.]) at row 0, column 1, of type ndarray"),
        (([{}, 1], [[], 2]), None, "found {} at row 0, column 0, of type dict"),
    ],
)
def test_an_object_that_is_no_number_is_named_with_its_place(rows, names, fact):
    rest = "; the argument must be free of strings and other objects and hold real numbers"
    remedy = "Convert it, for instance with X.astype(float), or encode or leave out these columns."
    expected = f"PCA: X must be an array of real numbers ({fact}{rest}). {remedy}"
    assert refused(objects(*rows), TypeError, known_as=names) == expected


def test_objects_are_numbers_and_missing_values():
    given = objects([None, 1], [2.5, np.float32(np.nan)], [np.datetime64("NaT"), True])
    floats, bad = floats_from_objects(given)
    assert bad is None
    np.testing.assert_array_equal(floats, [[np.nan, 1.0], [2.5, np.nan], [np.nan, 1.0]])
    assert floats_from_objects(objects([1, 2], [3, 4 + 1j]))[1] == 3
    assert not is_missing(np.zeros(3))
    assert is_missing(np.timedelta64("NaT"))


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (lambda: 3, TypeError, "an array, a data frame or a sparse matrix (found function)"),
        ("text", TypeError, "an array, a data frame or a sparse matrix (found str)"),
        ({1, 2}, TypeError, "an array, a data frame or a sparse matrix (found set)"),
        (iter([[1.0]]), TypeError, "a table in memory (an iterator, whose rows come once). Pass numpy.concatenate("),
        ([[1, 2], [3]], ValueError, "a list of rows of equal length (setting an array element with a sequence)."),
        (
            np.array([["a", "b"]]),
            TypeError,
            "an array of numbers (found text, dtype <U1). Convert it, for instance with",
        ),
        (np.array([[b"a", b"b"]]), TypeError, "an array of numbers (found bytes, dtype |S1)"),
        (np.zeros((1, 1), "m8[s]"), TypeError, "an array of numbers (found time differences, dtype timedelta64[s])"),
        (np.zeros((1, 1), "V3"), TypeError, "an array of numbers (found records, dtype |V3)"),
        (np.zeros((1, 1), "c8"), ValueError, "an array of real numbers (Complex data not supported: found complex64)."),
        (np.float64(3.0), ValueError, "two-dimensional (Expected 2D array, got scalar array instead: shape=())."),
    ],
)
def test_what_is_no_table_is_refused_to_the_letter(value, error, text):
    assert refused(value, error).startswith(f"PCA: X must be {text}")


def test_masks_of_other_than_numbers_are_left_to_the_checks():
    texts = np.ma.masked_array([["a", "b"]], mask=[[True, False]])
    assert unmasked(texts) is texts
    assert unmasked([1.0]) == [1.0]
    whole = unmasked(np.ma.masked_array(np.array([[1, 2**20 + 1]]), mask=[[True, False]]))
    assert (whole.dtype, whole[0, 1]) == (np.float64, 2**20 + 1)


def test_float32_is_chosen_where_it_was_asked_for_and_holds_the_values():
    wide = sp.csr_array(np.array([[0.0, -1e300], [2.0, 0.0]]))
    text = "PCA: X must be within the range of float32, ±3.4e38 (largest magnitude 1e+300). Rescale the data."
    assert refused(wide, accept_sparse=True, dtype=np.float32) == text
    assert refused(wide.toarray(), dtype=np.float32) == text
    assert refused(np.array([[np.nan]]), dtype=np.float32).startswith("PCA: X must be finite")


def test_a_class_of_tensors_is_no_tensor():
    class Tensor:
        def __dlpack__(self):
            raise AssertionError

        def __dlpack_device__(self):
            raise AssertionError

    assert re.match("PCA: X must be .*found type", refused(Tensor, TypeError))


def test_the_first_whole_number_that_float64_rounds_is_known():
    assert float(EXACT_UP_TO - 1) + 1.0 == EXACT_UP_TO
    assert float(EXACT_UP_TO + 1) == EXACT_UP_TO


@pytest.mark.parametrize(
    ("values", "rounded", "lost"),
    [
        ([EXACT_UP_TO + 1, 5], 1, 2),
        ([-EXACT_UP_TO - 1, 5], 1, 2),
        ([-(2**60) - 1, 2**55 + 1, 2**55], 2, 256),
        ([2**63 - 1, 2**62], 1, 2048),
        ([-(2**63), -(2**63) + 1], 1, 2048),
    ],
)
def test_whole_numbers_that_are_rounded_are_counted(values, rounded, lost):
    text = f"{rounded} whole numbers from {min(values)} to {max(values)} are rounded in float64; differences below"
    with pytest.warns(DataWarning, match=rf"^gnomon: {text} {lost} are lost\. Subtract one of them before"):
        warn_of_rounding(np.array(values))


@pytest.mark.parametrize(
    "held",
    [
        np.array([EXACT_UP_TO, -EXACT_UP_TO]),
        np.array([2**62, -(2**63)]),
        np.array([], dtype=np.int64),
        np.array([2**64 - 2**11], dtype=np.uint64),
        np.array([1e300]),
        np.array(["a"]),
        np.array([2**31 - 1], dtype=np.int32),
    ],
)
def test_whole_numbers_that_are_held_are_not_told(held):
    warn_of_rounding(held)


LARGE = [2**53 + 1, 2**53 + 3, 2**53 + 6]
ROUNDED = r"2 whole numbers from 9007199254740993 to 9007199254740998 are rounded in float64; differences below 2 are"


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.array([*LARGE, None], dtype="Int64"), "b": 1.5}),
        pl.DataFrame({"a": [*LARGE, None], "b": 1.5}),
        pd.DataFrame({"a": np.array([*LARGE, None], dtype=object), "b": 1.5}),
        np.array([[*LARGE, None]], dtype=object).T,
    ],
    ids=["pandas", "polars", "objects", "array"],
)
def test_whole_numbers_that_are_rounded_beside_missing_ones_are_told(table):
    with pytest.warns(DataWarning, match=ROUNDED):
        check_table(table, allow_missing=True)


@pytest.mark.parametrize(
    "labels",
    [pd.array([*LARGE, None], dtype="Int64"), pl.Series([*LARGE, None]), np.array([*LARGE, None], dtype=object)],
)
def test_labels_that_are_rounded_are_told(labels):
    with pytest.warns(DataWarning, match=ROUNDED):
        check_labels(labels, 4)


def test_whole_numbers_of_a_file_that_are_rounded_are_noted(tmp_path):
    pd.DataFrame({"a": pd.array([*LARGE, None], dtype="Int64"), "b": 1.5}).to_parquet(tmp_path / "X.parquet")
    notes = read_arrow(tmp_path / "X.parquet", missing="keep").notes
    assert any(re.match(f"'a': {ROUNDED}", note) for note in notes)
