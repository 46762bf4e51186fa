"""Losses that are no sums over pairs: projections and densities."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Affinities
from gnomon.kernels import UMAPKernel
from gnomon.objectives import DensityCorrelation, ProjectionError, gradient_error, polar_factor


def test_the_projection_error_equals_the_reference_values(reference):
    given, X = reference["gradient_pca"], np.array(reference["X8"])
    objective, U = ProjectionError(X), np.array(given["U"])
    assert objective.loss(U) == pytest.approx(given["loss"], rel=1e-6)
    np.testing.assert_allclose(objective.gradient(U), given["grad"], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(polar_factor(U), given["polar_factor"], rtol=1e-6, atol=1e-8)
    assert gradient_error(objective, U) < 1e-7


def test_a_projection_on_all_directions_leaves_nothing(reference):
    objective = ProjectionError(reference["X8"])
    assert objective.loss(np.eye(3)) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="ProjectionError: X of shape"):
        ProjectionError([[1.0, np.nan]])


@pytest.fixture(scope="module")
def eight(reference):
    given = reference["umap"]
    matrix = sp.csr_array(np.array(given["mu"]))
    i, j = matrix.tocoo().row, matrix.tocoo().col
    X = np.array(reference["X8"])
    return Affinities(matrix, "membership"), np.square(X[i] - X[j]).sum(1), UMAPKernel(given["a"], given["b"])


def test_radii_and_their_correlation_equal_the_reference_values(eight, reference):
    given, Y = reference["densmap"], np.array(reference["Y8"])
    objective = DensityCorrelation(*eight, variance_shift=0.0)
    np.testing.assert_allclose(objective.radii, given["log_radius_orig"], atol=given["tol"])
    np.testing.assert_allclose(objective.map_radii(Y), given["log_radius_emb"], atol=given["tol"])
    assert -objective.loss(Y) == pytest.approx(given["corr"], abs=given["tol"])


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_gradient_of_the_density_is_the_finite_difference(shift, eight, reference):
    assert gradient_error(DensityCorrelation(*eight, variance_shift=shift), reference["Y8"]) < 1e-7
