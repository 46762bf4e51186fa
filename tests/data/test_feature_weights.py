"""A feature of weight 2 counts as its column given twice, in the distances of every metric that takes weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from gnomon.data.feature_weights import check_feature_weight, weigh_features

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
