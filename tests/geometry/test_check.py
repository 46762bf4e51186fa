"""A row that is not finite as a whole has no place in the map."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gnomon.geometry.check import check_places, has_place, row_mask


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_a_row_with_one_number_that_is_not_finite_has_no_place(n_components):
    Y = np.arange(4.0 * n_components).reshape(4, n_components)
    Y[1, -1], Y[3, 0] = np.inf, np.nan
    places = check_places(Y, 4)
    assert np.isnan(places[[1, 3]]).all()
    assert has_place(places).tolist() == [True, False, True, False]


def test_a_selection_is_a_mask_or_row_numbers():
    wanted = [False, True, True, False]
    for given in ([1, 2], wanted, np.array(wanted, dtype=object), pd.array(wanted, dtype="boolean"), pd.Series(wanted)):
        assert row_mask(given, 4, name="rows").tolist() == wanted
    assert row_mask([0, 1], 2, name="rows").all()
    with pytest.raises(ValueError, match=r"rows must be a mask .*4 times 0 or 1.*Pass rows\.astype\(bool\)"):
        row_mask(np.array(wanted, dtype=int), 4, name="rows")
    with pytest.raises(TypeError, match=r"rows of type object must be"):
        row_mask(pd.array([True, None, False, True], dtype="boolean"), 4, name="rows")
