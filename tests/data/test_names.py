"""Names of features are unique and not empty, and say what a pixel or a column is."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.data.names import clean_names, column_text, default_names, names_of_coordinates, nearest_name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        ([("x", 1), ("x", 2)], ["x / 1", "x / 2"]),
        ([None, float("nan"), "", "  ", 3], ["column 0", "column 1", "column 2", "column 3", "3"]),
        (["a", "a", "a"], ["a", "a (2)", "a (3)"]),
        (["a", "a", "a (2)", "b", "b"], ["a", "a (3)", "a (2)", "b", "b (2)"]),
        (["a (2)", "a", "a (2)", "a"], ["a (2)", "a", "a (2) (2)", "a (3)"]),
        (np.array(["p", "q"]), ["p", "q"]),
    ],
)
def test_names_are_kept_and_told_apart(given, expected):
    assert clean_names(given) == expected


@pytest.mark.parametrize("text", ["ab", b"ab"])
def test_one_text_is_no_sequence_of_names(text):
    with pytest.raises(
        TypeError, match=r"^gnomon: feature_names=.*ab' must be a sequence of names \(found one string\)"
    ):
        clean_names(text)


def test_features_without_names_are_numbered_and_pixels_have_rows_columns_and_colours():
    assert default_names(2) == ["feature 0", "feature 1"]
    assert default_names(6, (2, 3)) == ["pixel 0,0", "pixel 0,1", "pixel 0,2", "pixel 1,0", "pixel 1,1", "pixel 1,2"]
    assert default_names(2, (2, 1, 1)) == ["pixel 0,0", "pixel 1,0"]
    assert default_names(3, (1, 1, 3)) == ["pixel 0,0 red", "pixel 0,0 green", "pixel 0,0 blue"]


def test_a_column_is_called_by_its_name_or_number():
    assert column_text(3, None) == "column 3"
    assert column_text(0, ["a"]) == "column 'a'"


class Labelled:
    """What an array of xarray shows."""

    def __init__(self, dims, coords):
        self.dims, self.coords = dims, coords


@pytest.mark.parametrize(
    ("X", "names"),
    [
        (Labelled(("row", "gene"), {"row": ["r", "s"], "gene": ["a", "a"]}), ["a", "a (2)"]),
        (Labelled(("row", "gene"), {"row": ["r", "s"]}), None),
        (Labelled(("row", "gene"), {"gene": [1, 2]}), None),
        (Labelled(("row", "gene"), {"gene": np.array(["a", 2], dtype=object)}), None),
        (Labelled(("row", "gene"), {"gene": [["a"], ["b"]]}), None),
        (Labelled(("row", "gene"), {"gene": "ab"}), None),
        (Labelled(("gene",), {"gene": ["a", "b"]}), None),
        (Labelled(["row", "gene"], {"gene": ["a", "b"]}), None),
        (Labelled(("row", "gene"), None), None),
        (np.zeros((2, 2)), None),
    ],
)
def test_texts_along_the_last_dimension_are_names(X, names):
    assert names_of_coordinates(X) == names


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        *(("alcohl", "alcohol"), ("ALCOHOL", "alcohol"), ("Total Phenols", "total_phenols"), ("eag", "age")),
        *(("malic", "malic_acid"), ("agr", "age"), ("retruns", "returns"), ("acid_malic", "malic_acid")),
    ],
)
def test_a_name_that_is_near_is_meant(given, meant):
    known = ["alcohol", "malic_acid", "total_phenols", "age", "returns", "mean radius", "mean area"]
    assert nearest_name(given, known) == meant
    assert nearest_name(given, []) == ""


@pytest.mark.parametrize("given", ["tenure", "price", "gender", "island", "batch", "mean", "ag", "", "\u00b0"])
def test_no_name_is_meant_where_none_is_near(given):
    known = ["returns", "proline", "n_genes", "plan", "parch", "mean radius", "mean area", "x"]
    assert nearest_name(given, known) == ""
