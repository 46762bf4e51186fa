"""Times that rows were written down one after the other, and counters that begin again, are no features."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns.times import counts_stretches_again, follow_rows, named_as_time
from gnomon.exceptions import DataWarning

N = 300
RNG = np.random.default_rng(0)
REGULAR = pd.date_range("2024-01-01", periods=N, freq="min")
UNEVEN = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(RNG.exponential(40.0, N)), unit="s")
REPEATED = REGULAR[np.sort(RNG.integers(0, N, N))]
SHUFFLED = REGULAR[RNG.permutation(N)]
LATE = UNEVEN[np.argsort(np.arange(N) + RNG.uniform(0.0, 3.0, N))]  # rows that came a little after others
BY_MACHINE = REGULAR[:60].append([REGULAR[30:110], REGULAR[:70], REGULAR[:90]])
GONE, KEPT = (True, False)


def _fit(when, name="when", **given):
    X = np.random.default_rng(1).normal(size=(len(when), 2))
    return gn.TablePreprocessor(**given).fit(pd.DataFrame({name: when, "a": X[:, 0], "b": X[:, 1]}))


def _features(*args, **given):
    return _fit(*args, **given).get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "when",
    [REGULAR, REGULAR[::-1], UNEVEN, REPEATED, LATE, BY_MACHINE, REGULAR.to_period("min"), REGULAR.tz_localize("CET")],
    ids=["regular", "falling", "uneven", "repeated", "late", "by machine", "periods", "zone"],
)
@pytest.mark.parametrize("form", [None, "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_in_the_order_of_the_rows_are_left_out_with_a_warning(when, form):
    values = when if form is None else when.strftime(form)
    told = r"'when' \(times in the order of the rows\) left out\. Pass features="
    with pytest.warns(DataWarning, match=told):
        assert _features(values) == ["a", "b"]
    assert len(_features(values, features=["when", "a"])) == 2  # what one asks for stays


@pytest.mark.parametrize("unit", [1, 1e3, 1e6, 1e9])
def test_seconds_since_1970_go_as_dates_do(unit):
    seconds = (UNEVEN - pd.Timestamp("1970-01-01")).total_seconds().to_numpy()
    for values in (seconds * unit, np.floor(seconds * unit)):
        with pytest.warns(DataWarning, match=r"'v' \(times in the order of the rows\) left out"):
            assert _features(values, "v") == ["a", "b"]
    if unit < 1e9:  # numbers beyond 2^53 that all differ name rows
        assert _features(RNG.permutation(seconds * unit), "v") == ["v", "a", "b"]
    assert _features(seconds / 3.0, "v") == ["v", "a", "b"]  # no time since 2000


@pytest.mark.parametrize(
    ("values", "name", "kept"),
    [
        (SHUFFLED, "born", True),
        (SHUFFLED.sort_values()[: N // 10 - 1].repeat(1), "few rows", True),
        (pd.DatetimeIndex(np.repeat(REGULAR[:3], N // 3)), "three waves", True),
        (pd.to_timedelta(np.sort(RNG.exponential(9.0, N)), unit="h"), "stay", True),
        (pd.to_timedelta(np.sort(RNG.exponential(9.0, N)), unit="h"), "elapsed time", False),
        (np.sort(RNG.exponential(9.0, N)), "income", True),
        (np.sort(RNG.exponential(9.0, N)), "Time (s)", False),
        (np.sort(RNG.exponential(9.0, N)), "response_time", True),
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_what_is_in_no_order_or_was_measured_stays(values, name, kept):
    assert (len(_features(values, name)) == 3) == kept


def test_dates_stay_where_there_is_nothing_else():
    frame = pd.DataFrame({"when": REGULAR, "end": UNEVEN})
    assert len(gn.TablePreprocessor().fit(frame).get_feature_names_out()) == 2


@pytest.mark.parametrize("seed", range(20))
def test_values_in_no_order_hardly_ever_follow_the_rows(seed):
    rng = np.random.default_rng(seed)
    for n in (50, 500):
        for values in (rng.normal(size=n), np.cumsum(rng.normal(size=n)), rng.integers(0, 12, n).astype(float)):
            assert not follow_rows(values)
            assert follow_rows(np.where(rng.random(n) < 0.3, np.nan, np.sort(values))) == (n * 0.6 > 50)
        for n_gaps in (n, n + 1):  # half may be missing
            assert follow_rows(np.r_[np.arange(n), np.full(n_gaps, np.nan)]) == (n_gaps == n)


@pytest.mark.parametrize(
    "name", ["time", "Timestamp", "ts", "time_s", "t (s)", "local time", "Datum", "start", "daytime"]
)
def test_names_of_times(name):
    assert named_as_time(name) == (name not in ("t (s)", "start", "daytime"))


def test_counters_that_begin_again_after_unlike_stretches_are_left_out():
    lengths = [31, 55, 44, 80, 23]
    cycle = np.concatenate([np.arange(1, n + 1) for n in lengths])
    assert counts_stretches_again(cycle.astype(float)) == 5
    with pytest.warns(DataWarning, match=r"'cycle' \(it counts the rows of each of 5 stretches\) left out"):
        assert _features(cycle, "cycle") == ["a", "b"]
    assert counts_stretches_again(cycle[:-12] / 2.0) == 5  # the last one was cut off
    assert not counts_stretches_again(cycle + 0.1 * (cycle == 7))
    days = pd.date_range("2001-01-01", periods=1500)
    for values in (days.day, days.dayofyear, np.arange(1500) % 24, np.tile([1, 2, 3, 1, 2], 300)):
        assert not counts_stretches_again(np.asarray(values, dtype=float))


REPEATED_UNITS = np.random.default_rng(5).integers(1, 41, 400)


@pytest.mark.parametrize("name", ["unit_number", "unit", "Engine No.", "user", "src_ip", "machine"])
def test_numbers_of_units_are_warned_of_and_large_ones_left_out(name):
    told = f"columns named as units are that have become features: {name!r} .taken as amounts"
    with pytest.warns(DataWarning, match=told):
        assert name in _features(REPEATED_UNITS, name)
    large = np.random.default_rng(6).choice(90_000, 41, replace=False) + 10_000
    with pytest.warns(DataWarning, match=rf"{name!r} \(an identifier by its name\) left out"):
        assert name not in _features(large[REPEATED_UNITS], name)
    assert name in _features(REPEATED_UNITS, name, features=[name, "a"])  # no warning: it was asked for


@pytest.mark.parametrize("name", ["units", "family", "persons", "cost per unit", "user_age", "engine size", "sensor"])
def test_numbers_of_other_names_are_amounts(name):
    assert name in _features(REPEATED_UNITS, name)
    assert "unit" in _features(REPEATED_UNITS[:400] % 2, "unit")  # two values
    assert "user" in _features(np.random.default_rng(7).integers(0, 300, 400), "user")  # each hardly comes again


def test_units_whose_rows_another_column_counts_are_left_out():
    lengths = [31, 55, 44, 80, 23]
    rows = np.random.default_rng(8).normal(size=(233, 2))
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame["unit"], frame["t"] = np.repeat(range(5), lengths), np.concatenate([np.arange(n) for n in lengths])
    with pytest.warns(DataWarning, match=r"'unit' \(an identifier by its name\), 't' .* left out"):
        assert gn.TablePreprocessor().fit(frame).get_feature_names_out().tolist() == ["a", "b"]


def test_texts_that_name_units_are_warned_of_where_they_become_many_indicators():
    for name, n, warned in [("person", 12, True), ("Ticker", 12, True), ("machine", 4, False), ("country", 12, False)]:
        texts = np.array([f"u{g % n}" for g in REPEATED_UNITS])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert f"{name} = u1" in _features(texts, name)
        assert [f"{name!r} ({n} categories)" in str(one.message) for one in caught] == [True] * warned


def test_times_that_go_on_are_no_drift_of_new_rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(420, 3)), columns=list("abc"))
    frame["when"] = pd.date_range("2024-01-01", periods=420, freq="h")
    made = gn.map(frame[:N], "pca", features=["a", "b", "c", "when"])
    drift = made.extend(frame[N:])[1]
    assert "when" not in " ".join(drift.differences)
    assert "All new rows are of another time than those of the map ('when')" in drift.caution
    assert "drop=['when']" in drift.caution
    assert 3 not in drift.columns.columns
    again = made.extend(frame[200:320])[1]  # some of another time, and some of the same
    assert "another time" not in again.caution
    assert 3 in again.columns.columns
