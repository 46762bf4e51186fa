"""Questions that were asked of some rows alone: contrasts do not speak of answers that nobody gave."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning


def survey(n_known=0, n=120):
    """Forty smokers who were asked three questions, and others of whom some were."""
    rng = np.random.default_rng(0)
    smokes = np.arange(n) % 3 == 0
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["q0", "q1", "q2"])
    table["smoker"] = np.where(smokes, "yes", "no")
    asked = smokes | (np.cumsum(~smokes) <= n_known)
    table["cigs"] = np.where(asked, rng.poisson(12, n), np.nan)
    return table, smokes


def made(n_known=0):
    table, smokes = survey(n_known)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = gn.map(table, "pca")
    return result, smokes, " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("swapped", [False, True])
def test_what_nobody_of_a_side_answered_is_not_compared(swapped):
    result, smokes, _ = made()
    found = result.contrast(smokes if swapped else ~smokes)
    assert "cigs" not in found.features
    assert [result.feature_names[j] for j in found.indices] == found.features
    of_others = [j for j, name in enumerate(result.feature_names) if name != "cigs"]
    alone = gn.contrast(result.X[:, of_others], smokes if swapped else ~smokes)
    np.testing.assert_array_equal(found.auc, alone.auc)
    np.testing.assert_array_equal(found.false_discovery_rate, alone.false_discovery_rate)
    known = "40 of 40 selected, 0 of 80" if swapped else "0 of 80 selected, 40 of 40"
    assert f"Not compared, as next to no row of a side has a value: cigs ({known} in the rest)." in str(found)


@pytest.mark.parametrize(("n_known", "compared", "told"), [(4, False, True), (5, True, True), (40, True, False)])
def test_features_that_few_of_a_side_have_are_told(n_known, compared, told):
    result, smokes, _ = made(n_known)
    found = result.contrast(~smokes)
    assert ("cigs" in found.features) == compared
    assert (f"cigs ({n_known} of 80 selected" in found.caution) == told
    assert ("Most values of a side were missing and filled in" in found.caution) == (told and compared)


def test_the_warning_says_where_a_column_is_missing():
    assert "Missing are 'cigs' exactly where 'smoker = yes' is 0: if that was not asked there" in made()[2]
    assert "exactly where" not in made(n_known=1)[2]


def test_columns_of_chance_are_missing_nowhere_exactly():
    X = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(float)
    X[::7, 2] = np.nan
    with pytest.warns(DataWarning, match="values are missing") as caught:
        gn.map(X, "pca")
    assert not any("exactly where" in str(one.message) for one in caught)
