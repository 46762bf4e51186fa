"""Classical scaling and its landmark form."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gnomon.linalg import procrustes_error
from gnomon.methods.distance.classical_mds import ClassicalMDS
from gnomon.methods.distance.landmark_mds import LandmarkMDS

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 5)) * [3.0, 2.0, 1.0, 0.5, 0.2] + 7.0
D = cdist(X, X)
RECTANGLE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0]])
CIRCLE = np.minimum(*(np.mod(s * np.subtract.outer(np.arange(30), np.arange(30)), 30) for s in (1, -1))) * np.pi / 15


def test_a_rectangle_has_the_eigenvalues_16_9_0_0():
    for metric, given in (("precomputed", cdist(RECTANGLE, RECTANGLE)), ("euclidean", RECTANGLE), ("l2", RECTANGLE)):
        fitted = ClassicalMDS(n_components=4, metric=metric).fit(given)
        np.testing.assert_allclose(fitted.eigenvalues_, [16.0, 9.0, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(cdist(fitted.embedding_, fitted.embedding_), cdist(RECTANGLE, RECTANGLE), atol=1e-12)
        assert fitted.normalized_strain_ == pytest.approx(0.0, abs=1e-12)
        assert not fitted.embedding_[:, 2:].any() or metric != "precomputed"


def test_distances_and_rows_give_one_map():
    by_rows, by_distances = ClassicalMDS().fit(X), ClassicalMDS(metric="precomputed").fit(D)
    np.testing.assert_allclose(by_rows.embedding_, by_distances.embedding_ * _signs(by_rows, by_distances), atol=1e-9)
    for name in ("eigenvalues_", "strain_", "normalized_strain_"):
        np.testing.assert_allclose(getattr(by_rows, name), getattr(by_distances, name), rtol=1e-9)
    assert by_distances.smallest_eigenvalue_ == pytest.approx(0.0, abs=1e-9)


def _signs(a, b):
    return np.sign((a.embedding_ * b.embedding_).sum(axis=0))


def test_the_map_is_that_of_scikit_learn():
    manifold = pytest.importorskip("sklearn.manifold")
    if not hasattr(manifold, "ClassicalMDS"):
        pytest.skip("scikit-learn 1.8 brought it")
    for metric, given in (("euclidean", X), ("precomputed", CIRCLE)):
        theirs = manifold.ClassicalMDS(n_components=2, metric=metric).fit(given)
        ours = ClassicalMDS(metric=metric).fit(given)
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
        assert procrustes_error(ours.embedding_, theirs.embedding_) < 1e-12


def test_distances_that_are_not_euclidean_are_reported():
    fitted = ClassicalMDS(metric="precomputed", n_components=20).fit(CIRCLE)
    assert fitted.eigenvalues_[0] == pytest.approx(30.1, abs=0.1)
    assert fitted.smallest_eigenvalue_ == pytest.approx(-7.6, abs=0.1)
    dropped = fitted.eigenvalues_ < 1e-9
    assert dropped.any()
    assert not fitted.embedding_[:, dropped].any()
    B = -0.5 * np.square(CIRCLE)
    B = B - B.mean(0) - B.mean(1)[:, None] + B.mean()
    assert fitted.strain_ == pytest.approx(np.square(B - fitted.embedding_ @ fitted.embedding_.T).sum())


@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "manhattan", "cosine"])
@pytest.mark.parametrize("estimator", [ClassicalMDS(), LandmarkMDS(n_landmarks=20), LandmarkMDS(refine=True)])
def test_rows_fitted_are_placed_where_they_are(estimator, metric):
    given = D if metric == "precomputed" else X
    fitted = type(estimator)(**{**estimator.get_params(), "metric": metric, "random_state": 0}).fit(given)
    np.testing.assert_allclose(fitted.place(given), fitted.embedding_, atol=1e-7)
    assert fitted.place(given[3:5]).tobytes() == fitted.place(given)[3:5].tobytes()


def test_landmarks_recover_points_of_the_plane():
    flat = X[:, :2]
    for estimator in (LandmarkMDS(n_landmarks=10), LandmarkMDS(n_landmarks=10, metric="chebyshev", refine=True)):
        fitted = estimator.set_params(random_state=0).fit(flat)
        assert fitted.n_landmarks_ == 10
        if estimator.metric == "euclidean":
            np.testing.assert_allclose(cdist(fitted.embedding_, fitted.embedding_), cdist(flat, flat), atol=1e-9)
    fitted = LandmarkMDS(n_landmarks=10, metric="precomputed", random_state=0).fit(cdist(flat, flat))
    np.testing.assert_allclose(cdist(fitted.embedding_, fitted.embedding_), cdist(flat, flat), atol=1e-6)


def test_all_rows_as_landmarks_are_classical_scaling():
    whole = LandmarkMDS(n_landmarks=80, metric="manhattan", random_state=0).fit_transform(X)
    assert procrustes_error(whole, ClassicalMDS(metric="manhattan").fit_transform(X)) < 1e-10


def test_refined_landmarks_have_less_stress():
    i, j = np.triu_indices(80, 1)
    plain, refined = (
        cdist(Y, Y)[i, j]
        for Y in (
            LandmarkMDS(n_landmarks=40, refine=refine, random_state=0).fit_transform(X) for refine in (False, True)
        )
    )
    assert np.square(refined - D[i, j]).sum() < 0.8 * np.square(plain - D[i, j]).sum()


def test_the_order_of_rows_does_not_matter():
    order = rng.permutation(80)
    a, b = ClassicalMDS(metric="manhattan").fit_transform(X), ClassicalMDS(metric="manhattan").fit_transform(X[order])
    np.testing.assert_allclose(a[order], b, atol=1e-9)


@pytest.mark.parametrize("estimator", [ClassicalMDS(metric="manhattan"), LandmarkMDS(n_landmarks=30, refine=True)])
def test_classical_scaling_gives_equal_bytes_for_any_number_of_threads(estimator):
    maps = [estimator.set_params(n_jobs=n_jobs, random_state=0).fit_transform(X).tobytes() for n_jobs in (1, 2, 3)]
    assert maps.count(maps[0]) == 3


def test_more_components_than_rows_are_refused():
    with pytest.raises(ValueError, match="ClassicalMDS: n_components=5 must be at most n_samples=4"):
        ClassicalMDS(n_components=5).fit(RECTANGLE)
    with pytest.raises(ValueError, match="LandmarkMDS: n_components=3 must be at most n_landmarks=2"):
        LandmarkMDS(n_components=3, n_landmarks=2).fit(RECTANGLE)
    with pytest.raises(ValueError, match="LandmarkMDS: n_landmarks=5 must be at most n_samples=4"):
        LandmarkMDS(n_landmarks=5).fit(RECTANGLE)


@pytest.mark.parametrize("estimator", [ClassicalMDS(metric="precomputed"), LandmarkMDS(metric="precomputed")])
def test_f57_f60_what_is_no_distance_matrix_has_no_map(estimator):
    with pytest.raises(ValueError, match=r"MDS: a distance matrix of shape \(80, 30\) must be square"):
        estimator.fit(D[:, :30])
    with pytest.raises(ValueError, match="MDS: distances must be >= 0"):
        estimator.fit(D - 5.0)
    with pytest.raises(ValueError, match="MDS: distances must be >= 0"):
        estimator.fit(D).place(-1.0 - D)
    with pytest.raises(ValueError, match="MDS: a sparse"):
        estimator.fit(sp.csr_array(np.where(D < 3.0, D, 0.0)))
