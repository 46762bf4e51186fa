"""Classical scaling returns points from their distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.threads import on_threads

from gnomon.linalg import classical_scaling, procrustes_error


def test_a_rectangle_has_the_eigenvalues_of_its_sides():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [4.0, 3.0]])
    scaled = classical_scaling(cdist(X, X), 2)
    np.testing.assert_allclose(scaled.eigenvalues, [16.0, 9.0])
    np.testing.assert_allclose(cdist(scaled.embedding, scaled.embedding), cdist(X, X), atol=1e-12)
    assert scaled.lowest_eigenvalue == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "dtype", "tolerance"), [(80, np.float64, 1e-12), (700, np.float64, 1e-9), (700, np.float32, 1e-5)]
)
@pytest.mark.parametrize("size", [1.0, 1e30])
def test_distances_of_points_give_the_points_back(n, dtype, tolerance, size):
    X = np.random.default_rng(0).normal(size=(n, 3)) * [3.0, 2.0, 1.0] * size
    scaled = classical_scaling(cdist(X, X).astype(dtype), 3)
    assert scaled.converged
    assert procrustes_error(scaled.embedding / size, X / size) < tolerance


def test_new_points_are_placed_where_they_are():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(60, 3)), rng.normal(size=(9, 3))
    scaled = classical_scaling(cdist(X, X), 3)
    both = np.concatenate((scaled.embedding, scaled.place(cdist(new, X))))
    np.testing.assert_allclose(cdist(both, both), cdist(np.concatenate((X, new)), np.concatenate((X, new))), atol=1e-9)
    np.testing.assert_allclose(scaled.place(cdist(X, X)), scaled.embedding, atol=1e-10)
    assert scaled.place(cdist(new, X))[4:5].tobytes() == scaled.place(cdist(new[4:5], X)).tobytes()


def test_dimensions_that_are_not_there_are_columns_of_zeros():
    x = np.linspace(0.0, 1.0, 30)[:, None]
    scaled = classical_scaling(np.abs(x - x.T), 3)
    assert scaled.n_positive == 1
    assert not scaled.embedding[:, 1:].any()
    nothing = classical_scaling(np.zeros((5, 5)), 2)
    assert nothing.n_positive == 0
    assert not nothing.embedding.any()
    assert not nothing.place(np.zeros((2, 5))).any()
    assert classical_scaling(np.abs(x - x.T)[:2, :2].copy(), 4).embedding.shape == (2, 4)


def test_the_number_of_threads_does_not_change_a_bit():
    X = np.random.default_rng(0).normal(size=(1500, 4))
    results = [
        on_threads(n, classical_scaling)(cdist(X, X).astype(np.float32), 2).embedding.tobytes() for n in (1, 2, 3)
    ]
    assert len(set(results)) == 1


@pytest.mark.parametrize("n", [90, 800])
def test_the_strain_is_that_of_the_points(n):
    X = np.random.default_rng(0).normal(size=(n, 5))
    D = cdist(X, X, "cityblock")
    scaled = classical_scaling(D.copy(), 2)
    B = -0.5 * np.square(D)
    B += B.mean() - B.mean(axis=0) - B.mean(axis=1)[:, None]
    Y = scaled.embedding
    assert scaled.squared_norm == pytest.approx(np.square(B).sum(), rel=1e-12)
    assert scaled.strain == pytest.approx(np.square(B - Y @ Y.T).sum(), rel=1e-9)
    assert scaled.normalized_strain == pytest.approx(scaled.strain / scaled.squared_norm)
    lowest = np.linalg.eigvalsh(B)[0]
    assert lowest < -0.01 * scaled.eigenvalues[0]
    assert scaled.lowest_eigenvalue == pytest.approx(lowest, abs=1e-6 * scaled.eigenvalues[0])


def test_what_float32_leaves_of_a_dimension_is_no_axis():
    x = np.random.default_rng(0).normal(size=(700, 1))
    D = np.abs(x - x.T)
    rounded = D.astype(np.float32)
    assert classical_scaling(D.copy(), 3).n_positive == 1
    assert classical_scaling(rounded.copy(), 3).n_positive == 1
    assert classical_scaling(rounded.astype(np.float64), 3).n_positive > 1
    assert classical_scaling(rounded.astype(np.float64), 3, noise=1e-7).n_positive == 1


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e38), (np.float32, 1e-40), (np.float64, 1e300)])
def test_distances_at_the_ends_of_the_range_are_scaled(dtype, size):
    D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]) * 0.6
    scaled = classical_scaling((D * size).astype(dtype), 2)
    np.testing.assert_allclose(cdist(scaled.embedding / size, scaled.embedding / size), D, atol=1e-4)
    np.testing.assert_allclose(scaled.place((D * size).astype(dtype)) / size, scaled.embedding / size, atol=1e-4)
