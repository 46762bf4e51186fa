"""Attractions and repulsions end at PCA, and the certificate says so only where it is so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.affinities import Gram
from gnomon.theory import pca_certificate

i, j = np.indices((8, 3))
X8 = np.sin(1 + 1.7 * i + 0.9 * j + 0.31 * i * j)
EIGENVALUES = [4.989339983, 4.402539105, 2.364275846]  # reference_values.json, pca_ar
MINIMUM = 5.589800277
OPTIMUM_ROW_0 = [
    0.1635624115,
    0.202722259,
    -0.5295983096,
    0.2444213184,
    0.1751812431,
    -0.4632567626,
    0.2980792237,
    -0.09111138343,
]


@pytest.mark.parametrize("step", ["safe", "babylonian"])
def test_iris_ends_at_its_principal_components(iris, step):
    certificate = pca_certificate(iris[0], step=step, tol=1e-9)
    assert certificate.holds(1e-6)
    assert certificate.gram_error < 1e-6
    assert certificate.monotone or step != "safe"
    assert certificate.error[0] > 0.5
    assert len(certificate.iterations) == certificate.n_iter + 1


def test_agrees_with_stored_reference():
    certificate = pca_certificate(X8, tol=1e-10)
    np.testing.assert_allclose(certificate.eigenvalues, EIGENVALUES, rtol=1e-6)
    assert certificate.loss[-1] == pytest.approx(MINIMUM, rel=1e-6)
    assert certificate.gram_error < 1e-6
    np.testing.assert_allclose(X8_scores()[0] @ X8_scores().T, OPTIMUM_ROW_0, rtol=1e-6)


def X8_scores():  # noqa: N802
    left, lengths, _ = np.linalg.svd(X8 - X8.mean(0), full_matrices=False)
    return left[:, :2] * lengths[:2]


def test_the_safe_step_keeps_its_promises_on_the_way(iris):
    certificate = pca_certificate(iris[0])
    assert certificate.monotone
    assert (certificate.spread <= certificate.radius * (1 + 1e-12)).all()
    fall, eta = -np.diff(certificate.loss), certificate.gamma / 4
    assert (fall >= eta / 2 * certificate.gradient_norm[:-1] ** 2 - 1e-13 * certificate.loss[0]).all()
    assert certificate.observed_rate == pytest.approx(certificate.expected_rate, rel=5e-3)


@pytest.mark.parametrize("kind", ["sparse", "gram", "kernel", "indefinite"])
def test_other_similarities_end_at_their_leading_eigenvectors(iris, kind):
    X = iris[0][:60]
    rng = np.random.default_rng(0)
    given = {
        "sparse": sp.csr_array(X),
        "gram": Gram.from_features(X),
        "kernel": Gram.from_kernel("gaussian", X),
        "indefinite": Gram.from_matrix((lambda Z: Z + Z.T)(rng.normal(size=(60, 60)))),
    }[kind]
    certificate = pca_certificate(given, tol=1e-9, every=10, max_iter=20000)
    assert certificate.holds(1e-5)


def test_a_descent_that_was_cut_short_is_not_certified(iris):
    certificate = pca_certificate(iris[0], max_iter=20)
    assert not certificate.holds()
    assert not certificate.converged
    assert certificate.procrustes_error > 1e-3


def test_a_loss_that_rises_on_the_way_is_seen():
    certificate = pca_certificate(np.eye(30), step="babylonian", max_iter=5)  # a flat spectrum: the start overshoots
    assert certificate.loss.max() > certificate.loss[0]
    assert not certificate.monotone


def test_a_tie_behind_the_last_component_is_seen():
    X = np.concatenate([np.eye(3), -np.eye(3)])  # three equal eigenvalues: any plane will do
    certificate = pca_certificate(X, tol=1e-9)
    np.testing.assert_allclose(certificate.eigenvalues, 2.0)
    assert certificate.expected_rate == pytest.approx(1.0)
    assert certificate.loss[-1] == pytest.approx(4.0)


def test_the_summary_names_the_figures(iris):
    text = str(pca_certificate(iris[0], every=10))
    assert "150 points, 2 components, safe step" in text
    assert "the loss fell in every record" in text
    assert text.splitlines()[-1].split()[-1] == f"{pca_certificate(iris[0], every=10).procrustes_error:.2e}"
    assert len(text.splitlines()) <= 17


def test_the_same_numbers_for_any_number_of_threads(iris):
    found = [on_threads(n, pca_certificate)(iris[0], every=50).loss.tobytes() for n in (1, 2, 3, 5)]
    assert len(set(found)) == 1


def test_errors_name_the_argument_and_the_rule(iris):
    with pytest.raises(ValueError, match=r"pca_certificate: n_components=8 must be less than n_samples=8"):
        pca_certificate(X8, n_components=8)
    with pytest.raises(ValueError, match=r"pca_certificate: step='newton' must be one of 'safe', 'babylonian'"):
        pca_certificate(X8, step="newton")


@pytest.mark.slow
@pytest.mark.parametrize("step", ["safe", "babylonian"])
def test_a_thousand_digits_of_mnist_end_at_pca(real_data, step):
    with np.load(real_data / "mnist.npz") as stored:
        X = stored["X"][:1000]
    certificate = pca_certificate(X, step=step)
    assert certificate.holds(1e-6)
    assert certificate.gram_error < 1e-6
    assert certificate.n_iter < 700
