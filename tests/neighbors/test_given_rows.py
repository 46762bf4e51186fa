"""What a user gives the searches by themselves is checked as a table of a fit is; what parts pass on is not again."""

import numpy as np
import pandas as pd
import pytest

from gnomon.neighbors import compute_neighbors, cross_distances, distance_matrix, pair_distances, query_neighbors

X = np.random.default_rng(0).normal(size=(30, 3))
OTHERS = np.array([[1, 2]] * 30, dtype=np.int32)
CALLS = {
    "compute_neighbors": lambda rows: compute_neighbors(rows, 4).distances,
    "query_neighbors": lambda rows: query_neighbors(rows, rows, 4)[1],
    "cross_distances": lambda rows: cross_distances(rows, rows, metric="manhattan"),
    "distance_matrix": lambda rows: distance_matrix(rows)[0],
    "pair_distances": lambda rows: pair_distances(rows, OTHERS),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("form", [pd.DataFrame, np.ndarray.tolist, lambda rows: rows.astype(object)])
def test_frames_and_lists_are_read(call, form):
    np.testing.assert_array_equal(CALLS[call](form(X)), CALLS[call](X))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("value", "told"), [(np.nan, "missing|NaN"), (np.inf, "infinity"), (1j, "complex")])
def test_what_is_no_table_of_finite_numbers_is_refused(call, value, told):
    wrong = X.astype(type(value))
    wrong[3, 1] = value
    with pytest.raises((TypeError, ValueError), match=f"^{call}: (X|A).*({told})"):
        CALLS[call](wrong)


def test_the_second_table_is_named():
    wrong = X.copy()
    wrong[2, 0] = np.nan
    with pytest.raises(ValueError, match=r"^query_neighbors: X_new"):
        query_neighbors(X, wrong, 4)
    with pytest.raises(ValueError, match=r"^cross_distances: B"):
        cross_distances(X, wrong)


@pytest.mark.parametrize("wrong", [np.nan, -1.0])
def test_a_function_that_gives_no_distance_for_some_pairs_is_refused(wrong):
    def metric(a, b):
        distance = float(np.abs(a - b).sum())
        return wrong if a[0] > 1.0 and b[0] > 1.0 and distance > 0.0 else distance

    for ask in (lambda: compute_neighbors(X, 4, metric=metric), lambda: query_neighbors(X, X + 0.01, 4, metric=metric)):
        with pytest.raises(
            ValueError, match=rf"metric='metric' must be a number >= 0 for all rows \({wrong:g} between row"
        ):
            ask()
    rounded = compute_neighbors(X, 4, metric=lambda a, b: float(np.abs(a - b).sum()) - 1e-9 * (a != b).all())
    assert (rounded.distances >= 0.0).all()
