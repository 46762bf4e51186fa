"""Bounds that enclose a spectrum, from products alone."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.linalg import spectral_bounds


def symmetric(eigenvalues, seed=0):
    n = len(eigenvalues)
    vectors, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    return (vectors * np.asarray(eigenvalues)) @ vectors.T


@pytest.mark.parametrize(
    "eigenvalues",
    [
        [3.0, 2.0, 1.0],
        [-5.0, -1.0, 0.0, 2.0],
        [-3.0, -2.0],
        [7.0],
        [1.0] * 30,
        [0.0] * 4,
        np.linspace(0.0, 1.0, 400),
        1.0 / np.arange(1, 400),
        np.random.default_rng(0).normal(size=300),
    ],
    ids=["positive", "indefinite", "negative", "single", "identity", "zero", "uniform", "decaying", "normal"],
)
def test_bounds_enclose_the_spectrum_closely(eigenvalues):
    matrix = symmetric(eigenvalues)
    lowest, highest = spectral_bounds(lambda Y: matrix @ Y, len(eigenvalues))
    size = np.abs(eigenvalues).max()
    assert np.min(eigenvalues) - 0.1 * size <= lowest <= np.min(eigenvalues) + 1e-12
    assert np.max(eigenvalues) - 1e-12 <= highest <= np.max(eigenvalues) + 0.1 * size
