"""Few leading eigenvectors of a large matrix come by products with it, and are those of its whole decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.linalg.orthonormal import orthonormalised
from gnomon.linalg.principal import spectra

ORDER = 700


def matrix_of(values):
    """A symmetric matrix with these eigenvalues and zeros, and its vectors."""
    vectors = orthonormalised(np.random.default_rng(0).normal(size=(ORDER, len(values))))
    return (vectors * values) @ vectors.T, vectors


def whole(monkeypatch, matrix, wanted):
    with monkeypatch.context() as patched:
        patched.setattr(spectra, "_SMALL", ORDER)
        return spectra.leading_of_matrix(matrix, wanted)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("wanted", [1, 3])
def test_values_and_vectors_are_those_of_the_whole_decomposition(monkeypatch, wanted, scale):
    matrix, vectors = matrix_of([9.0, 4.0, 3.9, 2.0, 1e-3])
    values, found = spectra.leading_of_matrix(scale * matrix, wanted)
    expected = whole(monkeypatch, scale * matrix, wanted)
    np.testing.assert_allclose(values, expected[0], rtol=1e-12)
    np.testing.assert_allclose(np.abs(found.T @ expected[1]), np.eye(wanted), atol=1e-9)
    np.testing.assert_allclose(np.abs(found.T @ vectors[:, :wanted]), np.eye(wanted), atol=1e-9)


def test_equal_eigenvalues_are_all_found():
    matrix, vectors = matrix_of([5.0, 5.0, 5.0, 1.0])
    values, found = spectra.leading_of_matrix(matrix, 3)
    np.testing.assert_allclose(values, 5.0)
    np.testing.assert_allclose(found @ found.T, vectors[:, :3] @ vectors[:, :3].T, atol=1e-9)


def test_a_matrix_of_lower_rank_has_values_of_zero_and_orthonormal_vectors():
    values, found = spectra.leading_of_matrix(matrix_of([2.0])[0], 3)
    np.testing.assert_allclose(values, [2.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("matrix", [np.zeros((ORDER, ORDER)), np.eye(ORDER)])
def test_matrices_without_directions_have_orthonormal_ones(matrix):
    values, found = spectra.leading_of_matrix(matrix, 2)
    np.testing.assert_allclose(values, matrix[0, 0])
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-12)


def test_products_are_taken_where_few_vectors_are_wanted_and_no_others(monkeypatch):
    asked = []
    where = "gnomon.linalg.eigen.eigenpairs.eigenpairs"
    monkeypatch.setattr(where, lambda operator, wanted, **_: asked.append(wanted) or 1 / 0)
    matrix = matrix_of([3.0, 2.0])[0]
    spectra.leading_of_matrix(matrix, 4)  # of 200 rows for each, 800 would be needed
    spectra.leading_of_matrix(matrix, 0.9)
    spectra.leading_of_matrix(matrix[:600, :600], 1)
    assert not asked
    with pytest.raises(ZeroDivisionError):
        spectra.leading_of_matrix(matrix, 3)
