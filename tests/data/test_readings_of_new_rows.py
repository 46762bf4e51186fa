"""What is read of a new row is what the fitted rules make of it: alone, and beside any other rows."""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning

N = 60
RNG = np.random.default_rng(0)
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.permutation(N) * 11, unit="D")
SIZES = np.exp(RNG.normal(6, 1, N))
EUROPE = str.maketrans(",.", ".,")

COLUMNS = {
    "number": SIZES,
    "whole": RNG.integers(0, 50, N),
    "points": [f"{x:,.2f}" for x in SIZES],
    "commas": [f"{x:,.2f}".translate(EUROPE) for x in SIZES],
    "thousands": [f"{int(1000 + x):,}.5" for x in SIZES],
    "percent": [f"{x}%" for x in RNG.integers(0, 100, N)],
    "dollars": [f"${x:.2f}" for x in SIZES],
    "euros": [f"{x:.2f} €".translate(EUROPE) for x in SIZES],
    "kilos": [f"{x:.1f} kg" for x in SIZES],
    "sized": [f"{x:.1f}k" for x in SIZES],
    "iso": DAYS.strftime("%Y-%m-%d"),
    "american": DAYS.strftime("%m/%d/%Y"),
    "european": DAYS.strftime("%d/%m/%Y"),
    "dotted": DAYS.strftime("%d.%m.%Y"),
    "stamps": DAYS,
    "durations": pd.to_timedelta(RNG.permutation(N), unit="h"),
    "truths": RNG.random(N) < 0.5,
    "truth texts": RNG.choice(["True", "false"], N),
    "words": RNG.choice(["yes", "no"], N),
    "categories": RNG.choice(["DE", "FR", "1"], N),
    "codes": RNG.choice(["01", "02", "10"], N),
    "ranks": pd.Categorical(RNG.choice(["lo", "mid", "hi"], N), ["lo", "mid", "hi"], ordered=True),
    "presence": np.where(RNG.random(N) < 0.5, "x", ""),
    "true or blank": np.where(RNG.random(N) < 0.5, True, None),
}
PROBES = [
    *["1,5", "1.5", "1,500", "1.500", "1.234,5", "1,234.5", "12", "12%", "0.12", "$5", "€5", "5,5 €", "5 kg", "5k"],
    *["1", "0", "true", "True", "yes", "x", "X ", "DE", "de", "01", "lo", "-", "unknown", "NA", "", None, np.nan],
    *["2021-01-05", "04/01/2022", "01/25/2022", "25/01/2022", "4.1.2022", "5 Jan 2021", "2021-01-05T10:00+02:00"],
    *["45000", 5, 1.5, 1.234, 0.12, True, False, np.float32(1.5), np.int8(1), 2.0, datetime.date(2021, 1, 5), 45000],
    *[pd.Timestamp("2021-01-05 03:00"), pd.Timestamp("2021-01-05", tz="Europe/Berlin"), pd.NaT],
    *[pd.Timedelta("1h"), "0 days 01:00:00"],
]  # fmt: skip


def encoder_of(name):
    table = {"a": RNG.normal(size=N), name: COLUMNS[name]}
    return gn.TablePreprocessor(features=["a", name]).fit(pd.DataFrame(table))


def read(encoder, name, values):
    """Return the features that become of values; None if they are refused."""
    frame = pd.DataFrame({"a": np.zeros(len(values)), name: pd.Series(values, dtype=object).infer_objects()})
    try:
        return encoder.transform(frame)[:, 1:]
    except ValueError:
        return None


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("name", COLUMNS)
def test_a_row_is_read_alone_as_beside_any_others(name):
    encoder = encoder_of(name)
    alone = [read(encoder, name, [probe]) for probe in PROBES]
    draws = np.random.default_rng(1)
    batches = [np.arange(len(PROBES)), *(draws.choice(len(PROBES), 4, replace=False) for _ in range(25))]
    dates = [i for i, probe in enumerate(PROBES) if isinstance(probe, str) and "/" in probe]
    for batch in [*batches, dates[:2], dates[::2]]:
        together = read(encoder, name, [PROBES[i] for i in batch])
        for i, row in zip(batch, [] if together is None else together, strict=together is not None):
            if alone[i] is not None:
                np.testing.assert_array_equal(row, alone[i][0], err_msg=repr(PROBES[i]))
            else:
                assert np.isnan(row).all(), PROBES[i]
    assert sum(one is not None and np.isfinite(one).all() for one in alone) > 0


