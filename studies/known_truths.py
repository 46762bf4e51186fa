"""Sets whose truth is known: the coordinates that rows were made from, or labels; drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.tables import load_rows

__all__ = ["SETS", "Truth"]

Floats = npt.NDArray[np.float64]
Draw = np.random.Generator


@dataclass(frozen=True)
class Truth:
    """Rows with what they were made from: coordinates of shape (n_rows, n_coordinates), or labels as integers.

    `n_components` is what a person would ask for.
    """

    X: Floats
    truth: npt.NDArray[Any]
    n_components: int


def _turned(X: Floats, n_features: int, noise: float, draw: Draw) -> Floats:
    """Return rows in a random subspace of more dimensions, with noise in all of them."""
    axes = np.linalg.qr(draw.normal(size=(n_features, X.shape[1])))[0].T
    return np.asarray(X @ axes + noise * draw.normal(size=(len(X), n_features)))


def _parabola(n: int, draw: Draw, height: float = 2.0) -> Truth:
    t = draw.uniform(-1, 1, n)
    return Truth(np.c_[t, height * t**2] + 0.03 * draw.normal(size=(n, 2)), t[:, None], 1)


def _swiss_roll(n: int, draw: Draw) -> Truth:
    t, y = draw.uniform(1.5, 4.5, n) * np.pi, draw.uniform(0, 21, n)
    X = np.c_[t * np.cos(t), y, t * np.sin(t)] + 0.05 * draw.normal(size=(n, 3))
    return Truth(X, np.c_[t**2 / 2, y], 2)


def _rings(n: int, draw: Draw) -> Truth:
    angle, ring = draw.uniform(0, 2 * np.pi, n), draw.integers(0, 3, n)
    X = (1.0 + ring)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    return Truth(X + 0.08 * draw.normal(size=(n, 2)), ring, 2)


def _subspace(n: int, draw: Draw) -> Truth:
    Z = draw.normal(size=(n, 2)) * [2, 1]
    return Truth(_turned(Z, 10, 0.2, draw), Z, 2)


def _cube(n: int, draw: Draw) -> Truth:
    Z = draw.uniform(size=(n, 3)) * [2, 1.5, 1]
    return Truth(_turned(Z, 20, 0.03, draw), Z, 3)


def _blobs(n: int, draw: Draw) -> Truth:
    group = draw.choice(6, n, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    size = np.array([2, 1, 0.5, 0.5, 1, 0.3])[group]
    return Truth(4 * draw.normal(size=(6, 8))[group] + size[:, None] * draw.normal(size=(n, 8)), group, 2)


def _s_curve(n: int, draw: Draw) -> Truth:
    t, y = draw.uniform(-1.5, 1.5, n) * np.pi, draw.uniform(0, 2, n)
    X = np.c_[np.sin(t), y, np.sign(t) * (np.cos(t) - 1)]
    return Truth(X + 0.03 * draw.normal(size=(n, 3)), np.c_[t, y], 2)


def _helix(n: int, draw: Draw) -> Truth:
    t = draw.uniform(0, 4 * np.pi, n)
    return Truth(np.c_[np.cos(t), np.sin(t), 0.15 * t] + 0.03 * draw.normal(size=(n, 3)), t[:, None], 1)


def _sphere(n: int, draw: Draw) -> Truth:
    Z = draw.normal(size=(n, 3))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    return Truth(Z + 0.02 * draw.normal(size=(n, 3)), Z, 2)


def _torus(n: int, draw: Draw) -> Truth:
    u, v = draw.uniform(0, 2 * np.pi, (2, n))
    X = np.c_[(2 + np.cos(v)) * np.cos(u), (2 + np.cos(v)) * np.sin(u), np.sin(v)]
    return Truth(X + 0.03 * draw.normal(size=(n, 3)), np.c_[np.cos(u), np.sin(u), np.cos(v), np.sin(v)], 2)


def _counts(n: int, draw: Draw) -> Truth:
    """Draw counts of five groups, in rows that differ much in depth."""
    profiles = draw.dirichlet(np.full(100, 0.3), 5)
    group, depth = draw.integers(0, 5, n), draw.lognormal(5.5, 0.8, n)
    return Truth(draw.poisson(depth[:, None] * profiles[group]).astype(np.float64), group, 2)


def _line(n: int, draw: Draw) -> Truth:
    Z = draw.uniform(-2, 2, (n, 1))
    return Truth(_turned(Z, 30, 0.1, draw), Z, 1)


def _heavy_tails(n: int, draw: Draw) -> Truth:
    Z = draw.standard_t(5, (n, 3)) * [3, 2, 1]
    return Truth(_turned(Z, 15, 0.2, draw), Z, 3)


def _arch(n: int, draw: Draw) -> Truth:
    """Draw a half circle in twelve dimensions."""
    t = draw.uniform(0, np.pi, n)
    return Truth(_turned(np.c_[np.cos(t), np.sin(t)], 12, 0.03, draw), t[:, None], 1)


def _groups(n: int, draw: Draw) -> Truth:
    group = draw.integers(0, 8, n)
    size = draw.uniform(0.3, 1.5, 8)[group]
    return Truth(3 * draw.normal(size=(8, 5))[group] + size[:, None] * draw.normal(size=(n, 5)), group, 2)


def _spiral(n: int, draw: Draw) -> Truth:
    t = draw.uniform(1.0, 3.5, n) * np.pi
    X = np.c_[t * np.cos(t), t * np.sin(t)] / np.pi
    return Truth(X + 0.05 * draw.normal(size=(n, 2)), t[:, None], 1)


def _saddle(n: int, draw: Draw) -> Truth:
    Z = draw.uniform(-1, 1, (n, 2))
    X = np.c_[Z, 1.5 * (Z[:, 0] ** 2 - Z[:, 1] ** 2)]
    return Truth(X + 0.03 * draw.normal(size=(n, 3)), Z, 2)


def _topics(n: int, draw: Draw) -> Truth:
    """Draw counts of words in texts that mix three topics."""
    topics, mix = draw.dirichlet(np.full(200, 0.1), 3), draw.dirichlet(np.ones(3), n)
    lengths = draw.integers(50, 500, n)
    return Truth(draw.poisson(lengths[:, None] * (mix @ topics)).astype(np.float64), mix, 2)


def _directions(n: int, draw: Draw) -> Truth:
    """Draw rows about four directions of eight dimensions, of any length."""
    group = draw.integers(0, 4, n)
    X = draw.normal(size=(4, 8))[group] + 0.25 * draw.normal(size=(n, 8))
    return Truth(X * draw.lognormal(0.0, 0.8, (n, 1)), group, 2)


def _bundled(name: str) -> Callable[[int, Draw], Truth]:
    """Return the maker of a table of scikit-learn, its columns of one variance unless they have one unit."""

    def make(n: int, draw: Draw) -> Truth:
        import sklearn.datasets

        found = getattr(sklearn.datasets, f"load_{name}")()
        X, y = np.asarray(found.data, dtype=np.float64), np.asarray(found.target)
        if name in ("wine", "breast_cancer", "diabetes"):
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        rows = draw.permutation(len(X))[:n]
        truth = y[rows, None].astype(np.float64) if name == "diabetes" else y[rows]
        return Truth(X[rows], truth, 2)

    return make


def _stored(name: str) -> Callable[[int, Draw], Truth]:
    """Return the maker of a table of the folder of data sets, 50 principal components at most."""

    def make(n: int, draw: Draw) -> Truth:
        X, labels = load_rows(name, 5000)
        rows = draw.permutation(len(X))[:n]
        return Truth(X[rows].astype(np.float64), np.unique(labels, return_inverse=True)[1].ravel()[rows], 2)

    return make


SETS: dict[str, tuple[str, Callable[[int, Draw], Truth]]] = {
    "parabola": ("seen", _parabola),
    "low parabola": ("seen", lambda n, draw: _parabola(n, draw, 1.0)),
    "swiss roll": ("seen", _swiss_roll),
    "rings": ("seen", _rings),
    "plane": ("seen", _subspace),
    "cube": ("seen", _cube),
    "blobs": ("seen", _blobs),
    "S-curve": ("seen", _s_curve),
    "counts": ("seen", _counts),
    "digits": ("seen", _bundled("digits")),
    "wine": ("seen", _bundled("wine")),
    "iris": ("seen", _bundled("iris")),
    "paul15": ("seen", _stored("paul15")),
    "helix": ("hidden", _helix),
    "sphere": ("hidden", _sphere),
    "torus": ("hidden", _torus),
    "line": ("hidden", _line),
    "heavy-tailed subspace": ("hidden", _heavy_tails),
    "arch": ("hidden", _arch),
    "groups": ("hidden", _groups),
    "spiral": ("hidden", _spiral),
    "saddle": ("hidden", _saddle),
    "topics": ("hidden", _topics),
    "directions": ("hidden", _directions),
    "breast_cancer": ("hidden", _bundled("breast_cancer")),
    "diabetes": ("hidden", _bundled("diabetes")),
    "mnist": ("hidden", _stored("mnist")),
    "cifar10_sample": ("hidden", _stored("cifar10_sample")),
    "pbmc4k": ("hidden", _stored("pbmc4k")),
    "pbmc68k_reduced": ("hidden", _stored("pbmc68k_reduced")),
}
"""Group and maker of each set, which takes the number of rows; "hidden" ones were no help in making rules."""
