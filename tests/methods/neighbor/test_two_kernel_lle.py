"""Two-kernel LLE: maps from any start, the loss that it states, its weights and kernels, and what it refuses."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from gnomon import UMAP, TwoKernelLLE
from gnomon.affinities import Gram, reconstruction_weights
from gnomon.kernels import Cauchy, UMAPKernel
from gnomon.objectives import ReconstructionTrace

QUICK = TwoKernelLLE(max_iter=120, early_exaggeration_iter=60, random_state=3)


def _accuracy(Y, y):
    return KNeighborsClassifier(10).fit(Y[::2], y[::2]).score(Y[1::2], y[1::2])


@pytest.fixture(scope="module")
def some_digits(digits):
    return digits[0][:700], digits[1][:700]


@pytest.fixture(scope="module")
def fits(some_digits):
    """Fits from three starts."""
    model = TwoKernelLLE(max_iter=500, early_exaggeration_iter=200, random_state=0)
    return {init: clone(model).set_params(init=init).fit(some_digits[0]) for init in ("pca", "random", "spectral")}


def test_digits_keep_their_classes_as_well_as_under_umap_from_any_start(fits, some_digits):
    X, y = some_digits
    umap = _accuracy(UMAP(random_state=0).fit_transform(X), y)
    for init, fit in fits.items():
        assert _accuracy(fit.embedding_, y) > umap - 0.03, init


def test_the_start_hardly_matters_with_the_first_stage_and_much_without_it(fits, some_digits):
    losses = [fit.solution_.loss[-1][1] for fit in fits.values()]
    assert max(losses) < 1.1 * min(losses)
    stuck = TwoKernelLLE(max_iter=500, early_exaggeration_iter=0, init="random", random_state=0).fit(some_digits[0])
    assert stuck.solution_.loss[-1][1] > 1.3 * max(losses)


def test_the_loss_is_the_one_without_exaggeration_and_below_that_of_one_point(fits):
    for fit in fits.values():
        n = len(fit.embedding_)
        W = fit.affinities_.W.toarray()
        K = fit.kernel_.value(cdist(fit.embedding_, fit.embedding_, "sqeuclidean"))
        residual = np.eye(n) - W
        expected = np.sum((residual.T @ residual) * K) + K.sum() / n
        assert fit.solution_.loss[-1][1] == pytest.approx(expected, rel=1e-4)
        assert expected < 0.5 * n


def test_same_bytes_for_any_number_of_threads(some_digits):
    X = some_digits[0][:550]
    maps = [clone(QUICK).set_params(n_jobs=n).fit_transform(X).tobytes() for n in (1, 2, 3)]
    assert len(set(maps)) == 1


@pytest.mark.parametrize(("weights", "regularization"), [("signed", 0.1), ("membership", 0.0), ("non_negative", 0.0)])
def test_every_kind_of_weights_makes_a_map(weights, regularization, iris):
    model = clone(QUICK).set_params(weights=weights, regularization=regularization, n_neighbors=10, metric="cosine")
    model.fit(np.unique(iris[0], axis=0))
    assert model.affinities_.weights == weights
    assert np.isfinite(model.embedding_).all()
    assert (model.affinities_.W.data < 0).any() == (weights == "signed")


def test_kernels_by_name_by_distance_and_by_object(some_digits):
    X = some_digits[0][:200]
    assert clone(QUICK).fit(X).kernel_ == UMAPKernel.from_min_dist(0.1)
    assert clone(QUICK).set_params(min_dist=0.5).fit(X).kernel_ == UMAPKernel.from_min_dist(0.5)
    by_name = clone(QUICK).set_params(kernel="cauchy").fit_transform(X)
    np.testing.assert_array_equal(by_name, clone(QUICK).set_params(kernel=Cauchy()).fit_transform(X))


@pytest.mark.parametrize("weights", ["non_negative", "signed", "membership"])
@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.filterwarnings("ignore:.*The loss rose")  # which a fit of so few neighbours leaves unfinished
def test_one_neighbor_reconstructs_a_row(weights, n, some_digits):
    model = clone(QUICK).set_params(n_neighbors=1, weights=weights)
    Y = model.fit_transform(some_digits[0][:n])
    assert np.isfinite(Y).all()
    assert np.ptp(Y, axis=0).max() > 0


@pytest.mark.parametrize("n_components", [1, 3])
def test_other_dimensions_work(n_components, some_digits):
    Y = clone(QUICK).set_params(n_components=n_components).fit_transform(some_digits[0][:200])
    assert Y.shape == (200, n_components)
    assert np.isfinite(Y).all()


def test_distances_alone_do_with_memberships(some_digits):
    X = some_digits[0][:150]
    model = clone(QUICK).set_params(metric="precomputed", init="random")
    with pytest.raises(ValueError, match=r"weights='non_negative' must be used with rows, .* weights='membership'"):
        model.fit(cdist(X, X))
    assert np.isfinite(model.set_params(weights="membership").fit_transform(cdist(X, X))).all()


def test_a_min_dist_above_the_spread_is_refused(some_digits):
    with pytest.raises(ValueError, match=r"TwoKernelLLE: min_dist=2.0 must be at most spread=1.0"):
        TwoKernelLLE(min_dist=2.0).fit(some_digits[0][:50])


def test_exaggeration_weakens_the_penalty(some_digits):
    W = clone(QUICK).set_params(max_iter=0).fit(some_digits[0][:300]).affinities_
    Y = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    kernel = UMAPKernel.from_min_dist(0.1)
    exaggerated = ReconstructionTrace(W, kernel)
    exaggerated.exaggeration = 10.0
    weak = ReconstructionTrace(W, kernel, penalty_strength=1 / (10 * 300))
    expected = 10.0 * weak.gradient(Y)
    np.testing.assert_allclose(exaggerated.gradient(Y), expected, atol=1e-5 * np.abs(expected).max())
    attraction, repulsion = exaggerated.forces(Y)
    np.testing.assert_allclose(attraction + repulsion, -expected, atol=1e-5 * np.abs(attraction).max())
    assert exaggerated.loss(Y) == ReconstructionTrace(W, kernel).loss(Y)


@pytest.mark.parametrize("weights", ["signed", "non_negative"])
def test_weights_of_an_input_kernel_make_a_map_and_place_new_rows(weights, some_digits):
    X, y = some_digits
    model = clone(QUICK).set_params(weights=weights, input_kernel="gaussian", input_kernel_params={"sigma": 30.0})
    fit = model.fit(X[:600])
    gram = Gram.from_kernel("gaussian", X[:600], parameters={"sigma": 30.0})
    expected = reconstruction_weights(X[:600], fit.graph_, weights=weights, gram=gram)
    np.testing.assert_allclose(fit.affinities_.W.toarray(), expected.W.toarray(), atol=1e-9)
    assert _accuracy(fit.embedding_, y[:600]) > 0.6
    votes = KNeighborsClassifier(10).fit(fit.embedding_, y[:600])
    assert votes.score(fit.place(X[600:]), y[600:]) > 0.6


def test_the_linear_kernel_is_the_method_without_one(some_digits):
    X = some_digits[0][:300]
    maps = [clone(QUICK).set_params(**given).fit_transform(X) for given in ({}, {"input_kernel": "linear"})]
    np.testing.assert_array_equal(*maps)
    with pytest.raises(ValueError, match=r"input_kernel='gaussian' must be 'linear' for weights='membership'"):
        clone(QUICK).set_params(input_kernel="gaussian", weights="membership").fit(X)
