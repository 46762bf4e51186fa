"""Weights of rows: what they may be, and what equal rows weigh together."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon._run import running
from gnomon.data import check_sample_weight
from gnomon.data.weights import relative_masses

X = np.zeros((3, 2))


@pytest.mark.parametrize(
    "given",
    [[1, 0, 2], np.array([1, 0, 2], dtype=np.uint8), np.array([1, 0, 2], dtype=object), (1.0, 0.0, 2.0)],
)
def test_weights_are_numbers_of_any_type(given):
    found = check_sample_weight(given, X)
    assert (found.dtype, found.tolist()) == (np.float64, [1.0, 0.0, 2.0])
    assert check_sample_weight(None, X) is None
    assert check_sample_weight([True, False, True], X).tolist() == [1.0, 0.0, 1.0]
    given = np.ones(3)
    assert not np.shares_memory(check_sample_weight(given, X), given)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (
            [1, -1, np.nan],
            ValueError,
            "sample_weight must be finite numbers >= 0 (2 are not; first: row 1 has -1). "
            "Weigh a row 0 to leave it out of the fit.",
        ),
        ([1, 1, np.inf], ValueError, "sample_weight must be finite numbers >= 0 (1 are not; first: row 2 has inf)."),
        ([0, 5, 0], ValueError, "sample_weight must be positive for at least 2 rows (1 of 3 weights are not zero)."),
        ([0, 0, 0], ValueError, "sample_weight must be positive for at least 2 rows (0 of 3 weights are not zero)."),
        (np.ones((3, 1)), ValueError, "sample_weight of shape (3, 1) must be of shape (n_samples,)."),
        (4.0, ValueError, "sample_weight of shape () must be of shape (n_samples,)."),
        ([1, 1], ValueError, "sample_weight must be as long as X (X has 3 rows, sample_weight has 2)."),
        (["a", "b", "c"], TypeError, "sample_weight must be a number for each row, or None (found list of <U1)."),
        (np.array(["a", 1, 1], dtype=object), TypeError, "sample_weight must be a number for each row, or None (found"),
        (
            np.array([1j, 1, 1]),
            TypeError,
            "sample_weight must be a number for each row, or None (found ndarray of comp",
        ),
    ],
)
def test_other_weights_are_refused(given, error, text):
    with running(name="UMAP"), pytest.raises(error) as caught:
        check_sample_weight(given, X)
    assert str(caught.value).startswith(f"UMAP: {text}")


@pytest.mark.parametrize(
    ("weights", "copies", "masses"),
    [
        (None, None, None),
        ([2.0, 2.0, 2.0], None, None),
        ([1.0, 2.0, 3.0], None, [0.5, 1.0, 1.5]),
        (None, [0, 0, 1], [4 / 3, 2 / 3]),
        (None, [0, 1, 2], None),
        ([1.0, 2.0, 3.0], [0, 0, 1], None),
        ([1.0, 2.0, 5.0], [1, 0, 1], [0.5, 1.5]),
        (None, [0, 0, 0], None),
        ([1e-300, 1.7e308, 1e-300], None, [0.0, 3.0, 0.0]),
    ],
)
def test_equal_rows_weigh_together_what_each_weighs(weights, copies, masses):
    given = None if weights is None else np.array(weights)
    which = None if copies is None else np.array(copies)
    found = relative_masses(given, which, 3 if copies is None else max(copies) + 1)
    if masses is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, masses, rtol=1e-14)
