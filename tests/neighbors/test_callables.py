"""What a function gives that is no distance is refused with the rows, whoever measures; rounding is not."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.neighbors import RowSearch, compute_neighbors, cross_distances, pair_distances, query_neighbors
from gnomon.neighbors.distances import distance_matrix, row_distances

X = np.random.default_rng(0).normal(size=(40, 3)).round(3)
OTHERS = (np.arange(40)[:, None] + np.arange(1, 30)).astype(np.int32) % 40


def between(a, b):
    return float(np.abs(a - b).sum())


def with_bad(*pairs, value):
    """Return a metric that gives a value for some pairs of rows, in both directions."""
    bad = {frozenset((X[i].tobytes(), X[j].tobytes())) for i, j in pairs}
    return lambda a, b: value if frozenset((a.tobytes(), b.tobytes())) in bad else between(a, b)


ASKED = {
    "neighbors": lambda metric: compute_neighbors(X, 4, metric=metric),
    "matrix": lambda metric: distance_matrix(X, metric=metric),
    "cross": lambda metric: cross_distances(X, X, metric=metric),
    "rows": lambda metric: row_distances(X, metric=metric)(slice(0, 40)),
    "pairs": lambda metric: pair_distances(X, OTHERS, metric=metric),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("value", [np.nan, -0.5])
def test_the_first_two_rows_are_named(asked, value):
    text = rf"must be a number >= 0 for all rows \({value:g} between row 5 and row 18\)"
    with pytest.raises(ValueError, match=text):
        ASKED[asked](with_bad((20, 21), (5, 18), (6, 9), value=value))


def test_rows_have_the_numbers_of_the_table_where_some_are_asked_for():
    metric = with_bad((30, 18), value=np.nan)
    with pytest.raises(ValueError, match="nan between row 18 and row 30"):
        row_distances(X, metric=metric)(np.array([4, 30]))


def test_new_rows_are_told_from_those_of_the_table():
    metric = with_bad((3, 5), value=-1.0)
    for ask in (
        lambda: query_neighbors(X, X[2:10], 40, metric=metric),
        lambda: RowSearch.of(X, 40, metric=metric).find(X[2:10]),
    ):
        with pytest.raises(ValueError, match=r"\(-1 between row 1 of X_new and row 5 of X\)"):
            ask()
    with pytest.raises(ValueError, match=r"\(-1 between row 1 of A and row 0 of B\)"):
        cross_distances(X[2:4], X[5:], metric=metric)


def test_rows_on_which_it_is_tried_have_the_numbers_of_the_table():
    with pytest.raises(ValueError, match=r"\(-1 between row 7 and row 39\)"):
        compute_neighbors(X, 4, metric=with_bad((7, 39), (16, 24), value=-1.0))
    with pytest.raises(ValueError, match=r"must be 0 between a row and itself \(0\.1 between row 0 and row 0\)"):
        compute_neighbors(X, 4, metric=lambda a, b: between(a, b) + 0.1)
    with pytest.raises(ValueError, match=r"\(\S+ between row 0 and row 7, \S+ in the other direction\). Take the mean"):
        compute_neighbors(X, 4, metric=lambda a, b: between(a, b) * (1.1 if a[0] > b[0] else 1.0))


def test_sparse_rows_are_named_too():
    def metric(a, b):
        distance = abs(a - b).sum()
        return np.nan if {round(a.sum(), 6), round(b.sum(), 6)} == sums else distance

    sums = {round(X[j].sum(), 6) for j in (5, 18)}
    with pytest.raises(ValueError, match="nan between row 5 and row 18"):
        compute_neighbors(sp.csr_array(X), 39, metric=metric)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("asked", ASKED)
def test_numbers_below_zero_are_judged_by_the_distances(asked, unit):
    rounded = with_bad((2, 9), value=-1e-6)
    ASKED[asked](lambda a, b: unit * rounded(a, b))
    ASKED[asked](lambda a, b: unit * (between(a, b) if a.tobytes() != b.tobytes() else -1e-6))
    wrong = with_bad((2, 9), value=-1e-4)
    with pytest.raises(ValueError, match="between row 2 and row 9"):
        ASKED[asked](lambda a, b: unit * wrong(a, b))


def test_a_function_that_changes_its_mind_is_refused():
    calls = []

    def metric(a, b):
        calls.append(1)
        return np.nan if len(calls) == 200 else between(a, b)

    with pytest.raises(ValueError, match="must be a function of two rows"):
        compute_neighbors(X, 4, metric=metric)
