"""Answers that differ only in case or blanks are told, and never merged."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns.variants import told_of_variants, variants_of
from gnomon.exceptions import DataWarning


def table(**columns):
    return pd.DataFrame({"age": np.random.default_rng(0).normal(size=60), **columns})


def test_writings_of_one_word_are_told_with_their_counts_and_stay_apart():
    way = ["Email"] * 30 + ["email"] * 9 + ["phone"] * 16 + ["Phone "] * 5
    with pytest.warns(DataWarning) as told:
        made = gn.map(table(way=way), method="pca")
    (text,) = [str(one.message) for one in told if "differ only" in str(one.message)]
    assert "'way' 'Email' (30), 'email' (9); 'phone' (16), 'Phone ' (5). Write them alike if they are one" in text
    assert len([name for name in made.feature_names if name.startswith("way = ")]) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gn.map(table(way=[one.strip().lower() for one in way]), method="pca")


def test_many_words_and_columns_are_counted():
    words = variants_of([form for word in ("ab", "cd", "ef") for form in (word, word.upper())])
    told = told_of_variants({"p": words, "q": words, "r": words})
    assert "'p' 'AB' (1), 'ab' (1); 'CD' (1), 'cd' (1) and 1 more word; 'q'" in told
    assert "and 1 more column." in told


@pytest.mark.parametrize(
    ("texts", "writings"),
    [
        ("No|no|NO", 3),
        ("New York|new york|NEW YORK|New york", 4),
        (" a|a", 2),
        ("New  York|New York", 2),
        ("Zürich|ZÜRICH", 2),
        ("AA|Aa|aa", 0),
        ("M|m", 0),
        ("iPhone|Iphone", 0),
        ("xY1|Xy1", 0),
        ("3+|3-", 0),
        ("ab|abc", 0),
    ],
)
def test_only_usual_writings_of_one_word_are_alike(texts, writings):
    found = variants_of(texts.split("|"))
    assert sum(map(len, found)) == writings
    assert len(found) == (writings > 0)
