"""Random points: different, allowed, uniform, and functions of seed, stream and row alone."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon.affinities.candidates import random_others

NOBODY = np.empty((50, 0), dtype=np.int32)


@pytest.mark.parametrize(("n_excluded", "count"), [(0, 5), (3, 0), (7, 12), (20, 25), (30, 19)])
def test_points_differ_and_are_neither_the_row_nor_excluded(n_excluded, count):
    rng = np.random.default_rng(0)
    excluded = np.array([rng.permutation(np.delete(np.arange(50), i))[:n_excluded] for i in range(50)], dtype=np.int32)
    drawn = random_others(excluded, count, seed=1, stream=2)
    assert drawn.shape == (50, count)
    for i in range(50):
        assert len({i, *excluded[i], *drawn[i]}) == 1 + n_excluded + count
        assert drawn[i].min(initial=0) >= 0
        assert drawn[i].max(initial=0) < 50


@pytest.mark.parametrize("count", [10, 30], ids=["by rejection", "by shuffling"])
def test_every_allowed_point_is_as_likely_in_every_place(count):
    n, excluded = 50, np.array([[7, 9]] * 50, dtype=np.int32)
    tables = [random_others(excluded, count, seed=seed, stream=0)[0] for seed in range(4000)]
    allowed = n - 3
    for place in (0, count - 1):
        seen = np.bincount([row[place] for row in tables], minlength=n)
        assert seen[[0, 7, 9]].sum() == 0
        kept = np.delete(seen, [0, 7, 9])
        chi_squared = np.sum((kept - 4000 / allowed) ** 2) / (4000 / allowed)
        assert chi_squared < allowed + 4 * np.sqrt(2 * allowed)


def test_rows_depend_on_seed_stream_and_row_alone():
    drawn = on_threads(1, random_others)(NOBODY, 6, seed=1, stream=2)
    for n_threads in (2, 3, 5):
        np.testing.assert_array_equal(on_threads(n_threads, random_others)(NOBODY, 6, seed=1, stream=2), drawn)
    excluded = np.full((50, 1), 49, dtype=np.int32)
    excluded[0] = drawn[0, 0]
    other = random_others(excluded, 6, seed=1, stream=2)
    rows = [i for i in range(1, 49) if 49 not in drawn[i]]  # what they drew is still allowed
    np.testing.assert_array_equal(other[rows], drawn[rows])
    assert not np.array_equal(random_others(NOBODY, 6, seed=2, stream=2), drawn)
    assert not np.array_equal(random_others(NOBODY, 6, seed=1, stream=3), drawn)
    assert (drawn[1:] != drawn[:-1]).any(axis=1).all()


def test_more_points_than_there_are_is_an_error():
    with pytest.raises(ValueError, match="too few points"):
        random_others(NOBODY, 50, seed=0, stream=0)
