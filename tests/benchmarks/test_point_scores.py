"""What the benchmark of scores of points plants, and that scores find it where it is easy."""

import numpy as np
from benchmarks.point_scores import find_planted, main, plant_moves, sphere, torn_rows

import gnomon


def test_one_point_in_twenty_is_moved_to_another_class_and_found():
    labels = np.repeat(["a", "b", "c"], 40)
    X = np.random.default_rng(0).normal(size=(120, 4)) + 20 * np.eye(4)[np.repeat([0, 1, 2], 40)]
    method = gnomon.TSNE(perplexity=8, max_iter=250, random_state=0)
    Y = method.fit_transform(X)
    moved, wrong = plant_moves(Y, labels, 0)
    np.testing.assert_array_equal((moved != Y).any(axis=1), wrong)
    assert wrong.sum() == 6
    found = find_planted(X, moved, wrong, method, 2)
    assert found["neighborhood_preservation"][0] > 0.95
    assert found["neighbors kept"][0] > 0.95
    assert all(0.0 <= area <= 1.0 and seconds > 0.0 for area, seconds in found.values())


def test_torn_rows_are_those_with_neighbors_far_away():
    X = sphere(300, 0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0, atol=0.06)
    flat = X[:, :2].copy()
    assert not torn_rows(X, flat).any()
    flat[7] += 50.0
    assert torn_rows(X, flat)[7]


def test_the_table_has_a_line_for_each_score(capsys):
    assert main(["--data", "sphere", "--rows", "150", "--seeds", "1", "--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("|")[1:3] == [lines[0].split("|")[1], " sphere, torn "]
    assert {"EMBEDR", "scDEED", "spread"} <= {line.split("|")[1].strip() for line in lines}
