"""Unusual new rows that lie together are told as perhaps a group that the map has not seen; scattered ones are not."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.extension import measure_drift
from gnomon.extension.unseen import rows_together

OLD = np.random.default_rng(0).normal(size=(300, 4))


def drift_of(X_new, X=OLD):
    return measure_drift(X, X[:, :2], X_new, X_new[:, :2])


def with_group(n_group, seed=1, n_like=150):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n_like, 4)), 0.3 * rng.normal(size=(n_group, 4)) + 3.0])


def test_a_few_rows_of_a_new_kind_are_told_and_numbered():
    drift = drift_of(with_group(12))
    assert not drift.refit
    assert drift.group.tolist() == list(range(150, 162))
    line = drift.summary().splitlines()[-1]
    assert "12 of the new rows are unlike the old and lie together (rows 150, 151, 152, 153, 154 and 7 more)" in line
    assert "perhaps a group that the map has not seen" in line
    assert "No need to fit again" not in line


def test_the_group_is_not_one_of_other_shares_of_the_labels():
    X, X_new = OLD, with_group(12)
    drift = measure_drift(X, X[:, :2], X_new, X_new[:, :2], labels=np.where(X[:, 0] > 0, "a", "b"))
    assert len(drift.group) == 12
    assert not drift.by_shares


@pytest.mark.parametrize("n_group", [0, 4])
def test_fewer_than_five_rows_are_no_group(n_group):
    assert len(drift_of(with_group(n_group)).group) == 0


@pytest.mark.parametrize("m", [50, 300, 1200])
def test_rows_like_the_old_ones_hardly_ever_have_a_group(m):
    found = [len(drift_of(np.random.default_rng(seed).normal(size=(m, 4))).group) for seed in range(6)]
    assert max(found) == 0


def test_outliers_that_lie_apart_are_no_group():
    rng = np.random.default_rng(2)
    far = rng.normal(size=(15, 4))
    scattered = np.concatenate([rng.normal(size=(150, 4)), 9 * far / np.linalg.norm(far, axis=1, keepdims=True)])
    assert len(rows_together(OLD, scattered, np.arange(150, 165))) == 0
    assert len(rows_together(OLD, with_group(15), np.arange(150, 165))) == 15


def test_sparse_rows_have_the_same_group():
    X_new = with_group(12)
    expected = rows_together(OLD, X_new, np.arange(140, 162))
    np.testing.assert_array_equal(rows_together(sp.csr_array(OLD), sp.csr_array(X_new), np.arange(140, 162)), expected)
    assert expected.tolist() == list(range(150, 162))


def test_the_labels_that_a_group_came_to_are_told_apart():
    labels = np.where(OLD[:, 0] > 0, "right", "left")
    drift = measure_drift(OLD, OLD[:, :2], with_group(12), with_group(12)[:, :2], labels=labels)
    assert drift.labels_of_group == {"right": 12}
    assert sum(drift.labels.values()) == 162
    line = next(line for line in drift.summary().splitlines() if line.startswith("they came to"))
    assert f"right ({drift.labels['right']}, 12 of them unlike the old and together)" in line
    assert f"left ({drift.labels['left']})" in line
