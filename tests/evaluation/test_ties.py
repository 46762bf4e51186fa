"""Where rows that differ share places, the order of the table decides who is nearer, and this is told."""

import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.exceptions import DataWarning

X = np.random.default_rng(0).normal(size=(100, 3))


@pytest.mark.parametrize("judge", [gn.evaluate, gn.evaluation.scorecard])
@pytest.mark.parametrize("Y", [np.round(X[:, :2]), np.zeros((100, 2))])
def test_ties_are_told(judge, Y):
    n_places = len(np.unique(Y, axis=0))
    where = "one place" if n_places == 1 else f"{n_places} places"
    with pytest.warns(DataWarning, match=rf"all 100 rows lie at {where} of the map: of rows"):
        judge(X, Y)


def test_equal_rows_at_one_place_are_no_ties():
    both = np.concatenate([X, X])
    few = np.where(np.arange(100)[:, None] < 3, 0.0, X[:, :2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        gn.evaluate(both, both[:, :2])
        gn.evaluate(X, few)  # a few are not worth telling
