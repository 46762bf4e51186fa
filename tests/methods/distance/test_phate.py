"""PHATE is the paper's formulas, chooses t by the knee of the entropy, and places every row."""

import warnings

import numpy as np
import pytest
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.manifold import smacof
from tests.threads import on_threads

from gnomon.affinities.diffusion import Diffusion, diffusion_potential, knee
from gnomon.exceptions import GnomonWarning, NeighborsWarning
from gnomon.methods.distance.phate import PHATE

rng = np.random.default_rng(0)


def tree(n):
    """Three arms of n rows from one point, among five features."""
    arms = [np.outer(np.linspace(0, 4, n), np.eye(5)[arm]) for arm in range(3)]
    return np.concatenate(arms) + 0.05 * rng.normal(size=(3 * n, 5))


TREE = tree(50)
DENSE = tree(150)


def kernel_of(X, n_neighbors, decay):
    """K of all pairs, without the threshold."""
    distances = cdist(X, X)
    own = np.exp(-((distances / np.sort(distances, axis=1)[:, n_neighbors, None]) ** decay))
    return (own + own.T) / 2


@pytest.mark.parametrize(("n_neighbors", "decay", "t", "gamma"), [(5, 40, 6, 1), (3, 10, 1, 0), (4, 2, 5, -1)])
def test_the_map_is_that_of_the_formulas_written_out(n_neighbors, decay, t, gamma):
    K = kernel_of(TREE, n_neighbors, decay)
    P = K / K.sum(axis=1, keepdims=True)
    P_t = np.linalg.matrix_power(P, t)
    potential = {1: -np.log(P_t + 1e-7), 0: 2 * np.sqrt(P_t), -1: P_t}[gamma]
    fitted = PHATE(n_neighbors, decay=decay, t=t, gamma=gamma, max_iter=1000, random_state=0).fit(TREE)
    stored = fitted.affinities_.matrix.toarray()
    np.testing.assert_allclose(stored, K - np.eye(len(K)), atol=1e-4)
    delta = pdist(potential)
    stress = ((delta - pdist(fitted.embedding_)) ** 2).sum()
    assert stress == pytest.approx(fitted.stress_, rel=2e-2 if decay == 2 else 1e-3)
    vectors, values, _ = np.linalg.svd(potential - potential.mean(axis=0))
    start, wide = vectors[:, :2] * values[:2], cdist(potential, potential)
    theirs, least = smacof(wide, init=start, n_init=1, max_iter=1000, eps=1e-8, normalized_stress=False)
    assert stress < (1.02 if decay == 2 else 1.001) * least
    if gamma == 1:
        assert procrustes(theirs, fitted.embedding_)[2] < 1e-3


def test_three_rows_in_closed_form():
    X = np.array([[0.0], [1.0], [3.0]])
    fitted = PHATE(1, decay=2.0, t=1, n_components=1).fit(X)
    a, b, c = (np.exp(-1.0) + np.exp(-1.0)) / 2, np.exp(-9.0), (np.exp(-4.0) + np.exp(-1.0)) / 2
    K = np.array([[0, a, (b if b > 1e-4 else 0) / 2 + np.exp(-((3 / 2) ** 2)) / 2], [0, 0, c], [0, 0, 0]])
    np.testing.assert_allclose(fitted.affinities_.matrix.toarray(), K + K.T, rtol=1e-6)


def test_a_walk_of_t_steps_is_the_power_of_one_step():
    diffusion = PHATE(t=1).fit(TREE)
    walk = Diffusion.of(diffusion.affinities_)
    P = walk.after(1)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    for t in (2, 7, 16):
        np.testing.assert_allclose(walk.after(t), np.linalg.matrix_power(P, t), atol=1e-14)
    assert on_threads(1, walk.after)(5).tobytes() == on_threads(3, walk.after)(5).tobytes()


def test_landmarks_of_one_row_each_walk_twice_as_fast():
    affinities = PHATE(t=1).fit(TREE).affinities_
    alone, clustered = Diffusion.of(affinities), Diffusion.of(affinities, np.arange(len(TREE)))
    np.testing.assert_allclose(clustered.after(3), alone.after(6), atol=1e-14)
    np.testing.assert_allclose(clustered.entries.toarray(), alone.after(1), atol=1e-14)


def test_entropies_are_those_of_the_eigenvalues():
    walk = Diffusion.of(PHATE(t=1).fit(TREE).affinities_)
    values = np.abs(np.linalg.eigvals(walk.after(1)).real)
    entropies = walk.entropies(30)
    for t in (1, 2, 30):
        share = values**t / (values**t).sum()
        assert entropies[t - 1] == pytest.approx(-(share[share > 0] * np.log(share[share > 0])).sum(), rel=1e-9)
    assert (np.diff(entropies) < 0).all()


@pytest.mark.parametrize("bend", [1, 5, 17, 38])
def test_the_knee_of_two_lines_is_where_they_meet(bend):
    places = np.arange(40.0)
    assert knee(10.0 - np.minimum(places, bend) - 0.1 * np.maximum(places - bend, 0.0)) == bend


