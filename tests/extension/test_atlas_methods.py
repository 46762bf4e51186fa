"""Every method is one smooth function with derivative and inverse: its own formula, or the atlas of its map."""

import functools
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.faults.test_fits import ESTIMATORS, NOISE
from tests.quick import VARIANTS

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
        RandomProjection(2, variant="sparse", random_state=0),
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


@functools.cache
def fitted_once(name):
    """Return the method fitted to the noise, for questions that leave it as it is."""
    return quiet(ALL[name], NOISE)


ALL = {**ESTIMATORS, **{str(one): one for one in VARIANTS if one.get_params().get("variant") != "sparse"}}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_the_derivative_of_every_method_is_that_of_its_transform(name):
    fitted = fitted_once(name)
    h = 1e-3 if name == "robust_pca" else 1e-5  # piecewise linear, and solved up to 1e-8
    steps = h * np.eye(5)
    numbers = np.stack([(fitted.transform(NEW + e) - fitted.transform(NEW - e)) / (2 * h) for e in steps], axis=2)
    np.testing.assert_allclose(fitted.jacobian(NEW), numbers, atol=1e-5 * np.abs(numbers).max())


def largest_steps(function, starts, ends, rounds=5):
    """Return for each path the longest step in the map that is left where it was divided where it is longest."""
    low, width = np.zeros(len(starts)), np.ones(len(starts))
    for _ in range(rounds):
        shares = low[:, None] + width[:, None] * np.linspace(0.0, 1.0, 17)
        rows = starts[:, None] + shares[:, :, None] * (ends - starts)[:, None]
        places = function(rows.reshape(-1, starts.shape[1])).reshape(*shares.shape, -1)
        lengths = np.linalg.norm(np.diff(places, axis=1), axis=2)
        width = width / 16
        low = shares[np.arange(len(low)), lengths.argmax(axis=1)]
    return lengths.max(axis=1)


@pytest.mark.parametrize(
    ("name", "n_paths"),
    [
        *((name, 20) for name in ALL),
        *(pytest.param(name, 1000, marks=pytest.mark.slow) for name in ALL if name != "robust_pca"),
    ],
)
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_no_map_jumps_along_straight_paths(name, n_paths):
    fitted = fitted_once(name)
    starts, ends = NOISE[np.random.default_rng(4).integers(0, len(NOISE), size=(2, n_paths))]
    assert largest_steps(fitted.transform, starts, ends).max() < 1e-3 * np.abs(fitted.embedding_).max()
    if name in ("umap", "isomap", "lle"):
        assert largest_steps(fitted.place, starts, ends).max() > 1e-2 * np.abs(fitted.embedding_).max()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.DataWarning")
def test_one_row_at_a_time_has_the_same_place_and_derivative(name):
    fitted = quiet(ALL[name], NOISE)
    for row in (NEW[2], NOISE[5], NEW[1] + 40.0):  # the last is far out
        for _ in range(2):  # before an atlas is made, and after
            place, derivative = fitted.linearize(row)
            np.testing.assert_allclose(place, fitted.transform(row[None])[0], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(derivative, fitted.jacobian(row), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(fitted.linearize(NEW[2].tolist())[0], fitted.linearize(NEW[2])[0])
    for wrong in (NEW, NEW[0, :4], np.full(5, np.nan)):
        if name == "robust_pca" and wrong.ndim == 1 and len(wrong) == 5:
            continue  # NaN is what is not known
        with pytest.raises(ValueError, match=r"must be one row|has 4 features|NaN"):
            fitted.linearize(wrong)


@pytest.mark.parametrize(
    "name",
    [
        "isomap",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("umap", "tsne", "lle", "mds", "sketch_map", "featmap")
        ),
    ],
)
def test_the_energy_of_a_simulation_through_a_map_drifts_by_a_quarter_at_half_the_step(name):
    simulation = pytest.importorskip("studies.simulation", reason="a source distribution has no studies")
    T = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 2))
    X = np.c_[T, np.sin(2.0 * T[:, 0]), T[:, 0] * T[:, 1]]
    fitted = quiet(type(ESTIMATORS[name])(), X, **({} if name in ("isomap", "lle") else {"random_state": 0}))
    scale, velocity = fitted.embedding_.std(), np.array([0.3, -0.2, 0.1, 0.2])
    target = fitted.embedding_[7].astype(float) / scale

    def linearize(x):
        place, derivative = fitted.linearize(x)
        return place / scale, derivative / scale

    runs = (1000, 2000, 4000)
    drifts = [simulation.energy_drift(linearize, X[40], velocity, target, X[40], n_steps) for n_steps in runs]
    np.testing.assert_allclose(np.divide(drifts[:-1], drifts[1:]), 4.0, rtol=0.05)


def test_a_kernel_of_ones_own_is_differentiated_too():
    def kernel(a, b):
        return np.exp(-0.2 * np.square(a[:, None] - b).sum(axis=2))

    ours, own = (
        quiet(KernelPCA(2), NOISE, **how) for how in ({"kernel_params": {"sigma": 2.5**0.5}}, {"kernel": kernel})
    )
    np.testing.assert_allclose(own.transform(NEW), ours.transform(NEW), atol=1e-10)
    np.testing.assert_allclose(own.jacobian(NEW), ours.jacobian(NEW), atol=1e-7)


def test_distances_are_placed_and_have_no_derivative():
    distances = np.sqrt(np.square(NOISE[:, None] - NOISE).sum(axis=2))
    fitted = quiet(UMAP(n_neighbors=5, random_state=0), distances, metric="precomputed")
    np.testing.assert_array_equal(fitted.transform(distances[:9]), fitted.place(distances[:9]))
    with pytest.raises(ValueError, match="UMAP: the fit must be one of rows of features"):
        fitted.jacobian(distances[:2])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_method_has_an_inverse_and_a_derivative(name):
    fitted = fitted_once(name)
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
