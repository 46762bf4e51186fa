"""Eigenvectors of written-out matrices: their definition, LAPACK's values, equal values, few vectors, threads."""

import numpy as np
import pytest
import scipy

from gnomon._run import running
from gnomon.linalg import orthonormalised, symmetric_eigen
from gnomon.linalg.orthonormal import with_draws, without


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


def test_columns_that_are_orthonormalised_count_by_their_direction_alone():
    """Their bits as well, where lengths are multiplied by powers of two."""
    A = np.random.default_rng(4).normal(size=(60, 70))[:, :50]
    lengths = 2.0 ** np.random.default_rng(5).integers(-90, 90, 50)
    assert orthonormalised(A * lengths).tobytes() == orthonormalised(A).tobytes()


@pytest.mark.parametrize("left", [1e-5, 1e-8, 1e-11])
def test_what_little_a_column_adds_to_those_before_it_is_found(left):
    """A share of its length; squares, of which double precision holds 1e-16, would hide it."""
    Q = np.linalg.qr(np.random.default_rng(6).normal(size=(300, 100)))[0]
    A = Q.copy()
    A[:, 1:] = left * Q[:, 1:] + Q[:, :1] * np.linspace(0.5, 1.0, 99)
    A = np.insert(A, [5, 30], A[:, :2] @ [[1.0, 2.0], [3.0, -1.0]], axis=1)  # these two add nothing
    found = orthonormalised(A)
    assert not found[:, [5, 31]].any()
    found = np.delete(found, [5, 31], axis=1)
    np.testing.assert_allclose(found.T @ found, np.eye(100), atol=1e-13)
    np.testing.assert_allclose(np.abs(np.diagonal(Q.T @ found)), 1.0, atol=1e-13 / left)


def test_columns_without_length_or_numbers_end():
    assert not orthonormalised(np.zeros((9, 4))).any()
    for wrong in (np.nan, np.inf):
        A = np.eye(9, 4)
        A[3, 2] = wrong
        with np.errstate(invalid="ignore"):
            assert np.isnan(orthonormalised(A)).any()


def test_draws_take_the_place_of_columns_of_zeros_alone():
    A = np.random.default_rng(7).normal(size=(20, 5))
    assert with_draws(A, 0) is A
    A[:, [1, 3]] = 0.0
    drawn = with_draws(A, 0)
    np.testing.assert_array_equal(drawn[:, :3], A[:, [0, 2, 4]])
    assert np.linalg.matrix_rank(drawn) == 5
    assert drawn.tobytes() == with_draws(A, 0).tobytes() != with_draws(A, 1).tobytes()


def test_a_column_along_the_direction_that_is_taken_out_is_zero():
    direction = np.full(30, 30**-0.5)
    columns = np.random.default_rng(8).normal(size=(30, 3))
    columns[:, 1] = 7.0 * direction
    rest = without(columns, direction)
    assert not rest[:, 1].any()
    np.testing.assert_allclose(rest[:, [0, 2]], (columns - columns.mean(axis=0))[:, [0, 2]], atol=1e-14)
