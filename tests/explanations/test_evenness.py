"""Features that act to both sides alike are told where fits of features by place miss them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.explanations import explain, mean_importance
from gnomon.explanations.evenness import acts_evenly


def driven(seed, n=500):
    """Feature 0 drives the map by its square, 1 by itself, 2 by its sine; 4 and 5 have few values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    X[:, 4] = X[:, 4] > 0
    X[:, 5] = np.maximum(X[:, 5] - 1, 0)
    return X, np.column_stack([X[:, 0] ** 2 / 2 + X[:, 1], np.sin(1.5 * X[:, 2]) + X[:, 1] / 2])


@pytest.mark.parametrize("seed", range(5))
def test_a_square_is_told_and_nothing_else(seed):
    X, Y = driven(seed)
    rows = np.arange(len(X))
    assert acts_evenly(X, Y, rows).tolist() == [0]
    assert acts_evenly(sp.csr_array(X), Y, rows).tolist() == [0]
    assert acts_evenly(np.exp(X / 3), Y, rows).tolist() == [0]  # the ranks are the same
    assert acts_evenly(X[:, 1:], Y, rows).tolist() == []
    assert acts_evenly(X, Y, rows[:199]).tolist() == []


def test_the_share_is_that_of_the_mean_over_the_other_rows():
    """Pairs of rows at one place: the nearest of all others is the mate, and a row is none of its own neighbours."""
    value = np.repeat(np.arange(1.0, 151.0), 2) * np.tile([1, -1], 150)
    place = np.column_stack([np.abs(value), np.zeros(300)])
    assert acts_evenly(value[:, None], place, np.arange(300)).tolist() == [0]
    assert acts_evenly(value[:, None], np.column_stack([value, np.zeros(300)]), np.arange(300)).tolist() == []
    scattered = np.random.default_rng(0).permutation(place)
    assert acts_evenly(value[:, None], scattered, np.arange(300)).tolist() == []


def test_the_answer_names_it_where_features_were_fitted_by_place():
    X, Y = driven(0, 300)
    names = list("abcdefgh")
    found = mean_importance(explain(X, Y, fit="inverse", feature_names=names))
    assert found.evenly == ["a"]
    assert "may act evenly: 'a' (high and low values lie in the same places, so that features" in str(found)
    assert found.to_dict()["evenly"] == ["a"]
    forward = mean_importance(explain(X, Y, fit="forward", feature_names=names))
    assert forward.evenly == []
    assert "evenly" not in forward.to_dict()
    assert "evenly" not in str(forward)
