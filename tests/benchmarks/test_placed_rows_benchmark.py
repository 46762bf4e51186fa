"""The benchmark of placed rows: one way is exact, the other says what it missed."""

import pytest
from benchmarks.placed_rows import compare
from benchmarks.tables import load_table


@pytest.mark.slow
def test_both_ways_are_compared():
    X, y = load_table("digits", pca=8)
    exact, cells = compare(X, y, 1500, max_iter=2)
    assert [row["way"] for row in (exact, cells)] == ["compared with all (exact)", "through cells (cells)"]
    assert exact["recall"] == 1.0
    assert 0.99 < cells["recall"] <= 1.0
    assert cells["same"] > 0.9
    assert 0.0 < cells["trust"] <= 1.0
