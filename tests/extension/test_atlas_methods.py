"""Every method is a differentiable function with an inverse: by its own formula, or by the atlas of its map."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.faults.test_fits import ESTIMATORS, NOISE

from gnomon.exceptions import GnomonWarning
from gnomon.extension import AffineAtlas
from gnomon.methods.distance.classical_mds import ClassicalMDS
from gnomon.methods.distance.landmark_mds import LandmarkMDS
from gnomon.methods.linear.huber_pca import HuberPCA
from gnomon.methods.linear.kernel_pca import KernelPCA
from gnomon.methods.linear.pca import PCA
from gnomon.methods.linear.random_projection import RandomProjection
from gnomon.methods.neighbor.umap import UMAP
from gnomon.methods.spectral.laplacian_eigenmaps import LaplacianEigenmaps

NEW = 0.5 * np.random.default_rng(2).normal(size=(6, 5))


def quiet(estimator, X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return clone(estimator).set_params(**parameters).fit(X)


@pytest.mark.parametrize(
    "estimator",
    [
        PCA(3),
        PCA(3, whiten=True),
        RandomProjection(2, random_state=0),
        RandomProjection(2, kind="sparse", random_state=0),
        HuberPCA(2),
        ClassicalMDS(2),
        LandmarkMDS(2, n_landmarks=20),
        *(KernelPCA(3, kernel=name) for name in ("linear", "polynomial", "cosine", "gaussian", "laplacian", "cauchy")),
        *(KernelPCA(3, kernel=name) for name in ("sketch_map", "umap")),
        KernelPCA(3, approximation="nystrom", rank=20, random_state=0),
    ],
    ids=str,
)
def test_methods_with_a_formula_have_its_derivative(estimator):
    fitted = quiet(estimator, NOISE)
    h = 1e-5
    steps = h * np.eye(5)
    numbers = np.stack([(fitted.transform(NEW + e) - fitted.transform(NEW - e)) / (2 * h) for e in steps], axis=2)
    found = fitted.jacobian(NEW)
    np.testing.assert_allclose(found, numbers, atol=1e-6 * np.abs(numbers).max())
    np.testing.assert_array_equal(fitted.jacobian(NEW[2]), found[2])
    np.testing.assert_allclose(fitted.jacobian(sp.csr_array(NEW)), found, atol=1e-12)
    assert fitted._fitted_rows is None or not isinstance(fitted, (PCA, KernelPCA, RandomProjection))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_method_has_an_inverse_and_a_derivative(name):
    fitted = quiet(ESTIMATORS[name], NOISE)
    n_components = fitted.embedding_.shape[1]
    rows = fitted.inverse_transform(fitted.embedding_[:7])
    assert rows.shape == (7, 5)
    assert np.isfinite(rows).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        found = fitted.jacobian(NEW)
    assert found.shape == (6, n_components, 5)
    assert np.isfinite(found).all()
    assert fitted.jacobian(NEW[:0]).shape == (0, n_components, 5)
    np.testing.assert_array_equal(fitted.jacobian(NEW[3]), found[3])
    with pytest.raises(ValueError, match="X has 4 features"):
        fitted.jacobian(NEW[:, :4])


def test_a_method_without_a_formula_takes_the_atlas_of_its_map_and_forgets_it_when_fitted_again():
    fitted = quiet(UMAP(n_neighbors=15, random_state=0, n_epochs=20) if hasattr(UMAP, "n_epochs") else UMAP(), NOISE)
    atlas = AffineAtlas(NOISE, fitted.embedding_, graph=fitted.graph_)
    np.testing.assert_array_equal(fitted.jacobian(NEW), atlas.jacobian(NEW))
    np.testing.assert_array_equal(fitted.inverse_transform([[0.0, 0.0]]), atlas.inverse_transform([[0.0, 0.0]]))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.jacobian(NEW), fitted.jacobian(NEW))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        fitted.fit(NOISE[:30] * 2.0)
    other = fitted.jacobian(NEW)
    assert np.abs(other - atlas.jacobian(NEW)).max() > 0.0


def test_maps_of_distances_alone_say_that_they_have_no_features():
    distances = np.sqrt(np.square(NOISE[:, None] - NOISE).sum(axis=2))
    fitted = quiet(LaplacianEigenmaps(5), distances, metric="precomputed")
    with pytest.raises(ValueError, match="LaplacianEigenmaps: the fit must be one of rows of features"):
        fitted.inverse_transform(fitted.embedding_[:2])


def test_rows_that_are_all_equal_have_that_row_as_inverse():
    fitted = quiet(UMAP(random_state=0), np.full((20, 5), 2.5))
    np.testing.assert_array_equal(fitted.inverse_transform([[0.0, 0.0], [1.0, 2.0]]), np.full((2, 5), 2.5))
    np.testing.assert_array_equal(fitted.jacobian(NEW), 0.0)
