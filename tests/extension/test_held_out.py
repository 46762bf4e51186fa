"""Rows held out of principal components tell how unlike the others new rows are, along the components and off them."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.extension import HeldOutRows
from gnomon.extension.held_out import Unlikeness, _Surprise

LATENT = np.random.default_rng(0).normal(size=(900, 3)) @ np.random.default_rng(1).normal(size=(3, 40))
ROWS = 3.0 * LATENT + np.random.default_rng(2).normal(size=(900, 40))
OLD, LIKE = ROWS[:600], ROWS[600:]


@pytest.fixture(scope="module")
def held_out():
    return HeldOutRows.draw(OLD, 3)


def test_five_of_a_hundred_like_rows_are_unusual():
    found = []
    for seed in range(12):
        rows = np.random.default_rng(seed).normal(size=(800, 80))
        found.append(np.mean(HeldOutRows.draw(rows[:300], 20).compare(rows[300:]).novelty > 0.95))
    assert 0.03 <= np.mean(found) <= 0.07


def test_a_third_is_held_out_of_components_of_others(held_out):
    assert len(held_out) == held_out.compare(LIKE).n_compared == 200
    assert held_out.n_neighbors == 15
    assert len(held_out.coordinates) == held_out.principal.n_samples == 340
    many = HeldOutRows.draw(np.random.default_rng(0).normal(size=(6000, 4)), 2)
    few = HeldOutRows.draw(OLD[:50], 3)
    assert (len(few), len(few.coordinates)) == (16, 34)
    assert (len(many), len(many.coordinates)) == (1000, 4000)


@pytest.mark.parametrize(
    ("n", "held", "others"), [(3, 1, 2), (4, 1, 3), (99, 33, 66), (100, 33, 57), (2000, 666, 1134), (2100, 700, 1200)]
)
def test_a_tenth_of_a_hundred_rows_or_more_tells_the_weights(n, held, others):
    drawn = HeldOutRows.draw(np.random.default_rng(0).normal(size=(n, 6)), 9)
    assert (len(drawn), len(drawn.coordinates)) == (held, others)
    assert drawn.principal.components.shape == (min(6, others - 1), 6)
    assert drawn.n_neighbors == min(15, others - 1)
    some = HeldOutRows.draw(np.random.default_rng(0).normal(size=(n, 6)), 2, columns=np.array([1, 3]), n_neighbors=1)
    assert (len(some.principal.mean), some.n_neighbors) == (2, 1)
    assert np.isfinite(some.compare(np.ones((2, 6))).novelty).all()


def test_rows_are_unlike_far_along_the_components_and_far_or_near_off_them(held_out):
    principal = held_out.principal
    along = (LIKE - principal.mean) @ principal.components.T @ principal.components
    off = LIKE - principal.mean - along
    assert 0.3 < np.median(held_out.compare(LIKE).novelty) < 0.7
    for rows in (8.0 * along + off, along + 6.0 * off, along + 0.1 * off):
        assert np.mean(held_out.compare(principal.mean + rows).novelty > 0.95) > 0.9
    far = held_out.compare(principal.mean + along + 60.0 * off)
    assert far.is_far.all()
    assert (far.novelty == 1.0).all()
    assert not held_out.compare(LIKE).is_far.any()


@pytest.mark.parametrize("n", [200, 201])
def test_scores_beyond_nine_tenths_are_as_surprising_as_those_of_an_exponential_tail(n):
    scores = -np.log(1.0 - (np.arange(n) + 0.5) / n)
    asked = np.array([0.1, 1.0, 2.0, 2.3, 5.0, 30.0])
    learned = _Surprise.learn(np.random.default_rng(0).permutation(scores))
    assert learned.scale == pytest.approx(scores[n - 20 :].mean() - scores[n - 21])
    np.testing.assert_allclose(learned(asked)[:4], asked[:4], atol=0.02)
    assert learned(np.array([30.0]))[0] - learned(np.array([5.0]))[0] == pytest.approx(25.0 / learned.scale)
    together = np.minimum(scores, scores[n - 21])  # where the tail has no length that of all rows below it counts
    assert _Surprise.learn(3.0 * together).scale == pytest.approx(3.0, rel=1e-12)
    assert _Surprise.learn(np.array([7.0])).scale == 1.0
    assert _Surprise.learn(np.append(scores, [np.inf, np.nan])).scale < 2.0


@pytest.mark.parametrize(
    ("novelty", "alike", "shift"),
    [
        ([0.3], [0.0], 0.7),
        ([0.3], [0.4], 0.3),
        ([0.25, 0.75], [0.0, 0.0], 0.25),
        ([0.5] * 4, [0.5] * 4, 0.5),
        ([], [], 0.0),
    ],
)
def test_the_shift_is_the_largest_difference_of_distributions(novelty, alike, shift):
    found = Unlikeness(np.array(novelty), np.array(alike), np.zeros(len(novelty), dtype=bool), 20)
    assert found.shift() == pytest.approx(shift)


def test_components_that_hold_all_of_a_row_leave_nothing_off_them():
    flat = HeldOutRows.draw(LATENT[:600].astype(np.float32), 3)
    assert (flat.off.scores == 0.0).all()
    assert np.mean(flat.compare(LATENT[600:].astype(np.float32)).novelty > 0.95) < 0.1
    assert np.mean(flat.compare(LIKE.astype(np.float32)).novelty > 0.95) > 0.9


def test_the_same_bytes_for_any_number_of_threads_and_in_copies(held_out):
    expected = held_out.compare(LIKE).novelty.tobytes()
    for n_threads in (1, 2, 5):
        with running(n_threads=n_threads):
            assert HeldOutRows.draw(OLD, 3).compare(LIKE).novelty.tobytes() == expected
    for other in (pickle.loads(pickle.dumps(held_out)), copy.deepcopy(held_out)):
        assert other.compare(LIKE).novelty.tobytes() == expected


def test_a_sparse_table_is_read_as_a_dense_one():
    rows = np.where(np.abs(ROWS) > 4.0, ROWS, 0.0)
    dense, sparse = (HeldOutRows.draw(X[:600], 5).compare(X[600:]) for X in (rows, sp.csr_array(rows)))
    np.testing.assert_allclose(sparse.novelty, dense.novelty, atol=0.011)


def test_no_rows_have_no_novelty(held_out):
    found = held_out.compare(LIKE[:0])
    assert found.novelty.shape == found.is_far.shape == (0,)
