"""Isomap unrolls what can be unrolled, agrees with scikit-learn and keeps every row."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap as SklearnIsomap

from gnomon.affinities import geodesic_distances
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.linalg import procrustes_error
from gnomon.methods.distance import isomap
from gnomon.methods.distance.isomap import Isomap
from gnomon.neighbors import compute_neighbors

rng = np.random.default_rng(0)
ISLANDS = np.concatenate([rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 1e3, rng.normal(size=(8, 4)) - 1e3])


def roll(n=1500):
    """A swiss roll and its plane: the length of the spiral and the height."""
    X, t = make_swiss_roll(n, random_state=0)
    arc = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return X, np.column_stack([arc, X[:, 1]])


def test_eight_points_have_the_eigenvalues_of_an_independent_computation():
    i, j = np.arange(8)[:, None], np.arange(3)
    X = np.sin(1 + 1.7 * i + 0.9 * j + 0.31 * i * j)
    lengths = [0.0, 2.410224548, 2.792449477, 1.221171388, 1.655093162, 2.24936745, 2.171512204, 1.318439865]
    np.testing.assert_allclose(geodesic_distances(compute_neighbors(X, 3), sources=[0])[0], lengths, rtol=1e-6)
    fitted = Isomap(n_neighbors=3, n_components=5).fit(X)
    expected = [7.863728308, 5.373013562, 2.419113586, 0.7457756745, 0.04351845979]
    np.testing.assert_allclose(fitted.eigenvalues_, expected, rtol=1e-6)
    assert fitted.negative_inertia_ == pytest.approx(1.324124115 / 7.863728308, rel=1e-6)


def test_the_map_is_that_of_scikit_learn(digits):
    noise = np.random.default_rng(0)
    X = digits[0][:900] + 0.01 * noise.normal(size=(900, 64))  # no ties
    ours = Isomap(n_neighbors=10, n_components=3, random_state=0).fit(X)
    theirs = SklearnIsomap(n_neighbors=10, n_components=3).fit(X)
    signs = np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    np.testing.assert_allclose(ours.embedding_ * signs, theirs.embedding_, atol=1e-5 * np.abs(theirs.embedding_).max())
    new = X[:40] + noise.normal(size=(40, 64))
    gap = ours.place(new) * signs - theirs.transform(new)
    assert np.abs(gap).max() < 1e-5 * np.abs(theirs.embedding_).max()


def test_a_swiss_roll_is_unrolled():
    X, plane = roll()
    fitted = Isomap(n_neighbors=10, random_state=0).fit(X)
    assert procrustes_error(fitted.embedding_, plane) < 0.05
    assert fitted.residual_variance_[1] < 1e-3 < fitted.residual_variance_[0]


def test_residual_variances_tell_the_dimension():
    X = np.random.default_rng(0).random((600, 3)) @ np.random.default_rng(1).normal(size=(3, 8))
    variances = Isomap(n_neighbors=12, n_components=5).fit(X).residual_variance_
    assert variances.shape == (5,)
    assert variances[0] > variances[1] > variances[2]
    assert variances[2] - variances[4] < 0.1 * (variances[1] - variances[2])


def test_residual_variance_is_that_of_all_pairs(iris):
    X = np.unique(iris[0], axis=0)
    with pytest.warns(NeighborsWarning, match="components"):
        fitted = Isomap(n_neighbors=8).fit(X)
    lengths = geodesic_distances(fitted.graph_, bridges=fitted.bridges_)
    pairs = np.triu_indices(len(X), 1)
    for d in (1, 2):
        mapped = cdist(fitted.embedding_[:, :d], fitted.embedding_[:, :d])
        correlation = np.corrcoef(lengths[pairs], mapped[pairs])[0, 1]
        assert fitted.residual_variance_[d - 1] == pytest.approx(1 - correlation**2, abs=1e-9)


def test_a_circle_has_negative_eigenvalues_which_a_plane_has_not():
    angles = np.arange(30) * 2 * np.pi / 30
    circle = Isomap(n_neighbors=2).fit(np.column_stack([np.cos(angles), np.sin(angles)]))
    assert circle.negative_inertia_ == pytest.approx(7.6 / 30.1, abs=0.01)
    flat = Isomap(n_neighbors=39).fit(np.random.default_rng(0).normal(size=(40, 2)))
    assert flat.negative_inertia_ < 1e-6


def test_pieces_are_joined_with_one_warning_or_refused():
    with pytest.warns(NeighborsWarning, match="has 3 components of 30, 30, 8 rows; .* the longest of length") as caught:
        fitted = Isomap(n_neighbors=5).fit(ISLANDS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert fitted.n_graph_components_ == 3
    assert len(fitted.bridges_) == 2
    assert fitted.embedding_.shape == (68, 2)
    pieces = [fitted.embedding_[:30], fitted.embedding_[30:60], fitted.embedding_[60:]]
    assert np.linalg.norm(pieces[0].mean(axis=0) - pieces[1].mean(axis=0)) > 1e3
    with pytest.raises(ValueError, match=r"Isomap: the neighbour graph must be connected \(it has 3 components of 30"):
        Isomap(n_neighbors=5, disconnected="error").fit(ISLANDS)


def test_distances_give_the_map_of_their_rows():
    X, _ = roll(300)
    distances = cdist(X, X)
    of_rows = Isomap(n_neighbors=8).fit(X)
    of_distances = Isomap(n_neighbors=8, metric="precomputed").fit(distances)
    size = np.abs(of_rows.embedding_).max()
    np.testing.assert_allclose(of_distances.embedding_, of_rows.embedding_, atol=1e-5 * size)
    np.testing.assert_allclose(of_distances.place(distances[:9]), of_rows.place(X[:9]), atol=1e-5 * size)
    nearest = np.sort(distances, axis=1)[:, 20:21]
    stored = sp.csr_array(np.where(distances <= nearest, distances + 1e-30, 0.0))
    of_stored = Isomap(n_neighbors=8, metric="precomputed").fit(stored)
    np.testing.assert_allclose(of_stored.embedding_, of_rows.embedding_, atol=1e-5 * size)
    np.testing.assert_allclose(of_stored.place(stored[:9]), of_rows.place(X[:9]), atol=1e-5 * size)


def test_equal_rows_in_given_distances_share_a_place():
    X = np.repeat(np.random.default_rng(0).random((40, 2)), 2, axis=0)
    fitted = Isomap(n_neighbors=9, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(fitted.embedding_[::2], fitted.embedding_[1::2], atol=1e-7)
    assert np.unique(fitted.embedding_.round(6), axis=0).shape == (40, 2)


@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_a_fitted_row_keeps_its_place_and_a_row_is_placed_alone(n_landmarks):
    X, _ = roll(400)
    fitted = Isomap(n_neighbors=8, n_landmarks=n_landmarks, random_state=0).fit(X)
    size = np.abs(fitted.embedding_).max()
    np.testing.assert_allclose(fitted.place(X), fitted.embedding_, atol=1e-5 * size)
    new = X[:7] + 0.1
    together = fitted.place(new)
    assert all(fitted.place(new[i : i + 1]).tobytes() == together[i].tobytes() for i in range(7))
    assert np.linalg.norm(together - fitted.embedding_[:7], axis=1).max() < 1.0


def test_all_rows_as_landmarks_are_the_exact_map(digits):
    X = digits[0][:700]
    exact = Isomap(n_landmarks=None, random_state=0).fit(X)
    all_rows = Isomap(n_landmarks=5000, random_state=0).fit(X)
    assert all_rows.n_landmarks_ == 700
    assert all_rows.landmarks_ is None
    np.testing.assert_array_equal(all_rows.embedding_, exact.embedding_)
    nearly = Isomap(n_landmarks=690, random_state=0).fit(X)
    assert nearly.landmarks_.shape == (690,)
    assert procrustes_error(nearly.embedding_, exact.embedding_) < 0.02


def test_landmarks_come_near_the_map_of_all_rows(digits):
    X, plane = roll()
    fitted = Isomap(n_landmarks=200, random_state=0).fit(X)
    assert procrustes_error(fitted.embedding_, plane) < 0.05
    assert (np.diff(fitted.landmarks_) > 0).all()
    exact = Isomap(n_landmarks=None, random_state=0).fit(digits[0])
    some = Isomap(n_landmarks=600, random_state=0).fit(digits[0])
    assert procrustes_error(some.embedding_, exact.embedding_) < 0.15


def test_auto_takes_landmarks_of_large_tables_only(monkeypatch):
    X, _ = roll(300)
    assert Isomap(random_state=0).fit(X).n_landmarks_ == 300
    monkeypatch.setattr(isomap, "_LARGEST_EXACT", 299)
    monkeypatch.setattr(isomap, "_LANDMARKS", 50)
    assert Isomap(random_state=0).fit(X).n_landmarks_ == 50


def test_both_precisions_give_one_map(monkeypatch):
    X, _ = roll(900)
    double = Isomap(random_state=0).fit(X)
    monkeypatch.setattr(isomap, "_LARGEST_DOUBLE", 0)
    single = Isomap(random_state=0).fit(X)
    np.testing.assert_allclose(single.embedding_, double.embedding_, atol=2e-5 * np.abs(double.embedding_).max())
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-5)


@pytest.mark.parametrize("n_landmarks", [None, 100])
def test_the_number_of_threads_does_not_change_a_bit(n_landmarks):
    X, _ = roll(800)
    one, two, three = (Isomap(n_landmarks=n_landmarks, random_state=0, n_jobs=n).fit(X) for n in (1, 2, 3))
    assert one.embedding_.tobytes() == two.embedding_.tobytes() == three.embedding_.tobytes()
    assert one.place(X[:9] + 0.1).tobytes() == three.place(X[:9] + 0.1).tobytes()


def test_dimensions_that_are_not_there_are_zero_with_a_warning():
    with pytest.warns(DataWarning, match="only 1 positive eigenvalues above rounding; the other 2 of n_components=3"):
        Y = Isomap(n_neighbors=3, n_components=3).fit_transform(np.linspace(0, 1, 60)[:, None])
    assert not Y[:, 1:].any()


def test_equal_rows_share_a_place_and_a_single_row_is_the_origin():
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)
    with pytest.warns(DataWarning, match="60 rows hold 30 distinct rows"):
        fitted = Isomap(n_neighbors=6).fit(X)
    np.testing.assert_array_equal(fitted.embedding_[::2], fitted.embedding_[1::2])
    with pytest.warns(DataWarning, match="1 distinct row;"):
        fitted = Isomap().fit(np.ones((5, 2)))
    assert not fitted.embedding_.any()
    assert not fitted.place(np.ones((2, 2))).any()


def test_metric_parameters_reach_search_and_transform():
    X, _ = roll(200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeighborsWarning)
        named = Isomap(n_neighbors=6, metric="manhattan").fit(X)
        given = Isomap(n_neighbors=6, metric="minkowski", metric_params={"p": 1}).fit(X)
    np.testing.assert_allclose(given.embedding_, named.embedding_, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(given.place(X[:5]), named.place(X[:5]), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["n_neighbors", "n_components", "n_landmarks"])
@pytest.mark.parametrize("value", [-1, np.nan, "many"])
def test_wrong_numbers_are_refused_by_name(name, value):
    with pytest.raises((TypeError, ValueError), match=rf"Isomap: {name}=.* must be "):
        Isomap(**{name: value}).fit(ISLANDS)


def test_another_policy_for_pieces_is_refused():
    with pytest.raises(ValueError, match="disconnected='ignore' must be one of 'connect', 'error'"):
        Isomap(disconnected="ignore").fit(ISLANDS)
