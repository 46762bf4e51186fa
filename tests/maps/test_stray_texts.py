"""A text in a column of numbers of new rows is treated as one in the table of the map: read, or missing and told."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gnomon as gn
from gnomon.data import read_table
from gnomon.exceptions import DataWarning


def people(n, seed, *, kinds):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(18, 80, n) + 0.5, "income": rng.normal(50, 9, n)})
    return table.assign(region=rng.choice(["n", "s"], n)) if kinds else table


@pytest.fixture(scope="module", params=[False, True], ids=["numbers", "kinds"])
def made(request):
    table = people(80, 0, kinds=request.param)
    table.loc[3, "age"] = np.nan
    with pytest.warns(DataWarning, match="missing"):
        return gn.map(table, "pca", random_state=0, n_jobs=1)


def new_rows(made, value):
    rows = people(20, 1, kinds=made.columns is not None)
    rows.loc[0, "age"] = 1200.0
    texts = rows.assign(age=rows["age"].astype(object))
    texts.loc[0, "age"] = value
    return rows, texts


@pytest.mark.parametrize("value", ["1,200", "1200", "1.2e3"])
def test_a_number_that_is_written_as_text_is_read(made, value):
    rows, texts = new_rows(made, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gn.exceptions.GnomonWarning)
        expected = made.transform(rows)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(made.transform(texts), expected)
    assert not any("'age' has" in str(one.message) for one in told)


@pytest.mark.parametrize("empty", ["", "NA", "?"])
def test_a_column_that_is_empty_in_all_new_rows_is_missing(made, empty, tmp_path):
    rows, _ = new_rows(made, "")
    rows, lines = rows[:2].assign(age=np.nan), rows[:2].assign(age=empty)
    lines.to_csv(tmp_path / "new.csv", index=False)
    expected = made.transform(rows)
    for given in (lines, read_table(tmp_path / "new.csv", missing="keep")):
        np.testing.assert_allclose(made.transform(given), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", ["unknown", "-", "NA"])
@pytest.mark.parametrize("container", ["frame", "mapping", "file"])
def test_a_text_that_is_no_number_is_missing_and_told(made, value, container, tmp_path):
    rows, texts = new_rows(made, value)
    rows.loc[0, "age"] = np.nan
    expected = made.transform(rows)
    if container == "file":
        texts.to_csv(tmp_path / "new.csv", index=False)
        given = read_table(tmp_path / "new.csv", missing="keep")
    else:
        given = texts if container == "frame" else {name: texts[name].tolist() for name in texts}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DataWarning)
        np.testing.assert_allclose(made.transform(given), expected, rtol=1e-6, atol=1e-6)
    found = [str(one.message) for one in told if "'age' has" in str(one.message)]
    assert found == ([] if value == "NA" else [f"Map: 'age' has '{value}' in 1 row: no number, taken as missing."])


def test_a_map_that_cannot_fill_in_names_what_it_cannot_read():
    made = gn.map(people(80, 0, kinds=False), "pca", random_state=0, n_jobs=1)
    _, texts = new_rows(made, "unknown")
    with pytest.raises(ValueError, match=r"cannot fill them in \('age' has 'unknown' in 1 row: no number\)\. Correct"):
        made.transform(texts)
    texts.loc[0, "age"] = "NA"
    with pytest.raises(ValueError, match=r"NaN .*row 0, column 'age'"):
        made.transform(texts)


def test_a_file_of_a_decimal_comma_is_read_by_it(made, tmp_path):
    rows, _ = new_rows(made, "")
    columns = {name: [str(value).replace(".", ",") for value in rows[name]] for name in rows}
    columns["age"][0] = "soon"
    lines = [";".join(row) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "new.csv").write_text("\n".join([";".join(columns), *lines]))
    rows.loc[0, "age"] = np.nan
    expected = made.transform(rows)
    with pytest.warns(DataWarning, match="'age' has 'soon' in 1 row: no number"):
        found = made.transform(read_table(tmp_path / "new.csv", missing="keep"))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_texts_of_polars_are_read(made):
    rows, _ = new_rows(made, "")
    frame = pl.DataFrame({name: rows[name].tolist() for name in rows}).with_columns(pl.col("age").cast(pl.String))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gn.exceptions.GnomonWarning)
        np.testing.assert_array_equal(made.transform(frame), made.transform(rows))


def test_columns_without_names_are_taken_by_their_number(tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 2)).round(3)
    values[3, 1] = np.nan
    with pytest.warns(DataWarning, match="missing"):
        made = gn.map(values, "pca", random_state=0, n_jobs=1)
    lines = [f"{a},{b}" for a, b in values[4:8]]
    (tmp_path / "new.csv").write_text("\n".join([lines[0], "0.5,soon", *lines[1:]]))
    frame = pd.DataFrame({0: [*values[4:5, 0], 0.5, *values[5:8, 0]], 1: [*values[4:5, 1], "soon", *values[5:8, 1]]})
    expected = made.transform(np.vstack([values[4:5], [[0.5, np.nan]], values[5:8]]))
    for new in (frame, read_table(tmp_path / "new.csv", missing="keep")):
        with pytest.warns(DataWarning, match="'1' has 'soon' in 1 row: no number"):
            np.testing.assert_array_equal(made.transform(new), expected)


def test_dates_are_no_numbers(made):
    rows, _ = new_rows(made, "")
    rows["age"] = pd.date_range("2020-01-01", periods=len(rows))
    with pytest.raises(ValueError, match=r"column 'age' must be of numbers, as in fit \(dates or durations\)"):
        made.transform(rows)


def test_new_rows_may_have_the_column_that_was_left_out():
    table = people(40, 0, kinds=False).assign(name=[f"p{i}" for i in range(40)])
    with pytest.warns(DataWarning, match="tell who people are .*'name'"):
        made = gn.map(table, "pca", random_state=0, n_jobs=1)
    assert made.feature_names == ["age", "income"]
    np.testing.assert_array_equal(made.transform(table), made.transform(table[["age", "income"]]))


def test_the_preprocessor_takes_a_stray_text_as_missing():
    rule = gn.TablePreprocessor().fit(people(40, 0, kinds=True))
    rows = people(5, 1, kinds=True).astype({"age": object})
    rows.loc[2, "age"] = "unknown"
    with pytest.warns(DataWarning, match="'age' has 'unknown' in 1 row: no number, taken as missing"):
        assert np.isnan(rule.transform(rows)[:, 0]).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("form", ["frame", "file"])
def test_categories_that_a_map_does_not_know_are_in_the_drift(form, tmp_path):
    rng = np.random.default_rng(0)

    def rows(n):
        made = {"x": rng.normal(size=n), "y": rng.normal(size=n), "size": list("SML" * n)[:n]}
        return pd.DataFrame({**made, "country": rng.choice(["DE", "FR", "IT"], n), "vip": rng.choice(["no", "yes"], n)})

    made = gn.map(rows(200), "pca")
    new = rows(50)
    new.loc[:9, "country"] = "US"
    new.loc[0, "vip"] = "maybe"
    if form == "file":
        new.to_csv(tmp_path / "new.csv", index=False)
        new = gn.read_table(tmp_path / "new.csv")
    with pytest.warns(DataWarning, match="'country' has 'US' in 10 rows: taken as none of the categories"):
        drift = made.extend(new)[1]
    assert drift.unknown.names == ("country", "vip")
    assert drift.unknown.values == ("'US'", "'maybe'")
    np.testing.assert_allclose(drift.unknown.of_new, [0.2, 0.02])
    assert drift.unknown.by_chance.tolist() == [False, True]
    assert drift.refit
    assert "20% of the new rows have a 'country' that the map does not know ('US')" in drift.reasons
    assert made.extend(rows(50))[1].unknown.names == ()


def test_a_category_of_one_row_alone_tells_that_others_may_come():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "kind": ["a", "b"] * 25 + list("cdefghijkl")})
    made = gn.map(frame, "pca")
    new = pd.DataFrame({"x": rng.normal(size=9), "kind": [*"aabbmnopq"]})
    with pytest.warns(DataWarning, match="'kind' has .* in 5 rows"):
        drift = made.extend(new)[1]
    assert drift.unknown.by_chance.tolist() == [True]
    assert not any("kind" in one for one in drift.reasons + drift.differences)
