"""Values of features that are made of dates, told as dates."""

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.data.columns.dates import told_date


@pytest.mark.parametrize(
    ("days", "unit"), [(4000, "years"), (300, "months"), (40, "days")], ids=["years", "months", "days"]
)
def test_a_value_is_told_as_the_date_it_was_made_of(days, unit):
    rng = np.random.default_rng(0)
    dates = pd.Timestamp("2019-11-30") + pd.to_timedelta(np.append(0, rng.integers(0, days, 59)), unit="D")
    frame = pd.DataFrame({"since": dates, "a": rng.normal(size=60)})
    made = gnomon.map(frame, method="pca")
    name = made.feature_names[0]
    assert name == f"since ({unit} since 2019-11-30)"
    values = np.asarray(made.X)[:, 0]
    assert [told_date(name, value) for value in values] == [str(one)[:10] for one in dates]
    assert str(dates[7])[:10] in str(made.why(7))
    selected = dates > dates.to_series().median()
    contrast = made.contrast(np.asarray(selected))
    row = next(line for line in str(contrast).splitlines() if line.startswith("since"))
    assert str(dates[selected].to_series().mean())[:10] in row
    assert contrast.mean_selected.dtype == np.float64  # in arrays it stays a number


@pytest.mark.parametrize("name", ["a", "hours (hours since 2020-01-01)", "time (days)", "since (years since now)"])
def test_other_features_have_no_dates(name):
    assert told_date(name, 3.0) == ""
    assert told_date("since (years since 2020-01-01)", np.nan) == ""
