"""The index of a data frame names the points of its map."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning

N = 30
VALUES = np.random.default_rng(0).normal(size=(N, 3))


def frame(index=None):
    return pd.DataFrame(VALUES.copy(), columns=["a", "b", "c"], index=index)


@pytest.mark.parametrize(
    ("index", "first"),
    [
        ([f"s{i}" for i in range(N)], "s0"),
        (["same"] * N, "same"),
        (pd.date_range("2024-01-01", periods=N), "2024-01-01"),
        (pd.date_range("2024-01-01", periods=N, freq="h"), "2024-01-01 00:00:00"),
        (np.arange(N)[::-1], str(N - 1)),
        (pd.RangeIndex(5, 5 + N), "5"),
        (pd.RangeIndex(0, 2 * N, 2), "0"),
        (pd.RangeIndex(N), None),
        (pd.MultiIndex.from_product([["x", "y"], range(N // 2)]), "x / 0"),
        (pd.Index(["s0", None, *"q" * (N - 2)]), "s0"),
        (None, None),
        (np.arange(N) // 2, None),
        (np.arange(N) / 2, None),
    ],
)
def test_texts_dates_and_numbers_that_differ_name_the_points(index, first):
    for made in (gn.map(frame(index), method="pca"), gn.Map(frame(index), VALUES[:, :2])):
        assert first == (None if made.point_names is None else made.point_names[0])
    given = gn.map(frame(index), method="pca", point_names=[f"own {i}" for i in range(N)])
    assert given.point_names[0] == "own 0"


def test_new_rows_bring_their_names_and_rows_left_out_take_theirs_along():
    table = frame([f"s{i}" for i in range(N)])
    longer, _ = gn.map(table, method="pca").extend(table[:3].rename(index="new {}".format))
    assert [*longer.point_names[-4:]] == [f"s{N - 1}", "new s0", "new s1", "new s2"]
    table.iloc[1, 0] = np.nan
    with pytest.warns(DataWarning):
        kept = gn.map(table, method="pca", missing="drop")
    assert [*kept.point_names[:2]] == ["s0", "s2"]


def test_an_index_that_tells_who_people_are_is_warned_of():
    for index in ([f"p{i}@mail.com" for i in range(N)], pd.Index([f"p{i}" for i in range(N)], name="patient name")):
        with pytest.warns(DataWarning, match=r"the names of the rows.* Pass X\.reset_index\(drop=True\)"):
            gn.map(frame(index), method="pca")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gn.map(frame(index), method="pca", point_names=["x"] * N)
            gn.map(frame(index).reset_index(drop=True), method="pca")


def test_names_of_rows_in_a_file_that_tell_who_people_are_are_warned_of(tmp_path):
    frame([f"p{i}@mail.com" for i in range(N)]).to_csv(tmp_path / "t.csv")
    with pytest.warns(DataWarning, match="the names of the rows seem to tell who people are"):
        gn.map(gn.read_table(tmp_path / "t.csv"), method="pca")


def test_columns_called_by_days_are_written_as_days():
    days = ["2024-01-01", "2024-01-02", "2024-01-03 10:00"]
    table = pd.DataFrame(VALUES, columns=[*map(pd.Timestamp, days)])
    assert gn.map(table, method="pca").feature_names == ["2024-01-01", "2024-01-02", "2024-01-03 10:00:00"]
