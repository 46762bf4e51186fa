"""Packed bits and shares of a whole are known by their numbers, and ordinary tables are not taken for them."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.data.form import seem_packed, total_of_shares

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet(np.ones(6), 300)
COUNTS = RNG.poisson(RNG.gamma(0.5, 40.0, (300, 40)))


@pytest.mark.parametrize("density", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("dtype", [np.uint8, float])
def test_packed_bits_are_known(density, dtype):
    bits = RNG.random((400, 512)) < density
    assert seem_packed(np.packbits(bits, axis=1).astype(dtype))
    assert not seem_packed(bits.astype(dtype))


@pytest.mark.parametrize(
    "table",
    [
        COUNTS.clip(0, 255),
        RNG.integers(0, 256, (400, 64)),
        16 * RNG.integers(0, 16, (400, 64)),
        2 ** RNG.integers(3, 8, (400, 20)),
        np.packbits(RNG.random((400, 64)) < 0.05, axis=1),  # of eight columns: too few to say
        np.packbits(RNG.random((400, 512)) < 0.05, axis=1) + 0.5,
        sp.csr_array(COUNTS),
    ],
    ids=["counts", "bytes", "sixteenths", "powers", "few", "halves", "sparse"],
)
def test_other_numbers_are_no_packed_bits(table):
    assert not seem_packed(table)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_shares_are_known_by_what_they_sum_to(form):
    for total in (1.0, 100.0, 1e6):
        assert total_of_shares(form(total * SHARES)) == pytest.approx(total)
    assert total_of_shares(form(np.round(100 * SHARES, 1))) == pytest.approx(100.0, abs=0.1)
    assert total_of_shares(form(COUNTS / COUNTS.sum(axis=1, keepdims=True))) == pytest.approx(1.0)
    assert total_of_shares(form(SHARES * RNG.uniform(0.9, 1.1, (300, 1)))) is None


@pytest.mark.parametrize(
    "table",
    [
        COUNTS,
        SHARES - 0.01,
        SHARES[:, :2] / SHARES[:, :2].sum(axis=1, keepdims=True),
        np.eye(5)[RNG.integers(0, 5, 300)],
        np.argsort(RNG.random((300, 6)), axis=1),
        np.tile([1.0, 2.0, 3.0], (300, 1)),
        RNG.normal(300.0, 0.3, (300, 3)),
        np.zeros((300, 4)),
    ],
    ids=["counts", "negative", "two", "categories", "ranks", "constant", "temperatures", "nothing"],
)
def test_other_rows_of_even_sums_are_no_shares(table):
    assert total_of_shares(table) is None
