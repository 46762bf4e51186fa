"""Many categories, signs behind numbers and dates as whole numbers are read, or told."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data import Dataset
from gnomon.data.columns import encode_dataset, rules_fault
from gnomon.data.written import date_numbers, read_date_numbers
from gnomon.exceptions import DataWarning

N = 200


def _frame(**columns):
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"x": np.random.default_rng(3).normal(size=n), **columns})


def _states(levels, n=N):
    return [f"S{k:03d}x" for k in np.random.default_rng(0).permutation(np.arange(n) % levels)]


@pytest.mark.filterwarnings("ignore:.*columns of many categories left out")
def test_the_note_counts_the_columns_that_it_does_not_name():
    made = encode_dataset(Dataset(_frame(**{f"t{k:02d}": _states(60) for k in range(14)})), None, None)
    (note,) = (note for note in made.notes if note.startswith("columns left out"))
    assert note.endswith("'t07' (60 different texts) and 6 more")


def test_many_categories_are_told_with_the_remedy_which_works():
    frame = _frame(state=_states(50), y=np.arange(N) ** 0.5)
    told = (
        r"left out: 'state' \(50 different texts\)\. Pass features=\[\.\.\.\] with these names, "
        "beside the others, to take them"
    )
    with pytest.warns(DataWarning, match=f"TablePreprocessor: columns of many categories {told}"):
        gn.TablePreprocessor().fit(frame)
    with pytest.warns(DataWarning, match=f"map: columns of many categories {told}"):
        gn.map(frame, "pca")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gn.TablePreprocessor(drop=["state"]).fit(frame)
        made = gn.TablePreprocessor(features=["state", "x"]).fit(frame)
    assert len(made.get_feature_names_out()) == 51
    X = (made.transform(frame) / np.where(np.isnan(made.spreads_), 1.0, made.spreads_))[:, :50]
    apart = np.sum((X[:, None] - X) ** 2, axis=2)
    assert apart.mean() == pytest.approx(2.0)  # as much as a number
    np.testing.assert_allclose(np.unique(apart.round(9)), [0.0, 2.0 / (1.0 - 1.0 / 50)])


@pytest.mark.parametrize(("levels", "taken"), [(120, True), (300, True), (301, False)])
def test_a_column_that_is_asked_for_may_have_hundreds_of_categories(levels, taken):
    frame = _frame(town=_states(levels, 400))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*many categories left out.*'town'" if levels <= 200 else "^$")
        assert gn.TablePreprocessor().fit(frame).get_feature_names_out().tolist() == ["x"]  # told where they come again
    encoder = gn.TablePreprocessor(features=["x", "town"])
    if taken:
        assert len(encoder.fit(frame).get_feature_names_out()) == levels + 1
    else:
        with pytest.raises(ValueError, match=r"'town': 301 different texts"):
            encoder.fit(frame)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1234.50-", "12.00", "1,000.25-"], [-1234.5, 12.0, -1000.25]),
        (["1.234,50-", "12,00", "7−"], [-1234.5, 12.0, -7.0]),
        (["5- kg", "4 kg", "1.5- kg"], [-5.0, 4.0, -1.5]),
        (["5,83,447", "12,34,56,789.5", "83,447"], [583447.0, 123456789.5, 83447.0]),
        (["₹5,83,447", "₹447", "-₹1,02,003"], [583447.0, 447.0, -102003.0]),
    ],
)
def test_a_sign_behind_and_indian_groups_are_read(texts, numbers):
    encoder = gn.TablePreprocessor()
    np.testing.assert_array_equal(encoder.fit_transform({"v": texts * 2})[:3, 0], numbers)
    np.testing.assert_array_equal(encoder.transform({"v": texts[::-1]})[:, 0], numbers[::-1])


@pytest.mark.parametrize("texts", [["2019-", "2020-"], ["-5-", "3"], ["5-7", "2-4"], ["5,83,44", "1,2,345"]])
def test_open_ranges_and_other_groups_are_no_numbers(texts):
    assert gn.TablePreprocessor().fit({"v": texts * 30}).rules_[0].kind == "category"


def test_amounts_with_and_without_a_sign_are_told_so_and_hexadecimal_codes_are_no_amounts():
    values = np.random.default_rng(0).uniform(0, 100, N)
    mixed = [f"{v:.1f}%" if v > 50 else f"{v / 100:.3f}" for v in values]
    told = r"'v' has numbers with and without %, such as '\d+\.\d%' and '0\.\d+'\. Write all numbers with %, or none"
    with pytest.warns(DataWarning, match=told):
        gn.TablePreprocessor().fit(_frame(v=mixed))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule = gn.TablePreprocessor().fit(_frame(v=[f"{k:02x}" for k in np.arange(N)])).rules_[1]
    assert rule.reason == "an identifier"


DAYS = pd.date_range("2019-03-01", periods=N, freq="3D")
MONTHS = pd.date_range("2005-11-01", periods=N, freq="MS")


@pytest.mark.parametrize(("dates", "form"), [(DAYS, "%Y%m%d"), (MONTHS, "%Y%m")])
@pytest.mark.parametrize(
    "make", [lambda texts: [int(text) for text in texts], list, lambda texts: [*map(float, texts)]]
)
def test_dates_as_whole_numbers_are_dates(dates, form, make):
    order = np.random.default_rng(1).permutation(N)
    frame = _frame(when=make(dates[order].strftime(form)))
    encoder = gn.TablePreprocessor()
    read = encoder.fit_transform(frame)
    np.testing.assert_array_equal(read, gn.TablePreprocessor().fit_transform(frame.assign(when=dates[order])))
    assert encoder.get_feature_names_out()[1].startswith("when (")
    assert rules_fault(encoder.rules_) == ""
    for new in (dates[order], dates[order].strftime("%Y-%m-%d"), frame["when"]):
        np.testing.assert_array_equal(encoder.transform(frame.assign(when=new))[:7], read[:7])


@pytest.mark.parametrize(
    "values", [np.full(N, np.nan), np.full(N, None), np.full(N, ""), pd.array([None] * N, "Int64")]
)
@pytest.mark.parametrize("given", [{}, {"features": ["x", "dead"]}])
def test_columns_without_any_value_are_left_out_with_a_warning(values, given):
    with pytest.warns(DataWarning, match=r"columns without any value left out: 'dead'\.$") as caught:
        made = encode_dataset(Dataset(_frame(dead=values)), given.get("features"), None)
    assert len(caught) == 1
    assert made.feature_names == ["x"]
    assert list(made.metadata) == ["dead"]
    with pytest.raises(ValueError, match=r"'dead' \(no values"):
        encode_dataset(Dataset(_frame(dead=values)), ["dead"], None)
    assert encode_dataset(Dataset(_frame(dead=values)), None, ["dead"]).feature_names == ["x"]  # without a warning


def test_what_is_no_date_beside_them_is_missing_and_told():
    days = np.random.default_rng(0).permutation(DAYS.strftime("%Y%m%d").astype(int).to_numpy())
    frame = _frame(when=np.where(np.arange(N) < 5, 0, days))
    with pytest.warns(DataWarning, match=r"'when' has '0' in 5 rows: no date, taken as missing; write yyyymmdd"):
        made = encode_dataset(Dataset(frame), None, None)
    assert np.isnan(made.X[:, 1]).sum() == 5
    for column in ("when", "order id"):
        values = np.where(np.arange(N) < (30 if column == "when" else 0), 0, days)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*'order id' .an identifier by its name. left out")
            rule = gn.TablePreprocessor().fit(_frame(**{column: values})).rules_[1]
        assert rule.kind == ("number" if column == "when" else "left out")


@pytest.mark.parametrize(
    "values",
    [
        np.arange(20240101, 20240132),
        np.arange(202301, 202313),
        20230001 + np.arange(100),
        np.arange(202001, 202101),
        np.random.default_rng(0).integers(190_001, 210_012, 60),
        np.random.default_rng(0).integers(19_000_101, 21_001_231, 60),
        DAYS.strftime("%Y%m%d").astype(int)[:9],
    ],
)
def test_other_whole_numbers_are_no_dates(values):
    assert date_numbers(np.asarray(values, dtype=float)) == ""


def test_each_day_that_there_is_is_a_date_and_no_other():
    days = pd.date_range("1900-01-01", "2100-12-31")
    read = read_date_numbers(days.strftime("%Y%m%d").astype(float).to_numpy(), "yyyymmdd")
    np.testing.assert_array_equal(read, days.to_numpy().astype("datetime64[D]"))
    wrong = np.array(
        [18991231, 21010101, 20230229, 20231301, 20230100, 20230431, 20230101.5, np.nan, np.inf, -20230101]
    )
    assert np.isnat(read_date_numbers(wrong, "yyyymmdd")).all()


def test_a_column_that_is_as_another_is_told_once():
    frame = _frame(a=np.arange(N) % 7, kind=_states(5), flag=np.arange(N) % 2)
    frame["flag too"] = frame["flag"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gn.TablePreprocessor().fit(frame)  # truth values may agree by chance
    frame.loc[:5, "a"] = np.nan
    frame["type"], frame["b"], frame["c"] = frame["kind"], frame["a"], frame["a"]
    told = (
        r"columns with the same values in all rows count twice: 'type' as 'kind', 'b' as 'a', 'c' as 'a'\. "
        r"Pass drop=\['type', 'b', 'c'\] unless that is meant\."
    )
    with pytest.warns(DataWarning, match=f"TablePreprocessor: {told}") as caught:
        gn.TablePreprocessor().fit(frame)
    assert len(caught) == 1
    with pytest.warns(DataWarning, match=told):
        encode_dataset(Dataset(frame), None, None)
    frame.loc[N - 1, ["b", "c"]] = [8, 9]
    with pytest.warns(DataWarning, match=r"twice: 'type' as 'kind'\. Pass drop=\['type'\] unless"):
        gn.TablePreprocessor().fit(frame)
    many = pd.DataFrame({f"x{j}": np.arange(N) % 7 for j in range(10)})
    with pytest.warns(DataWarning, match=r"'x8' as 'x0' and 1 more\. Pass drop=\['x1', .*, 'x8', \.\.\.\] unless"):
        gn.TablePreprocessor().fit(many)
