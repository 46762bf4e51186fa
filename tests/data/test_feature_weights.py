"""A feature of weight 2 counts as its column given twice, in the distances of every metric that takes weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from gnomon.data import ColumnRule
from gnomon.data.feature_weights import check_feature_weight, weigh_features
from gnomon.data.scaling import Scaling

X = np.random.default_rng(0).normal(size=(20, 3))
TWICE = X[:, [0, 1, 1, 2]]


@pytest.mark.parametrize("metric", ["euclidean", "l2", "sqeuclidean", "cosine", "cityblock", "manhattan", "l1"])
def test_distances_are_those_of_the_column_given_twice(metric):
    scaling = weigh_features(X, np.array([1.0, 2.0, 1.0]), None, metric=metric)
    known = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}.get(metric, metric)
    np.testing.assert_allclose(pdist(X / scaling.spread, known), pdist(TWICE, known), rtol=1e-12)


def test_other_metrics_take_no_weights():
    with pytest.raises(
        ValueError, match=r"feature_weight must be None where the metric is none of euclidean, .*jaccard"
    ):
        weigh_features(X, np.array([1.0, 2.0, 1.0]), None, metric="jaccard")


def test_weights_are_told_by_name_or_one_for_each_feature():
    names = ["a", "b", "c"]
    assert check_feature_weight({"b": 2}, names).tolist() == [1.0, 2.0, 1.0]
    assert check_feature_weight([1, 2, 0], names).tolist() == [1.0, 2.0, 0.0]
    assert check_feature_weight([1.0, 1.0, 1.0], names) is None
    assert check_feature_weight(pd.Series([3, 2], index=["c", "b"]), names).tolist() == [1.0, 2.0, 3.0]
    assert check_feature_weight(pd.Series([1, 2, 0]), names).tolist() == [1.0, 2.0, 0.0]
    with pytest.raises(ValueError, match=r"feature_weight of shape \(2,\) must be of shape \(n_features,\)=\(3,\)"):
        check_feature_weight([1, 2], names)
    with pytest.raises(ValueError, match=r"finite numbers >= 0 \('b' has -1\)"):
        check_feature_weight([0, -1, 2], names)


NAMES = [f"f{j}" for j in range(9)]


@pytest.mark.parametrize(
    ("given", "names", "error", "text"),
    [
        ({"x": 1}, NAMES[:8], ValueError, f"of 'x' must be one of a feature (there are {str(NAMES[:8])[1:-1]})."),
        ({"x": 1}, NAMES, ValueError, f"of 'x' must be one of a feature (there are {str(NAMES[:8])[1:-1]} and more)."),
        ([0, -1, np.nan], NAMES[:3], ValueError, " must be finite numbers >= 0 ('f1' has -1). Weigh a feature 0 to le"),
        ([0, 0, np.inf], NAMES[:3], ValueError, " must be finite numbers >= 0 ('f2' has inf)."),
        ([0, 0], NAMES[:2], ValueError, " must be positive for one feature at least (all are zero)."),
        ([True, False], NAMES[:2], TypeError, " must be a mapping of names to numbers, or a number for each feature"),
        ({"f0": np.bool_(True)}, NAMES[:2], TypeError, "of 'f0' must be a number (found "),
        ({"f0": None}, NAMES[:2], TypeError, "of 'f0' must be a number (found None)."),
        (3.0, NAMES[:2], ValueError, " of shape () must be of shape (n_features,)=(2,). Pass a mapping to weigh some"),
        (np.ones((2, 1)), NAMES[:2], ValueError, " of shape (2, 1) must be of shape (n_features,)=(2,)."),
    ],
)
def test_other_weights_are_refused(given, names, error, text):
    with pytest.raises(error) as caught:
        check_feature_weight(given, names)
    assert str(caught.value).startswith(f"gnomon: feature_weight {text}".replace("  ", " "))


def test_weights_may_be_of_any_type_of_number_and_name_columns_that_became_several():
    for value in (2, 2.0, np.int8(2), np.float32(2)):
        assert check_feature_weight({"f1": value}, NAMES[:2]).tolist() == [1.0, 2.0]
    rules = [ColumnRule("kind", "category", ("f0", "f2"), ("a", "b")), ColumnRule("gone", "left out", ())]
    assert check_feature_weight({"kind": 3, "f1": 0}, NAMES[:3], rules).tolist() == [3.0, 0.0, 3.0]
    with pytest.raises(ValueError, match="feature_weight of 'gone' must be one of a feature"):
        check_feature_weight({"gone": 3}, NAMES[:3], rules)
    assert check_feature_weight(None, NAMES) is None
    assert check_feature_weight(pd.Series([1, 2], index=["b", 0]), ["b", "c"]).tolist() == [1.0, 2.0]  # by their order


def test_without_weights_the_scaling_stays_and_with_them_it_is_divided():
    scaling = Scaling("standard", np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]))
    assert weigh_features(X, None, scaling) is scaling
    found = weigh_features(X, np.array([4.0, 1.0, 0.0]), scaling)
    assert (found.name, found.spread.tolist()) == ("standard", [1.0, 2.0, np.inf])
    np.testing.assert_allclose(found.center, [1.0, 2.0, X[:, 2].mean()])
    sparse = weigh_features(sp.csr_array(X), np.array([4.0, 1.0, 0.0]), None, metric="manhattan")
    assert (sparse.name, sparse.center.tolist(), sparse.spread.tolist()) == ("none", [0.0] * 3, [0.25, 1.0, np.inf])
    assert sparse.weight.tolist() == [4.0, 1.0, 0.0]
