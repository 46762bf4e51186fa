"""A row that is not finite as a whole has no place in the map."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.geometry.check import check_places, has_place


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_a_row_with_one_number_that_is_not_finite_has_no_place(n_components):
    Y = np.arange(4.0 * n_components).reshape(4, n_components)
    Y[1, -1], Y[3, 0] = np.inf, np.nan
    places = check_places(Y, 4)
    assert np.isnan(places[[1, 3]]).all()
    assert has_place(places).tolist() == [True, False, True, False]