@pytest.mark.parametrize("fitted", ["iso", "dotted", "stamps"])
@pytest.mark.parametrize("others", [[], ["01/25/2022"] * 9, ["25/01/2022"] * 9])
def test_an_order_of_day_and_month_that_fit_does_not_know_is_refused(fitted, others):
    encoder, told = encoder_of(fitted), "no date, taken as missing; write 2024-05-31, as no date in fit tells whether"
    with pytest.warns(DataWarning, match=told):
        assert np.isnan(read(encoder, fitted, ["08/01/2021", *others])).all()
    made = gn.map(pd.DataFrame({"a": RNG.normal(size=N), fitted: COLUMNS[fitted]}), "pca")
    rows = pd.DataFrame({"a": 0.0, fitted: ["08/01/2021", *others]})
    with pytest.raises(ValueError, match=r"no date; write 2024-05-31, as no date in fit .*\)\. Correct these values"):
        made.transform(rows)


def test_texts_among_numbers_are_read_with_a_point_and_never_by_the_rows_beside_them():
    encoder = encoder_of("number")
    with pytest.warns(DataWarning, match=r"'1\.500', read as 1\.5, which may be 1500"):
        assert read(encoder, "number", ["1.500"]).item() == 1.5
    with pytest.warns(DataWarning, match=r"'1,500', read as 1500, which may be 1\.5"):
        assert read(encoder, "number", ["1,500"]).item() == 1500
    with pytest.warns(DataWarning, match=r"'1,5' in 1 row: no number, taken as missing; they have a decimal comma"):
        assert np.isnan(read(encoder, "number", ["1,5"])).all()
    frame = pd.DataFrame({"a": 0.0, "number": ["1,5", "1.500"]})
    with pytest.raises(ValueError, match=r"'1\.500' is 1\.5 so, and other texts of these rows tell that it is 1500"):
        encoder.transform(frame)


@pytest.mark.parametrize(
    ("name", "values", "fact"),
    [
        ("durations", pd.date_range("2021-01-05", periods=2), "of durations, as in fit .dates"),
        ("durations", [5.0, 6.0], "of durations, as in fit .numbers"),
        ("iso", pd.to_timedelta([1, 2], unit="h"), "of dates, as in fit .durations"),
        ("iso", pd.to_timedelta([1, None], unit="h"), "of dates, as in fit .durations"),
        ("points", pd.date_range("2021-01-05", periods=2), "of numbers, as in fit .dates or durations"),
        ("truths", pd.date_range("2021-01-05", periods=2), "of numbers, as in fit .dates or durations"),
    ],
)
def test_dates_durations_and_numbers_are_not_taken_for_each_other(name, values, fact):
    with pytest.raises(ValueError, match=f"column '{name}' must be {fact}"):
        encoder_of(name).transform(pd.DataFrame({"a": 0.0, name: values}))


@pytest.mark.parametrize(
    ("name", "text", "difference"),
    [
        ("dollars", "€7.45", r"they have € where those in fit have \$, such as \$"),
        ("dollars", "$7,45", r"they have a decimal comma where a point is read, such as \$"),
        ("euros", "7.45 €", "they have a decimal point where a comma is read"),
        ("percent", "0.12", "they have no unit where those in fit have %"),
        ("kilos", "500 g", "they have g where those in fit have kg"),
        ("number", "$7.45", r"they have \$ where those in fit have none"),
    ],
)
def test_how_new_numbers_are_written_otherwise_is_named(name, text, difference):
    encoder = encoder_of(name)
    for rows in ([text], [text] * 9):
        told = rf"'{name}' has '{re.escape(text)}' in {len(rows)} rows?: no number, taken as missing; {difference}"
        with pytest.warns(DataWarning, match=told):
            assert np.isnan(read(encoder, name, rows)).all()
    made = gn.map(pd.DataFrame({"a": RNG.normal(size=N), name: COLUMNS[name]}), "pca", scale="standard")
    with pytest.raises(ValueError, match=difference):
        made.transform(pd.DataFrame({"a": [0.0], name: [text]}))


def test_numbers_that_may_be_shares_are_warned_of_in_a_column_of_percent():
    encoder = encoder_of("percent")
    told = r"'percent' has numbers within -1 to 1 \(0\.12 and 1 more\) .* 0\.12 is read as 0\.12 %, .* a share, 12 %"
    for values in ([0.12, 0.0, 0.4], [0.12, 0.4, "12%"]):
        with pytest.warns(DataWarning, match=told):
            read(encoder, "percent", values)
    low = gn.TablePreprocessor().fit({"a": np.arange(20.0) ** 2, "rate": [f"0.{j + 1}%" for j in range(20)]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(encoder, "percent", [0.12, 12.0]).ravel().tolist() == [0.12, 12.0]
        assert read(encoder, "percent", ["0.12%"]).item() == 0.12
        assert low.transform({"a": [1.0], "rate": [0.5]})[0, 1] == 0.5  # percent of the fit were below 1 as well
        assert read(encoder_of("dollars"), "dollars", [0.12]).item() == 0.12
