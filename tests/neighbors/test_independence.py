"""Functions asked about a table in the order of a series say so, as the methods of a map do, and say it once."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon import evaluation

N = 300
TELLS = "Rows that follow each other in the table are more alike than rows further on"


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(N, 6)), axis=0)
    return X, np.repeat(["a", "b", "c"], N // 3)


def asked(question, X, labels):
    """Ask about a map of the first two columns."""
    Y = X[:, :2]
    a, b, c = (labels == one for one in "abc")
    ends = [Y[:60].mean(axis=0), Y[-60:].mean(axis=0)]
    asks = {
        "contrast": lambda: gn.contrast(X, a),
        "profiles": lambda: gn.cluster_profiles(X, labels),
        "captions": lambda: gn.cluster_captions(X, labels),
        "axis": lambda: gn.axis(gn.explain(X, Y), ends),
        "importance": lambda: gn.mean_importance(gn.explain(X, Y)),
        "importance by label": lambda: gn.importance_by_label(gn.explain(X, Y), labels),
        "denser": lambda: evaluation.is_denser(X, Y, a, b),
        "nearer": lambda: evaluation.is_nearer(X, Y, a, b, c),
        "illusions": lambda: evaluation.find_illusions(X, Y, labels),
        "null scores": lambda: evaluation.null_scores(X, Y, lambda table: table[:, :2], n_nulls=1),
    }
    return asks[question]()


QUESTIONS = [
    "contrast",
    "profiles",
    "captions",
    "axis",
    "importance",
    "importance by label",
    "denser",
    "nearer",
    "illusions",
    "null scores",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_function_says_what_the_order_of_the_rows_tells_against_it(series, question):
    X, labels = series
    found = asked(question, X, labels)
    assert found.caution.count(TELLS) == 1
    assert TELLS in str(found)
    shuffled = np.random.default_rng(1).permutation(N)
    assert TELLS not in asked(question, X[shuffled], labels[shuffled]).caution


def test_between_units_and_where_nothing_is_named_nothing_is_said(series):
    X, labels = series
    units = np.arange(N) // 10
    assert gn.contrast(X, labels == "a", units=units).caution == ""
    noise = np.random.default_rng(0).normal(size=(N, 1))
    lonely = gn.contrast(noise, labels == "a")
    assert (lonely.n_beyond_chance, lonely.caution) == (0, "")


def test_a_map_says_it_once(series):
    X, labels = series
    m = gn.map(X, method="pca", labels=labels)
    for found in (m.contrast(labels == "a"), m.profiles(), m.captions(), m.importance(), m.is_denser("a", "b")):
        assert found.caution.count(TELLS) == 1
