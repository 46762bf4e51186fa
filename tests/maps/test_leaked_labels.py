"""A column that is the labels written otherwise is told, and one that parts them well is not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn

RNG = np.random.default_rng(0)
N = 300
KIND = RNG.permutation(np.repeat([0, 1, 2], N // 3))
NUMBERS = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("xyz"))


def _told(columns, labels):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = gn.map(NUMBERS.assign(**columns), labels=labels, method="pca")
    told = [str(one.message) for one in caught if "alone tells the labels" in str(one.message)]
    assert [note for note in m.notes if "alone tells the labels" in note] == told
    return told


@pytest.mark.parametrize(
    "column", [KIND, KIND == 1, np.array([7.0, 3.0, 5.0])[KIND], np.array(["n", "s", "w"])[KIND]], ids=str
)
def test_a_column_that_is_the_labels_is_named(column):
    labels = np.array(["a", "b", "c"])[KIND] if len(np.unique(column)) == 3 else np.where(KIND == 1, "yes", "no")
    (text,) = _told({"flag": column}, labels)
    assert "column 'flag' alone" in text


@pytest.mark.parametrize(
    "column",
    [
        KIND + RNG.uniform(0, 0.5, N),  # parts all, by ranges
        KIND == 1,  # one class of three
        np.where(np.arange(N) == np.flatnonzero(KIND == 0)[0], 1, KIND),  # one row of another
        np.where(KIND == 0, 0.0, RNG.uniform(1, 2, N)),
    ],
    ids=["ranges", "one class", "one row", "zero"],
)
def test_a_column_that_parts_labels_is_not_named(column):
    assert _told({"flag": column}, np.array(["a", "b", "c"])[KIND]) == []


def test_small_classes_and_measured_labels_tell_nothing():
    few = np.where(np.arange(N) < 19, "a", "b")
    assert _told({"flag": few}, few) == []
    ages = RNG.normal(size=N)
    assert _told({"copy": ages}, ages) == []


def test_rows_without_a_label_take_no_part():
    labels = np.where(np.arange(N) < 50, "", np.array(["a", "b", "c"])[KIND])
    assert len(_told({"flag": np.where(np.arange(N) < 50, 9, KIND)}, labels)) == 1
