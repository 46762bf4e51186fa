"""Moments of columns by blocks: those of NumPy, whoever works."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.stored import ArrayTable, Backwards, SmallBlocks

import gnomon
from gnomon.scale import column_moments


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 64, 1000])
def test_they_are_those_of_all_rows_in_float64(dtype, step):
    X = (np.random.default_rng(0).normal(size=(257, 3)) * [1, 1e-3, 1e4] + [0, 5, -1e5]).astype(dtype)
    found = column_moments(SmallBlocks(X, step))
    wide = X.astype(np.float64)
    assert found.count == 257
    np.testing.assert_allclose(found.mean, wide.mean(axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found.scales.deviation, wide.std(axis=0), rtol=1e-12)
    assert np.array_equal(found.low, wide.min(axis=0))
    assert np.array_equal(found.high, wide.max(axis=0))


def test_columns_far_from_zero_lose_no_digits():
    shape = np.random.default_rng(1).normal(size=(5000, 2))
    found = column_moments(SmallBlocks(shape + 1e8, 300))
    np.testing.assert_allclose(found.scales.deviation, (shape + 1e8 - 1e8).std(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.mean - 1e8, shape.mean(axis=0), atol=1e-7)


def test_constant_columns_have_exactly_their_value_and_no_deviation():
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0), np.full(1000, -1e30)])
    found = column_moments(SmallBlocks(X, 7))
    assert found.constant.tolist() == [True, False, True]
    assert found.mean[[0, 2]].tolist() == [0.1, -1e30]
    assert found.scales.deviation[[0, 2]].tolist() == [0.0, 0.0]


def test_constant_sparse_columns_have_no_deviation():
    X = sp.csr_array(np.column_stack([np.full(1000, 0.1), np.arange(1000.0)]))
    found = column_moments(SmallBlocks(X, 7))
    assert found.scales.deviation[0] == 0.0


def test_sparse_blocks_are_not_densified(monkeypatch):
    X = sp.random_array((900, 40), density=0.1, rng=np.random.default_rng(2), format="csr")
    dense = column_moments(SmallBlocks(X.toarray(), 128))
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    found = column_moments(SmallBlocks(X, 128))
    np.testing.assert_allclose(found.mean, dense.mean, rtol=1e-13)
    np.testing.assert_allclose(found.squares, dense.squares, rtol=1e-12)
    assert np.array_equal(found.low, dense.low)
    assert np.array_equal(found.high, dense.high)


def test_no_bit_depends_on_who_works():
    X = np.random.default_rng(3).normal(size=(1000, 5)).astype(np.float32)
    table = SmallBlocks(X, 90)
    one = column_moments(table)
    with gnomon.running(executor=Backwards()):
        other = column_moments(table)
    for name in ("mean", "squares", "low", "high"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_what_is_missing_is_named_by_its_row():
    X = np.zeros((500, 2), dtype=np.float32)
    X[321, 1] = np.nan
    with pytest.raises(ValueError, match="row 321 of X must be finite"):
        column_moments(SmallBlocks(X, 100))


def test_one_block_and_one_row():
    assert column_moments(ArrayTable(np.array([[2.0, 3.0]]))).scales.deviation.tolist() == [0.0, 0.0]
