"""Rows of a table that repeat each other are listed, however few, and no others."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.explanations import Repeats

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 6))


def repeats_of(X, **given):
    return gnomon.map(X, method="pca", random_state=0, **given).repeats()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_sets_of_equal_and_nearly_equal_rows_are_listed_and_no_others(form):
    X = np.concatenate([ROWS, ROWS[[3, 3, 8]], ROWS[[5]] + 1e-5, np.repeat(ROWS[[40]], 20, axis=0)])
    found = repeats_of(form(X))
    assert isinstance(found, Repeats)
    assert [rows.tolist() for rows in found.sets] == [[40, *range(304, 324)], [3, 300, 301], [5, 303], [8, 302]]
    assert found.n_distinct.tolist() == [1, 1, 2, 1]
    assert (len(found), found.n_repeats, found.n_equal, found.by_chance) == (4, 24, 23, False)
    text = str(found).splitlines()
    assert text[0] == "24 of 324 rows repeat others (23 equal in every value), in 4 sets"
    assert text[1] == "  rows 40, 304, 305, 306, 307, 308 and 15 more: equal"
    assert text[3] == "  rows 5, 303: 2 different, nearly equal"
    record = found.to_dict()
    assert record["sets"][2] == {"rows": [5, 303], "n_distinct": 2}
    assert (record["n_samples"], record["n_repeats"], record["n_equal"]) == (324, 24, 23)


def test_independent_rows_have_none():
    assert str(repeats_of(ROWS)) == "none of 300 rows repeats another: none is equal, and no two to ten nearly are"
    kinds = ROWS + 20.0 * np.eye(6)[RNG.integers(0, 6, 300)]
    assert len(repeats_of(kinds)) == 0


def test_equal_answers_are_listed_as_to_be_expected():
    answers = RNG.integers(0, 3, size=(300, 4)).astype(float)
    found = repeats_of(answers)
    assert found.n_equal == 300 - len(np.unique(answers, axis=0))
    assert found.by_chance
    assert "; as many equal rows are to be expected, since the columns have few values" in str(found)


def test_names_of_points_are_told():
    names = np.array([f"cell {i}" for i in range(301)])
    found = repeats_of(np.concatenate([ROWS, ROWS[[7]]]), point_names=names)
    assert "rows cell 7, cell 300: equal" in str(found)
    assert found.to_dict()["sets"][0]["names"] == ["cell 7", "cell 300"]


def test_few_rows_are_asked_as_many_neighbours_as_there_are():
    found = gnomon.map(ROWS[[0, 1, 2, 3, 1]], method="pca", random_state=0).repeats()
    assert [rows.tolist() for rows in found.sets] == [[1, 4]]


def test_rows_that_lie_far_out_in_no_column_are_not_equal_for_that():
    """Giant values in a few columns make the distances of tables with heavy tails."""
    for seed in (0, 1, 2, 3):
        rng = np.random.default_rng([seed, 200])
        X = rng.standard_cauchy((600, 200))
        made = gnomon.map(X[:300], method="pca", random_state=0)
        assert len(made.repeats()) == 0
        assert len(made.extend(X[300:])[1].copies) == 0
