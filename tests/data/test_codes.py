"""Numbers that stand for kinds: declared as categories, or told by the names of their columns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns.codes import named_as_kinds, told_of_codes

KINDS = [
    "race",
    "Ethnicity",
    "region",
    "home_region",
    "port",
    "dst port",
    "status",
    "http_status",
    "status_code",
    "SEX",
]
KINDS += [
    "blood_type",
    "occupation code",
    "cluster",
    "marital_status",
    "country",
    "vehicle-type",
    "color",
    "code",
    "type",
]
AMOUNTS = ["age", "income", "race_time", "regional_sales", "ports_open", "performance_status", "health_status", "class"]
AMOUNTS += ["grade", "stage", "age_group", "typewriters", "traces", "transport", "report", "support", "visits", "month"]


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"age": rng.integers(18, 90, 200), "score": rng.normal(size=200), "race": rng.integers(1, 6, 200)}
    )


def rules_of(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gn.TablePreprocessor(**options).fit(X)


def test_numbers_of_categories_become_indicators_in_whatever_form_they_come(people):
    fitted = rules_of(people.astype({"race": "category"}))
    expected = np.asarray(people["race"])[:, None] == np.arange(1, 6)
    assert [*fitted.get_feature_names_out()[2:]] == [f"race = {i}" for i in range(1, 6)]
    for form in (int, float, str, "category"):
        np.testing.assert_array_equal(fitted.transform(people.astype({"race": form}))[:, 2:], expected)
    said = rules_of(people, ordered={"race": False})
    np.testing.assert_array_equal(said.transform(people), fitted.transform(people))
    written = rules_of(people.astype({"race": str}), ordered={"race": False})
    np.testing.assert_array_equal(written.transform(people.astype({"race": str})), fitted.transform(people))


def test_ordered_categories_of_numbers_become_ranks_and_truths_stay_truths(people):
    ranked = rules_of(people.assign(race=pd.Categorical(10 ** people["race"], ordered=True)))
    assert ranked.rules_[2].kind == "ordinal"
    np.testing.assert_array_equal(ranked.transform(people.assign(race=10 ** people["race"]))[:, 2], people["race"] - 1)
    truths = rules_of(people.assign(race=(people["race"] > 2)).astype({"race": "category"}))
    assert truths.rules_[2].kind == "boolean"


def test_numbers_in_columns_named_as_kinds_are_told_with_the_remedy(people):
    said = r"'race' \(1, 2, 3, 4, 5\)\. They are taken as amounts.* Pass ordered=\{'race': False\}"
    with pytest.warns(gn.exceptions.DataWarning, match=said):
        gn.TablePreprocessor().fit(people)
    for options in ({"features": ["age", "race"]}, {"ordered": {"race": False}}, {"drop": ["race"]}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gn.TablePreprocessor(**options).fit(people)


def test_names_tell_kinds_and_no_amounts():
    assert [name for name in KINDS if not named_as_kinds(name)] == []
    assert [name for name in AMOUNTS if named_as_kinds(name)] == []


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0] * 50, [1.5, 2.0, 3.0] * 40, np.arange(100.0), np.arange(31.0).repeat(5), [1.0, 2.0, 3.0, 1.0, 2.0]],
)
def test_two_numbers_fractions_and_many_numbers_are_no_codes(values):
    assert told_of_codes({"race": np.array(values)}) == ""
    assert told_of_codes({"race": np.array([1.0, 2.0, 3.0, np.nan] * 2), "other": np.array([1.0, 2.0, 3.0] * 5)})
    assert "'race' (0, 1, 2, 3, 4 and 25 more)." in told_of_codes({"race": np.arange(30.0).repeat(2)})
