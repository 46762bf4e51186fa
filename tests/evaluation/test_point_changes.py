"""Points that changed most between two maps: closed forms, invariants, and a search written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.evaluation import point_changes
from gnomon.linalg import align


@pytest.fixture(scope="module")
def maps():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(200, 2))
    B = A + rng.normal(scale=0.3, size=A.shape)
    B[[3, 50]] = np.nan
    B[4, 1] = np.inf
    return A, B


def _lost(A, B, k):
    """Neighbours lost, by sorting all distances."""
    nearest = [np.argsort(cdist(Y, Y) + np.diag(np.full(len(Y), np.inf)), axis=1)[:, :k] for Y in (A, B)]
    return np.array([1 - len(set(a) & set(b)) / k for a, b in zip(*nearest, strict=True)])


@pytest.mark.parametrize(("n_neighbors", "k"), [(None, 15), (1, 1), (40, 40)])
def test_neighbours_lost_are_those_of_sorted_distances(maps, n_neighbors, k):
    A, B = maps
    rows = np.setdiff1d(np.arange(200), [3, 4, 50])
    found = point_changes(A, B, n_neighbors=n_neighbors)
    assert found.n_neighbors == k
    assert np.isnan(found.neighbors_lost[[3, 4, 50]]).all()
    np.testing.assert_allclose(found.neighbors_lost[rows], _lost(A[rows], B[rows], k), atol=1e-12)
    assert found.chance == pytest.approx(1 - k / 196)


def test_shift_is_what_aligning_leaves_in_units_of_the_spread(maps):
    A, B = maps
    rows = np.setdiff1d(np.arange(200), [3, 4, 50])
    found = point_changes(A, B)
    target, laid = align([B[rows], A[rows]])
    spread = np.sqrt(B[rows].var(axis=0).sum())
    np.testing.assert_allclose(found.shift[rows], np.linalg.norm(laid - target, axis=1) / spread, rtol=1e-9)
    np.testing.assert_allclose(A[rows] @ found.matrix + found.translation, laid, atol=1e-9)


def test_turning_mirroring_scaling_and_the_order_of_the_maps_change_nothing(maps):
    A, B = maps
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0] * [1, -1]
    here, there, back = point_changes(A, B), point_changes(7 * A @ turn + 40, B), point_changes(B, A)
    for one in (there, back):
        np.testing.assert_allclose(one.neighbors_lost, here.neighbors_lost, atol=1e-12)
        np.testing.assert_allclose(one.shift, here.shift, atol=1e-9)


def test_one_row_that_moves_is_the_first_by_both_measures():
    A = np.random.default_rng(1).normal(size=(300, 2))
    B = 0.2 * A[:, ::-1] - 3
    same = point_changes(A, B)
    assert same.neighbors_lost.max() == 0
    assert same.shift.max() < 1e-12
    B[17] = 0.2 * A[np.argmax(np.linalg.norm(A - A[17], axis=1)), ::-1] - 3.01
    changed = point_changes(A, B)
    for by in ("neighbors_lost", "shift"):
        assert changed.most(1, by=by).tolist() == [17]
    assert len(changed.most(1000)) == 300
    assert np.all(np.diff(changed.neighbors_lost[changed.most(300)]) <= 0)


def test_exchanged_halves_move_far_and_keep_their_neighbours():
    """Why there are two measures: what looks like a great change can be none."""
    rng = np.random.default_rng(2)
    A = rng.normal(scale=0.1, size=(150, 2)) + np.repeat([[0, 0], [10, 0], [4, 9]], 50, axis=0)
    B = A.copy()
    B[:50, 0] += 10
    B[50:100, 0] -= 10
    B[100:] += [3, 0]
    found = point_changes(A, B)
    assert found.neighbors_lost.max() == 0
    assert found.shift.max() > 0.1


def test_a_flat_map_and_one_in_space_and_maps_at_one_place():
    A = np.random.default_rng(4).normal(size=(80, 2))
    tilt = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    assert point_changes(A, np.c_[A, np.zeros(80)] @ tilt).shift.max() < 1e-12
    assert np.isnan(point_changes(A, np.zeros((80, 2))).shift).all()


def test_threads_do_not_change_a_bit(maps):
    one, two = (point_changes(*maps, n_jobs=jobs) for jobs in (1, 2))
    for name in ("neighbors_lost", "shift", "matrix", "translation"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


@pytest.mark.parametrize(
    ("A", "B", "options", "text"),
    [
        (
            np.zeros((5, 2)),
            np.zeros((6, 2)),
            {},
            "A with 5 rows and B with 6 must be of the same length",
        ),
        (np.full((5, 2), np.nan), np.zeros((5, 2)), {}, "point_changes: 0 rows with a place in every map must be at"),
        (np.eye(5), np.eye(5), {"n_neighbors": 5}, "n_neighbors=5 must be below 5"),
        (np.eye(5), np.eye(5), {"n_neighbors": 0}, "n_neighbors=0 must be"),
    ],
)
def test_what_does_not_fit_is_named(A, B, options, text):
    with pytest.raises(ValueError, match=text):
        point_changes(A, B, **options)


def test_an_unknown_measure_is_named():
    with pytest.raises(ValueError, match=r"PointChanges\.most: by='far' must be 'neighbors_lost' or 'shift'"):
        point_changes(np.eye(6), np.eye(6)).most(by="far")


@pytest.mark.parametrize("n_top", [0, -1, 1.5])
def test_a_number_of_rows_below_one_is_refused(n_top):
    changes = point_changes(np.eye(6), np.eye(6))
    assert len(changes.most(1)) == 1
    with pytest.raises((ValueError, TypeError), match=r"PointChanges\.most: n_top=.* must be"):
        changes.most(n_top)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (11, 5), (12, 5), (30, 14), (31, 15), (60, 15)])
def test_few_rows_have_as_many_neighbours_as_half_of_the_others(n, k):
    A, B = np.random.default_rng(0).normal(size=(2, n, 2))
    found = point_changes(A, B)
    assert found.n_neighbors == k
    np.testing.assert_allclose(found.neighbors_lost, _lost(A, B, k), atol=1e-12)
    assert point_changes(A, B, n_neighbors=n - 1).neighbors_lost.max() == 0
    with pytest.raises(ValueError, match=rf"n_neighbors={n} must be below {n}, the number of rows with a place"):
        point_changes(A, B, n_neighbors=n)
