"""Columns that are 0 in the same rows, as of absent jets, are told; sparse tables of other kinds are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.absent import find_absent, warn_of_absent
from gnomon.exceptions import DataWarning

RNG = np.random.default_rng(0)
N = 400
THERE = np.arange(N) % 5 < np.array([[4], [2]])  # in four fifths of the rows, and in two


def padded(values, there=THERE[0]):
    return np.where(there, values, 0.0)


def jets():
    return pd.DataFrame(
        {
            "met": RNG.exponential(35, N),
            "jet1_pt": padded(20 + RNG.exponential(30, N)),
            "jet1_eta": padded(RNG.normal(size=N)),
            "jet2_pt": padded(20 + RNG.exponential(20, N), THERE[1]),
            "jet2_eta": padded(RNG.normal(size=N), THERE[1]),
        }
    )


def test_columns_that_are_0_in_the_same_rows_are_told_with_their_share():
    with pytest.warns(DataWarning, match="0 in the same rows") as caught:
        made = gn.map(jets(), "pca", scale="standard")
    (told,) = [str(one.message) for one in caught if "same rows" in str(one.message)]
    assert "'jet1_pt', 'jet1_eta' in 80 (20.0%), 'jet2_pt', 'jet2_eta' in 240 (60.0%)." in told
    assert "clusters may be no more than these numbers" in told
    assert "met" not in told
    assert any("0 in the same rows" in note for note in made.notes)


def test_the_preprocessor_tells_it_of_columns_of_numbers_alone():
    with pytest.warns(DataWarning, match=r"'jet1_pt', 'jet1_eta' in 80 \(20\.0%\)"):
        gn.TablePreprocessor().fit(jets().assign(kind=np.where(THERE[0], "a", "b"), on=THERE[0]))


def test_nan_in_their_place_and_rows_that_have_it_need_no_word():
    values = jets().to_numpy()
    assert len(find_absent(values)) == 2
    assert find_absent(np.where(values == 0, np.nan, values)) == []
    (rest,) = find_absent(values[THERE[0]])
    assert rest.columns == (3, 4)


def test_amid_both_signs_or_far_from_the_others_0_lies_apart():
    signed, far, near = RNG.normal(size=N), 50 + RNG.exponential(9, N), RNG.exponential(9, N)
    for other in (signed, far):
        assert len(find_absent(np.column_stack([padded(other), padded(near)]))) == 1
    assert find_absent(np.column_stack([padded(near), padded(RNG.exponential(2, N))])) == []


AMOUNTS = padded(5 + RNG.lognormal(3, 1, N))
OTHERS = {
    "taxes": np.column_stack([AMOUNTS, 0.19 * AMOUNTS, np.log1p(AMOUNTS), -AMOUNTS]),
    "counts": RNG.poisson(0.7, (N, 12)),
    "large counts": RNG.negative_binomial(0.3, 0.02, (N, 12)),
    "indicators": np.eye(6)[RNG.integers(0, 6, N)],
    "spending": np.where(RNG.random((N, 8)) < 0.6, RNG.lognormal(3, 1, (N, 8)), 0.0),
    "one pair of many": np.column_stack(
        [
            padded(RNG.normal(size=(2, N)).T, THERE[0][:, None]),
            np.where(RNG.random((N, 8)) < 0.6, RNG.normal(size=(N, 8)), 0),
        ]
    ),
    "few rows": np.where(np.arange(N)[:, None] < 8, 0.0, RNG.normal(size=(N, 3))),
    "categories": padded(RNG.choice([-2, -1, 1, 2], (2, N))).T,
}


@pytest.mark.parametrize("name", OTHERS)
def test_zeros_of_ordinary_tables_are_not_told(name):
    warn_of_absent(OTHERS[name].astype(np.float64))  # warnings are errors here
    assert find_absent(OTHERS[name].astype(np.float64)) == []