def test_t_is_the_knee_of_the_entropies_counted_from_one():
    fitted = PHATE(random_state=0).fit(TREE)
    assert fitted.t_ == 1 + knee(fitted.von_neumann_entropy_)
    assert fitted.von_neumann_entropy_.shape == (100,)
    given = PHATE(t=fitted.t_, random_state=0).fit(TREE)
    assert given.von_neumann_entropy_ is None
    np.testing.assert_array_equal(given.embedding_, fitted.embedding_)


def test_potentials():
    p = np.array([0.0, 0.25, 1.0])
    np.testing.assert_allclose(diffusion_potential(p, 1.0), -np.log(p + 1e-7))
    np.testing.assert_allclose(diffusion_potential(p, 0.0), [0.0, 1.0, 2.0])
    np.testing.assert_allclose(diffusion_potential(p, -1.0), p)


def test_arms_of_a_tree_are_three_arms_of_the_map():
    Y = PHATE(8, random_state=0).fit_transform(DENSE)
    middle = Y[[0, 150, 300]].mean(axis=0)
    for arm in range(3):
        rows = slice(150 * arm, 150 * arm + 150)
        assert spearmanr(np.linalg.norm(Y[rows] - middle, axis=1), np.arange(150)).statistic > 0.8
        others = np.delete(Y, np.arange(450)[rows], axis=0)
        outer = Y[rows][50:]
        assert cdist(outer, others).min() > 3 * np.sort(cdist(outer, outer), axis=1)[:, 1].max()


def test_distances_alone_give_the_map_of_the_rows():
    of_rows = PHATE(t=4, random_state=0).fit(TREE)
    distances = cdist(TREE, TREE)
    of_distances = PHATE(t=4, metric="precomputed", random_state=0).fit(distances)
    assert procrustes(of_rows.embedding_, of_distances.embedding_)[2] < 1e-4
    landmarks = PHATE(t=4, n_landmarks=40, metric="precomputed", random_state=0).fit(distances)
    assert procrustes(PHATE(t=4, n_landmarks=40, random_state=0).fit(TREE).embedding_, landmarks.embedding_)[2] < 1e-4


def test_landmarks_keep_the_shape():
    exact = PHATE(8, t=16, random_state=0).fit(DENSE)
    assert exact.landmarks_ is None
    some = PHATE(8, t=16, n_landmarks=225, random_state=0).fit(DENSE)
    assert len(np.unique(some.landmarks_)) == 225
    assert procrustes(exact.embedding_, some.embedding_)[2] < 0.05


@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_new_rows_lie_among_their_neighbours_and_fitted_ones_where_they_were(n_landmarks):
    fitted = PHATE(n_landmarks=n_landmarks, random_state=0).fit(TREE)
    np.testing.assert_array_equal(fitted.place(TREE[:20]), fitted.embedding_[:20])
    new = np.outer(np.linspace(0.5, 3.5, 20), np.eye(5)[1])
    near = fitted.embedding_[cdist(new, TREE).argmin(axis=1)]
    placed = fitted.place(new)
    assert np.linalg.norm(placed - near, axis=1).max() < 0.1 * np.ptp(fitted.embedding_)
    np.testing.assert_array_equal(fitted.place(new[3:4]), placed[3:4])


def test_weights_that_reach_beyond_the_neighbours_searched_are_found():
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[0] = 30.0  # whose kernel of width 38 reaches all others
    fitted = PHATE(3, t=2, random_state=0).fit(X)
    assert np.diff(fitted.affinities_.matrix.indptr)[0] > 4 * 3
    np.testing.assert_allclose(fitted.affinities_.matrix.toarray(), kernel_of(X, 3, 40) - np.eye(300), atol=5e-5)


def test_pieces_are_named_and_stay_apart():
    X = np.concatenate([TREE, TREE + 1e3])
    with pytest.warns(NeighborsWarning, match=r"2 components.*distances between them mean nothing"):
        Y = PHATE(random_state=0).fit_transform(X)
    assert np.linalg.norm(Y[:150].mean(axis=0) - Y[150:].mean(axis=0)) > Y[:150].std()


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.NeighborsWarning")
@pytest.mark.parametrize("n_landmarks", [None, 50])
def test_threads_do_not_change_a_bit(n_landmarks, digits):
    maps = [PHATE(n_landmarks=n_landmarks, random_state=0, n_jobs=n).fit(digits[0][:700]) for n in (1, 3)]
    assert maps[0].embedding_.tobytes() == maps[1].embedding_.tobytes()
    assert maps[0].place(digits[0][700:750]).tobytes() == maps[1].place(digits[0][700:750]).tobytes()


def test_a_kernel_without_an_end_needs_memory_for_all_pairs(monkeypatch):
    monkeypatch.setattr("gnomon._memory.available_memory", lambda: 20e6)
    X = np.random.default_rng(0).normal(size=(3000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        with pytest.raises(MemoryError, match=r"neighbours of [\d,]+ rows take .*Raise decay"):
            PHATE(decay=0.5, n_landmarks=20).fit(X)
