"""Tables that were written are read back as they were."""

import datetime

import numpy as np
import pytest

from gnomon.data.writers import texts_of, write_columns

COLUMNS = {
    "whole": np.array([1, 2**53 + 1, -3]),
    "single": np.array([0.1, np.nan, 1e-38], np.float32),
    "double": np.array([0.1, 1 / 3, np.inf]),
    'a "name", with': np.array(["plain", 'with, "both"', "two\nlines"]),
    "holes": np.array(["x", None, 5], dtype=object),
    "day": np.array(["2024-02-29", "NaT", "1969-12-31"], "datetime64[D]"),
    "truth": np.array([True, False, True]),
}


def test_text_has_the_digits_that_give_the_same_numbers(tmp_path):
    import csv

    write_columns(tmp_path / "t.csv", COLUMNS)
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == list(COLUMNS)
    read = dict(zip(head, zip(*rows, strict=True), strict=True))
    assert [int(value) for value in read["whole"]] == COLUMNS["whole"].tolist()
    assert read["single"] == ("0.1", "", "1e-38")
    assert [float(value) for value in read["double"]] == COLUMNS["double"].tolist()
    assert read['a "name", with'] == tuple(COLUMNS['a "name", with'])
    assert read["holes"] == ("x", "", "5")
    assert read["day"] == ("2024-02-29", "", "1969-12-31")
    assert read["truth"] == ("True", "False", "True")


@pytest.mark.parametrize(
    ("dates", "texts"),
    [
        (["2020-12-26", "NaT"], ["2020-12-26", None]),
        (["2020-12-26T10:00", "2020-12-26"], ["2020-12-26T10:00:00", "2020-12-26T00:00:00"]),
        (["2020-12-26T10:00:00.5"], ["2020-12-26T10:00:00.500000"]),
        (["NaT"], [None]),
    ],
)
def test_dates_have_a_time_only_where_one_has_and_are_read_back(dates, texts):
    column = np.array(dates, "datetime64[us]")
    assert texts_of(column) == texts
    np.testing.assert_array_equal(np.array(texts, "datetime64[us]"), column)


def test_parquet_keeps_kinds(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_columns(tmp_path / "t.parquet", COLUMNS)
    read = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    assert read["whole"] == COLUMNS["whole"].tolist()
    assert read["single"] == [COLUMNS["single"][0].item(), None, COLUMNS["single"][2].item()]
    assert read["double"] == COLUMNS["double"].tolist()
    assert read["holes"] == ["x", None, "5"]
    assert read["day"] == [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31)]
    assert read["truth"] == [True, False, True]
