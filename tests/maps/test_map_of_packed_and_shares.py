"""A map says what preparation packed bits and shares of a whole need."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.exceptions import DataWarning

RNG = np.random.default_rng(0)
PACKED = np.packbits(RNG.random((60, 1024)) < 0.05, axis=1)
SHARES = RNG.dirichlet(np.ones(5), 60)


def notes_of(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return " ".join(gn.map(X, method="pca").notes)


def test_packed_bits_are_warned_of_with_what_unpacks_them():
    with pytest.warns(DataWarning, match=r"like 1,024 bits packed into 128 bytes.*np\.unpackbits\(X, axis=1\)"):
        gn.map(PACKED, method="pca")
    assert "packed" in notes_of(PACKED)
    assert "packed" not in notes_of(np.unpackbits(PACKED, axis=1))


def test_shares_are_noted_with_the_ratios_that_are_free_of_each_other():
    told = notes_of(100 * SHARES)
    assert "the rows sum to 100, as shares of a whole do" in told
    assert "np.log(X / X[:, [k]])" in told
    assert "zeros" not in told
    some = np.where(SHARES < 0.02, 0.0, SHARES)
    some /= some.sum(axis=1, keepdims=True)
    for form in (np.asarray, sp.csr_array):
        assert "once zeros are replaced by small amounts: np.log" in notes_of(form(some))
    assert "sum to" not in notes_of(np.log(SHARES))
