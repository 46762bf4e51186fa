"""Eigenvectors of written-out matrices: their definition, LAPACK's values, equal values, few vectors, threads."""

import numpy as np
import pytest
import scipy

from gnomon._run import running
from gnomon.linalg import orthonormalised, symmetric_eigen


def _symmetric(n: int, seed: int = 0) -> np.ndarray:
    B = np.random.default_rng(seed).normal(size=(n + 3, n))
    return B.T @ B


@pytest.mark.parametrize("n", [1, 2, 7, 64, 150])
def test_vectors_solve_the_equation_and_are_orthonormal(n):
    A = _symmetric(n)
    values, vectors = symmetric_eigen(A)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(values, scipy.linalg.eigvalsh(A)[::-1], atol=1e-13 * values[0])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-13 * values[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-13)


@pytest.mark.parametrize(
    "A",
    [np.eye(20), np.zeros((5, 5)), np.ones((30, 30)), np.kron(np.eye(3), np.ones((4, 4))), -np.diag(np.arange(9.0))],
)
def test_equal_eigenvalues_have_orthonormal_vectors(A):
    values, vectors = symmetric_eigen(A)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-13 * len(A))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(A)), atol=1e-13)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e305])
def test_a_multiple_has_that_multiple_of_the_values(size):
    values, vectors = symmetric_eigen(_symmetric(12))
    scaled, same = symmetric_eigen(_symmetric(12) / 1e3 * size)
    np.testing.assert_allclose(scaled, values / 1e3 * size, rtol=1e-12, atol=1e-13 * scaled[0])
    np.testing.assert_allclose(np.abs(same), np.abs(vectors), atol=1e-10)


def test_few_vectors_are_the_first_of_all():
    A = _symmetric(40)
    values, vectors = symmetric_eigen(A)
    assert symmetric_eigen(A, 3)[1].tobytes() == np.ascontiguousarray(vectors[:, :3]).tobytes()
    assert symmetric_eigen(A, 0)[0].tobytes() == values.tobytes()
    above = symmetric_eigen(A, least=float(values[10]))[1]
    assert above.tobytes() == np.ascontiguousarray(vectors[:, :10]).tobytes()


def test_bits_do_not_depend_on_threads():
    A = _symmetric(90)
    found = []
    for n_threads in (1, 2, 5):
        with running(n_threads=n_threads):
            found.append(symmetric_eigen(A)[1].tobytes())
    assert len(set(found)) == 1


def test_a_matrix_that_is_not_finite_has_no_vectors():
    values, vectors = symmetric_eigen(np.diag([1.0, np.inf]))
    assert np.isnan(values).all()
    assert vectors.shape == (2, 0)


def test_many_columns_are_orthonormalised_block_by_block():
    """Column j spans with those before it what they spanned before; what depends on them is zero."""
    A = np.random.default_rng(3).normal(size=(400, 150))
    A[:, 100] = A[:, 3] - 2.0 * A[:, 70]
    Q = orthonormalised(A)
    kept = np.delete(np.arange(150), 100)
    np.testing.assert_allclose(Q[:, kept].T @ Q[:, kept], np.eye(149), atol=1e-13)
    assert not Q[:, 100].any()
    np.testing.assert_allclose(Q[:, :90] @ (Q[:, :90].T @ A[:, :90]), A[:, :90], atol=1e-11)
