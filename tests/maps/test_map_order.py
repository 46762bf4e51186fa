"""Answers of a map of a time series say that its rows are not independent, and which units are."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.maps.order import order_of_rows
from gnomon.neighbors import Succession, succession_of_rows

_BY_LABEL = ("captions", "profiles", "importance_by_label")


@pytest.fixture(scope="module")
def frames():
    """A map of one process in one well, whose labels are its first and its second half; and one of the same rows."""
    rng, kept = np.random.default_rng(0), np.exp(-1 / 8.0)
    X = rng.normal(size=(900, 6))
    for i in range(1, 900):
        X[i] = kept * X[i - 1] + np.sqrt(1 - kept**2) * X[i]
    half = np.where(np.arange(900) < 450, "first", "second")
    orders = np.arange(900), rng.permutation(900)
    return [gn.map(X[rows], method="pca", labels=half[rows]) for rows in orders]


def _answers(m):
    first = m.labels == "first"
    across = [m.embedding[first].mean(axis=0) * 2, m.embedding[~first].mean(axis=0) * 2]
    return {
        "contrast": m.contrast(first),
        "captions": m.captions(),
        "profiles": m.profiles(),
        "axis": m.axis(across),
        "suspects": m.suspects(),
        "null_scores": m.null_scores(n_nulls=2),
        "importance": m.importance(),
        "importance_by_label": m.importance_by_label(),
        "stability": m.stability(2, vary="bootstrap"),
        "evaluate": m.evaluate(),
        "evaluate without a map": gn.evaluate(m.X, m.embedding, labels=m.labels),
        "is_denser": m.is_denser("first", "second"),
        "is_nearer": m.is_nearer(np.arange(300), np.arange(300, 600), np.arange(600, 900)),
    }


def test_answers_that_take_rows_as_independent_say_that_frames_are_not(frames):
    for name, answer in _answers(frames[0]).items():
        assert answer.caution.count("Rows that follow each other in the table are more alike") == 1, name
        assert answer.caution in str(answer), name
        assert name in _BY_LABEL or answer.to_dict()["caution"] == answer.caution, name


def test_answers_of_rows_in_random_order_have_no_caution(frames):
    for name, answer in _answers(frames[1]).items():
        assert answer.caution == "", name
        assert name in _BY_LABEL or "caution" not in answer.to_dict() or not answer.to_dict()["caution"]


def test_the_units_of_a_caution_are_those_to_pass(frames):
    m = frames[0]
    units = order_of_rows(m).units
    for answer in (m.contrast(m.labels == "first"), m.captions(), m.profiles()):
        told = answer.caution.partition("pass units=")[2].partition(", to judge")[0]
        np.testing.assert_array_equal(eval(told, {"numpy": np}), units)
    assert m.contrast(m.labels == "first", units=units).caution == ""
    assert m.profiles(units=units).caution == ""


def test_the_order_is_looked_for_once(frames, monkeypatch):
    m = frames[0]
    known = order_of_rows(m)
    assert known == succession_of_rows(m._mapped().values)
    monkeypatch.setattr("gnomon.neighbors.succession.succession_of_rows", None)
    assert order_of_rows(m) is known


def test_an_evaluation_looks_at_the_order_once(frames, monkeypatch):
    looked = []
    monkeypatch.setattr("gnomon.neighbors.succession._look", lambda *asked: looked.append(asked))
    X = frames[0].X
    for table in (X, sp.csr_array(X)):
        gn.map(table, "pca", labels=np.arange(len(X)) % 2).evaluate()
    assert len(looked) == 2


def test_nothing_is_said_where_no_feature_sets_apart(frames):
    m = frames[0]
    found = m.contrast(np.arange(900) % 2 == 0)
    assert not found.sets_apart.any()
    assert found.caution == ""


def test_units_are_blocks_of_twice_the_step_of_each_series():
    one = Succession(0.0, 10, 200)
    np.testing.assert_array_equal(one.units, np.arange(200) // 20)
    turns = Succession(0.0, 12, 240, 4)
    assert len(np.unique(turns.units)) == 40
    for unit in range(40):
        rows = np.flatnonzero(turns.units == unit)
        assert len(np.unique(rows % 4)) == 1
        assert np.ptp(rows) < 24
    told = turns.told("x", by_units=True)
    assert told.endswith("to judge between blocks of 6 rows of each series.")
    code = told.partition("pass units=")[2].partition(", to judge")[0]
    np.testing.assert_array_equal(eval(code, {"numpy": np}), turns.units)
    few = Succession(0.0, 50, 499)
    assert "blocks of 100 rows would be independent, too few to judge between" in few.told("x", by_units=True)


def test_answers_that_need_no_independent_rows_say_nothing_of_their_order(frames):
    m = frames[0]
    assert gn.evaluate(m.X, m.embedding).caution == ""  # no labels
    assert m.stability(2, vary="parameters", grid={"whiten": [False, True]}).caution == ""
