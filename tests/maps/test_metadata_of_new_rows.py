"""A map that grows takes the words, dates, identifiers and labels of new rows from the table that they come in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gnomon as gn
from gnomon.data import read_table

N, M = 80, 10
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "customer_id": np.arange(10_001, 10_001 + N + M),
        "age": RNG.integers(18, 90, N + M),
        "score": RNG.normal(size=N + M),
        "plan": np.array(["basic", "pro"])[RNG.integers(0, 2, N + M)],
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.permutation(N + M), "D"),
        "arm": np.array(["a", "b", "c"])[RNG.integers(0, 3, N + M)],
    }
)


@pytest.fixture
def made():
    with pytest.warns(gn.exceptions.DataWarning, match="customer_id"):
        return gn.map(ROWS[:N], method="pca", labels="arm", scale="standard")


def forms(tmp_path):
    new = ROWS[N:].reset_index(drop=True)
    new.to_csv(tmp_path / "new.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    return {
        "pandas": new,
        "polars": pl.from_pandas(new),
        "mapping": {name: new[name].to_numpy() for name in new},
        "records": new.to_dict("records"),
        "csv": read_table(tmp_path / "new.csv"),
        "parquet": read_table(tmp_path / "new.parquet"),
    }


@pytest.mark.parametrize("form", ["pandas", "polars", "mapping", "records", "csv", "parquet"])
def test_new_rows_keep_what_their_table_says_of_them(made, form, tmp_path):
    larger, _ = made.extend(forms(tmp_path)[form])
    assert [*larger.metadata["plan"][N:]] == [*ROWS["plan"][N:]]
    assert [*larger.labels[N:]] == [*ROWS["arm"][N:]]
    assert [*larger.metadata["customer_id"][N:]] == [*ROWS["customer_id"][N:]]
    np.testing.assert_array_equal(larger.metadata["since"][N:].astype("datetime64[D]"), ROWS["since"][N:].to_numpy())
    assert np.count_nonzero(larger.select("plan=pro")) == np.count_nonzero(ROWS["plan"] == "pro")


def test_what_is_given_beside_new_rows_comes_first_and_may_be_a_frame(made):
    new = ROWS[N:].reset_index(drop=True)
    larger, _ = made.extend(new, labels="plan", metadata=new[["plan"]].replace("pro", "max"))
    assert [*larger.labels[N:]] == [*new["plan"]]
    assert set(larger.metadata["plan"][N:]) == {"basic", "max"}
    with pytest.raises(ValueError, match="metadata must be in the order of the rows of X"):
        made.extend(new, metadata=new[["plan"]].iloc[::-1])
    array, _ = gn.map(ROWS[["age", "score"]][:N].to_numpy(), method="pca", labels=ROWS["arm"][:N]).extend(
        np.eye(2) + 20.0
    )
    assert [*array.labels[N:]] == [None, None]
