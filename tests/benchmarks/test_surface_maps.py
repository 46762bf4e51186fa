"""The judge of maps on surfaces, on maps whose scores are known."""

import numpy as np
from benchmarks.surfaces import judge, noisy_sphere


def test_a_perfect_map_and_a_shuffled_one():
    X = noisy_sphere(300, seed=1)
    points = np.random.default_rng(1).normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    clean = points.astype(np.float32)
    perfect = judge(clean, points, "sphere")
    assert perfect["trust"] > 0.9999
    assert perfect["kept"] > 0.99
    assert perfect["torn"] == 0.0
    shuffled = judge(clean, points[::-1], "sphere")
    assert 0.4 < shuffled["trust"] < 0.6
    assert 0.4 < shuffled["torn"] < 0.6
    disk = np.column_stack([X[:, :2], np.sqrt(1.0 + np.square(X[:, :2]).sum(axis=1))]).astype(np.float64)
    assert judge(X[:, :2], disk, "hyperboloid")["trust"] > 0.99
    assert judge(X[:, :2], X[:, :2].astype(np.float64), "euclidean")["kept"] == 1.0
