"""New rows of zeros under a metric of directions: places come with a warning, and drift is that of the other rows."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.exceptions import DataWarning
from gnomon.extension import blank_rows, known_columns, measure_drift

N_WORDS = 12


def counts(n, seed=0):
    """Rows of counts; the last two columns are 0 in all."""
    X = np.random.default_rng(seed).poisson(1.0, (n, N_WORDS)).astype(np.float32)
    X[:, 0] += 1
    X[:, -2:] = 0
    return X


OLD = counts(150)
EMPTY = np.zeros((3, N_WORDS), np.float32)
STRANGE = np.eye(N_WORDS, dtype=np.float32)[-2:]
FORMS = [np.asarray, sp.csr_array]


@pytest.fixture(scope="module", params=[{}, {"n_pcs": 4}], ids=["features", "components"])
def made(request):
    return gn.map(sp.csr_array(OLD), metric="cosine", method="umap", random_state=0, max_iter=20, **request.param)


def heard(ask, *given):
    """Return an answer and the warnings with it as one text; some rows may also lie out of range."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        answer = ask(*given)
    assert all(issubclass(one.category, DataWarning) for one in found)
    return answer, " ".join(str(one.message) for one in found)


@pytest.mark.parametrize("form", FORMS)
def test_rows_without_any_known_word_are_blank(form):
    known = known_columns(form(OLD), "cosine")
    assert known.tolist() == [True] * 10 + [False] * 2
    rows = np.concatenate([EMPTY[:1], OLD[:2], STRANGE, OLD[:1]])
    assert blank_rows(form(rows), known).tolist() == [0, 3, 4]
    stored = sp.csr_array((np.zeros(1, np.float32), [0], [0, 1, 1]), shape=(2, N_WORDS))  # a zero that is stored
    assert blank_rows(stored, known).tolist() == [0, 1]
    assert known_columns(sp.csr_array((np.zeros(1), [0], [0, 1]), shape=(1, 3)), "cosine").tolist() == [False] * 3


@pytest.mark.parametrize(("metric", "told"), [("cosine", True), ("hellinger", True), ("euclidean", False)])
def test_rows_of_zeros_are_blank_under_metrics_of_directions(metric, told):
    assert (known_columns(OLD, metric) is not None) == told
    assert known_columns(OLD, "correlation") is None  # refuses such rows
    assert len(blank_rows(EMPTY, known_columns(OLD, metric))) == (3 if told else 0)


@pytest.mark.parametrize("rows", [EMPTY, STRANGE], ids=["empty", "unknown words"])
@pytest.mark.parametrize("ask", ["transform", "place"])
def test_places_of_blank_rows_come_with_a_warning(made, ask, rows):
    given = np.concatenate([OLD[:4], rows])
    found, told = heard(getattr(made, ask), given)
    assert f"{len(rows)} of {len(given)} new rows are all zeros in the columns where rows of the map are not" in told
    assert np.isfinite(found).all()  # as those of such rows of a map
    assert heard(made.transform, OLD[:4])[1] == ""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ask", ["transform", "place"])
def test_blank_rows_are_told_once(made, ask, form):
    given = form(np.concatenate([OLD[:4], EMPTY, STRANGE]))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        getattr(made, ask)(given)
    assert [str(one.message).partition(" new rows ")[0] for one in found] == ["Map: 5 of 9"]


@pytest.mark.parametrize("ask", ["transform", "place"])
def test_other_rows_out_of_range_are_told_beside_blank_ones(ask):
    X = np.c_[counts(150) + 5.0, np.ones(150)]
    far = np.eye(N_WORDS + 1)[-1:]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = gn.map(X, metric="cosine", method="umap", random_state=0, max_iter=20, scale=None)
        getattr(made, ask)(np.concatenate([X[:4], np.zeros((2, N_WORDS + 1)), far]))
        getattr(made, ask)(np.zeros((2, N_WORDS + 1)))
    told = [str(one.message).partition(": ")[2] for one in found]
    assert [text.partition(" rows ")[0] for text in told] == ["2 of 7 new", "1 of 7", "2 of 2 new"]


def test_drift_is_that_of_the_other_rows(made):
    like = counts(40, seed=1)
    mixed = np.concatenate([np.zeros((20, N_WORDS), np.float32), like[:25], STRANGE, like[25:]])
    (grown, drift), told = heard(made.extend, mixed)
    assert "22 of 62 new rows are all zeros" in told
    without = made.extend(like)[1]
    assert (drift.n_blank, drift.n_new, len(grown.embedding)) == (22, 40, 212)
    assert drift.blank.tolist() == [*range(20), 45, 46]
    assert len(drift.group) == 0
    first, *rest = str(drift).splitlines()
    assert first.startswith("22 of 62 new rows are all zeros in the columns where rows of the map are not")
    assert first.endswith("direction: they are left out of what follows")
    if made.representation is None:
        assert rest == str(without).splitlines()
        for name in ("novelty", "unusual", "shift", "preserved_new", "lost_by_chance", "n_compared"):
            np.testing.assert_array_equal(getattr(drift, name), getattr(without, name))
    else:
        np.testing.assert_array_equal(drift.novelty, without.novelty)


def test_nothing_is_said_of_blank_rows_alone(made):
    (grown, drift), told = heard(made.extend, EMPTY)
    assert "3 of 3 new rows" in told
    assert (drift.n_new, drift.n_blank, drift.refit, drift.differs) == (0, 3, False, False)
    assert str(drift).endswith("no direction: there is nothing to compare with the 150 rows of the map.")
    assert grown.notes[-1].endswith(str(drift))
    assert grown.n_samples == 153


def test_a_group_keeps_the_numbers_of_its_rows_and_words_of_added_rows_stay_unknown():
    rng, width = np.random.default_rng(3), np.repeat([1.0, 0.05], 4)
    X, like = (np.abs(rng.normal(size=(n, 8))) * width for n in (300, 150))
    new = np.concatenate([like, np.abs(rng.normal(size=(12, 8))) * width[::-1]])
    expected = measure_drift(X, X[:, :2], new, new[:, :2], metric="cosine").group
    assert len(expected) == 12
    padded = np.concatenate([np.zeros((7, 8)), new])
    drift = measure_drift(X, X[:, :2], padded, padded[:, :2], metric="cosine")
    assert drift.group.tolist() == (expected + 7).tolist()
    assert measure_drift(X, X[:, :2], padded, padded[:, :2]).n_blank == 0  # Euclidean distances are of zeros too
    made, _ = heard(lambda: gn.map(OLD, metric="cosine", method="umap", random_state=0, max_iter=20))
    grown = heard(made.extend, STRANGE)[0][0]
    assert "1 of 1 new rows is all zeros" in heard(grown.transform, STRANGE[:1])[1]


def test_missing_values_and_unlikeness_are_those_of_the_rows_that_are_compared():
    like = counts(40, seed=2)
    gaps = np.zeros((40, N_WORDS), bool)
    gaps[:20, 1] = True
    old_gaps = np.zeros(OLD.shape, bool)
    given = {"metric": "cosine"}
    expected = measure_drift(OLD, OLD[:, :2], like, like[:, :2], missing=(old_gaps, gaps), **given)
    rows = np.concatenate([EMPTY, like])
    padded = np.concatenate([np.ones((3, N_WORDS), bool), gaps])
    found = measure_drift(OLD, OLD[:, :2], rows, rows[:, :2], missing=(old_gaps, padded), **given)
    assert dataclasses.asdict(found.missing).keys() == dataclasses.asdict(expected.missing).keys()
    assert found.missing.of_new.tolist() == expected.missing.of_new.tolist() == [0.5]
