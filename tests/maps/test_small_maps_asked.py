"""Maps of few rows, or of few that differ: defaults suit them, and errors name what the user can change."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn


@pytest.mark.parametrize(("n", "expected"), [(4, 1), (8, 3), (16, 7), (17, 15)])
def test_a_small_map_is_made_again_with_as_many_neighbors_as_it_can_lose(n, expected):
    made = gn.map(np.random.default_rng(0).normal(size=(n, 3)), method="pca", random_state=0)
    found = made.stability(2, vary="bootstrap")
    assert found.n_neighbors == expected
    if n == 8:
        assert made.stability(2, vary="bootstrap", n_neighbors=5).n_neighbors == 5
        with pytest.raises(ValueError, match="n_neighbors=15 must be below 7"):
            made.stability(2, vary="bootstrap", n_neighbors=15)


def test_importance_where_no_point_is_explained_says_so_of_what_was_given():
    X = np.random.default_rng(0).integers(0, 2, (100, 2)).astype(float)
    made = gn.map(X, method="pca", random_state=0)
    with pytest.raises(ValueError, match=r"explanation must be .*none of its 100 points has\). Points"):
        made.importance()
    with pytest.raises(ValueError, match=r"rows must be points of which one .*none of 3 points has"):
        made.importance(rows=[0, 1, 2])
