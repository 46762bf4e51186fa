"""The ends of a spectrum from products alone."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.linalg import leading_eigenpairs, procrustes_error, spectral_bounds


def symmetric(eigenvalues, seed=0):
    n = len(eigenvalues)
    vectors, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    return (vectors * np.asarray(eigenvalues)) @ vectors.T, vectors


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
    matrix, _ = symmetric(eigenvalues)
    lowest, highest = spectral_bounds(lambda Y: matrix @ Y, len(eigenvalues))
    size = np.abs(eigenvalues).max()
    assert np.min(eigenvalues) - 0.1 * size <= lowest <= np.min(eigenvalues) + 1e-12
    assert np.max(eigenvalues) - 1e-12 <= highest <= np.max(eigenvalues) + 0.1 * size


@pytest.mark.parametrize("n", [50, 610])  # both sides of the switch at 600
def test_leading_pairs_are_those_of_the_dense_problem(n):
    eigenvalues = np.concatenate([[9.0, 7.0, 6.9], -np.ones(5) * 20, np.linspace(0, 3, n - 8)])
    matrix, vectors = symmetric(eigenvalues)
    found = leading_eigenpairs(lambda Y: matrix @ Y, n, 3)
    np.testing.assert_allclose(found.values, [9.0, 7.0, 6.9], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(found.vectors * vectors[:, :3], axis=0)), 1.0, atol=1e-9)
    assert (found.vectors[np.abs(found.vectors).argmax(axis=0), range(3)] > 0).all()
    assert found.converged


def test_leading_pairs_of_a_flat_spectrum_are_a_basis():
    found = leading_eigenpairs(lambda Y: 2.0 * Y, 700, 3)
    np.testing.assert_allclose(found.values, 2.0)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-10)


def test_procrustes_error_is_blind_to_movements_and_not_to_size():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=(40, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    assert procrustes_error(reference @ turn + 5.0, reference) < 1e-14
    assert procrustes_error(1.5 * reference @ turn, reference) == pytest.approx(0.5)
    assert procrustes_error(np.ones((4, 2)), np.zeros((4, 2))) == 0.0
    assert procrustes_error(np.eye(3), np.zeros((3, 3))) == np.inf


def test_procrustes_error_is_the_least_over_all_turns():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    a, b = a - a.mean(0), b - b.mean(0)
    angles = np.linspace(0, 2 * np.pi, 2001)
    turns = [np.array([[np.cos(t), -np.sin(t)], [f * np.sin(t), f * np.cos(t)]]) for t in angles for f in (1, -1)]
    least = min(np.linalg.norm(a @ turn - b) for turn in turns) / np.linalg.norm(b)
    assert procrustes_error(a, b) == pytest.approx(least, rel=1e-5)
