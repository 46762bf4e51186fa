"""Results are displayed in columns, and among other values in a few words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon._printed import Printed, ShortRepr, preformatted
from gnomon.extension.drift.result import Drift
from gnomon.neighbors import NeighborGraph


@dataclass(frozen=True)
class Some(ShortRepr):
    values: object
    hidden: int = field(default=1, repr=False)


def test_a_notebook_shows_answers_in_letters_of_one_width():
    assert preformatted("a  b\n<i>") == '<pre style="font-family:monospace;line-height:1.35">a  b\n&lt;i&gt;</pre>'


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.zeros((300, 2), np.float32), "<300 x 2 float32>"),
        (sp.csr_array((4, 3)), "<4 x 3 float64>"),
        (np.float64(0.123456789), "0.1235"),
        (7, "7"),
        ("euclidean", "'euclidean'"),
        ("x" * 80, "'" + "x" * 56 + "..."),
        ([np.zeros(3)] * 5, "<list of 5>"),
        ({"a": 1}, "<dict of 1>"),
        ({}, "{}"),
        (("a", 2), "('a', 2)"),
        (Some(1), "<Some>"),
        (None, "None"),
    ],
)
def test_a_result_says_of_what_is_long_only_how_much_there_is(value, told):
    assert repr(Some(value)) == f"Some(values={told})"


def test_a_class_keeps_the_words_of_its_own():
    @dataclass
    class Own(Printed):
        values: object

        def __repr__(self):
            return "Own()"

    @dataclass
    class Child(Own):
        more: object = None

    class Named(Printed, dict):
        pass

    assert repr(Own(np.zeros(3))) == repr(Child(np.zeros(3))) == "Own()"
    assert repr(Named(a=1)) == "{'a': 1}"


def test_results_of_maps_are_told_in_one_line():
    X = np.random.default_rng(0).normal(size=(60, 3))
    made = gn.Map(np.c_[X, 2 * X[:, 0]], X[:, :2])
    drift = Drift(9, 3, 9, np.zeros(3), 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 5, [(np.zeros(2), 1, 1)], {})
    results = [drift, made.why(0), made.contrast([1, 2]), made.explain().top_features(), made.feature_groups()]
    for one in [*results, NeighborGraph(np.zeros((2, 1), np.int32), np.zeros((2, 1), np.float32))]:
        assert "array" not in repr(one)
        assert "\n" not in repr(one)
    assert str(made.feature_groups()) == (
        "4 features, of which 2 are in 1 group\nfeature 0 + 1 alike: feature 0 50%, feature 3 50%"
    )
    assert "feature 0 + 1 alike" in made.feature_groups()._repr_html_()
    plain = gn.Map(X, X[:, :2]).feature_groups()
    assert str(plain) == "3 features, of which none are alike along the map"
