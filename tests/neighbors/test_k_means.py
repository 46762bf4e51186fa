"""Cells of rows around their means."""

import numpy as np

from gnomon._run import running
from gnomon.neighbors import k_means


def test_groups_far_apart_are_the_cells():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 50)
    rows = (20 * rng.normal(size=(4, 5))[truth] + rng.normal(size=(200, 5))).astype(np.float32)
    for seed in range(3):
        cells = k_means(rows, 4, seed=seed)
        assert len({(a, b) for a, b in zip(truth, cells, strict=True)}) == 4


def test_each_row_is_nearest_to_the_mean_of_its_cell():
    rows = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    cells = k_means(rows, 7, seed=1)
    means = np.array([rows[cells == one].mean(0) for one in range(7)])
    distances = np.square(rows[:, None] - means).sum(-1)
    np.testing.assert_array_equal(distances.argmin(1), cells)


def test_neither_huge_nor_tiny_rows_change_their_cells():
    rows = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    expected = k_means(rows, 7, seed=1)
    for scale in (2.0**100, 2.0**-100):
        np.testing.assert_array_equal(k_means(rows * np.float32(scale), 7, seed=1), expected)


def test_the_same_cells_for_any_number_of_threads():
    rows = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32)
    found = set()
    for n_threads in (1, 2, 5):
        with running(n_threads=n_threads):
            found.add(k_means(rows, 20, seed=3).tobytes())
    assert len(found) == 1


def test_equal_rows_have_one_cell_and_single_rows_one_each():
    assert set(k_means(np.ones((10, 2), np.float32), 3)) == {0}
    assert sorted(k_means(np.arange(5, dtype=np.float32)[:, None], 5)) == [0, 1, 2, 3, 4]
