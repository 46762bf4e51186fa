"""A small problem with structure: points in clusters and the affinities of their neighbours."""

import signal

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Affinities


@pytest.fixture(scope="session")
def clusters():
    """Return affinities of 300 points in 5 clusters in 10 dimensions, the labels, and a small start."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 60)
    X = 6 * rng.normal(size=(5, 10))[labels] + rng.normal(size=(300, 10))
    squared = np.square(X[:, None] - X[None]).sum(-1)
    np.fill_diagonal(squared, np.inf)
    neighbors = np.argsort(squared, 1)[:, :10]
    matrix = sp.lil_array((300, 300))
    for i, row in enumerate(neighbors):
        matrix[i, row] = np.linspace(1.0, 0.3, 10)
    union = sp.csr_array(matrix.tocsr().maximum(matrix.tocsr().T).astype(np.float32))
    union.sort_indices()
    total = sp.csr_array(union / union.sum())
    start = (1e-4 * X[:, :2] / X[:, 0].std()).astype(np.float32)
    return {
        "membership": Affinities(union, "membership"),
        "total": Affinities(sp.csr_array(total.astype(np.float32)), "total"),
        "labels": labels,
        "start": start,
    }


@pytest.fixture(scope="session")
def separation():
    """Return a function: share of points whose nearest point in the embedding has their label."""

    def measure(Y, labels):
        squared = np.square(Y[:, None] - Y[None]).sum(-1)
        np.fill_diagonal(squared, np.inf)
        return np.mean(labels[squared.argmin(1)] == labels)

    return measure


class Quadratic:
    """f(Y) = sum over rows and columns of scale_j (y_ij - centre_ij)^2 / 2, whose minimum is 0 at the centre."""

    evaluation = "exact"

    def __init__(self, centre, scale, dtype=np.float64):
        self.centre, self.scale, self.dtype = np.asarray(centre, dtype), np.asarray(scale, dtype), dtype
        self.n_samples = len(self.centre)

    def loss(self, Y):
        assert Y.dtype == self.dtype
        with np.errstate(over="ignore"):
            return float((self.scale * np.square(Y - self.centre)).sum(dtype=np.float64) / 2)

    def gradient(self, Y):
        assert Y.dtype == self.dtype
        return self.scale * (Y - self.centre)


class Valley:
    """Rosenbrock's function of each row: a bent valley with its minimum 0 at (1, 1)."""

    evaluation = "exact"
    dtype = np.float64

    def __init__(self, n_samples):
        self.n_samples = n_samples

    def loss(self, Y):
        x, y = Y.T
        with np.errstate(all="ignore"):
            return float(np.sum((1 - x) ** 2 + 100 * (y - x**2) ** 2))

    def gradient(self, Y):
        x, y = Y.T
        with np.errstate(all="ignore"):
            return np.column_stack((-2 * (1 - x) - 400 * x * (y - x**2), 200 * (y - x**2)))


class Strain:
    """f(Y) = |H (K - YY') H|_F^2 for K of Gram form: the loss whose minimum is principal components."""

    evaluation = "exact"

    def __init__(self, X, dtype=np.float64):
        centred = X - X.mean(0)
        self.target, self.dtype, self.n_samples = (centred @ centred.T).astype(dtype), dtype, len(X)

    def _difference(self, Y):
        assert Y.dtype == self.dtype
        centred = Y - Y.mean(0)
        return self.target - centred @ centred.T, centred

    def loss(self, Y):
        return float(np.square(self._difference(Y)[0], dtype=np.float64).sum())

    def gradient(self, Y):
        difference, centred = self._difference(Y)
        return -4 * difference @ centred

    def safe_step(self, Y0):
        start = np.linalg.norm(Y0 - Y0.mean(0), 2) ** 2
        return 1 / (12 * max(np.linalg.eigvalsh(self.target)[-1], start))


class Phased:
    """A quadratic whose centre jumps to the right halfway; remembers what `at` was called with."""

    evaluation = "exact"

    def __init__(self):
        self.n_samples, self.centre, self.calls = 4, 0.0, []

    def at(self, iteration, max_iter):
        self.calls.append((iteration, max_iter))
        self.centre = 0.0 if 2 * iteration < max_iter else 5.0

    def loss(self, Y):
        return float(np.square(Y - np.float32(self.centre), dtype=np.float64).sum() / 2)

    def gradient(self, Y):
        return Y - np.float32(self.centre)


@pytest.fixture(scope="session")
def problems():
    """Return the objectives above by name."""
    return {one.__name__: one for one in (Quadratic, Valley, Strain, Phased)}


@pytest.fixture
def ctrl_c_is_heard():
    """Let an interrupt raise KeyboardInterrupt also where the tests were started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
