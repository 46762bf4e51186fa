"""Columns of numbers but for a word or two, such as "don't know", are numbers with missing values."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns.find import find_rules
from gnomon.data.columns.raw import raw_columns
from gnomon.data.written import words_beside_numbers


def rules_of(columns):
    return find_rules(raw_columns(pd.DataFrame(columns)), None, None, 30)


def items(shares, word="don't know", n=400):
    rng = np.random.default_rng(0)
    columns = {}
    for j, share in enumerate(shares):
        texts = rng.integers(1, 6, n).astype(str).astype(object)
        texts[rng.permutation(n)[: round(share * n)]] = word
        columns[f"item {j}"] = texts
    return columns


@pytest.mark.parametrize("word", ["don't know", "refused", "DK", "weiß nicht"])
def test_alike_items_are_numbers_however_many_did_not_know(word):
    rules = rules_of(items([0.03, 0.09, 0.11, 0.2, 0.45, 0.6], word))
    assert [rule.kind for rule in rules] == ["written"] * 6
    assert [rule.features for rule in rules] == [(f"item {j}",) for j in range(6)]


def test_most_answers_missing_are_taken_so_only_beside_items_that_are_alike():
    assert [rule.kind for rule in rules_of(items([0.6]))] == ["category"]
    assert [rule.kind for rule in rules_of(items([0.6, 0.04]))] == ["written"] * 2
    other = {"other": items([0.04], "refused")["item 0"]}
    assert [rule.kind for rule in rules_of({**items([0.6]), **other})] == ["category", "written"]


def test_a_map_warns_which_words_are_taken_as_missing():
    columns = {
        **items([0.2]),
        "age": np.where(np.arange(400) % 9 == 0, "refused", (18 + np.arange(400) % 61).astype(str)),
    }
    columns["measured"] = np.random.default_rng(1).normal(size=400)
    with pytest.warns(gn.exceptions.DataWarning) as told:
        made = gn.map(pd.DataFrame(columns), method="pca", random_state=0)
    assert made.feature_names == ["item 0", "age", "measured"]
    text = str(told[0].message)
    assert """'item 0' has "don't know" in 80 rows: no number, taken as missing""" in text
    assert "'age' has 'refused' in 45 rows: no number, taken as missing" in text
    assert (
        np.flatnonzero(made.completion.missing[:, 0]).tolist()
        == np.flatnonzero(columns["item 0"] == "don't know").tolist()
    )


@pytest.mark.parametrize(
    "texts",
    [
        [*map(str, range(1, 23)), "X", "Y"] * 3,  # chromosomes
        ["0", "1", "2", "3+"] * 10,
        ["18-24", "25-34", "35"] * 10,
        ["1", "2", "unsure"] * 10,  # two codes
        ["1", "2", "3", "often", "never", "always"] * 10,
        ["1", "2", "3", "none given"] * 3,  # nine numbers
        ["1", "2", "3"] * 10,
        ["maybe", "never"] * 10,
    ],
)
def test_other_texts_beside_numbers_are_no_missing_numbers(texts):
    assert words_beside_numbers(texts) == frozenset()


def test_words_are_those_that_are_no_numbers():
    assert words_beside_numbers(["1", "2", "3", "4"] * 5 + [" refused"] * 3 + ["DK"]) == {"refused", "DK"}
    few = ["1", "2", "3"] * 4 + ["refused"] * 40
    assert words_beside_numbers(few) == frozenset()
    assert words_beside_numbers(few, {"refused"}) == {"refused"}
