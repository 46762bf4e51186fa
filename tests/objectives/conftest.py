"""Affinities, embeddings and float64 oracles for the objectives."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Affinities


@pytest.fixture(scope="session")
def reference():
    """Independent float64 results on eight points."""
    return json.loads((Path(__file__).parent / "reference.json").read_text())


@pytest.fixture(scope="session")
def random_affinities():
    """Return a function that makes symmetric random affinities of n points, about `degree` in a row.

    Who asks for the same ones shares them and leaves them as they are.
    """

    @functools.cache
    def make(n, degree=12, *, seed=0, normalization="total"):
        rng = np.random.default_rng(seed)
        rows = np.repeat(np.arange(n), degree // 2)
        columns = (rows + rng.integers(1, n, len(rows))) % n
        half = sp.coo_array((rng.uniform(0.05, 0.5, len(rows)), (rows, columns)), shape=(n, n)).tocsr()
        matrix = sp.csr_array(half + half.T)
        matrix.sort_indices()
        matrix.data /= matrix.data.sum() if normalization == "total" else matrix.data.max()
        return Affinities(sp.csr_array(matrix.astype(np.float32)), normalization)

    return make


@pytest.fixture(scope="session")
def random_embedding():
    """Return a function that makes a clustered embedding."""

    def make(n, n_components=2, *, scale=1.0, seed=1):
        rng = np.random.default_rng(seed)
        centres = rng.normal(size=(6, n_components)) * 3
        points = centres[rng.integers(0, 6, n)] + rng.normal(size=(n, n_components))
        return (scale * points).astype(np.float32)

    return make


class Oracle:
    """Losses and gradients over all pairs, written down in float64."""

    def __init__(self, affinities, kernel, Y):
        self.P = affinities.matrix.toarray().astype(np.float64)
        self.kernel = kernel
        self.Y = np.asarray(Y, dtype=np.float64)
        self.away = self.Y[:, None] - self.Y[None]
        self.s = np.square(self.away).sum(-1)
        self.off = ~np.eye(len(self.Y), dtype=bool)
        self.k = np.where(self.off, kernel.value(self.s), 0.0)
        self.slope = np.where(self.off, -kernel.derivative(np.where(self.off, self.s, 1.0)), 0.0)

    def force(self, coefficients):
        return np.einsum("ij,ijc->ic", coefficients, self.away)

    def divergence(self):
        edges = self.P > 0
        return np.sum(self.P[edges] * np.log(self.P[edges] * self.k.sum() / self.k[edges]))

    def divergence_gradient(self):
        pull = np.divide(self.slope, self.k, out=np.zeros_like(self.k), where=self.off)
        return 4 * self.force(self.P * pull - self.slope / self.k.sum())

    def pair_weights(self, repulsion):
        d = self.P.sum(1)
        return repulsion * (d[:, None] + d) / (4 * len(d))

    def repulsive_energy_and_push(self):
        """-log(1 - k) and -k' / (1 - k); below s = 0.001 the energy goes on as a straight line."""
        held = np.maximum(self.s, 1e-3)
        push = -self.kernel.derivative(held) / (1 - self.kernel.value(held))
        return -np.log1p(-self.kernel.value(held)) + push * (held - self.s), push

    def cross_entropy(self, repulsion):
        k = np.where(self.off, self.k, 1.0)
        energy = self.pair_weights(repulsion) * self.repulsive_energy_and_push()[0]
        return np.sum(np.where(self.off, energy - self.P * np.log(k), 0.0))

    def cross_entropy_gradient(self, repulsion):
        k = np.where(self.off, self.k, 1.0)
        push = np.where(self.off, self.repulsive_energy_and_push()[1], 0.0)
        return 4 * self.force(self.P * self.slope / k - self.pair_weights(repulsion) * push)


@pytest.fixture(scope="session")
def oracle():
    """Return the class of float64 oracles."""
    return Oracle


def relative(found, expected):
    return np.linalg.norm(np.asarray(found, np.float64) - expected) / np.linalg.norm(expected)


@pytest.fixture(scope="session")
def relative_error():
    """Return a function: norm of the difference over the norm of what is expected."""
    return relative
