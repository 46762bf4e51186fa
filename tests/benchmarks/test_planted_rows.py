"""What the benchmark of suspects plants, and that it is found where it is easy."""

import numpy as np
import pytest
from benchmarks.suspects import find_strange_rows, find_wrong_labels, plant_labels, plant_rows


def table():
    labels = np.repeat(["a", "b", "c"], 100)
    X = np.random.default_rng(0).normal(size=(300, 6)) + 20 * np.eye(6)[np.repeat([0, 1, 2], 100)]
    return X.astype(np.float32), labels


def test_one_label_in_twenty_is_wrong_and_found():
    X, labels = table()
    given, wrong = plant_labels(labels, 0)
    np.testing.assert_array_equal(given != labels, wrong)
    assert wrong.sum() == 15
    assert set(find_wrong_labels(X, X[:, :2], given, wrong)) == {"gnomon", "plain kNN", "in the map"}
    assert find_wrong_labels(X, X[:, :2], given, wrong)["gnomon"] == 1.0


@pytest.mark.parametrize("kind", ["mixtures", "shuffled"])
def test_strange_rows_come_last(kind):
    X, labels = table()
    larger, strange = plant_rows(X, labels, kind, 0)
    np.testing.assert_array_equal(larger[~strange], X)
    assert strange.sum() == 15
    scores = find_strange_rows(larger, larger[:, :2], strange)
    assert scores["gnomon"] == pytest.approx(scores["scikit-learn"], abs=1e-6)
