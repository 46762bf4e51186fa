"""Rows of which a condition is not known are on neither side of a contrast."""

from __future__ import annotations

import numpy as np
import pandas as pd

import gnomon as gn

N = 60
X = np.random.default_rng(0).normal(size=(N, 3)) + [[3.0, 0.0, 0.0]] * np.repeat([0, 1], N // 2)[:, None]
PH = np.where(np.arange(N) % 3 == 0, np.nan, np.repeat([5.0, 6.0], N // 2))
KIND = np.array([None if i % 3 == 0 else "ab"[i // (N // 2)] for i in range(N)], dtype=object)


def sides(found):
    return found.n_selected, found.n_rest


def test_rows_of_unknown_value_are_on_neither_side_and_that_is_said():
    made = gn.map(X, method="pca", metadata={"pH": PH, "kind": KIND}, labels=KIND)
    for asked in ("pH > 5.5", "pH <= 5.5", "kind = b", "kind != b", "b", "pH > 5.5 & kind = b"):
        found = made.contrast(asked)
        assert sides(found) == (20, 20), asked
        assert "20 rows without" in str(found)
    np.testing.assert_array_equal(made.contrast("pH > 5.5").effect, made.contrast("pH > 5.5", "pH <= 5.5").effect)
    assert "on neither side" in str(made.contrast("kind = b"))


def test_a_rest_that_is_named_and_columns_without_gaps_are_as_before():
    made = gn.map(X, method="pca", metadata={"pH": PH, "half": np.repeat(["a", "b"], N // 2)})
    assert sides(made.contrast("half = a")) == (30, 30)
    assert sides(made.contrast("pH > 5.5", made.select("half = a"))) == (20, 30)
    mask = np.nan_to_num(PH) > 5.5
    assert sides(made.contrast(mask)) == (20, 40)
    assert sides(made.contrast(pd.Series(mask))) == (20, 40)
